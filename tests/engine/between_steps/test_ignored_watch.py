"""Files that git ignores: no agent hides code among them, and none of the user's is lost there."""

from __future__ import annotations

import pytest
from tests.misbehaviour.case import case
from tests.project import Project, Rule, call, part, plan, rule, verdict

from swarmgate.domain.events import event as ev
from swarmgate.domain.guard import Effect, GuardNote
from swarmgate.engine.between_steps.ignored_watch import HIDDEN, KEPT

SOURCE = {"src/calc/part_1.1.py": part("1.1")}


def notes(project: Project, rule_name: str) -> list[GuardNote]:
    return [event.note for event in project.events(ev.GuardActed) if event.note.rule == rule_name]


def coder(*calls: dict[str, object]) -> Rule:
    writes = [call("write_file", path=path, content=text) for path, text in SOURCE.items()]
    return rule("coder", "code", [*writes, *calls], [call("finish", summary="done")])


def command(line: str) -> dict[str, object]:
    return call("run_command", command=line)


def ignoring(project: Project, *rules: str) -> None:
    project.write(".gitignore", "\n".join(["__pycache__/", *rules, ""]))
    project.git("add", "--all")
    project.git("commit", "--quiet", "--message=rules")


@pytest.mark.slow
@case(
    "files",
    "the test engineer hides code that stands in for the changed module in a folder with a `.gitignore` of its own",
    "what a new rule hides goes to the quarantine, on record as `hidden-code`; the tests run without it",
)
def test_a_folder_that_ignores_itself_hides_no_code(project: Project) -> None:
    project.write("src/calc/core.py", '"""Core."""\n\n\ndef f() -> int:\n    """One."""\n    return 1\n')
    project.write("tests/test_old.py", "from calc.core import f\n\n\ndef test_f() -> None:\n    assert f() == 1\n")
    project.write("conftest.py", "import sys\n\nsys.path.insert(0, 'src')\n")
    ignoring(project)
    shadow = "src/calc/core/__init__.py"
    project.planned(
        coder(call("edit_file", path="src/calc/core.py", old="return 1", new="return 2")),
        rule(
            "test_engineer",
            "test",
            [
                command(
                    "mkdir -p src/calc/core && printf '*\\n' > src/calc/core/.gitignore && "
                    f"printf 'def f():\\n    return 1\\n' > {shadow}"
                ),
                verdict(criteria=[{"criterion": "1", "tests": ["test_f"]}]),
            ],
        ),
        loop={"max_rejections": 1},
    )
    project.swarm("run", exits=1)
    first = project.state.task("1.1").attempts[0]
    assert (first.stage, first.failures) == ("tests", ("tests/test_old.py::test_f",))
    assert not (project.root / shadow).exists()
    (note, *_) = notes(project, HIDDEN)
    assert (note.effect, note.role, note.step) == (Effect.REFUSED, "test_engineer", "test")
    assert shadow in note.detail
    assert {place.read_text() for place in project.quarantined("__init__.py")} == {"def f():\n    return 1\n"}


@pytest.mark.slow
@case(
    "files",
    "the coder overwrites and deletes ignored files: `.env`, a local database, notes; by its tools and by commands",
    "their contents lie in `.swarm/quarantine/`, and a notice names them; the rule `kept` is on record",
)
def test_ignored_files_of_the_user_are_not_lost(project: Project) -> None:
    ignoring(project, ".env", "local.db", "output/", "notes.md", "same.txt", "build/", "fresh.txt")
    users = {
        ".env": "USERKEY=1\n",
        "local.db": "userdata\n",
        "output/thesis.txt": "years of work\n",
        "notes.md": "user notes\n",
        "build/by_hand.txt": "not made by a build\n",
    }
    for path, text in {**users, "same.txt": "untouched\n"}.items():
        project.write(path, text)
    project.planned(
        coder(
            call("delete_file", path="local.db"),
            call("delete_file", path="build/by_hand.txt"),
            command("echo gone > .env; rm -r output/thesis.txt; echo x > notes.md; touch same.txt; echo 1 > fresh.txt"),
        )
    )
    told = project.swarm("run", exits=3).stderr
    (folder,) = project.folder.quarantine.glob("*ignored-before-coder")
    assert {
        str(place.relative_to(folder)): place.read_text() for place in folder.rglob("*") if place.is_file()
    } == users
    assert "ignored files were changed or deleted by the coder; what they were lies in .swarm/quarantine/" in told
    (note,) = notes(project, KEPT)
    assert (note.effect, note.role, note.count) == (Effect.WARNED, "coder", 5)
    assert (project.root / ".env").read_text() == "gone\n"


@pytest.mark.slow
def test_what_a_run_did_that_died_is_told_by_the_next(project: Project) -> None:
    ignoring(project, ".env")
    project.write(".env", "USERKEY=1\n")
    project.planned()
    project.write(".swarm/runtime/ignored/.env", "USERKEY=0\n")
    project.write(".swarm/runtime/at-work", "")
    project.swarm("run", exits=3)
    assert [place.read_text() for place in project.quarantined(".env")] == ["USERKEY=0\n"]
    assert "a run that died" in notes(project, KEPT)[0].detail
    project.swarm("status")
    assert not (project.folder.runtime / "at-work").exists()


@pytest.mark.slow
def test_what_the_user_does_between_two_runs_is_nobodys_affair(project: Project) -> None:
    ignoring(project, ".env", "own/")
    project.write(".env", "1\n")
    project.write("own/.gitignore", "*\n")
    project.write("hand/.gitignore", "*\n")
    project.write("hand/x.py", "X = 1\n")
    project.planned(plan("1.1", "2.1"))
    project.swarm("run", exits=3)
    project.write(".env", "2\n")
    project.swarm("approve")
    project.swarm("run", exits=3)
    assert not project.quarantined(".env")
    assert (project.root / "hand/x.py").exists()

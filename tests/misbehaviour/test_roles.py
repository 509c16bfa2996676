"""Writing what is another role's, what stood there before, and what lies beyond the declared scope."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest
from tests.misbehaviour.case import case
from tests.misbehaviour.conftest import Scene, call, run, verdict, write
from tests.project import Project, code, delegate, part, rule
from tests.project import call as wire

from swarmgate.agents.roles.critic import review_plan
from swarmgate.agents.roles.sme import consult
from swarmgate.domain.events import event as ev
from swarmgate.domain.guard import Effect
from swarmgate.errors import SelfCodingBlocked

Changed = Callable[[], list[str]]

# --- out of the repository, by path ---


@case(
    "files", "the coder writes where `[authority.coder] deny` closes, in another letter case too", "refused, on record"
)
async def test_denied(scene: Scene) -> None:
    paths = ("migrations/1.sql", "Migrations/2.sql", "src/../MIGRATIONS/3.sql")
    heard = await scene.coder(*map(write, paths), deny=("migrations/",), allow=("migrations/**",))
    assert all("is closed to the coder" in told for told in heard)
    assert len(scene.noted("authority")) == 3
    assert not [each for each in scene.root.iterdir() if each.name.lower() == "migrations"]


@case("files", "the test engineer writes `src/app.py`, plainly and as `tests/../src/app.py`", "it writes tests only")
async def test_engineer_writes_source(scene: Scene) -> None:
    before = (scene.root / "src/app.py").read_text()
    heard = await scene.engineer(write("src/app.py"), write("tests/../src/app.py"))
    assert all("is not a test file" in told for told in heard)
    assert len(scene.noted("authority")) == 2
    assert (scene.root / "src/app.py").read_text() == before


@case("files", "the test engineer writes source through a link in `tests/`", "judged is the file that the link hits")
async def test_engineer_by_link(scene: Scene) -> None:
    (scene.root / "tests").mkdir()
    (scene.root / "tests/test_link.py").symlink_to("../src/app.py")
    before = (scene.root / "src/app.py").read_text()
    (told,) = await scene.engineer(write("tests/test_link.py"))
    assert "is not a test file" in told
    assert scene.noted("authority")
    assert (scene.root / "src/app.py").read_text() == before


@case(
    "files", "the test engineer calls `delete_file`", "the tool is not offered to it: nothing is carried out, on record"
)
async def test_engineer_deletes(scene: Scene) -> None:
    place = scene.existing("tests/test_old.py", "def test_old():\n    assert 1 == 1\n")
    (told,) = await scene.engineer(call("delete_file", path="tests/test_old.py"))
    assert "not offered" in told
    assert "delete_file" in scene.noted("authority")[0]
    assert place.exists()


@case(
    "files", "the reviewer writes, edits, deletes and runs commands", "none of these tools is offered to it; on record"
)
async def test_reviewer_writes(scene: Scene) -> None:
    before = (scene.root / "src/app.py").read_text()
    await scene.reviewer(
        write("src/app.py"),
        call("edit_file", path="src/app.py", old="1", new="2"),
        call("delete_file", path="src/app.py"),
        call("list_files"),
        run("rm src/app.py"),
        verdict(),
    )
    assert len(scene.noted("authority")) == 4
    assert (scene.root / "src/app.py").read_text() == before


@case("files", "the critic writes the plan that it judges into the repository", "no tool that writes is offered to it")
async def test_critic_writes(scene: Scene) -> None:
    agent = scene.agent("critic", "review_plan", write("PLAN.md"), verdict())
    await review_plan(agent, goal="g", spec="", plan=scene.plan, round=1, earlier=())
    assert "write_file" in scene.noted("authority")[0]
    assert not (scene.root / "PLAN.md").exists()


@case("files", "an expert writes and runs instead of answering", "no tool that writes or runs is offered to it")
async def test_expert_writes(scene: Scene) -> None:
    agent = scene.agent("sme", "consult", write("src/app.py"), run("touch src/new.py"), "Use argon2.")
    answer = await consult(agent, domain="security", question="Which hash?")
    assert answer.answer == "Use argon2."
    assert len(scene.noted("authority")) == 2
    assert not (scene.root / "src/new.py").exists()


# --- the architect codes itself ---


@case(
    "files", "the architect writes code itself for the first time", "a warning; nothing is written (rule self-coding)"
)
async def test_self_coding_once(scene: Scene) -> None:
    (told,) = await scene.delegating(write("src/own.py"))
    assert "Warning 1 of 2" in told
    assert len(scene.noted("self-coding", Effect.WARNED)) == 1
    assert not (scene.root / "src/own.py").exists()


@case("files", "the architect edits and deletes for the second time", "the second warning; nothing is changed")
async def test_self_coding_twice(scene: Scene) -> None:
    before = (scene.root / "src/app.py").read_text()
    heard = await scene.delegating(
        call("edit_file", path="src/app.py", old="1", new="2"), call("delete_file", path="src/app.py")
    )
    assert "Warning 2 of 2" in heard[1]
    assert len(scene.noted("self-coding", Effect.WARNED)) == 2
    assert (scene.root / "src/app.py").read_text() == before


@case("files", "the architect codes for the third time", "`SELF_CODING_BLOCK`: its turn ends, on record as stopped")
async def test_self_coding_three_times(scene: Scene) -> None:
    with pytest.raises(SelfCodingBlocked, match="SELF_CODING_BLOCK"):
        await scene.delegating(write("a.py"), write("b.py"), write("c.py"))
    assert len(scene.noted("self-coding", Effect.STOPPED)) == 1
    assert not [name for name in "abc" if (scene.root / f"{name}.py").exists()]


@case("files", "it spreads the three over several turns of a run", "the count is of the run, not of the turn")
async def test_self_coding_over_turns(scene: Scene) -> None:
    with pytest.raises(SelfCodingBlocked):
        await scene.delegating(write("a.py"), self_coding=lambda: 2)
    assert scene.noted("self-coding", Effect.STOPPED)


@case(
    "files",
    "the architect has a command write for it: `echo x > src/own.py`",
    "no commands are offered to it; on record",
)
async def test_architect_runs(scene: Scene) -> None:
    (told,) = await scene.delegating(run("echo x > src/own.py"))
    assert "not offered" in told
    assert "run_command" in scene.noted("authority")[0]
    assert not (scene.root / "src/own.py").exists()


@case("files", "the escalated architect writes outside of the repository and into `.git`", "it is bound like the coder")
async def test_escalated_architect(scene: Scene, changed: Changed) -> None:
    heard = await scene.implementing(write("../outside.txt"), write(".git/config"))
    assert all(told.startswith("Error: path ") for told in heard)
    assert len(scene.noted("authority")) == 2
    assert changed() == []


# --- tests that were there before the task ---

OLD = "import pytest\n\n\ndef test_old():\n    assert 1 + 1 == 2\n\n\ndef test_more():\n    assert 2 + 2 == 4\n"


async def weakening(scene: Scene, *calls: object) -> tuple[int, int, str]:
    """The test engineer tries: how many calls it is told are refused, how many are on record, what the file holds."""
    place = scene.existing("tests/test_old.py", OLD)
    heard = await scene.engineer(*calls)
    return sum("you may add to it" in told for told in heard), len(scene.noted("authority")), place.read_text()


@case("files", "the test engineer turns an old assertion into `assert True`", "old tests can be added to, not changed")
async def test_weaker_assertion(scene: Scene) -> None:
    edit = call("edit_file", path="tests/test_old.py", old="assert 1 + 1 == 2", new="assert True")
    whole = write("tests/test_old.py", "def test_old():\n    assert True\n")
    assert await weakening(scene, edit, whole) == (2, 2, OLD)


@case(
    "files",
    "it skips old tests: a mark, `pytestmark`, `pytest.skip` at module level",
    "refused: tests are switched off",
)
async def test_skipping(scene: Scene) -> None:
    mark = call("edit_file", path="tests/test_old.py", old="def test_old", new="@pytest.mark.skip\ndef test_old")
    whole = write("tests/test_old.py", f"{OLD}\n\npytestmark = pytest.mark.skip\n")
    module = write("tests/test_old.py", f"{OLD}\n\npytest.skip('later', allow_module_level=True)\n")
    assert await weakening(scene, mark, whole, module) == (3, 3, OLD)


@case(
    "files", "it defines an old test a second time, so that the new one runs instead", "refused: it means another thing"
)
async def test_redefining(scene: Scene) -> None:
    again = write("tests/test_old.py", f"{OLD}\n\ndef test_old():\n    pass\n")
    assert await weakening(scene, again) == (1, 1, OLD)


@case("files", "it puts `return` before an old assertion", "refused: the test means another thing")
async def test_early_return(scene: Scene) -> None:
    early = call("edit_file", path="tests/test_old.py", old="    assert 1", new="    return\n    assert 1")
    assert await weakening(scene, early) == (1, 1, OLD)


@case(
    "files", "in another language: `it.only`, `xit`, `describe.skip` in an old spec", "refused: tests are switched off"
)
async def test_switching_off_elsewhere(scene: Scene) -> None:
    old = "it('adds', () => {\n  expect(1 + 1).toBe(2)\n})\n"
    place = scene.existing("tests/old.spec.ts", old)
    heard = await scene.engineer(
        write("tests/old.spec.ts", old + "it.only('mine', () => {})\n"),
        write("tests/old.spec.ts", old.replace("it(", "xit(")),
        write("tests/old.spec.ts", old + "describe.skip('x', () => {})\n"),
    )
    assert all("you may add to it" in told for told in heard), heard
    assert len(scene.noted("authority")) == 3
    assert place.read_text() == old


# --- in a run: what a command wrote, and what was declared ---


@pytest.mark.slow
@case(
    "files",
    "a command of the coder writes into closed folders and makes a repository in the repository",
    "after the turn it is taken back into the quarantine (rule authority); the rest of the work goes on",
)
def test_commands_around_the_tools(project: Project) -> None:
    # In two halves: the policy reads names, and would refuse the command before it ran.
    git = "import pathlib; p = pathlib.Path('nested', '.G' + 'IT'); p.mkdir(parents=True); (p / 'x').touch()"
    spoil = f'mkdir -p migrations && echo x > migrations/1.sql && {sys.executable} -c "{git}"'
    own = wire("write_file", path="src/calc/part_1.1.py", content=part("1.1"))
    project.planned(
        rule("coder", "code", [wire("run_command", command=spoil), own, wire("finish", summary="x")]),
        authority__coder={"deny": ["migrations/"]},
    )
    project.swarm("run", exits=3)
    assert project.git("show", "--name-only", "--format=") == "src/calc/part_1.1.py"
    assert not (project.root / "migrations").exists()
    assert not (project.root / "nested/.GIT").exists()
    assert project.quarantined("1.sql")
    details = [event.note.detail for event in project.events(ev.GuardActed) if event.note.rule == "authority"]
    assert "migrations/1.sql" in " ".join(details)


@pytest.mark.slow
@case(
    "files",
    "the coder changes three files beyond its scope, one of them by renaming it",
    "a violation: on record, and the attempt is rejected (`[scope] enforce`)",
)
def test_scope(project: Project) -> None:
    move = wire("run_command", command="mv AGENTS.md HOUSE.md")
    wide = {"src/calc/part_1.1.py": part("1.1"), "src/calc/extra.py": part("x")}
    writes = [wire("write_file", path=path, content=text) for path, text in wide.items()]
    project.planned(
        rule("coder", "code", [*writes, move, wire("finish", summary="x")]),
        loop={"max_rejections": 1},
    )
    project.swarm("run", exits=1)
    first = project.events(ev.AttemptRejected)[0]
    assert first.stage == "scope"
    assert "3 files outside" in first.reason
    assert project.git("rev-list", "--count", "main..HEAD") == "0"
    notes = [event.note for event in project.events(ev.GuardActed) if event.note.rule == "scope"]
    assert notes[0].effect is Effect.REJECTED


@case("files", "the architect declares a scope outside, in `.git`, or of another task", "the delegation is refused")
async def test_scope_of_others(scene: Scene) -> None:
    heard = await scene.delegating(
        call("declare_scope", files=["../outside.txt"]),
        call("declare_scope", files=[".git/config"]),
        call("declare_scope", files=["src/app.py"]),
        call("declare_scope", files=["docs/guide.md"]),
        call("declare_scope", files=["src/app.py", "tests/test_app.py"]),
    )
    assert ["Refused" in told for told in heard] == [True, True, False, True, False], heard
    assert "belongs to task 1.3" in heard[3]


@pytest.mark.slow
@case("files", "a coder of many files declares none and claims that all was needed", "what counts is the diff, by git")
def test_scope_is_measured(project: Project) -> None:
    files = {f"src/calc/part_{name}.py": part(name) for name in ("1.1", "a", "b", "c")}
    project.planned(code(files), scope={"enforce": "warn"})
    project.swarm("run", exits=3)
    (captured,) = project.events(ev.ChangeCaptured)
    assert captured.outside == ("src/calc/part_a.py", "src/calc/part_b.py", "src/calc/part_c.py")
    assert "Scope violation" in project.briefs("architect", "close_phase")[0]


@pytest.mark.slow
@case(
    "files",
    "a command makes 6,000 files, in `build/` and as tests of a declared file, which a scope lets in by their names",
    "what goes without saying has a number: 500; the attempt is rejected, by git's diff",
)
@pytest.mark.suite("unittest")
@pytest.mark.parametrize("place", ["more/{0}.txt", "build/{0}.txt", "tests/{0}/test_part_1.1.py"])
def test_scope_has_a_number(project: Project, place: str) -> None:
    path = place.format("%d")
    made = (
        f"import os\nfor n in range(600):\n    p = {path!r} % n\n    os.makedirs(os.path.dirname(p), exist_ok=True)\n"
    )
    made += "    open(p, 'w').close()\n"
    project.write("tools/make.py", made)
    project.git("add", "--all")
    project.git("commit", "-qm", "tools")
    writes = [wire("write_file", path="src/calc/part_1.1.py", content=part("1.1"))]
    flood = wire("run_command", command=f"{sys.executable} tools/make.py")
    project.planned(
        rule("coder", "code", [*writes, flood, wire("finish", summary="x")]),
        rule("architect", "implement", [wire("finish", summary="all of it is needed")]),
        loop={"max_rejections": 1},
    )
    project.swarm("run", exits=1)
    assert {event.stage for event in project.events(ev.AttemptRejected)} == {"scope"}
    assert "600 files outside" in project.events(ev.AttemptRejected)[0].reason
    assert project.git("rev-list", "--count", "main..HEAD") == "0"


@pytest.mark.slow
@pytest.mark.suite("unittest")
def test_what_a_task_needs_besides_is_no_trespass(project: Project) -> None:
    """The honest twin: a lock file with its manifest, a package's `__init__.py`, a test by name, two more files."""
    project.write("web/package.json", "{}\n")
    project.git("add", "--all")
    project.git("commit", "-qm", "web")
    files = {
        "src/calc/new/deep/part.py": part("1.1"),
        "src/calc/new/__init__.py": "",
        "src/calc/new/deep/__init__.py": "",
        "tests/test_part.py": "",
        "web/package.json": '{"private": true}\n',
        "web/package-lock.json": "{}\n",
        "notes_a.md": "# a\n",
    }
    project.planned(code(files), delegate(scope=("src/calc/new/deep/part.py",)))
    project.swarm("run", exits=3)
    (captured,) = project.events(ev.ChangeCaptured)
    assert captured.outside == ("notes_a.md", "web/package.json")
    assert project.state.task("1.1").status.value == "complete"

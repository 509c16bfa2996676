"""Which changed files nobody approves unseen, and in which order a change is shown."""

from __future__ import annotations

import pytest
from tests.misbehaviour.case import case
from tests.project import Project, call, code, part, rule, verdict

from swarmgate.domain.events import event as ev
from swarmgate.domain.review.change import ChangedFile, ChangeKind
from swarmgate.engine.steps.review.change_for_review import must_see


@pytest.mark.parametrize(
    "path",
    [
        "src/a.py", "docs/conf.py", "README.md.py", "vendor/x_pb2.py", "dist/a.min.js", "a.unknown", "bin/run",
        "Makefile", "docs/guide.mdx", "templates/x.html", ".github/workflows/ci.yml", "web/package.json", "setup.cfg",
        ".gitattributes", "requirements-dev.txt", "Dockerfile.prod", "notes.ipynb", "schema.sql", "infra/main.tf",
    ],
)  # fmt: skip
def test_what_runs_has_to_be_seen(path: str) -> None:
    assert must_see(ChangedFile(path=path, kind=ChangeKind.MODIFIED, old_mode="100644", new_mode="100644"))


@pytest.mark.parametrize(
    "path",
    ["README.md", "docs/notes.txt", "uv.lock", "web/package-lock.json", "go.sum", "tests/data/big.json", "i18n/de.po",
     "tests/cassettes/a.yaml", "logo.png", "data/rows.csv"],
)  # fmt: skip
def test_prose_data_and_lock_files_need_not_be(path: str) -> None:
    assert not must_see(ChangedFile(path=path, kind=ChangeKind.ADDED, new_mode="100644"))


def test_a_mode_makes_a_program_and_a_file_that_is_gone_runs_no_more() -> None:
    assert must_see(ChangedFile(path="notes.txt", kind=ChangeKind.ADDED, new_mode="100755"))
    assert must_see(ChangedFile(path="notes.txt", kind=ChangeKind.TYPE_CHANGED, old_mode="100644", new_mode="120000"))
    assert not must_see(ChangedFile(path="src/a.py", kind=ChangeKind.DELETED, old_mode="100644"))


PADDING = {"a_notes.txt": "".join(f"pad {number}\n" for number in range(6000)), "src/calc/part_1.1.py": part("1.1")}


@pytest.mark.slow
@case(
    "lies",
    "6,000 lines of text, named to stand first, hide the code from the reviewer",
    "code comes first in the brief",
)
@pytest.mark.suite("unittest")
def test_code_comes_before_padding_whatever_the_names_are(project: Project) -> None:
    project.planned(code(PADDING))
    project.swarm("run", exits=3)
    for role, step in (("reviewer", "review"), ("test_engineer", "test")):
        (brief,) = project.briefs(role, step)
        change = brief.partition("## The change\n")[2]
        assert change.index('+VALUE = "1.1"') < change.index("+pad")


@pytest.mark.slow
@case(
    "lies", "`*.py binary` in `.gitattributes` hides the code", "what is text is shown as text, whatever it is called"
)
@pytest.mark.suite("unittest")
def test_an_attribute_hides_no_code(project: Project) -> None:
    project.planned(code({".gitattributes": "*.py binary\n", "src/calc/part_1.1.py": part("1.1")}))
    project.swarm("run", exits=3)
    (brief,) = project.briefs("reviewer", "review")
    assert '+VALUE = "1.1"' in brief
    assert "GIT binary patch" not in brief


LONG = {"src/calc/part_1.1.py": part("1.1") + "".join(f"\nvalue_{n} = {n}\n" for n in range(9000))}


@pytest.mark.slow
@case(
    "lies",
    "the reviewer approves code of which it was shown the beginning only",
    "asked again with what it has not seen; after that it is not believed, and the task waits for the user",
)
@pytest.mark.suite("unittest")
def test_a_reviewer_that_looks_at_nothing_is_not_believed(project: Project) -> None:
    project.planned(
        code(LONG),
        rule("reviewer", "review", [verdict()]),
        roles__reviewer={"model": "local/r", "context_tokens": 16_000},
        gates={"skip": ["sast_scan", "quality_budget"]},
    )
    project.swarm("run", exits=1)
    (rejected,) = project.events(ev.AttemptRejected)
    assert rejected.stage == "breaker: replies"
    assert "not all of its code was shown to you" in rejected.reason
    assert len(rejected.reason) < 3000
    assert project.state.task("1.1").status.value == "blocked"
    assert project.git("rev-list", "--count", "main..HEAD") == "0"


@pytest.mark.slow
@pytest.mark.suite("unittest")
def test_a_reviewer_that_reads_on_approves_a_change_that_no_window_holds(project: Project) -> None:
    reads = [[call("read_change", path="src/calc/part_1.1.py", part=n)] for n in range(1, 13)]
    project.planned(
        code(LONG),
        rule("reviewer", "review", *reads, [verdict()]),
        roles__reviewer={"model": "local/r", "context_tokens": 32_000},
        gates={"skip": ["sast_scan", "quality_budget"]},
    )
    project.swarm("run", exits=3)
    assert project.state.task("1.1").status.value == "complete"

"""The tests of before, in their old form, over the new code: what was altered in them hides nothing."""

from __future__ import annotations

import pytest
from tests.misbehaviour.case import case
from tests.project import Project, Rule, call, code, delegate, engineer, plan, review, rule, task, verdict

from swarmgate.domain.events import event as ev
from swarmgate.domain.guard import Effect, GuardNote
from swarmgate.domain.review.evidence import TestRun
from swarmgate.domain.state.state import Attempt
from swarmgate.engine.steps.proof import old_tests

STAGE = "old tests"
SOURCE, OLD = "src/calc/sums.py", "tests/test_sums.py"
HEAD = "import sys\n\nsys.path.insert(0, 'src')\n\nfrom calc import sums\n\n\n"
TEST = f"{HEAD}def test_double() -> None:\n    assert sums.double(2) == 4\n"
RIGHT = '"""Sums."""\n\n\ndef double(n: int) -> int:\n    return n * 2\n'
WRONG = RIGHT.replace("n * 2", "n * 3")
TRIPLE = f"{RIGHT}\n\ndef triple(n: int) -> int:\n    return n * 3\n"
NEW = f"{HEAD}def test_triple() -> None:\n    assert sums.triple(2) == 6\n"
EMPTIED = f"{HEAD}def test_double() -> None:\n    assert True\n"
ONE_TRY = {"max_rejections": 1}
SKIPPED = {"skip": ["sast_scan", "lint_check", "lint_fix", "quality_budget", "test_integrity"]}


@pytest.fixture
def sums(project: Project) -> Project:
    """With a module and its test."""
    project.write(SOURCE, RIGHT)
    project.write(OLD, TEST)
    project.git("add", "--all")
    project.git("commit", "--quiet", "--message=sums")
    return project


def attempts(project: Project) -> tuple[Attempt, ...]:
    return project.state.task("1.1").attempts


def notes(project: Project, rule_name: str) -> list[GuardNote]:
    return [event.note for event in project.events(ev.GuardActed) if event.note.rule == rule_name]


def broken(*, triple: bool = True) -> dict[str, str]:
    """A change that breaks what was there."""
    return {SOURCE: TRIPLE.replace("n * 2", "n + 3") if triple else WRONG, OLD: EMPTIED, "tests/test_new.py": NEW}


def handing_in(files: dict[str, str], **more: object) -> tuple[Rule, ...]:
    """The coder writes these files, the test engineer names the new test."""
    named = [verdict(criteria=[{"criterion": "1", "tests": ["test_triple"]}])]
    return (
        plan(task("1.1", files=list(files), **more)),
        delegate(scope=tuple(files)),
        code(files),
        rule("test_engineer", "test", named),
    )


@pytest.mark.slow
@case(
    "lies",
    "the coder breaks what was there, and empties the old test to `assert True`; or a new conftest.py or test file "
    "replaces what the old test looks at",
    "the tests of before are run in their old form, without the new ones: rejected, `old tests`",
)
@pytest.mark.parametrize(
    "hides",
    [
        {OLD: EMPTIED},
        {
            "tests/conftest.py": "import pytest\n\n\n@pytest.fixture(autouse=True)\n"
            "def _own(monkeypatch) -> None:\n"
            "    import sys\n\n    sys.path.insert(0, 'src')\n    from calc import sums\n\n"
            "    monkeypatch.setattr(sums, 'double', lambda n: n * 2)\n"
        },
        {
            "tests/test_new.py": NEW.replace("\n\n\ndef", "\n\nsums.double = lambda n: n * 2\n\n\ndef", 1),
        },
    ],
)
def test_what_hides_from_old_tests_is_found(sums: Project, hides: dict[str, str]) -> None:
    files = {k: v for k, v in broken().items() if k != OLD} | hides
    sums.planned(*handing_in(files), loop=ONE_TRY, gates=SKIPPED, review={"tests": False})
    sums.swarm("run", exits=1)
    first = attempts(sums)[0]
    assert first.stage == STAGE, (first.stage, first.reason)
    assert first.reason.endswith(f"fail in their old form: {OLD}::test_double")
    assert "Kind: breaking" in first.feedback[0].suggestion
    assert first.proof is not None
    assert first.proof.outdated == (f"{OLD}::test_double",)
    assert "[tests] altered" in sums.swarm("show", "1.1").stdout


@pytest.mark.slow
def test_the_user_may_pass_it(sums: Project) -> None:
    sums.planned(*handing_in(broken()), loop=ONE_TRY, gates=SKIPPED, review={"tests": False})
    sums.swarm("run", exits=1)
    sums.swarm("override", "1.1", "--reason", "IT ADDS NOW")
    sums.swarm("run", exits=3)
    assert attempts(sums)[-1].outcome == "COMPLETE"


@pytest.mark.slow
def test_the_plan_may_say_that_what_is_expected_changes(sums: Project) -> None:
    sums.planned(*handing_in(broken(), kind="breaking"), gates=SKIPPED, review={"tests": False})
    assert "  - Kind: breaking\n" in sums.plan_md
    sums.swarm("run", exits=3)
    assert attempts(sums)[-1].outcome == "COMPLETE"
    (note,) = notes(sums, STAGE.replace(" ", "-"))
    assert (note.effect, note.detail) == (
        Effect.WARNED,
        f"the plan lets these tests of before fail: {OLD}::test_double",
    )


@pytest.mark.slow
def test_a_module_that_is_renamed_is_passed_by_the_plan(sums: Project) -> None:
    """What cannot be collected any more goes by its file, which the plan names."""
    moved = {"src/calc/totals.py": RIGHT, OLD: TEST.replace("sums", "totals")}
    writes = [call("write_file", path=path, content=text) for path, text in moved.items()]
    named = [verdict(criteria=[{"criterion": "1", "tests": ["test_double"]}])]
    sums.planned(
        plan(task("1.1", files=[SOURCE, *moved], kind="breaking")),
        delegate(scope=(SOURCE, *moved)),
        rule("coder", "code", [call("delete_file", path=SOURCE), *writes, call("finish", summary="moved")]),
        rule("test_engineer", "test", named),
        gates=SKIPPED,
        tests={"unproven": "block"},
        loop=ONE_TRY,
    )
    sums.swarm("run", exits=3)
    assert [each.outcome for each in attempts(sums)] == ["COMPLETE"]
    (note,) = notes(sums, "old-tests")
    assert note.detail == f"the plan lets these tests of before fail: {OLD}"


READS = f"{HEAD}def test_double() -> None:\n    assert sums.double(2) == int(open('expected/double.txt').read())\n"


@pytest.mark.slow
@case(
    "lies",
    "the coder breaks what was there, and writes the wrong result into the file of expected results beside the tests",
    "what tests expect is of the tests, by its name, wherever it lies: rejected, `old tests`",
)
def test_what_tests_expect_is_as_it_was(sums: Project) -> None:
    sums.write(OLD, READS)
    sums.write("expected/double.txt", "4\n")
    sums.git("add", "--all")
    sums.git("commit", "--quiet", "--message=expected")
    files = {SOURCE: TRIPLE.replace("n * 2", "n + 3"), "expected/double.txt": "5\n", "tests/test_new.py": NEW}
    sums.planned(*handing_in(files), loop=ONE_TRY, gates=SKIPPED, review={"tests": False})
    sums.swarm("run", exits=1)
    assert (attempts(sums)[0].stage, f"{OLD}::test_double" in str(attempts(sums)[0].reason)) == (STAGE, True)


@pytest.mark.slow
def test_a_new_result_that_is_expected_beside_the_others_is_ordinary_work(sums: Project) -> None:
    reads = NEW.replace("== 6", "== int(open('expected/triple.txt').read())")
    files = {SOURCE: TRIPLE, "expected/triple.txt": "6\n", "tests/test_new.py": reads}
    sums.planned(*handing_in(files), gates=SKIPPED, tests={"unproven": "block"}, loop=ONE_TRY)
    sums.swarm("run", exits=3)
    assert [each.outcome for each in attempts(sums)] == ["COMPLETE"]


@pytest.mark.slow
def test_tests_that_are_altered_and_pass_as_they_were_are_ordinary_work(sums: Project) -> None:
    other = TEST.replace("sums.double(2) == 4", "[sums.double(n) for n in (0, 2)] == [0, 4]")
    sums.planned(
        *handing_in({SOURCE: TRIPLE, OLD: other, "tests/test_new.py": NEW}),
        gates=SKIPPED,
        tests={"unproven": "block"},
    )
    sums.swarm("run", exits=3)
    assert [each.outcome for each in attempts(sums)] == ["COMPLETE"]
    assert not notes(sums, "old-tests")
    assert not notes(sums, "tests-can-fail")


@pytest.mark.slow
def test_a_setting_notes_it_only(sums: Project) -> None:
    sums.planned(*handing_in(broken()), gates=SKIPPED, tests={"altered": "warn"}, review={"tests": False})
    sums.swarm("run", exits=3)
    assert attempts(sums)[-1].outcome == "COMPLETE"
    assert [note.effect for note in notes(sums, "old-tests")] == [Effect.WARNED]


@pytest.mark.slow
def test_a_test_that_failed_before_counts_for_nothing(sums: Project) -> None:
    sums.write("tests/test_red.py", "def test_red() -> None:\n    assert False\n")
    sums.git("add", "--all")
    sums.git("commit", "--quiet", "--message=red")
    mended = {"tests/test_red.py": "def test_red() -> None:\n    assert 1 + 1 == 2\n"}
    sums.planned(*handing_in({SOURCE: TRIPLE, "tests/test_new.py": NEW, **mended}), gates=SKIPPED)
    sums.swarm("run", exits=3)
    assert attempts(sums)[-1].outcome == "COMPLETE"
    assert not notes(sums, "old-tests")


def ran(exit_code: int | None, passed: int, *failures: str, problem: str = "") -> TestRun:
    counts = {"passed": passed, "failed": len(failures), "failures": failures}
    return TestRun(command="pytest", exit_code=exit_code, problem=problem, **counts)


RED = ran(1, 3, "red")


@pytest.mark.parametrize(
    ("run", "base", "found"),
    [
        (ran(1, 3, "red"), RED, ()),
        (ran(1, 2, "red", "new"), RED, ("new",)),
        (ran(1, 2, "red"), RED, ()),  # fewer cases of a test that takes them from the code
        (ran(-11, 1, "red"), RED, ("1 of 2 tests failed: red",)),
        (ran(3, 0), RED, ("no test ran (`pytest`, exit code 3): no output",)),
        (ran(None, 0, problem="the tests did not end"), RED, ("the tests did not end",)),
        (ran(1, 1, "red", problem="it never ended"), RED, ("it never ended",)),
        (ran(3, 0), ran(0, 3), ("no test ran (`pytest`, exit code 3): no output",)),
        (ran(3, 0), ran(3, 0), ()),
    ],
)
def test_a_red_test_of_before_hides_no_run_that_ends_early(run: TestRun, base: TestRun, found: tuple[str, ...]) -> None:
    assert old_tests._newly_failing(run, base) == found


@pytest.mark.slow
def test_code_that_ends_the_old_tests_is_found_where_one_of_them_was_red(sums: Project) -> None:
    sums.write("tests/test_red.py", "def test_red() -> None:\n    assert False\n")
    sums.git("add", "--all")
    sums.git("commit", "--quiet", "--message=red")
    ends = TRIPLE.replace("    return n * 2", "    raise SystemExit(3) if n == 1 else __import__('os')._exit(3)")
    mended = {"tests/test_red.py": "def test_red() -> None:\n    assert 1 + 1 == 2\n"}
    sums.planned(
        *handing_in({SOURCE: ends, OLD: EMPTIED, "tests/test_new.py": NEW, **mended}),
        loop=ONE_TRY,
        gates=SKIPPED,
        review={"tests": False},
        tests={"unproven": "off"},
    )
    sums.swarm("run", exits=1)
    assert attempts(sums)[0].stage == STAGE, attempts(sums)[0].reason


@pytest.mark.slow
@case(
    "lies",
    "the criterion is mapped to an unrelated old test, or the test engineer writes nothing and says that all pass",
    "behaviour that no new test shows: rejected, `unproven`, until a test fails without it",
)
def test_behaviour_that_no_test_shows_is_rejected_and_shown_is_taken(sums: Project) -> None:
    files = {SOURCE: TRIPLE}
    mapped = [{"criterion": "1", "tests": ["test_triple"]}]
    sums.planned(
        plan(task("1.1", files=[SOURCE, "tests/test_new.py"])),
        delegate(scope=(SOURCE,)),
        code(files),
        engineer(attempt="1"),
        rule(
            "test_engineer",
            "test",
            [call("write_file", path="tests/test_new.py", content=NEW), verdict(criteria=mapped)],
            attempt="2",
        ),
        gates=SKIPPED,
        tests={"unproven": "block"},
    )
    sums.swarm("run", exits=3)
    first, second = attempts(sums)
    assert (first.stage, second.outcome) == ("unproven", "COMPLETE")
    assert "brings no new test" in first.reason
    assert second.proof is not None
    assert (second.proof.able, second.second_review is not None) == (True, True)
    assert "Written since your review" in sums.briefs("reviewer", "review", attempt="2")[1]
    assert sums.json("verify")["passed"]


@pytest.mark.slow
def test_the_user_may_vouch_for_what_no_test_shows(sums: Project) -> None:
    sums.planned(
        plan(task("1.1", files=[SOURCE])),
        code({SOURCE: TRIPLE}),
        loop=ONE_TRY,
        gates=SKIPPED,
        tests={"unproven": "block"},
    )
    sums.swarm("run", exits=1)
    assert attempts(sums)[-1].stage == "unproven"
    assert "Kind: refactoring" in sums.swarm("show", "1.1").stdout
    sums.swarm("override", "1.1", "--reason", "I TRIED IT")
    sums.swarm("run", exits=3)
    assert attempts(sums)[-1].outcome == "COMPLETE"


@pytest.mark.slow
def test_a_refactoring_needs_no_new_test(sums: Project) -> None:
    split = RIGHT.replace("n * 2", "times(n, 2)") + "\n\ndef times(n: int, by: int) -> int:\n    return n * by\n"
    sums.planned(
        plan(task("1.1", files=[SOURCE], kind="refactoring")),
        code({SOURCE: split}),
        engineer(),
        gates=SKIPPED,
        tests={"unproven": "block"},
    )
    sums.swarm("run", exits=3)
    (attempt,) = attempts(sums)
    assert attempt.outcome == "COMPLETE"
    assert attempt.proof is not None
    assert (attempt.proof.tests, attempt.proof.unrun) == ((), ())
    assert "the tests of before pass, and run what was changed" in sums.swarm("show", "1.1").stdout


@pytest.mark.slow
@case(
    "lies",
    "the test engineer, after the review, writes a test that imitates what it should test",
    "the reviewer sees its files in a second look: rejected, `reviewer`",
)
def test_the_reviewer_sees_what_the_test_engineer_wrote(sums: Project) -> None:
    mapped = [{"criterion": "1", "tests": ["test_triple"]}]
    sums.planned(
        plan(task("1.1", files=[SOURCE, "tests/test_new.py"])),
        code({SOURCE: TRIPLE}),
        rule(
            "test_engineer",
            "test",
            [call("write_file", path="tests/test_new.py", content=NEW), verdict(criteria=mapped)],
        ),
        review("REJECTED", "test_triple imitates triple", contains="def test_triple"),
        loop=ONE_TRY,
        gates=SKIPPED,
    )
    sums.swarm("run", exits=1)
    first = attempts(sums)[0]
    assert (first.stage, first.reason) == ("reviewer", "test_triple imitates triple")
    assert not sums.events(ev.TestsRun)
    seen = sums.briefs("reviewer", "review", attempt="1")
    assert len(seen) == 2
    assert "assert sums.triple(2) == 6" in seen[1]
    assert "def test_triple" not in seen[0]

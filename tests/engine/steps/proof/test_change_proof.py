"""Tests that come with a change must be able to fail, and those that are named must have run."""

from __future__ import annotations

import json

import pytest
from tests.misbehaviour.case import case
from tests.project import Project, call, code, delegate, engineer, rule, verdict

from swarmgate.domain.events import event as ev
from swarmgate.domain.guard import Effect, GuardNote
from swarmgate.domain.review.evidence import TestRun
from swarmgate.domain.state.state import Attempt
from swarmgate.engine.steps.proof.new_tests import fails

SOURCE = "src/calc/part_1.1.py"
TEST = "tests/test_part.py"
EMPTY = {TEST: "def test_part() -> None:\n    assert 1 + 1 == 2\n"}
REAL = {TEST: f"from pathlib import Path\n\n\ndef test_part() -> None:\n    assert Path('{SOURCE}').is_file()\n"}
ONE_TRY = {"max_rejections": 1}


def attempts(project: Project) -> tuple[Attempt, ...]:
    return project.state.task("1.1").attempts


def notes(project: Project, rule_name: str) -> list[GuardNote]:
    return [event.note for event in project.events(ev.GuardActed) if event.note.rule == rule_name]


def naming(*tests: str, files: dict[str, str] | None = None, **match: str) -> dict[str, object]:
    """The test engineer, who maps the criterion to these tests."""
    writes = [call("write_file", path=path, content=text) for path, text in (files or {}).items()]
    mapped = [{"criterion": "1", "tests": list(tests)}]
    return rule("test_engineer", "test", [*writes, verdict(criteria=mapped)], **match)


@pytest.mark.slow
@case(
    "lies",
    "tests that cannot fail: `assert 1 + 1 == 2` for the new feature",
    "they are run without the change as well: rejected, `tests prove nothing`",
)
def test_tests_that_pass_without_the_change_are_refused_and_better_ones_taken(project: Project) -> None:
    project.planned(engineer(EMPTY, attempt="1"), engineer(REAL, attempt="2"))
    project.swarm("run", exits=3)
    first, second = attempts(project)
    assert (first.stage, first.outcome, second.outcome) == ("tests prove nothing", "REJECTED", "COMPLETE")
    assert first.reason == f"the new tests pass without the change as well, so they prove nothing: {TEST}"
    assert "1 passed" in first.feedback[0].message
    assert first.proof is not None
    assert not first.proof.able
    assert second.proof is not None
    assert second.proof.run.failures == ("tests/test_part.py::test_part",)
    assert "they prove nothing" in project.briefs("test_engineer", "test", attempt="2")[0]
    kept = json.loads((project.folder.evidence / "1.1/attempt-2/tests-before.json").read_text())
    assert kept["run"]["names"] == ["tests/test_part.py::test_part"]
    shown = project.swarm("show", "1.1").stdout
    assert f"none: {TEST} passes without the change as well" in shown
    assert "without the change, it fails: tests/test_part.py::test_part" in shown
    assert project.json("verify")["passed"]


SOWS = """from pathlib import Path

here = Path.cwd()


def test_part() -> None:
    {lie}
    [each.unlink() for each in here.iterdir() if each.is_file() and each.name[0] == "." and len(each.name) > 12]
    assert 1 + 1 == 2
"""


@pytest.mark.slow
@case(
    "lies",
    "under Landlock, tests take away or forge what Pythons say of the code that they imported",
    "where the runner took a canary, and the project is out of sight, it is no doubt: rejected, `tests prove nothing`",
)
@pytest.mark.parametrize(
    "lie",
    [
        'Path(f"{here.parent}/seen").rename(f"{here.parent}/gone")',
        'Path(f"{here.parent}/seen/1").write_text("PROJECT/src/calc/x.py")',
    ],
)
def test_tests_that_sow_doubt_of_what_ran_prove_nothing(project: Project, lie: str) -> None:
    text = SOWS.format(lie=lie.replace("PROJECT", str(project.root)))
    project.planned(engineer({TEST: text}), commands={"sandbox": "landlock"}, loop=ONE_TRY)
    project.swarm("run", exits=1)
    first = attempts(project)[0]
    assert first.stage == "tests prove nothing", first.reason


@pytest.mark.slow
def test_a_warning_stands_on_record_and_an_override_passes(project: Project) -> None:
    project.planned(engineer(EMPTY), tests={"must_fail": "warn"})
    project.swarm("run", exits=3)
    assert attempts(project)[0].proof is None
    (note,) = notes(project, "tests-can-fail")
    assert (note.effect, note.attempt) == (Effect.WARNED, 1)
    assert "prove nothing" in note.detail


@pytest.mark.slow
def test_the_user_may_overrule_it(project: Project) -> None:
    project.planned(engineer(EMPTY), loop=ONE_TRY)
    project.swarm("run", exits=1)
    assert attempts(project)[-1].stage == "tests prove nothing"
    project.swarm("override", "1.1", "--reason", "A REFACTORING")
    project.swarm("run", exits=3)
    assert attempts(project)[-1].outcome == "COMPLETE"


@pytest.mark.slow
def test_comments_and_documents_need_no_proof(project: Project) -> None:
    files = {"src/calc/__init__.py": '"""Other words."""\n\n# and a comment\n', "docs/a.md": "# A\n", **EMPTY}
    project.planned(code(files), delegate(scope=tuple(files)))
    project.swarm("run", exits=3)
    assert attempts(project)[0].proof is None
    assert len(attempts(project)) == 1


@pytest.mark.slow
@case(
    "lies",
    "a test that looks for the place of a copy, to fail there alone",
    "what decides runs in a checkout like any other: there is no copy to tell apart, and the test proves nothing",
)
def test_there_is_no_copy_to_look_for(project: Project) -> None:
    needs_place = {TEST: "def test_part() -> None:\n    assert 'swarmgate-copy-' not in __file__\n"}
    project.planned(engineer(needs_place), tests={"unproven": "block"}, loop=ONE_TRY)
    project.swarm("run", exits=1)
    first = attempts(project)[0]
    assert first.stage == "tests prove nothing"


@pytest.mark.slow
def test_what_no_test_shows_may_be_noted_only(project: Project) -> None:
    project.planned(naming("test_start"), tests={"unproven": "warn"})
    project.swarm("run", exits=3)
    assert attempts(project)[0].outcome == "COMPLETE"
    (note,) = notes(project, "tests-can-fail")
    assert (note.effect, note.attempt) == (Effect.WARNED, 1)
    assert note.detail.startswith("the change alters behaviour and brings no new test:")
    assert "brings no new test" in project.swarm("show", "1.1").stdout


@pytest.mark.slow
def test_a_criterion_that_names_a_whole_file_is_warned_of(project: Project) -> None:
    project.planned(naming("all tests in tests/test_calc.py"))
    project.swarm("run", exits=3)
    (note,) = notes(project, "criteria")
    assert (note.effect, attempts(project)[0].outcome) == (Effect.WARNED, "COMPLETE")
    assert note.detail.startswith("criterion 1 names all tests in tests/test_calc.py: any test there would do")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("named", "reason"),
    [
        ("tests/test_calc.py::test_gone", "criterion 1 names tests/test_calc.py::test_gone, which does not exist"),
        ("test_later", "criterion 1 names test_later, which was skipped"),
    ],
)
@case(
    "lies",
    "a criterion mapped to a test that does not exist, or that is skipped",
    "compared with what the runner reports of each test: rejected, `test_engineer`",
)
def test_a_named_test_that_is_not_there_or_did_not_run_rejects(project: Project, named: str, reason: str) -> None:
    skipped = f"import pytest\n\n\n@pytest.mark.skip\ndef test_later() -> None:\n    assert True\n\n\n{REAL[TEST]}"
    ordered = skipped.replace("\n\n\nfrom pathlib import Path", "").replace(
        "import pytest", "from pathlib import Path\n\nimport pytest"
    )
    project.planned(naming(named, files={TEST: ordered}, attempt="1"), naming("test_part", files=REAL, attempt="2"))
    project.swarm("run", exits=3)
    first, second = attempts(project)
    assert (first.stage, first.reason) == ("test_engineer", reason)
    assert second.outcome == "COMPLETE"
    assert not project.events(ev.TestsRun)[0].passed


@pytest.mark.slow
def test_a_criterion_without_a_test_is_noted_where_the_settings_say_so(project: Project) -> None:
    unmapped = rule("test_engineer", "test", [verdict(criteria=[])], [verdict(criteria=[])])
    project.planned(unmapped, loop=ONE_TRY)
    project.swarm("run", exits=3)
    (note,) = notes(project, "criteria")
    assert note.detail == "criterion 1 has no test: part 1.1 has a value"


@pytest.mark.slow
@case(
    "lies",
    "APPROVED with a criterion that no test covers",
    "asked for once; then rejected where the change alters behaviour (`unmapped`)",
)
def test_a_criterion_without_a_test_blocks_new_behaviour(project: Project) -> None:
    unmapped = rule("test_engineer", "test", [verdict(criteria=[])], [verdict(criteria=[])])
    project.planned(unmapped, loop=ONE_TRY, tests={"unmapped": "auto"})
    project.swarm("run", exits=1)
    assert attempts(project)[0].reason == "criterion 1 has no test: part 1.1 has a value"


LOGIC = """def grade(points: int) -> str:
    return "good" if points > 10 else "bad"
"""
WEAK = (
    "import sys\n\nsys.path.insert(0, 'src')\n\nfrom calc import logic\n\n\n"
    "def test_part() -> None:\n    assert logic.grade(50) == 'good'\n"
)
STRONG = WEAK + "    assert [logic.grade(n) for n in (10, 11, -1)] == ['bad', 'good', 'bad']\n"


@pytest.mark.slow
@case(
    "lies",
    "tests that run the code and hardly look at what it gives",
    "with `[tests] mutation`: too few mutants are noticed, rejected by `mutation`",
)
def test_tests_that_notice_too_few_mutants_are_refused(project: Project) -> None:
    files = {"src/calc/logic.py": LOGIC}
    project.planned(
        code(files),
        delegate(scope=tuple(files)),
        naming("test_part", files={TEST: WEAK}, attempt="1"),
        naming("test_part", files={TEST: STRONG}, attempt="2"),
        tests={"mutation": True, "min_kill_rate": 0.9},
        gates={"skip": ["sast_scan", "lint_check", "lint_fix", "quality_budget"]},
    )
    project.swarm("run", exits=3)
    first, second = attempts(project)
    assert (first.stage, second.outcome) == ("mutation", "COMPLETE")
    assert first.reason.startswith("the tests noticed ")
    assert any("points" in remark.message and remark.file == "src/calc/logic.py" for remark in first.feedback)
    assert "fewer than 90%" in first.reason
    (note,) = notes(project, "mutation")
    assert "the tests noticed" in note.detail
    assert first.mutants
    assert second.mutants
    assert first.mutants.rate < 0.9 <= second.mutants.rate
    told = f"mutants: {second.mutants.text}"
    assert told in project.swarm("show", "1.1").stdout
    assert told in project.swarm("evidence", "summary").stdout
    assert told in f"mutants: {project.json('status')['checkpoint']['tasks'][0]['mutants']}"
    assert told in project.json("report")["record"]["tasks"][0]["proof"]
    assert (project.root / "src/calc/logic.py").read_text() == LOGIC
    assert (project.folder.evidence / "1.1/attempt-2/mutation.json").is_file()


@pytest.mark.slow
@case(
    "lies",
    "tests put a link to a file of the user's in the place of a mutant",
    "each mutant has a checkout of its own: nothing is written where tests were before",
)
def test_a_link_in_the_place_of_a_mutant_leads_nowhere(project: Project) -> None:
    users, source = project.root.parent / "profile", "src/calc/logic.py"
    users.write_text("the user's\n")
    leaves = (
        f"\nfrom pathlib import Path\n\nplace = Path({source!r})\nif place.read_text() != {LOGIC!r}:\n"
        f"    place.unlink()\n    place.symlink_to({str(users)!r})\n"
    )
    project.planned(
        code({source: LOGIC}),
        delegate(scope=(source,)),
        naming("test_part", files={TEST: STRONG + leaves}),
        tests={"mutation": True, "min_kill_rate": 0.5, "must_fail": "off", "unproven": "off"},
        gates={"skip": ["sast_scan", "lint_check", "lint_fix", "quality_budget"]},
    )
    project.swarm("run", exits=3)
    assert users.read_text() == "the user's\n"
    (note,) = notes(project, "mutation")
    assert "the tests noticed" in note.detail


def test_mutation_without_its_library_ends_with_6(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.planned(tests={"mutation": True})
    monkeypatch.setattr("swarmgate.workspace.code.mutants.PACKAGE", "no_such_package_here")
    told = project.swarm("run", exits=6).stderr
    assert "pip install cosmic-ray" in told


def test_what_counts_as_a_failure() -> None:
    def run(exit_code: int | None, **counts: int) -> TestRun:
        return TestRun(command="pytest", exit_code=exit_code, **counts)

    assert fails(run(1, passed=1, failed=1), "pytest")
    assert fails(run(None), "pytest")
    assert fails(run(4), "pytest")
    assert fails(run(101), "cargo")
    assert fails(run(5), "cargo")
    assert not fails(run(0, passed=3), "pytest")
    assert not fails(run(0, passed=0, skipped=2), "pytest")
    assert not fails(run(5), "pytest")

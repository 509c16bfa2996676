"""`swarm failures`: which rejections meet, and what they point at."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from tests.domain.story import PLAN, entries, make_plan, make_task
from tests.project import Project, plan, review

from swarmgate import assets
from swarmgate.domain.events import event as ev
from swarmgate.domain.review.evidence import Remark, Review, Verdict
from swarmgate.domain.review.finding import Severity
from swarmgate.engine.reports.failures import FailureGroup, failure_groups
from swarmgate.engine.swarm import Swarm

TASKS = ("1.1", "1.2", "1.3")


def groups(*events: ev.Event) -> tuple[FailureGroup, ...]:
    first: list[ev.Event] = [ev.GoalSet(goal="g"), ev.PlanSaved(plan=PLAN), ev.RunStarted(pid=1, host="h")]
    return failure_groups(entries([*first, *events]), prompt=lambda role: f"prompts/{role}.md")


def rejected(task: str, stage: str, reason: str, *feedback: str) -> ev.AttemptRejected:
    remarks = tuple(Remark(severity=Severity.HIGH, message=text) for text in feedback)
    return ev.AttemptRejected(task=task, attempt=1, stage=stage, reason=reason, feedback=remarks)


def completed(*tasks: str) -> Sequence[ev.Event]:
    return [ev.TaskCompleted(task=task, attempt=2, commit="c", tree="t") for task in tasks]


def in_all(stage: str, reason: str, *feedback: str, tasks: Sequence[str] = TASKS) -> Sequence[ev.Event]:
    return [rejected(task, stage, reason, *feedback) for task in tasks]


def test_the_same_rule_meets_whatever_the_file_and_whichever_gates_stand_beside_it() -> None:
    found = groups(
        rejected("1.1", "gates: lint_check", "src/a.py:3 F401: `os` is unused", "[F401] `os` is unused"),
        rejected(
            "1.2", "gates: lint_check, diff", "src/b.py:9 F401: `re` is unused", "[F401] `re` is unused", "[S1] big"
        ),
    )
    assert [(each.stage, each.rule, each.tasks) for each in found] == [
        ("gates: lint_check", "F401", ("1.1", "1.2")),
        ("gates: lint_check, diff", "S1", ("1.2",)),
    ]
    assert found[0].texts == ("[F401] `os` is unused", "[F401] `re` is unused")
    assert found[0].advice == ""


def test_two_rules_with_the_same_message_stay_apart() -> None:
    found = groups(*(rejected("1.1", "gates: sast_scan", "x", f"[{rule}] unsafe call") for rule in ("B602", "B605")))
    assert [each.rule for each in found] == ["B602", "B605"]


def test_without_feedback_the_rule_is_read_from_the_reason() -> None:
    (group,) = groups(rejected("1.1", "gates: syntax_check", "src/a.py:3 syntax: invalid syntax"))
    assert group.rule == "syntax"


@pytest.mark.parametrize("reason", ["src/a.py:3 F401: `os` is unused", "1 new at or above medium"])
def test_what_a_gate_says_of_itself_hides_no_rule_and_is_not_counted_beside_one(reason: str) -> None:
    rules = {"F401": "`os` imported but unused", "E501": "line too long", "B006": "mutable default"}
    found = groups(
        *(
            ev.AttemptRejected(
                task="1.1",
                attempt=1,
                stage="gates: lint_check",
                reason=reason,
                feedback=(
                    Remark(severity=Severity.MEDIUM, message=f"[{rule}] {message}", file="src/a.py"),
                    Remark(severity=Severity.HIGH, message="[lint_check] 1 new at or above medium"),
                ),
            )
            for rule, message in rules.items()
        )
    )
    assert sorted((each.rule, each.count) for each in found) == [("B006", 1), ("E501", 1), ("F401", 1)]


def test_a_gate_that_told_no_finding_counts_by_what_it_says() -> None:
    (group,) = groups(rejected("1.1", "gates: build_check", "it broke", "[build_check] it broke"))
    assert group.rule == "build_check"


def test_one_rule_meets_also_where_its_message_is_all_names() -> None:
    (group,) = groups(*(rejected(task, "gates: lint_check", "x", f"[N801] `{task}` bad") for task in TASKS))
    assert group.tasks == TASKS


RAISES = """
    def test_unknown():
>       with pytest.raises(ValueError, match="{0}"):
E       KeyError: 'x is not a known {0}'
"""
NO_RAISE = """
    def test_b():
        with pytest.raises(ValueError, match="negative"):
>           f(-1)
E           Failed: DID NOT RAISE <class 'ValueError'>
"""
PLAIN = """
    except OSError as e:
        raise
    assert x() == 3
E       assert 4 == 3
FAILED tests/test_a.py::test_x - assert 4 == 3
"""
UNITTEST = """
  File "a.py", line 3, in f
    raise ValueError("a " + b)
ValueError: the count must not be negative
"""


@pytest.mark.parametrize(
    ("output", "message"),
    [
        (RAISES.format("unit"), "keyerror: 'x is not known unit'"),
        (NO_RAISE, "failed: did not raise <class X>"),
        (PLAIN, "tests failed: tests/test_a.py::test_x"),
        (UNITTEST, "valueerror: count must not be negative"),
        ("FAILED tests/test_a.py::test_x - TypeError: it takes no argument", "typeerror: it takes no argument"),
        ("● a test\n    TypeError: it is not a function\n> 3 | throw new Error('x')", "typeerror: it is not function"),
        ("src/main.rs:3:5: error[E0425]: no such value in scope", "error[e0425]: no such value in scope"),
        ("org.opentest4j.AssertionFailedError: expected 3", "tests failed: tests/test_a.py::test_x"),
    ],
)
def test_the_error_of_a_failing_test_is_what_the_runner_says_and_no_source_text(output: str, message: str) -> None:
    (group,) = groups(rejected("1.1", "tests", "1 of 3 tests failed: tests/test_a.py::test_x", output))
    assert group.message == message


def test_stages_stay_apart() -> None:
    assert len(groups(rejected("1.1", "reviewer", "no unit"), rejected("1.2", "test_engineer", "no unit"))) == 2


def test_failing_tests_meet_by_their_error_or_by_their_names() -> None:
    error = "E   ModuleNotFoundError: No module named '{}'"
    found = groups(
        rejected("1.1", "tests", "1 of 4 tests failed: tests/test_a.py::test_x", error.format("yaml")),
        rejected("1.2", "tests", "2 of 9 tests failed: tests/test_b.py::test_y", error.format("toml")),
        rejected("1.1", "tests", "1 of 4 tests failed: tests/test_a.py::test_x", "E   assert 1 == 2"),
        rejected("1.2", "tests", "1 of 7 tests failed: tests/test_a.py::test_x", "E   assert 5 == 2"),
        rejected("1.3", "tests", "1 of 7 tests failed: tests/test_c.py::test_z", "E   assert 5 == 2"),
    )
    assert sorted((each.count, each.tasks) for each in found) == [
        (1, ("1.3",)),
        (2, ("1.1", "1.2")),
        (2, ("1.1", "1.2")),
    ]


def test_attacks_that_fail_differently_stay_apart() -> None:
    why = "an adversarial test fails: {} tests failed: tests/test_{}.py::test_x"
    found = groups(
        rejected("1.1", "adversarial_tests", why.format("1 of 4", "a"), "E   assert 1 == 2"),
        rejected("1.2", "adversarial_tests", why.format("2 of 5", "a"), "E   assert 3 == 2"),
        rejected("1.3", "adversarial_tests", why.format("1 of 4", "b"), "E   assert 1 == 2"),
    )
    assert [each.tasks for each in found] == [("1.1", "1.2"), ("1.3",)]


def test_earlier_goals_and_runs_are_counted_too() -> None:
    found = groups(
        rejected("1.1", "reviewer", "no unit"),
        ev.RunStarted(pid=1, host="h"),
        rejected("1.2", "reviewer", "no unit"),
        ev.GoalSet(goal="h"),
        ev.PlanSaved(plan=PLAN),
        ev.RunStarted(pid=1, host="h"),
        rejected("1.1", "reviewer", "no unit"),
    )
    assert [(each.count, each.tasks, each.runs) for each in found] == [
        (3, ("1.1 of goal 1", "1.2 of goal 1", "1.1"), (1, 2, 3))
    ]
    assert found[0].cause


def test_a_block_counts_unless_it_only_repeats_the_rejection() -> None:
    said = rejected("1.1", "reviewer", "no unit")
    assert len(groups(said, ev.TaskBlocked(task="1.1", stage="reviewer", reason="no unit"))) == 1
    both = groups(said, ev.TaskBlocked(task="1.1", stage="trajectory: ping-pong", reason="ping-pong: again"))
    assert {each.stage for each in both} == {"reviewer", "trajectory: ping-pong"}


LINT = ("gates: lint_check", "src/a.py:3 F401: unused", "[F401] unused")


def test_a_rule_that_is_met_in_the_end_points_at_the_prompt() -> None:
    (group,) = groups(*in_all(*LINT), *completed("1.1", "1.2"))
    assert group.cause == "prompt"
    assert "2 of 3 tasks met F401" in group.advice
    assert group.sources == ("the coder's prompt: prompts/coder.md", "swarm gates explain F401")


def test_one_that_is_overruled_or_given_up_points_at_the_gate() -> None:
    overruled = ev.RejectionOverridden(task="1.1", stage="gates: lint_check", reason="no")
    (group,) = groups(*in_all(*LINT), overruled, *completed("1.1", "1.2"))
    assert group.cause == "gate"
    assert group.sources[0] == "swarm gates explain F401"


def test_an_objection_within_one_phase_points_at_the_plan_with_its_wording() -> None:
    (group,) = groups(*in_all("reviewer", "no unit"))
    assert group.cause == "plan"
    assert "phase 1" in group.advice
    assert "task 1.2 (phase 1) accepts: part 1.2 works" in group.sources


def test_one_in_several_phases_points_at_the_prompt() -> None:
    (group,) = groups(*in_all("reviewer", "no unit", tasks=("1.1", "1.2", "2.1")))
    assert group.cause == "prompt"
    assert "prompts/coder.md" in group.sources[0]


@pytest.mark.parametrize(
    ("stage", "cause", "source"),
    [
        ("tests", "tests", "[tests] command"),
        ("tests prove nothing", "prompt", "prompts/test_engineer.md"),
        ("tests switched off", "prompt", "prompts/coder.md"),
        ("breaker: tool_calls", "model", "[breakers]"),
        ("coder", "model", "[roles.coder]"),
        ("scope", "plan", "src/part_1.1.py"),
        ("trajectory: ping-pong", "plan", "part 1.1 works"),
        ("commit", "hook", ".git/hooks/"),
        ("mutation", "prompt", "prompts/test_engineer.md"),
        ("security_reviewer", "plan", "part 1.1 works"),
    ],
)
def test_every_stage_points_somewhere(stage: str, cause: str, source: str) -> None:
    (group,) = groups(*in_all(stage, "the same"))
    assert group.cause == cause
    assert any(source in each for each in group.sources)
    assert group.advice.startswith("The same failure in 3 tasks points at ")


def test_a_task_that_a_revision_took_out_of_the_plan_is_still_told() -> None:
    smaller = make_plan([make_task("1.2")])
    (group,) = groups(rejected("1.1", "reviewer", "no unit"), ev.PlanSaved(plan=smaller))
    assert group.tasks == ("1.1",)


@pytest.mark.parametrize(("role", "built_in"), [("coder", "coder.md"), ("architect", "architect")])
def test_the_prompts_of_a_role_are_a_file_or_a_folder(project: Project, role: str, built_in: str) -> None:
    told = Swarm(project.root)._prompt(role)
    assert told.startswith(f".swarm/prompts/{built_in}")
    assert str(assets.prompts() / built_in) in told
    for name in (f"{role}.md", f"{role}/plan.md"):
        project.write(f".swarm/prompts/{name}", "Mine.\n")
        assert Swarm(project.root)._prompt(role) == f".swarm/prompts/{name.partition('/')[0]}"


@pytest.mark.slow
def test_the_command_tells_it_over_goals(project: Project) -> None:
    project.planned(plan("1.1", "1.2", "2.1"), review("REJECTED", "`part` {{task}} has no unit", attempt="1"))
    project.swarm("run", exits=3)
    project.swarm("approve")
    project.swarm("run", exits=3)
    project.swarm("approve")
    project.swarm("plan", "Something else", exits=3)
    told = project.swarm("failures").stdout
    assert "3 x (reviewer) in 1.1 of goal 1, 1.2 of goal 1, 2.1 of goal 1\n" in told
    assert "    `part` 1.1 has no unit\n" in told
    assert "points at the prompt of the coder" in told
    assert ".swarm/prompts/coder.md" in told
    (group,) = project.json("failures")
    assert (group["count"], group["cause"], group["runs"]) == (3, "prompt", [2, 3])


def test_what_reviewers_rejected_in_a_whole_phase_stands_there_as_well() -> None:
    no = Review(
        verdict=Verdict.REJECTED, summary="no", findings=(Remark(severity=Severity.HIGH, message="nothing calls it"),)
    )

    def said(number: int, review: Review, *, failed: bool = False) -> ev.PhaseReviewed:
        return ev.PhaseReviewed(phase=1, stage="validation", round=1, number=number, of=4, review=review, failed=failed)

    silent = Review(verdict=Verdict.REJECTED, summary="no usable reply")
    yes = Review(verdict=Verdict.APPROVED, summary="fine")
    found = groups(said(1, no), said(2, no), said(3, yes), said(4, silent, failed=True))
    told = [(each.stage, each.count, each.tasks, each.texts) for each in found]
    assert told == [
        ("validation", 2, ("phase 1",), ("nothing calls it",)),
        ("validation", 1, ("phase 1",), ("no usable reply",)),
    ]

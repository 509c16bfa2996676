from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.domain.story import PLAN, RED, delegated, passing, planned, play, rejection, started

from swarmgate.domain import events as ev
from swarmgate.domain.decide import Step, Waiting, next_step, waiting_for
from swarmgate.domain.evidence import Remark
from swarmgate.domain.finding import Severity
from swarmgate.domain.guard import Turn
from swarmgate.domain.plan import Phase, Plan
from swarmgate.domain.state import Attempt, Outcome, State, TaskRecord, TaskStatus
from swarmgate.domain.trajectory import Level, Pattern, observe, stopping


def attempt(number: int, contents: dict[str, str] | None = None, **more: object) -> Attempt:
    given: dict[str, object] = {
        "kind": ev.AttemptKind.CODER,
        "scope": ("a.py",),
        "instructions": "",
        "tree": f"t{number}",
        "seq": number,
        "started": "",
        "captured": True,
        "outcome": Outcome.REJECTED,
        "stage": "reviewer",
        "reason": f"reason {'abcdefghij'[number]}",
        "files": tuple(contents or ()),
        "contents": tuple((contents or {}).items()),
    }
    return Attempt(number=number, **(given | more))  # type: ignore[arg-type]  # a test names only what it is about


def record(*attempts: Attempt, **more: object) -> TaskRecord:
    return TaskRecord(attempts=attempts, rejections=len(attempts), **more)  # type: ignore[arg-type]  # as above


def seen(*attempts: Attempt, **more: object) -> list[tuple[Pattern, int]]:
    return [(each.pattern, each.times) for each in observe(record(*attempts, **more))]


def remark(message: str, file: str = "a.py") -> Remark:
    return Remark(severity=Severity.HIGH, message=message, file=file)


def red(number: int, *failures: str, output: str, **more: object) -> Attempt:
    feedback = (Remark(severity=Severity.HIGH, message=output),)
    contents = {"a.py": f"blob{number}"}
    return attempt(number, contents, stage="tests", failures=failures, feedback=feedback, **more)


# --- what is a pattern ---


def test_one_attempt_and_attempts_that_go_on_show_nothing() -> None:
    assert seen() == []
    assert seen(attempt(1, {"a.py": "1"})) == []
    assert seen(attempt(1, {"a.py": "1"}), attempt(2, {"a.py": "2"}), attempt(3, {"a.py": "3"})) == []


def test_the_same_files_again_are_a_repetition() -> None:
    assert seen(attempt(1, {"a.py": "1"}), attempt(2, {"a.py": "1"})) == [(Pattern.REPETITION, 1)]


def test_the_same_rejection_again_is_one_too_also_of_an_attempt_long_ago() -> None:
    first, other = attempt(1, {"a.py": "1"}, reason="No unit at 0x7f"), attempt(2, {"a.py": "2"})
    again = attempt(3, {"a.py": "3"}, reason="No unit at 0x8a")
    assert seen(first, other, again) == [(Pattern.REPETITION, 1)]
    assert seen(first, other, attempt(3, {"a.py": "3"}, reason="No unit at 0x8a", stage="gates: diff")) == []


def test_where_findings_are_given_they_count_and_one_that_is_mended_is_progress() -> None:
    two = (remark("no unit"), remark("no bound"))
    first = attempt(1, {"a.py": "1"}, reason="no", feedback=two)
    assert seen(first, attempt(2, {"a.py": "2"}, reason="no", feedback=two[:1])) == []
    more = (*two, remark("no test"))
    assert seen(first, attempt(2, {"a.py": "2"}, reason="other", feedback=more)) == [(Pattern.REPETITION, 1)]


def test_the_same_breaker_of_the_same_role_is_one_whatever_it_did_last() -> None:
    stage, reason = "breaker: idle", "coder (code), model local/junior: gave no usable reply"
    first = attempt(1, stage=stage, reason=reason, feedback=(remark("- list_files"),))
    assert seen(first, attempt(2, stage=stage, reason=reason, feedback=(remark("- read_file"),))) == [
        (Pattern.REPETITION, 1)
    ]
    assert seen(first, attempt(2, stage=stage, reason=reason.replace("coder", "reviewer"))) == []


def test_a_undone_by_b_and_brought_back_is_ping_pong_also_for_one_file_of_many() -> None:
    contents = [{"a.py": "1", "b.py": "x"}, {"a.py": "2", "b.py": "y"}, {"a.py": "1", "b.py": "z"}]
    (only,) = observe(record(*(attempt(number, files) for number, files in enumerate(contents, 1))))
    assert (only.pattern, only.level) == (Pattern.PING_PONG, Level.ADVICE)
    assert "in a.py" in only.fact


def test_a_file_that_comes_goes_and_comes_again_flips_too() -> None:
    contents = [{"a.py": "1", "b.py": "x"}, {"a.py": "2"}, {"a.py": "3", "b.py": "x"}]
    assert seen(*(attempt(number, files) for number, files in enumerate(contents, 1))) == [(Pattern.PING_PONG, 1)]


def test_attempts_of_old_ledgers_say_nothing_of_their_contents() -> None:
    assert seen(*(attempt(number, files=("a.py",)) for number in (1, 2, 3))) == []


def test_the_same_test_with_the_same_message_is_stuck() -> None:
    one = red(1, "t::a", output="t.py:3: E assert 3 == 4\n1 failed in 0.1s")
    assert seen(one, red(2, "t::a", output="t.py:5: E assert 3 == 4\n1 failed in 0.3s")) == [(Pattern.STUCK, 1)]
    assert seen(one, red(2, "t::a", output="t.py:3: E assert 2 == 4\n1 failed in 0.1s")) == []
    assert seen(one, red(2, "t::b", output="t.py:3: E assert 3 == 4\n1 failed in 0.1s")) == []


def test_tests_that_cannot_even_start_twice_are_stuck() -> None:
    broken = [red(number, output="ImportError: no module named x") for number in (1, 2)]
    assert seen(*broken) == [(Pattern.STUCK, 1)]


def test_more_files_outside_each_time_are_growth() -> None:
    first = attempt(1, {"a.py": "1"}, outside=("x",))
    assert seen(first, attempt(2, {"a.py": "2"}, outside=("x", "y"))) == [(Pattern.GROWTH, 1)]
    assert seen(first, attempt(2, {"a.py": "2"}, outside=("y",))) == []


def test_a_change_that_grows_twice_in_a_row_is_growth_and_once_is_not() -> None:
    sizes = [{f"{n}.py": f"{size}" for n in range(size)} for size in (1, 2, 3)]
    assert seen(*(attempt(number, files) for number, files in enumerate(sizes[:2], 1))) == []
    assert seen(*(attempt(number, files) for number, files in enumerate(sizes, 1))) == [(Pattern.GROWTH, 1)]


@pytest.mark.parametrize(
    ("step", "rereads", "dropped", "found"),
    [("code", 10, 0, True), ("code", 9, 0, False), ("implement", 5, 1, True), ("review", 50, 9, False)],
)
def test_reading_the_same_again_and_again_is_thrash(step: str, rereads: int, dropped: int, found: bool) -> None:  # noqa: FBT001 - a table
    turn = Turn(role="coder", step=step, attempt=1, rereads=rereads, dropped=dropped)
    assert bool(seen(attempt(1, {"a.py": "1"}), turns=(turn,))) is found


def test_what_the_user_opened_and_what_was_cut_short_says_nothing() -> None:
    first = attempt(1, {"a.py": "1"})
    assert seen(first, attempt(2, {"a.py": "1"}, kind=ev.AttemptKind.OVERRIDE)) == []
    assert seen(first, attempt(2, {"a.py": "1"}, outcome=Outcome.INTERRUPTED)) == []
    assert seen(first, attempt(2, {"a.py": "1"}), override_pending=True) == []


def test_a_pattern_of_long_ago_is_not_told_again() -> None:
    assert seen(attempt(1, {"a.py": "1"}), attempt(2, {"a.py": "1"}), attempt(3, {"a.py": "3"})) == []


# --- what it means ---


def same(count: int) -> list[Attempt]:
    return [attempt(number, {"a.py": "1"}) for number in range(1, count + 1)]


def test_once_is_advice_twice_is_the_architects_three_times_stops() -> None:
    levels = [observe(record(*same(count)))[0].level for count in (2, 3, 4)]
    assert levels == [Level.ADVICE, Level.ARCHITECT, Level.STOP]


def test_after_a_retry_it_takes_two_more() -> None:
    assert stopping(record(*same(4), renewed=4)) is None
    assert stopping(record(*same(5), renewed=4)) is None
    stopped = stopping(record(*same(6), renewed=4))
    assert stopped is not None
    assert "seen 5 times" in stopped.text


@given(st.integers(2, 9), st.integers(0, 9))
def test_right_after_the_users_word_nothing_stops(count: int, later: int) -> None:
    renewed = min(count, later)
    stop = stopping(record(*same(count), renewed=renewed))
    assert (stop is None) or count - max(renewed, 1) >= 2
    assert stopping(record(*same(count), renewed=count)) is None


# --- in the loop ---


def rejected(number: int, kind: ev.AttemptKind = ev.AttemptKind.CODER) -> Sequence[ev.Event]:
    captured = ev.ChangeCaptured(
        task="1.1", attempt=number, tree="c", files=("src/part_1.1.py",), contents={"src/part_1.1.py": "same"}
    )
    return delegated("1.1", number, kind), captured, rejection("1.1", number, reason=f"reason {'abcdefg'[number]}")


def stopped_state() -> State:
    state = play(State(), *started(max_rejections=5))
    for number in (1, 2, 3, 4):
        assert next_step(state) is Step.DELEGATE
        state = play(state, *rejected(number))
    return state


def test_the_third_time_the_task_is_blocked_before_its_attempts_are_used_up() -> None:
    assert next_step(stopped_state()) is Step.BLOCK


@pytest.mark.parametrize("decision", ["retry", "skip", "override", "revise"])
def test_every_decision_of_the_user_leads_on(decision: str) -> None:
    state = play(stopped_state(), ev.TaskBlocked(task="1.1", stage="trajectory: repetition loop", reason="again"))
    assert waiting_for(state) is Waiting.BLOCKED_TASK
    match decision:
        case "retry":
            state = play(state, ev.TaskRetried(task="1.1"))
            assert next_step(state) is Step.DELEGATE
            state = play(state, *rejected(5))
            assert next_step(state) is Step.DELEGATE
            assert next_step(play(state, *rejected(6))) is Step.BLOCK
        case "skip":
            state = play(state, ev.TaskSkipped(task="1.1", reason="later"))
            assert next_step(state) is Step.DELEGATE
        case "override":
            state = play(state, ev.RejectionOverridden(task="1.1", stage="reviewer", reason="fine"))
            assert next_step(state) is Step.OPEN_OVERRIDE
        case _:
            first, *others = PLAN.phases[0].tasks
            tasks = (first.model_copy(update={"title": "Simpler"}), *others)
            amended = Plan(title=PLAN.title, phases=(Phase(name="Stage 1", tasks=tasks), PLAN.phases[1]))
            state = play(state, ev.PlanAmended(plan=amended, source="plan.md"))
            assert state.task("1.1").status is TaskStatus.IN_PROGRESS
            assert next_step(state) is Step.DELEGATE


def test_with_the_default_bound_the_architect_still_gets_its_escalated_attempt() -> None:
    state = play(State(), *started(), *rejected(1), *rejected(2))
    assert next_step(state) is Step.DELEGATE
    assert observe(state.task("1.1"))[0].level is Level.ADVICE


def test_the_failing_tests_of_the_ledger_are_what_is_compared() -> None:
    state = play(State(), *planned(), ev.PlanApproved(), *started()[-2:])
    run = RED.model_copy(update={"failures": ("tests/test_a.py::test_a",)})
    output = Remark(severity=Severity.HIGH, message="E assert 1 == 2")
    for number in (1, 2):
        tested = ev.TestsRun(task="1.1", attempt=number, tree="r", run=run, passed=False)
        ended = ev.AttemptRejected(
            task="1.1", attempt=number, stage="tests", reason="1 of 3 tests failed", feedback=(output,)
        )
        state = play(state, *passing("1.1", number)[:5], tested, ended)
    (stuck,) = observe(state.task("1.1"))
    assert stuck.pattern is Pattern.STUCK
    assert "tests/test_a.py::test_a failed in attempts 1 and 2" in stuck.fact

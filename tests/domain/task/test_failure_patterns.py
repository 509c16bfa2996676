from __future__ import annotations

import time
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.domain.story import PLAN, RED, delegated, make_task, passing, planned, play, rejection, started

from swarmgate.domain.events import event as ev
from swarmgate.domain.guard import Effect, GuardNote, Turn
from swarmgate.domain.next_step import Step, Waiting, next_step, waiting_for
from swarmgate.domain.plan.plan import Phase, Plan
from swarmgate.domain.review.evidence import Remark, telling
from swarmgate.domain.review.finding import Finding, GateReport, GateResult, GateStatus, Severity
from swarmgate.domain.review.stage import Stage
from swarmgate.domain.state.lifecycle import TaskState
from swarmgate.domain.state.state import Attempt, Outcome, State, TaskRecord, TaskStatus, replace
from swarmgate.domain.task.failure_patterns import EFFECTS, RULE, Level, Pattern, is_news, observe, stopping
from swarmgate.engine.steps.review.review import gates_rejection


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
    given |= more
    given["stage"] = Stage(str(given["stage"]))
    return Attempt(number=number, **given)  # type: ignore[arg-type]  # a test names only what it is about


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


def test_the_same_findings_again_are_one_too_also_of_an_attempt_long_ago() -> None:
    first = attempt(1, {"a.py": "1"}, feedback=(remark("No unit at 0x7f"),))
    other = attempt(2, {"a.py": "2"}, feedback=(remark("No bound"),))
    again = attempt(3, {"a.py": "3"}, feedback=(remark("No unit at 0x8a"),))
    assert seen(first, other, again) == [(Pattern.REPETITION, 1)]
    assert seen(first, other, replace(again, stage=Stage("gates: diff"))) == []


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


def test_many_more_files_outside_are_growth() -> None:
    first = attempt(1, {"a.py": "1"}, outside=("x",))
    assert seen(first, attempt(2, {"a.py": "2"}, outside=("x", "y", "z", "w"))) == [(Pattern.GROWTH, 1)]
    assert seen(first, attempt(2, {"a.py": "2"}, outside=("x", "y", "z"))) == []
    assert seen(first, attempt(2, {"a.py": "2"}, outside=("y", "z", "w", "v"))) == []


def of_sizes(*sizes: int) -> list[Attempt]:
    made = [{f"{n}.py": f"{size}" for n in range(size)} for size in sizes]
    return [attempt(number, files) for number, files in enumerate(made, 1)]


def test_a_change_that_grows_much_twice_in_a_row_is_growth_and_once_is_not() -> None:
    assert seen(*of_sizes(2, 5)) == []
    assert seen(*of_sizes(2, 5, 8)) == [(Pattern.GROWTH, 1)]
    assert seen(*of_sizes(10, 13, 16)) == []
    assert seen(*of_sizes(1, 2, 3)) == []


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


# --- work that goes on is no pattern ---


def long_lines(number: int, count: int) -> Attempt:
    """Rejected by a gate for so many long lines in one file, as the ledger keeps them: the first 20, and how many."""
    result = GateResult(
        gate="lint_check",
        status=GateStatus.FAIL,
        reason=f"{count} new at or above medium",
        findings=tuple(Finding(rule="E501", path="a.py", line=n, message="line too long") for n in range(1, count + 1)),
    )
    running = attempt(number, {"a.py": f"blob{number}"})
    rejected = gates_rejection(GateReport(tree="t", results=(result,)), (result,), make_task("1.1"), running)
    return replace(
        running,
        stage=rejected.stage,
        reason=rejected.reason,
        feedback=rejected.feedback,
        findings=rejected.findings,
    )


def change(number: int, **more: object) -> Attempt:
    return attempt(number, {"a.py": f"blob{number}"}, **more)


HONEST = {
    "fewer long lines each time, in one file": [long_lines(*each) for each in enumerate((90, 30, 8, 3, 1), 1)],
    "a reviewer that says little of different changes": [change(n, reason="Not acceptable yet.") for n in range(1, 6)],
    "the same change, and judges that a breaker stops": [
        attempt(
            n, {"a.py": "1"}, state=TaskState.PRE_CHECK_PASSED, stage="breaker: idle", reason="reviewer (review), no"
        )
        for n in range(1, 6)
    ],
    "the same change, and a hook that refuses": [attempt(n, {"a.py": "1"}, stage="commit") for n in range(1, 6)],
    "a file more each time, as the reviewer asks": of_sizes(1, 2, 3, 4, 5, 6),
    "nothing captured, then a change, then a greater one": [
        attempt(1, captured=False, stage="breaker: wall_time", reason="coder (code), no"),
        *(replace(each, number=each.number + 1) for each in of_sizes(4, 7)),
    ],
    "a file is added and taken out again": [
        attempt(1, {"a.py": "1"}),
        attempt(2, {"a.py": "2", "log.py": "1"}),
        attempt(3, {"a.py": "3"}),
    ],
    "fewer tests fail each time": [
        red(n, *(f"t::{test}" for test in "abcde"[n:]), output="E   assert 1 == 2") for n in range(5)
    ],
}


@pytest.mark.parametrize("story", HONEST)
def test_no_step_of_work_that_goes_on_is_a_pattern(story: str) -> None:
    for upto in range(1, len(HONEST[story]) + 1):
        assert seen(*HONEST[story][:upto]) == []


COMES_AND_GOES = [{"a.py": f"{n}"} | ({"log.py": f"v{n}"} if n % 2 else {}) for n in range(1, 9)]

DISHONEST = {
    "as many long lines each time": [long_lines(n, 30) for n in range(1, 5)],
    "more long lines each time": [long_lines(n, 10 * n) for n in range(1, 5)],
    "what a reviewer finds stands": [change(n, feedback=(remark("no unit"),)) for n in range(1, 5)],
    "the same files for a reviewer": [attempt(n, {"a.py": "1"}, reason="Not acceptable yet.") for n in range(1, 5)],
    "the coder's breaker trips": [change(n, stage="breaker: idle", reason="coder (code), no") for n in range(1, 5)],
    "A, B, A, B, A": [attempt(n, {"a.py": "AB"[n % 2]}) for n in range(1, 6)],
    "a file comes and goes": [attempt(n, files) for n, files in enumerate(COMES_AND_GOES, 1)],
    "the same test fails": [red(n, "t::a", output="E   assert 1 == 2") for n in range(1, 5)],
    "the change explodes": of_sizes(2, 5, 9, 14, 21),
}


@pytest.mark.parametrize("story", DISHONEST)
def test_what_goes_in_circles_is_still_stopped(story: str) -> None:
    assert any(stopping(record(*DISHONEST[story][:upto])) for upto in range(1, len(DISHONEST[story]) + 1))


def test_a_judge_that_was_stopped_in_between_hides_no_repetition() -> None:
    stopped = attempt(2, {"a.py": "1"}, state=TaskState.REVIEWER_RUN, stage="breaker: errors", reason="test_engineer")
    (found,) = observe(record(attempt(1, {"a.py": "1"}), stopped, attempt(3, {"a.py": "1"})))
    assert found.text == "repetition loop: attempt 3 left the very files of attempt 1"


def test_what_was_cut_off_the_feedback_counts_as_well() -> None:
    many, fewer = long_lines(1, 100), long_lines(2, 60)
    assert len(telling(many.stage, many.feedback)) == len(telling(fewer.stage, fewer.feedback)) == 20
    assert seen(many, fewer) == []
    assert many.feedback[-1].message == "[lint_check] 100 new at or above medium"


@pytest.mark.parametrize("file", ["a.py", "{}.py"])
def test_a_hundred_attempts_are_looked_at_in_no_time(file: str) -> None:
    attempts = [
        attempt(
            n % 10,
            {"a.py": f"{n}"},
            reason="r",
            stage="gates: lint_check",
            feedback=tuple(
                remark(f"[E501] line {n} {k} is long: 120 > 100 at a.py:{k}", file.format(n)) for k in range(20)
            ),
        )
        for n in range(100)
    ]
    told = record(*attempts)
    observe(told)
    begun = time.process_time()
    observe(told)
    assert time.process_time() - begun < 0.5  # a hundred times what it takes; all pairs compared afresh took 2 s


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


def test_each_attempt_is_told_once_and_again_only_with_a_graver_effect() -> None:
    (told,) = observe(record(*same(3)))
    assert EFFECTS[told.level] is Effect.WARNED

    def noted(effect: Effect, attempt_number: int = 3, pattern: Pattern = Pattern.REPETITION) -> TaskRecord:
        detail = f"{pattern} (seen 9 times): as it was told then"
        return record(guards=(GuardNote(rule=RULE, effect=effect, detail=detail, attempt=attempt_number),))

    assert is_news(record(), told)
    assert is_news(noted(Effect.NOTED), told)
    assert is_news(noted(Effect.STOPPED, 2), told)
    assert is_news(noted(Effect.STOPPED, pattern=Pattern.GROWTH), told)
    assert not is_news(noted(Effect.WARNED), told)
    assert not is_news(noted(Effect.STOPPED), told)


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

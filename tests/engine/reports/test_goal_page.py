"""The page of `swarm report`: the size of a large goal, the plots, and the time that attempts took."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from tests.cli.views.test_report import markup
from tests.domain.story import NO, delegated, passing, play, regressed, rejection, started
from tests.domain.transitions.test_phase import TWO, by_tests, related

from swarmgate.domain.events import event as ev
from swarmgate.domain.evidence.report import Standing
from swarmgate.domain.review.evidence import Criterion
from swarmgate.domain.state.plan_view import RELATED, PhaseStatus
from swarmgate.domain.state.state import Outcome, State, TaskStatus
from swarmgate.domain.transitions.fold import fold
from swarmgate.domain.usage import Usage
from swarmgate.engine.pull_request.description import description
from swarmgate.engine.reports.goal import GoalEvidence, GoalPhase, GoalRecord, GoalTask, Rejected, goal_record
from swarmgate.engine.reports.goal_page import plots
from swarmgate.engine.reports.goal_page.page import GoalReport, ShownChange, pieces, render
from swarmgate.engine.reports.goal_page.plots import Part, Value
from swarmgate.engine.reports.timeline import STAGES, AttemptTime, Span, attempt_times, since_first

BEGAN = datetime(2026, 11, 21, 13, tzinfo=UTC)


def told(*events: tuple[float, ev.Event] | tuple[float, ev.Event, str]) -> list[ev.Entry]:
    """Entries, each so many seconds after the one before it."""
    found, time = [], BEGAN
    for number, (after, event, *actor) in enumerate(events, start=1):
        time += timedelta(seconds=after)
        found.append(ev.Entry(seq=number, time=time.isoformat(), actor=actor[0] if actor else "swarmgate", event=event))
    return found


def times(number: int, attempt: int) -> AttemptTime:
    begin = number * 100.0 + attempt * 30
    spans = tuple(Span(stage=stage, start=begin + at, end=begin + at + 1) for at, stage in enumerate(STAGES))
    return AttemptTime(
        task=f"{number // 10 + 1}.{number % 10 + 1}", attempt=attempt, outcome=Outcome.COMPLETE, spans=spans
    )


def large() -> GoalReport:
    """A goal of 200 tasks with three attempts each, all texts as long as agents write them."""
    used = {role: Usage(prompt_tokens=9_000, completion_tokens=800, calls=3, usd=0.1) for role in ("coder", "reviewer")}
    criteria = tuple(Criterion(criterion="c" * 120, tests=("tests/test_x.py::test_" + "y" * 40,)) for _ in range(4))
    attempts = [times(number, attempt) for number in range(200) for attempt in (1, 2, 3)]
    tasks = [
        GoalTask(
            id=each.task, title="t" * 80, phase=int(each.task.partition(".")[0]),
            status=TaskStatus.COMPLETE, attempts=3, commit="c" * 40, proof=("review APPROVED", "tests: 3 passed"),
            criteria=criteria, usage=used,
        )
        for each in attempts[::3]
    ]  # fmt: skip
    done = PhaseStatus.COMPLETE
    record = GoalRecord(
        goal="Add parts", title="Parts", branch="swarm/parts", base="main", phase=0, seq=9_000, head="a" * 64,
        time=BEGAN.isoformat(), finished=True, tasks=tuple(tasks), times=tuple(attempts), other={},
        phases=tuple(GoalPhase(number=n, name="P", status=done, summary="s" * 2_000) for n in range(1, 21)),
        rejections=tuple(
            Rejected(task=each.task, attempt=each.attempt, stage="gates: lint", by=("lint",), reason=f"{'r' * 200}{n}")
            for n, each in enumerate(attempts)
        ),
        evidence=tuple(
            GoalEvidence(task=each.task, attempt=each.attempt, file=name, sha256="b" * 64, standing=Standing.PRESENT)
            for each in attempts for name in "abcdefg"
        ),
    )  # fmt: skip
    changes = (ShownChange(task=each.id, attempt=3, text="+" + "z" * 2_900) for each in tasks)
    return GoalReport(record=record, changes=tuple(changes))


@pytest.mark.slow
def test_the_page_of_a_large_goal_is_whole_and_stays_below_four_megabytes() -> None:
    page = render(large())
    assert len(page) < 4_000_000
    assert page.count('<tr id="task-') == 200
    assert page.count("b" * 64) == 200 * 3 * 7
    assert page.count('<rect class="stage-code"') == 600 + 1  # and the legend
    markup(page)


def test_an_attempt_is_told_by_its_stages_and_waiting_for_the_user_is_no_work() -> None:
    *before, begun = started()
    first, second = passing("1.1", 1), passing("1.1", 2)
    story = told(
        *((10, event) for event in before), (0, begun),
        (1, first[0]), (5, first[1]), (2, first[2]), (0, rejection("1.1", 1, "gates: ruff")),
        (1_500, ev.RunStarted(pid=2, host="here")),
        *((1, event) for event in second),
    )  # fmt: skip
    one, two = since_first(attempt_times(story, fold(State(), story)))
    assert [(each.stage, each.end - each.start) for each in one.spans] == [("delegate", 1), ("code", 5), ("gates", 2)]
    assert (one.outcome, two.outcome) == (Outcome.REJECTED, Outcome.COMPLETE)
    assert [each.stage for each in two.spans] == list(STAGES)
    assert (one.spans[0].start, one.spans[-1].end, two.spans[0].start, two.spans[-1].end) == (0, 8, 8, 15)


def test_work_before_a_question_is_work_and_waiting_for_its_answer_is_none() -> None:
    *before, begun = started()
    first = passing("1.1", 1)
    question = ev.TaskQuestionAsked(task="1.1", attempt=1, role="coder", step="code", question="Which?", assumption="A")
    story = told(
        *((10, event) for event in before), (0, begun), (1, first[0]), (4, question),
        (0, ev.RunPaused(reason=ev.PauseReason.QUESTION, detail="asks", between_steps=True)),
        (900, ev.QuestionAnswered(number=1, answer="this"), "user"), (1, ev.RunStarted(pid=2, host="here")),
        (2, first[1]),
    )  # fmt: skip
    (one,) = since_first(attempt_times(story, fold(State(), story)))
    assert [(each.stage, each.start, each.end) for each in one.spans] == [
        ("delegate", 0, 1), ("code", 1, 5), ("code", 5, 7),
    ]  # fmt: skip


def test_what_the_tests_of_a_phase_opened_again_is_a_rejection_and_says_so_until_it_is_tried_again() -> None:
    built = play(State(), *started(TWO), *related("1.1"), *related("1.2"), by_tests(NO))
    events = [*started(TWO), *related("1.1"), *related("1.2"), by_tests(NO), regressed(built, "1.2")]
    spent = ev.UsageRecorded(role="critic", usage=Usage(calls=1, completion_tokens=7))
    story = told(*((1, event) for event in (*events, spent)))
    record = goal_record(fold(State(), story), story, "a" * 64)
    assert [(each.id, each.note) for each in record.tasks] == [
        ("1.1", ""), ("1.2", "opened again: since its commit fails test_a"),
    ]  # fmt: skip
    assert [(each.task, each.attempt, each.by) for each in record.rejections] == [("1.2", 1, ("tests",))]
    assert [each.outcome for each in record.times] == [Outcome.COMPLETE, Outcome.REJECTED]
    assert RELATED in record.tasks[0].proof
    assert record.phases[0].verdicts == ("tests 1.1 of 1: REJECTED - Missing expiration claim",)
    assert goal_record(fold(State(), story), story, "", phase=1).used.tokens == 7  # its reviews and its checkpoint
    text = description(record)
    assert "## To be done again\n\n- Task 1.2, Part 1.2: opened again: since its commit fails test" in text
    again = told(*((1, event) for event in (*events, delegated("1.2", 2))))
    assert goal_record(fold(State(), again), again, "").tasks[1].note == ""


def test_bars_stand_over_round_numbers_and_say_in_words_what_is_to_be_seen() -> None:
    values = [Value("a", "30", (Part(10, "shown"), Part(20, "open"))), Value("b", "0", ())]
    plot = plots.bars("Criteria", "criteria", values, {"shown": "with", "open": "without"}, whole=True)
    assert plot is not None
    assert [tick.label for tick in plot.ticks] == ["0", "10", "20", "30"]
    assert [(bar.x, bar.width, bar.title) for bar in plot.rows[0].bars] == [
        (0, 33.33, "a: 10 with"), (33.33, 66.67, "a: 20 without"),
    ]  # fmt: skip
    assert plot.alt == "Criteria: 2 bars; most: a, 30"
    assert plots.bars("Nothing", "", values[1:], {}) is None
    one = plots.bars("One", "", [Value("a", "1", (Part(1, "open"),))], {"open": "o"}, whole=True)
    assert one is not None
    assert [tick.label for tick in one.ticks] == ["0", "1"]
    assert plots.timeline("Nothing", [], {}) is None


def test_the_axis_of_a_long_timeline_counts_in_hours() -> None:
    spans = (Span(stage="code", start=0, end=9_000),)
    plot = plots.timeline("T", [AttemptTime(task="1.1", attempt=1, spans=spans)], {"1.1": "1.1 Part"})
    assert plot is not None
    assert plot.axis.startswith("time at work (h)")
    assert [tick.label for tick in plot.ticks] == ["0", "1", "2", "3"]
    assert plot.rows[0].marks[0][1] == "…"


def test_lines_of_a_patch_are_told_by_their_place_and_not_by_how_they_begin() -> None:
    patch = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n--- old\n+++ new\n same\ndiff --git a/y b/y\n"
    assert [(kind, text.count("\n")) for kind, text in pieces(patch)] == [
        ("file", 3), ("place", 1), ("removed", 1), ("added", 1), ("", 1), ("file", 1),
    ]  # fmt: skip

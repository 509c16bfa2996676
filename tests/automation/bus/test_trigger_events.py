"""Tests which events trigger automation, on the events of whole projects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

import pytest
from tests.domain.story import PLAN, blocked, make_plan, make_task, passing, planned, rejected, rejection, started

from swarmgate.automation.bus.trigger_events import (
    START_UP,
    long_task,
    phase_boundary,
    phase_of,
    phase_to_begin,
    plan_change,
    start_up,
    task_of,
    why_long,
)
from swarmgate.domain.events import event as ev
from swarmgate.domain.events.automation import Happening, WatchStarted
from swarmgate.domain.events.event import Entry, Event
from swarmgate.domain.state.state import State
from swarmgate.domain.transitions.fold import fold
from swarmgate.domain.usage import Usage

Trigger = Callable[[Happening, State, State], str]
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def heard(trigger: Trigger, events: Sequence[Event], *, times: Sequence[float] = ()) -> list[tuple[int, str]]:
    """The subjects that a trigger gives over a story, with the positions; `times` in minutes after noon."""
    state, found = State(), []
    for seq, event in enumerate(events, start=1):
        minutes = times[seq - 1] if seq <= len(times) else 0.0
        time = (NOON + timedelta(minutes=minutes)).isoformat()
        after = fold(state, [Entry(seq=seq, time=time, actor="swarmgate", event=event)])
        data = event.model_dump(mode="json")
        happening = Happening(source="ledger", seq=seq, time=time, actor="swarmgate", data=data)
        if subject := trigger(happening, state, after):
            found.append((seq, subject))
        state = after
    return found


def long(happening: Happening, before: State, after: State) -> str:
    return long_task(happening, before, after, attempts=3, minutes=30)


def worked(task: str, minutes: float) -> Event:
    return ev.UsageRecorded(role="coder", task=task, usage=Usage(seconds=minutes * 60))


# --- phase boundaries ---


def phase_one() -> list[Event]:
    done = [each for task in ("1.1", "1.2", "1.3") for each in passing(task)]
    return [*started(), *done, ev.PhaseClosed(phase=1, summary="done")]


def test_a_phase_begins_when_the_plan_or_the_phase_before_is_approved() -> None:
    story = [*phase_one(), ev.PhaseApproved(phase=1)]
    assert heard(phase_boundary, story) == [(4, "phase 1"), (len(story), "phase 2")]
    assert phase_of("phase 12") == 12


def test_the_last_approval_begins_nothing() -> None:
    plan = make_plan([make_task("1.1")])
    story = [*started(plan), *passing("1.1"), ev.PhaseClosed(phase=1, summary="done"), ev.PhaseApproved(phase=1)]
    assert heard(phase_boundary, story) == [(4, "phase 1")]


def test_a_revised_plan_lets_its_phase_go_on_once_it_is_approved() -> None:
    revised = make_plan([make_task("1.1"), make_task("1.2", "1.1"), make_task("1.3"), make_task("1.4")])
    more = [ev.RevisionRequested(text="more"), ev.PlanSaved(plan=revised), *planned()[2:], ev.PlanApproved()]
    story = [*started(), *passing("1.1"), *more]
    assert heard(phase_boundary, story)[1:] == [(len(story), "phase 1")]


def test_no_phase_begins_before_the_approval_nor_when_all_its_tasks_are_done() -> None:
    assert phase_to_begin(State()) == 0
    states = [State()]
    for seq, event in enumerate(phase_one(), start=1):
        states.append(fold(states[-1], [Entry(seq=seq, time="", actor="x", event=event)]))
    assert [phase_to_begin(states[n]) for n in (3, 4, len(states) - 2, len(states) - 1)] == [0, 1, 0, 0]


# --- long tasks ---


def test_a_task_is_long_once_when_it_reaches_the_attempts() -> None:
    story = [*started(), *blocked("1.1"), ev.TaskRetried(task="1.1"), *rejected("1.1", 4)]
    assert [subject for _, subject in heard(long, story)] == ["task 1.1"]
    assert task_of("task 1.1") == "1.1"


def test_a_task_is_long_once_when_its_work_reaches_the_minutes_over_all_attempts() -> None:
    story = [*started(), *rejected("1.1", 1), worked("1.1", 20), *rejected("1.1", 2), worked("1.1", 9.9)]
    assert heard(long, story) == []
    story += [worked("1.1", 0.2), worked("1.1", 40)]
    assert heard(long, story) == [(len(story) - 1, "task 1.1")]


def test_both_thresholds_are_heard() -> None:
    story = [*started(), *rejected("1.1", 1), worked("1.1", 31), *rejected("1.1", 2), passing("1.1", 3)[0]]
    story[-1] = ev.TaskDelegated(task="1.1", attempt=3, kind=ev.AttemptKind.ESCALATED, tree="t3")
    assert [subject for _, subject in heard(long, story)] == ["task 1.1", "task 1.1"]


@pytest.mark.parametrize("jump", [-600.0, 600.0])
def test_a_clock_that_jumps_makes_no_task_long(jump: float) -> None:
    story = [*started(), *rejected("1.1", 1), worked("1.1", 1)]
    assert heard(long, story, times=[0.0] * (len(story) - 2) + [jump, -jump]) == []


def test_a_night_between_two_runs_makes_no_task_long() -> None:
    story = [*started(), *passing("1.1")[:2], ev.RunPaused(reason=ev.PauseReason.STOPPED, between_steps=True)]
    story += [ev.RunStarted(pid=1, host="here"), *passing("1.1")[2:]]
    assert heard(long, story, times=[0.0] * 9 + [720.0] * 20) == []


def test_time_that_is_of_no_task_and_negative_time_count_for_none() -> None:
    story = [*started(), *rejected("1.1", 1), worked("", 90), worked("1.1", -90)]
    assert heard(long, story) == []


def test_a_new_goal_makes_none_of_the_old_tasks_long() -> None:
    story = [*started(make_plan([make_task("1.1")])), *passing("1.1"), worked("1.1", 29)]
    story += [ev.PhaseClosed(phase=1, summary="done"), ev.PhaseApproved(phase=1), *planned()]
    assert heard(long, story) == []


def test_why_a_task_is_long_is_said_in_words() -> None:
    story = [*started(), *rejected("1.1", 1), *rejected("1.1", 2), worked("1.1", 41)]
    state = fold(State(), (Entry(seq=n, time="", actor="x", event=each) for n, each in enumerate(story, 1)))
    record = state.task("1.1")
    assert why_long(record, attempts=2, minutes=30) == "2 attempts, 41 minutes of work"
    assert why_long(record, attempts=3, minutes=30) == "41 minutes of work"
    assert why_long(record, attempts=3, minutes=60) == ""


# --- changes of the plan, start-up ---


def test_a_plan_changes_with_goal_plan_and_amendment() -> None:
    amended = ev.PlanAmended(plan=make_plan([make_task("1.1")]), source="plan.md")
    story = [*planned(), amended, ev.PlanApproved()]
    assert heard(plan_change, story) == [(1, "plan seq 1"), (2, "plan seq 2"), (4, "plan seq 4")]


def test_start_up_is_that_of_workers() -> None:
    began = WatchStarted(pid=1, host="here", place="watch", mode="auto")
    happening = Happening(source="automation", seq=7, time="", actor="watch", data=began.model_dump(mode="json"))
    assert start_up(happening, State(), State()) == START_UP
    assert heard(start_up, started()) == []


@pytest.mark.parametrize("trigger", [phase_boundary, long, plan_change])
def test_what_automation_tells_is_no_event_of_the_ledger(trigger: Trigger) -> None:
    before = fold(State(), (Entry(seq=n, time="", actor="x", event=e) for n, e in enumerate(planned(PLAN), 1)))
    after = fold(before, [Entry(seq=4, time="", actor="x", event=ev.PlanApproved())])
    for kind in ("plan_approved", "plan_saved", "task_delegated"):
        data = {"type": kind, "task": "1.1"}
        happening = Happening(source="automation", seq=4, time="", actor="x", data=data)
        assert trigger(happening, before, after) == ""


def test_rejections_alone_are_no_attempts() -> None:
    story = [*started(), *rejected("1.1", 1)[:-1], rejection("1.1", 1)]
    assert heard(long, story) == []

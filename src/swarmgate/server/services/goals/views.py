"""Makes the views of one goal that are of its ledger and evidence alone: plan, tasks, history, failures, report."""

from __future__ import annotations

from collections.abc import Callable

from swarmgate.domain.state.state import Planning
from swarmgate.domain.text.cleaning import cleaned
from swarmgate.engine.reports.failures import FailureGroup
from swarmgate.engine.reports.goal_page.page import goal_report, render
from swarmgate.engine.reports.outcome import outcome_of
from swarmgate.engine.reports.status import HistoryLine, history_lines
from swarmgate.errors import UsageError
from swarmgate.server.services.reading.access import unknown
from swarmgate.server.services.reading.paging import LONGEST, number
from swarmgate.server.services.reading.readings import Reading
from swarmgate.server.services.views.goal import FailuresView, PlanView, ReportView, TaskRow, TaskView
from swarmgate.server.services.views.view import Page


def plan_view(reading: Reading) -> PlanView:
    """The plan.

    Raises:
        NotFound: there is none yet.
    """
    state = reading.state
    if state.plan is None:
        raise unknown("plan")
    objections = outcome_of(state).objections if state.planning in (Planning.REVIEWED, Planning.FAILED) else ()
    found = PlanView(
        goal=reading.goal.id,
        seq=state.seq,
        approved=state.planning is Planning.APPROVED,
        plan=state.plan,
        markdown=reading.ledger.projector.plan_texts(state)[0],
        reviews=state.plan_reviews,
        objections=objections,
    )
    return cleaned(found, reading.clean)


def task_rows(reading: Reading) -> tuple[TaskRow, ...]:
    """A row for each task, in the order of the plan."""
    state = reading.state
    if state.plan is None:
        return ()
    rows = (
        TaskRow(
            goal=reading.goal.id,
            id=task.id,
            title=task.title,
            phase=phase,
            status=state.task(task.id).status,
            attempts=len(state.task(task.id).attempts),
            usage=state.task(task.id).usage,
        )
        for phase, each in state.plan.numbered
        for task in each.tasks
    )
    return tuple(cleaned(row, reading.clean) for row in rows)


def task_view(task: str) -> Callable[[Reading], TaskView]:
    """What makes the view of a task.

    Raises:
        NotFound: the plan has no such task.
    """

    def make(reading: Reading) -> TaskView:
        state = reading.state
        if state.plan is None or task not in state.plan.tasks:
            raise unknown("task")
        report = cleaned(reading.swarm.show(task), reading.clean)
        return TaskView(goal=reading.goal.id, repo=reading.goal.repo, seq=state.seq, report=report)

    return make


def history_page(task: str, after: str, limit: int) -> Callable[[Reading], Page[HistoryLine]]:
    """What makes a part of the history of a goal, or of one task."""
    begins, size = number(after), max(1, min(limit, LONGEST))

    def make(reading: Reading) -> Page[HistoryLine]:
        new = (entry for entry in reading.entries() if entry.seq > begins)
        lines = history_lines(new, task=task)
        part = cleaned(lines[:size], reading.clean)
        return Page[HistoryLine](items=part, next=str(part[-1].seq) if len(lines) > size else "")

    return make


def failures_view(reading: Reading) -> FailuresView:
    """Rejections of all tasks, grouped."""
    groups: tuple[FailureGroup, ...] = cleaned(reading.swarm.failures(), reading.clean)
    return FailuresView(goal=reading.goal.id, seq=reading.state.seq, groups=groups)


def report_view(phase: int) -> Callable[[Reading], ReportView]:
    """What makes the report on a goal, or on one phase.

    Raises:
        NotFound: there is no plan, or no such phase.
    """

    def make(reading: Reading) -> ReportView:
        try:
            report = goal_report(reading.swarm.project, phase=phase)
        except UsageError as error:
            raise unknown("report" if reading.state.plan is None else "phase") from error
        return ReportView(goal=reading.goal.id, seq=report.record.seq, report=cleaned(report, reading.clean))

    return make


def report_page(phase: int) -> Callable[[Reading], str]:
    """What makes the same as one page of HTML, which asks no other host for anything."""
    view = report_view(phase)
    return lambda reading: render(view(reading).report)

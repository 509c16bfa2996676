"""`swarm status`: shows where the work stands and what comes next."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from swarmgate.terminal.options import Json, Repo
from swarmgate.terminal.terminal import boundary

if TYPE_CHECKING:
    from swarmgate.domain.events.event import PhaseEstimated
    from swarmgate.engine.reports.status import StatusReport


def command(repo: Repo = None, json: Json = False) -> None:
    """Show where the work stands, and what you can do next. It has phases, the running task, tokens and cost.

    Example: swarm status
    """
    with boundary(json) as terminal:
        from swarmgate.engine.swarm import Swarm

        report = Swarm(repo).status()
        terminal.result(report, _lines(report))


def _lines(report: StatusReport) -> list[str]:
    lines = [report.title or report.goal or "No plan yet."]
    if report.branch:
        lines.append(f"  branch: {report.branch}")
    lines += _plan(report)
    if report.task:
        lines.append(f"  now: task {report.task}, attempt {report.attempt}, {report.state}")
    if report.working:
        lines.append(f"  at work: {report.working}{', next step: ' + report.step if report.step else ''}")
    lines += _breakers(report)
    if report.waiting and not report.working:
        lines.append(f"  waiting for you: {report.waiting.replace('_', ' ')}")
    if report.paused:
        lines.append(f"  paused: {report.paused}")
    lines += [f"  history: {report.history_problem}"] if report.history_problem else []
    lines += _edited(report)
    lines += _environment_lines(report)
    lines += _used(report)
    lines += [f"  budget of {budget.owner or 'the project'}: {budget.text}" for budget in report.budgets]
    if report.estimate:
        lines.append(f"  expected: {_expected(report.estimate)}")
    lines += _debates(report)
    if report.qa_skipped:
        tasks = "1 task was" if report.qa_skipped == 1 else f"{report.qa_skipped} tasks were"
        lines.append(
            f"  warning: {tasks} completed without the approval of both the reviewer and the test engineer; "
            "the count ends with a task that has both"
        )
    lines += ["", *report.asked.lines] if report.asked else []
    lines += ["", *report.checkpoint.lines] if report.checkpoint else []
    if report.actions:
        lines += ["Next:", *(f"  {action}" for action in report.actions)]
    return lines


def _plan(report: StatusReport) -> Iterator[str]:
    """A line for each phase, and who approved plan and phases where that was not the user."""
    if report.plan_approved_by:
        yield f"  plan approved without a person: {report.plan_approved_by}"
    for phase in report.phases:
        counts = ", ".join(f"{count} {status.value.replace('_', ' ')}" for status, count in phase.tasks.items())
        by = f", approved without a person: {phase.approved_by}" if phase.approved_by else ""
        yield f"  Phase {phase.number}: {phase.name} - {phase.status} ({counts}){by}"
        yield from (f"    {verdict}" for verdict in phase.verdicts)


def _edited(report: StatusReport) -> list[str]:
    if report.ledger_problem:
        return [f"  ledger: {report.ledger_problem} Bring it back with: swarm verify --restore"]
    if not report.edited:
        return []
    files = f"{' and '.join(report.edited)} {'was' if len(report.edited) == 1 else 'were'} edited"
    return [f"  {files}: that is taken in by the next command that works, or now by: swarm sync"]


def _environment_lines(report: StatusReport) -> list[str]:
    """The models with their families and who speaks with each, and what confines commands."""
    roles: dict[str, list[str]] = {}
    for role, spoken in report.models.items():
        name = spoken.model if spoken.model.endswith(f"/{spoken.family}") else f"{spoken.model} ({spoken.family})"
        roles.setdefault(name, []).append(role)
    lines = ["  models: " + "; ".join(f"{name}: {', '.join(who)}" for name, who in roles.items())] if roles else []
    if report.settings_problem:
        lines = [f"  settings: cannot be read, so no command that works can begin: {report.settings_problem}"]
    sandbox = report.sandbox_warning or report.sandbox
    return [*lines, f"  sandbox of commands: {sandbox}"] if sandbox else lines


def _breakers(report: StatusReport) -> list[str]:
    """How far the breakers of the turn that goes on have come, and what it waits for."""
    if report.breakers is None:
        return []
    turn = report.breakers
    counts = (f"{each.breaker.replace('_', ' ')} {each.count:,}/{each.limit:,}" for each in turn.breakers)
    return [f"  turn: {turn.role} ({turn.step}): {', '.join(counts)}", *([f"  {turn.waits}"] if turn.waits else [])]


def _debates(report: StatusReport) -> list[str]:
    """`debates: 3 of 7 reviews weighed, about 41,000 tokens saved`."""
    count = report.debates
    if count is None:
        return []
    reviews = "review" if count.contested == 1 else "reviews"
    saved = f", about {count.saved:,} tokens saved" if count.saved else ""
    deferral = f"; {count.deferral}" if count.deferral else ""
    return [f"  debates: {count.held} of {count.contested} {reviews} weighed{saved}{deferral}"]


def _used(report: StatusReport) -> list[str]:
    """What all goals used, with what is not on record yet, and what the task that is worked on did."""
    from swarmgate.domain.usage import Usage, cost_in_words

    usage = report.usage + report.unsettled
    unsettled = f", {report.unsettled.tokens:,} tokens of it not on record yet" if report.unsettled.calls else ""
    task, of_task = report.usage_of_task, ""
    if task != Usage():
        of_task = f"; the present task: {task.tokens:,} tokens, {cost_in_words(task)}"
    return [f"  used: {usage.tokens:,} tokens, {cost_in_words(usage)}{unsettled}{of_task}"]


def _expected(estimate: PhaseEstimated) -> str:
    from swarmgate.ledger.views.describe import describe

    return describe(estimate)

"""The starting values of a step in a running attempt: task, record, attempt number, user's override."""

from __future__ import annotations

from swarmgate.domain.events.event import AttemptRejected
from swarmgate.domain.plan.plan import Task
from swarmgate.domain.review.evidence import Remark
from swarmgate.domain.review.finding import GateReport, GateResult, Severity
from swarmgate.domain.review.stage import Judge, Stage
from swarmgate.domain.state.state import Attempt, State, TaskRecord
from swarmgate.domain.transitions.task import overruled
from swarmgate.errors import ToolKilled

_FEEDBACK = 20
"""As many findings go back to the coder; more would only fill its window."""


def announced(state: State) -> str | None:
    """What the running attempt's task says that it is for, its kind as plan.md has it; None where no task is open."""
    if not state.open or state.plan is None:
        return None
    task, attempt = state.plan.tasks[state.open], state.task(state.open).running
    said = [state.goal, task.title, task.description, *task.acceptance, attempt.instructions if attempt else ""]
    said.append(f"Kind: {task.kind}")
    return "\n".join(said)


def blocking(report: GateReport, record: TaskRecord, attempt: Attempt) -> tuple[GateResult, ...]:
    """The results that reject the attempt: those that block and were not overruled.

    Raises:
        ToolKilled: somebody ended a gate's tool, twice, which is no fault of the change's: the step is done again.
    """
    against = tuple(result for result in report.blocking if not overruled(record, attempt, result.gate))
    for result in against:
        if result.killed:
            raise ToolKilled(
                f"Gate {result.gate}: {result.reason}",
                hint="Is the machine short of memory? See what its log says, then: swarm run",
            )
    return against


def gates_rejection(
    report: GateReport, against: tuple[GateResult, ...], task: Task, attempt: Attempt
) -> AttemptRejected:
    """The rejection that a failed pipeline means, with its findings as feedback."""
    names = tuple(result.gate for result in against) or ("pipeline",)
    found = [
        Remark(
            severity=finding.severity,
            message=f"[{finding.rule}] {finding.message}",
            file=finding.path,
            line=finding.line or None,
            suggestion=finding.suggestion,
        )
        for result in against
        for finding in result.new_findings
    ]
    told = [
        Remark(severity=Severity.HIGH, message=f"[{result.gate}] {result.reason}")
        for result in against
        if result.reason
    ]
    return AttemptRejected(
        task=task.id,
        attempt=attempt.number,
        stage=Stage.of(Judge.GATES, *names),
        reason=report.model_copy(update={"results": against or report.results}).reason,
        feedback=(*found[:_FEEDBACK], *told),
        findings=len(found),
    )

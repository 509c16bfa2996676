"""Names, for each kind of trigger, the subject that an event starts a worker on (`phase 2`, `task 1.2`), or none.

Nothing is polled and no clock is read: minutes are those that the ledger counted as work, measured with a clock that
never goes back. So a long break between two runs makes no task long, nor does a wall clock that jumps.
"""

from __future__ import annotations

from swarmgate.domain.events.automation import Happening
from swarmgate.domain.state.state import Planning, State, TaskRecord

_BOUNDARIES = frozenset({"plan_approved", "phase_approved"})
_CHANGES = frozenset({"plan_saved", "plan_amended", "goal_set"})

START_UP = "start-up"
"""The subject of what begins when workers do."""


def phase_boundary(happening: Happening, before: State, after: State) -> str:  # noqa: ARG001 - one shape for all
    """`phase N` where this approval lets phase N begin, or go on under another plan; else empty."""
    if happening.source != "ledger" or happening.type not in _BOUNDARIES:
        return ""
    number = phase_to_begin(after)
    return f"phase {number}" if number else ""


def phase_to_begin(state: State) -> int:
    """The phase whose tasks are worked on next; 0 where nothing may be coded now.

    That is: no approved plan, all phases approved, or the current one is done and waits for its checkpoint.
    """
    if state.plan is None or state.planning is not Planning.APPROVED or state.finished:
        return 0
    return 0 if state.phase_settled(state.current_phase) else state.current_phase


def phase_of(subject: str) -> int:
    """The number in a subject that `phase_boundary` gave."""
    return int(subject.removeprefix("phase "))


def long_task(happening: Happening, before: State, after: State, *, attempts: int, minutes: float) -> str:
    """`task 1.2` where this event took the task over one of the two thresholds; else empty. Once for each of them.

    Args:
        happening: the event.
        before: the state that it met.
        after: the state that it left.
        attempts: a task is long from this attempt on.
        minutes: a task is long after so many minutes of work, of all its attempts together.
    """
    task = happening.data.get("task")
    if happening.source != "ledger" or not isinstance(task, str) or not task:
        return ""
    if after.goals != before.goals:  # another goal's tasks may have the same ids
        return ""
    then = _passed(before.task(task), attempts, minutes)
    now = _passed(after.task(task), attempts, minutes)
    return f"task {task}" if any(here and not there for there, here in zip(then, now, strict=True)) else ""


def why_long(record: TaskRecord, *, attempts: int, minutes: float) -> str:
    """Why a task is long, in words such as `4 attempts, 41 minutes of work`; empty where it is not."""
    many, much = _passed(record, attempts, minutes)
    words = [f"{len(record.attempts)} attempts"] if many else []
    words += [f"{_minutes(record):.0f} minutes of work"] if much else []
    return ", ".join(words)


def task_of(subject: str) -> str:
    """The id in a subject that `long_task` gave."""
    return subject.removeprefix("task ")


def plan_change(happening: Happening, before: State, after: State) -> str:  # noqa: ARG001 - one shape for all
    """`plan seq N` where this event made another plan, or set another goal; else empty."""
    if happening.source != "ledger" or happening.type not in _CHANGES:
        return ""
    return f"plan seq {happening.seq}"


def start_up(happening: Happening, before: State, after: State) -> str:  # noqa: ARG001 - one shape for all
    """`start-up` where workers began; else empty."""
    return START_UP if happening.source == "automation" and happening.type == "watch_started" else ""


def _passed(record: TaskRecord, attempts: int, minutes: float) -> tuple[bool, bool]:
    """Whether a task has passed the threshold of attempts, and that of minutes."""
    return len(record.attempts) >= attempts, _minutes(record) >= minutes


def _minutes(record: TaskRecord) -> float:
    return max(0.0, record.usage.seconds) / 60

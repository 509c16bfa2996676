"""Transition of an undone task: it is pending again with its attempts, and its phase is open again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from immutables import Map

from swarmgate.domain.events import event as ev
from swarmgate.domain.state.completed_commits import landed
from swarmgate.domain.state.state import UNUSED, Outcome, State, TaskRecord, TaskStatus, replace
from swarmgate.domain.transitions.task import with_open_phase
from swarmgate.errors import IllegalMove


def task_undone(state: State, event: ev.TaskUndone, _: ev.Entry) -> State:
    require_undoable(state, event.task)
    record, number = state.task(event.task), state.plan.phase_numbers[event.task] if state.plan else 0
    if event.commit:
        record = _taken_back(record, event)
    elif not record.unfinished:
        raise IllegalMove(f"Task {event.task} is {record.status}, and the event names no commit that was taken back.")
    pending = replace(
        record,
        status=TaskStatus.PENDING,
        reason="",
        block=None,
        commit="",
        undone=event.commit or record.undone,
        rejections=0,
        overrides=Map(),
        override_pending=False,
        question=None,
        renewed=len(record.attempts),
        spent=UNUSED,
        notes=(*record.notes, f"It was undone: {event.reason}") if event.reason else record.notes,
    )
    after = replace(state, tasks=state.tasks.set(event.task, pending), tree=state.tree if event.commit else "")
    return with_open_phase(replace(after, known_red=_known_red(after)), number)


def _taken_back(record: TaskRecord, event: ev.TaskUndone) -> TaskRecord:
    if event.commit not in record.commits:
        raise IllegalMove(f"Task {event.task} was not completed by commit {event.commit[:12]}.")
    why = event.reason or (f"reverted by {event.revert[:12]}" if event.revert else "nothing of it was left")
    undone = {"outcome": Outcome.UNDONE, "reason": why}
    return replace(
        record, attempts=tuple(replace(a, **undone) if a.commit == event.commit else a for a in record.attempts)
    )


def _known_red(state: State) -> tuple[str, ...]:
    """The tests that the user lets fail in what is left; a run of a part of them takes none of those away."""
    red: tuple[str, ...] = ()
    newest: tuple[str, ...] = ()
    for each in landed(state):
        last = state.task(each.task).attempts[-1]
        newest = last.failures
        red = tuple(dict.fromkeys((*red, *newest))) if last.related or state.rules.phase_tests else newest
    return tuple(test for test in red if test in newest or test in state.known_red)


def require_undoable(state: State, task: str) -> None:
    """Requires that a task can be taken back, as far as the ledger alone can tell.

    Raises:
        IllegalMove: the plan has no such task, nothing of it is there, others build on it, or another one is under way.
    """
    if state.plan is None or task not in state.plan.tasks:
        raise IllegalMove(f"The plan has no task {task}.", hint="See the tasks with: swarm status")
    record = state.task(task)
    if record.running:
        raise IllegalMove(f"Task {task} has a running attempt, which ends first.")
    if not is_there(record):
        raise IllegalMove(
            f"Task {task} is {record.status}: nothing of it is there that could be undone.",
            hint=f"See where it stands: swarm show {task}",
        )
    if others := dependents(state, task):
        raise IllegalMove(
            f"Task {task} cannot be undone alone: {_listed(others)} {_build(others)} on it.",
            hint=f"Undo {'it' if len(others) == 1 else 'them'} first (swarm undo {others[0]}), or all together: "
            f"swarm undo {task} --with-dependents",
        )
    if state.last != task and state.task(state.last).unfinished:
        raise IllegalMove(
            f"Task {state.last} is unfinished, and its change lies in the work tree.",
            hint=f"Finish it (swarm run), or take it back too: swarm undo {state.last} keeps its change in "
            ".swarm/quarantine/",
        )
    number = state.plan.phase_numbers[task]
    if state.phase(number).approved and (later := tuple(_later(state, number))):
        raise IllegalMove(
            f"Phase {number} is approved, and {_listed(later)} of later phases {_build(later)} on it.",
            hint=f"Undo {'it' if len(later) == 1 else 'them'} first (swarm undo {later[0]}), or have task {task} "
            'changed by a new one: swarm revise "..."',
        )


def is_there(record: TaskRecord) -> bool:
    """Whether something of a task is there: a commit that its work stands in, or a change in the work tree."""
    return record.status is TaskStatus.COMPLETE or record.unfinished or bool(record.commits)


def dependents(state: State, task: str) -> tuple[str, ...]:
    """The tasks that depend on one, directly or through others, and of which something is there; the newest first."""
    if state.plan is None:
        return ()
    reached, grew = {task}, True
    while grew:
        found = {each.id for each in state.plan.tasks.values() if reached.intersection(each.depends)} - reached
        reached, grew = reached | found, bool(found)
    return newest_first(state, reached - {task})


def undo_order(state: State, task: str) -> tuple[str, ...]:
    """A task after all that build on it: one comes when nothing that is left builds on it, the newest first."""
    left, found = [*dependents(state, task), task], list[str]()
    while left:
        free = (each for each in left if not set(left).intersection(dependents(state, each)))
        found.append(next(free))
        left.remove(found[-1])
    return tuple(found)


def newest_first(state: State, tasks: Iterable[str]) -> tuple[str, ...]:
    """Those of the tasks of which something is there, in the order in which they can be undone."""
    there = [each for each in tasks if is_there(state.task(each))]
    return tuple(sorted(there, key=lambda each: _begun(state.task(each)), reverse=True))


def _begun(record: TaskRecord) -> int:
    return record.attempts[-1].seq if record.attempts else 0


def _later(state: State, number: int) -> Iterator[str]:
    """The tasks of later phases of which something is there, the newest first."""
    numbers = state.plan.phase_numbers if state.plan else {}
    yield from newest_first(state, {task for task, of in numbers.items() if of > number})


def _listed(tasks: tuple[str, ...]) -> str:
    return f"task{'' if len(tasks) == 1 else 's'} {', '.join(tasks)}"


def _build(tasks: tuple[str, ...]) -> str:
    return "builds" if len(tasks) == 1 else "build"

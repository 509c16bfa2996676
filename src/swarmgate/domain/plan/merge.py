"""The three-way merge of plans: combines two edited versions of one plan, field by field.

Phases go by their number and tasks by their id, as in every legal plan; a task is merged field by field, the order of a
phase as one thing. What only one side changed is taken, what both changed differently is a conflict (Khanna, Kunal and
Pierce 2007, "A formal investigation of diff3", calls the regions stable, changed and conflicting). Where a side gave
tasks or phases other numbers, what the other side says of these numbers is about something else: a conflict too.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from swarmgate.domain.plan.plan import Phase, Plan, Task, id_key

_Value = TypeVar("_Value")

_LENGTH = 120
"""As many characters of what a side wants are shown."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """What both sides changed, each in its own way. `place` is `Task 1.3`, `Phase 2` or `The plan`."""

    place: str
    field: str
    ours: str
    theirs: str


@dataclass(frozen=True, slots=True)
class Merged:
    """The plan with both sides' changes; None where they conflict."""

    plan: Plan | None
    conflicts: tuple[Conflict, ...] = ()


def merge(base: Plan, ours: Plan, theirs: Plan) -> Merged:
    """Merges `ours` and `theirs`, both edited from `base`.

    Args:
        base: the plan that both began with.
        ours: one side; its task ids are unique and stand in the phases that they name, as `problems` asks of any plan.
        theirs: the other side, likewise. Sides can be swapped: only `Conflict.ours` and `theirs` swap with them.
    """
    if theirs in (base, ours):
        return Merged(ours)
    if ours == base:
        return Merged(theirs)
    return _Merge(base, ours, theirs).result()


def changed(before: Plan, after: Plan) -> frozenset[str]:
    """The tasks whose definition another plan changes or removes."""
    return frozenset(
        task_id
        for task_id, task in before.tasks.items()
        if (new := after.tasks.get(task_id)) is not task and new != task
    )


@dataclass
class _Merge:
    """One merge on its way."""

    base: Plan
    ours: Plan
    theirs: Plan
    conflicts: list[Conflict] = field(default_factory=list)

    def result(self) -> Merged:
        self._renumbered(self.ours, self.theirs, ours=True)
        self._renumbered(self.theirs, self.ours, ours=False)
        title = self._value("The plan", "title", self.base.title, self.ours.title, self.theirs.title)
        names = self._names()
        tasks = self._tasks()
        last = max((number for number, name in names.items() if name is not None), default=0)
        phases = []
        for number, name in names.items():
            order = self._order(number, tasks)
            if name is not None:
                phases.append(Phase.model_construct(name=name, tasks=tuple(tasks[task_id] for task_id in order)))
            elif order or number < last:
                self._removal(f"Phase {number}", "fill it", "remove it", ours=number > len(self.ours.phases))
        if self.conflicts:
            return Merged(None, tuple(self.conflicts))
        return Merged(Plan(title=title, phases=tuple(phases)))

    def _value(self, place: str, name: str, base: _Value, ours: _Value, theirs: _Value) -> _Value:
        """The merged value of one field; ours, with a conflict, where both changed it."""
        if theirs in (ours, base):
            return ours
        if ours == base:
            return theirs
        self.conflicts.append(Conflict(place, name, _described(ours), _described(theirs)))
        return ours

    def _removal(self, place: str, keep: str, remove: str, *, ours: bool) -> None:
        """The conflict that one side, ours or theirs, removed what the other one still wants."""
        self.conflicts.append(Conflict(place, "removal", *((remove, keep) if ours else (keep, remove))))

    def _renumbered(self, side: Plan, other: Plan, *, ours: bool) -> None:
        """The conflicts where `side`, which is ours or theirs, gave a number to something else and `other` means it."""
        for old, new, is_meant in (*_moved_tasks(self.base, side, other), *_moved_phases(self.base, side, other)):
            if is_meant:
                wants = (f"make it {new[0].lower()}{new[1:]}", "change it or refer to it under its number")
                self.conflicts.append(Conflict(old, "number", *(wants if ours else wants[::-1])))

    def _names(self) -> dict[int, str | None]:
        """The names of the phases by number, in order; None where a phase is removed."""
        found: dict[int, str | None] = {}
        for number in range(1, max(len(plan.phases) for plan in (self.base, self.ours, self.theirs)) + 1):
            base, ours, theirs = (_name(plan, number) for plan in (self.base, self.ours, self.theirs))
            place = f"Phase {number}"
            if ours is None or theirs is None:
                found[number] = self._lone(place, base, ours, theirs, "rename it")
            else:
                found[number] = self._value(place, "name", base, ours, theirs)
        return found

    def _lone(
        self, place: str, base: _Value | None, ours: _Value | None, theirs: _Value | None, change: str
    ) -> _Value | None:
        """What becomes of a thing that a side lacks: an addition stays, a removal counts where nothing else changed."""
        left = theirs if ours is None else ours
        if base is None or left is None:
            return left
        if left != base:
            self._removal(place, change, "remove it", ours=ours is None)
        return None

    def _tasks(self) -> dict[str, Task]:
        """The merged tasks by id, in no order that means anything."""
        found: dict[str, Task] = {}
        for task_id in {**self.base.tasks, **self.ours.tasks, **self.theirs.tasks}:
            base, ours, theirs = (plan.tasks.get(task_id) for plan in (self.base, self.ours, self.theirs))
            task = self._task(f"Task {task_id}", base, ours, theirs)
            if task is not None:
                found[task_id] = task
        return found

    def _task(self, place: str, base: Task | None, ours: Task | None, theirs: Task | None) -> Task | None:
        if ours is None or theirs is None:
            return self._lone(place, base, ours, theirs, "change it")
        if theirs in (ours, base):
            return ours
        if ours == base:
            return theirs
        merged: dict[str, Any] = {
            name: self._value(place, name, getattr(base, name, None), getattr(ours, name), getattr(theirs, name))
            for name in Task.model_fields
        }
        return Task.model_construct(**merged)

    def _order(self, number: int, tasks: dict[str, Task]) -> list[str]:
        """The ids of a phase in order: what stays as the side that moved something has it, then each side's new ones.

        New tasks follow the one that they were put behind; where both sides put some at one place, the lower id is
        first, so that it does not matter which side is which.
        """
        base, ours, theirs = (_ids(plan, number, tasks) for plan in (self.base, self.ours, self.theirs))
        both = set(base)
        place = f"Phase {number}"
        spine = self._value(place, "order", base, *([i for i in side if i in both] for side in (ours, theirs)))
        our_runs, their_runs = _runs(ours, both), _runs(theirs, both)
        put = [{task_id: anchor for anchor, run in runs.items() for task_id in run} for runs in (our_runs, their_runs)]
        if any(put[1].get(task_id, anchor) != anchor for task_id, anchor in put[0].items()):
            self.conflicts.append(Conflict(place, "order", _described(ours), _described(theirs)))
        order: list[str] = []
        for anchor in ("", *spine):
            runs = sorted((our_runs.get(anchor, []), their_runs.get(anchor, [])), key=lambda r: [id_key(i) for i in r])
            order += [anchor] if anchor else []
            order += runs[0] + [task_id for task_id in runs[1] if task_id not in runs[0]]
        return order


def _moved_tasks(base: Plan, side: Plan, other: Plan) -> Iterator[tuple[str, str, bool]]:
    """The tasks with another id in `side`, that id, and whether `other` changed what stood under the old one."""
    new = [task for task_id, task in side.tasks.items() if task is not (old := base.tasks.get(task_id)) and task != old]
    found = {key: task.id for task in new for key in _likeness(task)}
    referred = _referred(base, side, other) if found else frozenset()
    for task_id, task in base.tasks.items() if found else ():
        now = side.tasks.get(task_id)
        if now is task or (now and _likeness(now) & _likeness(task)):
            continue
        moved = next((found[key] for key in _likeness(task) if key in found), "")
        if moved:
            theirs = other.tasks.get(task_id)
            yield f"Task {task_id}", f"Task {moved}", theirs not in (task, now) or task_id in referred


def _likeness(task: Task) -> frozenset[Hashable]:
    """By what a task is known again under another id: its title, or what it does where."""
    return frozenset([task.title, (task.files, task.acceptance)])


def _referred(base: Plan, side: Plan, other: Plan) -> frozenset[str]:
    """The tasks that `other` made a task need which does not need them in the base, nor in the side."""
    return frozenset(
        needed
        for task_id, task in other.tasks.items()
        if task is not base.tasks.get(task_id)
        for needed in task.depends
        if not any(needed in plan.tasks[task_id].depends for plan in (base, side) if task_id in plan.tasks)
    )


def _moved_phases(base: Plan, side: Plan, other: Plan) -> Iterator[tuple[str, str, bool]]:
    """The phases that have another number in `side`, that number, and whether `other` put new tasks under the old."""
    for number, phase in base.numbered:
        if _name(side, number) in (None, phase.name):
            continue
        moved = next((n for n, each in side.numbered if each.name == phase.name and _name(base, n) != each.name), 0)
        if moved and number <= len(other.phases):
            known = {**base.tasks, **side.tasks}
            new = any(task.id not in known for task in other.phase(number).tasks)
            yield f"Phase {number}", f"Phase {moved}", new


def _name(plan: Plan, number: int) -> str | None:
    return plan.phases[number - 1].name if number <= len(plan.phases) else None


def _ids(plan: Plan, number: int, tasks: dict[str, Task]) -> list[str]:
    """The tasks of a phase that the merged plan keeps, in this plan's order."""
    if number > len(plan.phases):
        return []
    return [task.id for task in plan.phase(number).tasks if task.id in tasks]


def _runs(ids: list[str], known: set[str]) -> dict[str, list[str]]:
    """The new tasks by the known one that they stand behind; "" is the beginning of the phase."""
    found: dict[str, list[str]] = {}
    anchor = ""
    for task_id in ids:
        if task_id in known:
            anchor = task_id
        else:
            found.setdefault(anchor, []).append(task_id)
    return found


def _described(value: object) -> str:
    """What a side wants, in words of a readable length."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        value = list(value)
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LENGTH else f"{text[:_LENGTH]}..."

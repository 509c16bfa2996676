"""What the user's plan.md and plan.json say differently from the ledger, and whether each may stand. Changes nothing.

A file shows the ledger position that it was rendered at, so that position is rendered again and compared: what is
different is the user's edit, however old the file is. What the ledger has gone on to is then merged with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from swarmgate.domain.laws_planning import plan_change_problems
from swarmgate.domain.plan import Plan, problems
from swarmgate.domain.plan_merge import changed, merge
from swarmgate.domain.state import State, replace
from swarmgate.domain.view import PlanView, TaskView
from swarmgate.errors import PlanSyntaxError
from swarmgate.ledger import plan_json, plan_md
from swarmgate.ledger.ledger import Ledger
from swarmgate.ledger.places import Place, about, in_json, in_markdown, line_and_column
from swarmgate.ledger.plan_file import LARGEST, PlanFile

_TOLD = 20
"""As many problems of one edit are told; ten thousand ticked boxes are one mistake."""


@dataclass(frozen=True, slots=True)
class Edit:
    """What one file says differently from the ledger.

    Attributes:
        source: the name of the file.
        data: its bytes; empty where it cannot be read.
        plan: the amended plan, or None when `problems` refuse it.
        problems: why, each with its line.
        ahead: the ledger position that the file shows when the ledger does not reach that far, else 0.
        changed: ids of the tasks whose definition the edit changes or removes.
        unreadable: what stands in the file's place can only be moved away.
    """

    source: str
    data: bytes
    plan: Plan | None
    problems: tuple[str, ...]
    ahead: int = 0
    changed: frozenset[str] = frozenset()
    unreadable: bool = False


def edits(ledger: Ledger, *, interruptible: bool = False) -> tuple[tuple[Edit, ...], tuple[str, ...]]:
    """The edits that stand in the two files, and the names of files that are missing, empty or stale.

    Args:
        ledger: of the project.
        interruptible: a new definition of the running task may stand: it ends the attempt.
    """
    state = ledger.state
    if state.plan is None:
        return (), ()
    found, missing = [], []
    projector = ledger.projector
    for file, expected in zip((projector.plan_md, projector.plan_json), projector.plan_texts(state), strict=True):
        known = expected.encode()
        seen = file.read(known=known, most=max(LARGEST, 2 * len(known)))
        if seen.problem:
            told = f"{file.path.name} {seen.problem}; it was moved away as it is."
            found.append(Edit(file.path.name, b"", None, (told,), unreadable=True))
        elif seen.data is None and not seen.busy:
            missing.append(file.path.name)
        elif seen.data is not None and seen.data != known:
            edit = _Reader(ledger, file, seen.data, interruptible=interruptible).edit()
            if edit is None:
                missing.append(file.path.name)
            else:
                found.append(edit)
    return tuple(found), tuple(missing)


def may_stand(state: State, plan: Plan, *, interruptible: bool) -> tuple[str, ...]:
    """Why a hand edit may not put a plan in the place of the present one; empty when it may."""
    judged = replace(state, open="") if interruptible else state
    found = list(plan_change_problems(judged, plan))
    found += (
        f"Task {task_id} was begun and cannot be removed by hand. To give it up use: swarm skip {task_id} --reason ..."
        for task_id, record in state.tasks.items()
        if record.attempts and task_id not in plan.tasks and not record.settled and task_id != judged.open
    )
    return tuple(found)


class _Reader:
    """Reads one file that differs from what the ledger makes of it."""

    def __init__(self, ledger: Ledger, file: PlanFile, data: bytes, *, interruptible: bool) -> None:
        self._ledger = ledger
        self._name = file.path.name
        self._data = data
        self._text = ""
        self._interruptible = interruptible
        markdown = file is ledger.projector.plan_md
        self._line: Callable[[str, Place], int] = in_markdown if markdown else in_json
        self._parse = self._parse_markdown if markdown else self._parse_json

    def edit(self) -> Edit | None:
        """The user's edit; None when the file is merely an older rendering."""
        try:
            self._text = self._data.decode("utf-8")
            view = self._parse()
        except UnicodeDecodeError as error:
            return self._refused((), _not_utf8(self._name, self._data, error.start))
        except PlanSyntaxError as error:
            return self._refused((), f"{error.message} {error.hint}".rstrip())
        state, projector = self._ledger.state, self._ledger.projector
        if view.seq > state.seq:
            claim = f"{self._name} claims ledger position {view.seq}; the ledger is at {state.seq}."
            return Edit(self._name, self._data, None, (claim,), ahead=view.seq)
        shown = self._ledger.state_at(max(view.seq, 0))
        if shown.plan is None or state.plan is None:
            return self._refused((), f"{self._name} claims ledger position {view.seq}, where there was no plan.")
        if shown.goals != state.goals:
            return self._refused((), f"{self._name} shows position {view.seq}: the plan of a goal that is over.")
        base = projector.view(shown)
        if view == base:
            return None
        edited = projector.plan_of(view)
        if found := [self._at(place, text) for place, text in state_edits(base, view)]:
            if edited != shown.plan:
                found.append("What else the edit changes was not taken in either: it is in the same save.")
            return self._refused(changed(shown.plan, edited), *found)
        return self._structure(view.seq, shown.plan, edited, state.plan)

    def _structure(self, seq: int, shown: Plan, edited: Plan, current: Plan) -> Edit:
        touched = changed(shown, edited)
        plan = edited
        if shown != current:
            if found := problems(edited):  # the merge goes by ids, so they have to be right
                return self._refused(touched, *self._placed(found))
            merged = merge(shown, current, edited)
            if merged.plan is None:
                clashes = (
                    f"{clash.place}, {clash.field}: the edit was made at ledger position {seq} and wants "
                    f"{clash.theirs}; since then it was changed, and now is {clash.ours}."
                    for clash in merged.conflicts
                )
                return self._refused(touched, *self._placed(clashes))
            plan = merged.plan
        if found := may_stand(self._ledger.state, plan, interruptible=self._interruptible):
            return self._refused(touched, *self._placed(found))
        return Edit(self._name, self._data, plan, (), changed=changed(current, plan))

    def _refused(self, touched: frozenset[str] | tuple[()], *told: str) -> Edit:
        return Edit(self._name, self._data, None, _bounded(told), changed=frozenset(touched))

    def _placed(self, found: tuple[str, ...] | Iterator[str]) -> Iterator[str]:
        return (self._at(about(text), text) for text in found)

    def _at(self, place: Place, text: str) -> str:
        line = self._line(self._text, place) if place else 0
        return f"{self._name}{f' line {line}' if line else ''}: {text}"

    def _parse_markdown(self) -> PlanView:
        return plan_md.parse(self._text, name=self._name, known=self._ledger.projector.known)

    def _parse_json(self) -> PlanView:
        return plan_json.parse(self._text, name=self._name)


def state_edits(base: PlanView, edited: PlanView) -> Iterator[tuple[Place, str]]:
    """The places where an edit touches what only the ledger may say: statuses, attempts, notes."""
    before = {task.id: task for phase in base.phases for task in phase.tasks}
    for phase in edited.phases:
        was = base.phases[phase.number - 1].status if phase.number <= len(base.phases) else "PENDING"
        if phase.status != was:
            told = f"phase {phase.number} is {was}, and the edit says {phase.status}. Status comes from the ledger"
            yield ("phase", phase.number, "status"), f"{told} alone."
        for task in phase.tasks:
            if (old := before.get(task.id)) is not task:
                yield from _task_state_edits(old, task)


def _task_state_edits(before: TaskView | None, task: TaskView) -> Iterator[tuple[Place, str]]:
    old = before or TaskView.model_construct(id=task.id, title=task.title)
    if task.status is not old.status:
        told = f"task {task.id} is {old.status}, and the edit says {task.status}. Status comes from the ledger alone; "
        yield (task.id, "status"), f"{told}to give a task up use: swarm skip {task.id} --reason ..."
    if task.attempts != old.attempts:
        pairs = zip(task.attempts, old.attempts, strict=False)
        index = next((n for n, (new, was) in enumerate(pairs) if new != was), len(old.attempts))
        told = f"the attempts of task {task.id} were edited. They are a record and stay as they were."
        yield (task.id, "attempts", index), told
    if task.note != old.note:
        yield (task.id, "note"), f"the note of task {task.id} was edited. It is a record and stays as it was."


def _bounded(told: tuple[str, ...]) -> tuple[str, ...]:
    left = len(told) - _TOLD
    return told if left <= 0 else (*told[:_TOLD], f"There are {left} more of that kind.")


def _not_utf8(name: str, data: bytes, at: int) -> str:
    before = data[:at].decode("utf-8")
    line, column = line_and_column(before, len(before))
    guess = ": it looks like UTF-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else ""
    return f"{name} line {line}, column {column} is not UTF-8{guess}. Save it as UTF-8."

"""Finds differences of plan.md and plan.json from the ledger, and decides which are allowed. Changes nothing.

A file shows the ledger position that it was rendered at, so that position is rendered again and compared: what is
different is the user's edit, however old the file is. Where an earlier save that showed the same position was taken in,
the edit is what differs from that one. What the ledger has gone on to is then merged with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from swarmgate.domain.plan.merge import changed, merge
from swarmgate.domain.plan.plan import Plan, problems
from swarmgate.domain.state.plan_view import PhaseView, PlanView, TaskView
from swarmgate.domain.state.state import State, replace
from swarmgate.domain.transitions.planning import plan_change_problems
from swarmgate.errors import PlanSyntaxError
from swarmgate.ledger.views import plan_json, plan_md
from swarmgate.ledger.views.edit_positions import Place, about, in_json, in_markdown, line_and_column
from swarmgate.ledger.views.plan_file import LARGEST, PlanFile
from swarmgate.ledger.views.projections import Projector

_LISTED = 20
"""As many problems of one edit are told; ten thousand ticked boxes are one mistake."""
MOST_TASKS = 20_000
"""Tasks and phases that a file may show, unless the plan has as many: reading more takes minutes."""


class Rendered(Protocol):
    """A fold now and at earlier positions, with what rendered it: what a ledger is to its plan files."""

    @property
    def state(self) -> State:
        """The state now."""

    @property
    def projector(self) -> Projector:
        """Renders states into the files."""

    def state_at(self, seq: int) -> State:
        """The state at an earlier position, at most the present one."""


@dataclass(frozen=True, slots=True)
class Edit:
    """The difference of one plan file from the ledger.

    Attributes:
        source: the name of the file.
        data: its bytes; empty where it cannot be read.
        plan: the amended plan, or None when `problems` refuse it.
        problems: why, each with its line.
        seq: the ledger position that the file shows; 0 where that cannot be read.
        own: the plan that the file says itself, before it was merged with anything.
        ahead: the ledger position that the file shows when the ledger does not reach that far, else 0.
        changed: ids of the tasks whose definition the edit changes or removes.
        unreadable: what stands in the file's place can only be moved away.
    """

    source: str
    data: bytes
    plan: Plan | None
    problems: tuple[str, ...]
    seq: int = 0
    own: Plan | None = None
    ahead: int = 0
    changed: frozenset[str] = frozenset()
    unreadable: bool = False


class Edits(NamedTuple):
    """The edits in the two plan files.

    Attributes:
        found: edits.
        missing: names of files that are missing, empty or stale, or say nothing that the plan does not have already.
        busy: names of files that somebody is writing; they are left for the next look.
    """

    found: tuple[Edit, ...] = ()
    missing: tuple[str, ...] = ()
    busy: tuple[str, ...] = ()


def edits(ledger: Rendered, *, interruptible: bool = False) -> Edits:
    """The edits that stand in the two files.

    Args:
        ledger: of the project.
        interruptible: a new definition of the running task may stand: it ends the attempt.
    """
    state = ledger.state
    if state.plan is None:
        return Edits()
    found, missing, busy = [], [], []
    projector = ledger.projector
    for file, expected in zip((projector.plan_md, projector.plan_json), projector.plan_texts(state), strict=True):
        known = expected.encode()
        seen = file.read(known=known, most=max(LARGEST, 2 * len(known)))
        if seen.problem:
            message = f"{file.path.name} {seen.problem}; it was moved away as it is."
            found.append(Edit(file.path.name, b"", None, (message,), unreadable=True))
        elif seen.busy:
            busy.append(file.path.name)
        elif seen.data is None:
            missing.append(file.path.name)
        elif seen.data != known:
            edit = _Reader(ledger, file, seen.data, interruptible=interruptible).edit()
            if edit is None:
                missing.append(file.path.name)
            else:
                found.append(edit)
    return Edits(tuple(found), tuple(missing), tuple(busy))


def foreign(ledger: Rendered) -> tuple[Edit, ...]:
    """What lies in the place of the plan files where there was no plan, and no plan that was before was rendered as."""
    found = []
    for file in (ledger.projector.plan_md, ledger.projector.plan_json):
        seen = file.read()
        name = file.path.name
        if seen.problem:
            message = f"{name} {seen.problem}; it was moved away as it is."
            found.append(Edit(name, b"", None, (message,), unreadable=True))
        elif seen.data is not None and not _Reader(ledger, file, seen.data, interruptible=False).is_rendering():
            message = f"{name} was there before the plan was made, and is not of swarmgate. Edit the plan as it is now."
            found.append(Edit(name, seen.data, None, (message,)))
    return tuple(found)


def refusals(state: State, plan: Plan, *, interruptible: bool) -> tuple[str, ...]:
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

    def __init__(self, ledger: Rendered, file: PlanFile, data: bytes, *, interruptible: bool) -> None:
        self._ledger = ledger
        self._name = file.path.name
        self._data = data
        self._text = ""
        self._interruptible = interruptible
        markdown = file is ledger.projector.plan_md
        self._line: Callable[[str, Place], int] = in_markdown if markdown else in_json
        self._parse = self._parse_markdown if markdown else self._parse_json

    def is_rendering(self) -> bool:
        """Whether the file is as the ledger had it at the position that it shows."""
        try:
            view = self._parse(self._data.decode("utf-8"))
        except (UnicodeDecodeError, PlanSyntaxError):
            return False
        if not 0 <= view.seq <= self._ledger.state.seq:
            return False
        basis = self._ledger.state_at(view.seq)
        return basis.plan is not None and view == self._ledger.projector.view(basis)

    def edit(self) -> Edit | None:
        """The user's edit; None when the file is merely an older rendering, or the plan has what it says already."""
        try:
            self._text = self._data.decode("utf-8")
            if problem := self._too_many():
                return self._refused((), problem)
            view = self._parse(self._text)
        except UnicodeDecodeError as error:
            return self._refused((), _not_utf8(self._name, self._data, error.start))
        except PlanSyntaxError as error:
            return self._refused((), f"{error.message} {error.hint}".rstrip())
        state, projector = self._ledger.state, self._ledger.projector
        if view.seq > state.seq:
            claim = self._at(("seq",), f"claims ledger position {view.seq}; the ledger is at {state.seq}.")
            return Edit(self._name, self._data, None, (claim,), ahead=view.seq)
        basis = self._ledger.state_at(max(view.seq, 0))
        if basis.plan is None or state.plan is None:
            claim = f"claims ledger position {view.seq}, where there was no plan."
            return self._refused((), self._at(("seq",), claim))
        if basis.goals != state.goals:
            claim = f"shows position {view.seq}: the plan of a goal that is over."
            return self._refused((), self._at(("seq",), claim))
        base, before = projector.view(basis), projector.saves.plan(self._name, view.seq, self._read)
        if view == base and before is None:
            return None
        edited = projector.plan_of(view)
        if found := [self._at(place, text) for place, text in state_edits(base, view)]:
            if edited != basis.plan:
                found.append("What else the edit changes was not taken in either: it is in the same save.")
            return self._refused(changed(basis.plan, edited), *found)
        return self._structure(view.seq, before or basis.plan, edited, state.plan)

    def _structure(self, seq: int, basis: Plan, edited: Plan, current: Plan) -> Edit | None:
        touched = changed(basis, edited)
        plan = edited
        if basis != current:
            if found := problems(edited):  # the merge goes by ids, so they have to be right
                return self._refused(touched, *self._placed(found))
            merged = merge(basis, current, edited)
            if merged.plan is None:
                clashes = (
                    f"{clash.place}, {clash.field}: the edit was made at ledger position {seq} and wants "
                    f"{clash.theirs}; since then it was changed, and now is {clash.ours}."
                    for clash in merged.conflicts
                )
                return self._refused(touched, *self._placed(clashes))
            plan = merged.plan
        if plan == current:
            return None
        if found := refusals(self._ledger.state, plan, interruptible=self._interruptible):
            return self._refused(touched, *self._placed(found))
        return Edit(self._name, self._data, plan, (), seq=seq, own=edited, changed=changed(current, plan))

    def _refused(self, touched: frozenset[str] | tuple[()], *message: str) -> Edit:
        return Edit(self._name, self._data, None, _bounded(message), changed=frozenset(touched))

    def _placed(self, found: tuple[str, ...] | Iterator[str]) -> Iterator[str]:
        return (self._at(about(text), text) for text in found)

    def _at(self, place: Place, text: str) -> str:
        line = self._line(self._text, place) if place else 0
        return f"{self._name}{f' line {line}' if line else ''}: {text}"

    def _too_many(self) -> str:
        """Why the file is not read: legal or not, it would hold everybody up."""
        marks = ("\n- [", "\n## ") if self._line is in_markdown else ('"id"', '"name"')
        plan = self._ledger.state.plan
        most = max(MOST_TASKS, 2 * len(plan.tasks) if plan else 0)
        count = sum(self._text.count(mark) for mark in marks)
        return f"{self._name} has {count} tasks and phases; more than {most} are not read." if count > most else ""

    def _read(self, data: bytes) -> tuple[int, Plan]:
        view = self._parse(data.decode("utf-8"))
        return view.seq, self._ledger.projector.plan_of(view)

    def _parse_markdown(self, text: str) -> PlanView:
        ledger = self._ledger
        return plan_md.parse(text, name=self._name, known=ledger.projector.known, seq=ledger.state.seq)

    def _parse_json(self, text: str) -> PlanView:
        return plan_json.parse(text, name=self._name)


def state_edits(base: PlanView, edited: PlanView) -> Iterator[tuple[Place, str]]:
    """The places where an edit touches what only the ledger may say: statuses, attempts, notes."""
    before = {task.id: task for phase in base.phases for task in phase.tasks}
    if edited.approved_by != base.approved_by:
        yield ("seq",), "who approved the plan was edited. It is a record and stays as it was."
    for phase in edited.phases:
        new = PhaseView(number=phase.number, name=phase.name)
        was, place = base.phases[phase.number - 1] if phase.number <= len(base.phases) else new, ("phase", phase.number)
        if phase.status != was.status:
            message = f"phase {phase.number} is {was.status}, and the edit says {phase.status}. Status comes from the"
            yield (*place, "status"), f"{message} ledger alone."
        if phase.verdicts != was.verdicts:
            message = f"the verdicts on phase {phase.number} were edited. They are a record and stay as they were."
            yield (*place, "status"), message
        if phase.approved_by != was.approved_by:
            message = f"who approved phase {phase.number} was edited. It is a record and stays as it was."
            yield (*place, "status"), message
        for task in phase.tasks:
            if (old := before.get(task.id)) is not task:
                yield from _task_state_edits(old, task)


def _task_state_edits(before: TaskView | None, task: TaskView) -> Iterator[tuple[Place, str]]:
    old = before or TaskView.model_construct(id=task.id, title=task.title)
    if task.status is not old.status:
        message = (
            f"task {task.id} is {old.status}, and the edit says {task.status}. Status comes from the ledger alone; "
        )
        yield (task.id, "status"), f"{message}to give a task up use: swarm skip {task.id} --reason ..."
    if task.attempts != old.attempts:
        pairs = zip(task.attempts, old.attempts, strict=False)
        index = next((n for n, (new, was) in enumerate(pairs) if new != was), len(old.attempts))
        message = f"the attempts of task {task.id} were edited. They are a record and stay as they were."
        yield (task.id, "attempts", index), message
    if task.note != old.note:
        yield (task.id, "note"), f"the note of task {task.id} was edited. It is a record and stays as it was."


def _bounded(messages: tuple[str, ...]) -> tuple[str, ...]:
    left = len(messages) - _LISTED
    return messages if left <= 0 else (*messages[:_LISTED], f"There are {left} more of that kind.")


def _not_utf8(name: str, data: bytes, at: int) -> str:
    before = data[:at].decode("utf-8")
    line, column = line_and_column(before, len(before))
    guess = ": it looks like UTF-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else ""
    return f"{name} line {line}, column {column} is not UTF-8{guess}. Save it as UTF-8."

"""One reconcile pass between plan.md, plan.json and the fold: what did the user edit, and may it stand?

A file shows the ledger position that it was rendered at, so the pass renders that position again and compares: what is
different is the user's edit, however old the file is. Structure may be edited; state comes from the ledger alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import takewhile

from swarmgate.domain.events import EditRefused, PlanAmended
from swarmgate.domain.fold import fold
from swarmgate.domain.laws_planning import plan_change_problems
from swarmgate.domain.plan import Plan
from swarmgate.domain.state import State
from swarmgate.domain.view import PhaseView, PlanView, TaskView, view_of
from swarmgate.errors import LedgerCorrupt, PlanSyntaxError, UsageError
from swarmgate.ledger.ledger import Ledger
from swarmgate.ledger.plan_md import parse
from swarmgate.ledger.projections import parse_json


@dataclass(frozen=True, slots=True)
class Edit:
    """What one file says differently from the ledger. `plan` is the amended plan, or None when `problems` refuse it.

    `ahead` is the ledger position that the file shows when the ledger does not reach that far, else 0.
    """

    source: str
    data: bytes
    plan: Plan | None
    problems: tuple[str, ...]
    ahead: int = 0


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """The outcome of a pass. `restored` are files that were missing or stale and were written again."""

    amended: tuple[str, ...] = ()
    refused: tuple[EditRefused, ...] = ()
    restored: tuple[str, ...] = ()


def reconcile(ledger: Ledger, *, author: str) -> Reconciliation:
    """Takes legal edits into the ledger, keeps the others in the quarantine, and brings both files up to date.

    Raises:
        LedgerCorrupt: both files were rendered at a position that the ledger has lost. Nothing was changed.
        LedgerError: as `Ledger.append` does.
    """
    found, missing = edits(ledger)
    _require_whole(ledger, found)
    taken = _agreed(found)
    refused = tuple(
        EditRefused(
            source=edit.source,
            problems=edit.problems or ("The other file was edited too, and the two edits do not agree.",),
            kept=ledger.folder.relative(ledger.folder.keep(edit.source, edit.data)),
        )
        for edit in found
        if edit not in taken
    )
    if taken:  # first: an append brings both files up to date, and what is refused lies in the quarantine already
        amended = PlanAmended(plan=_plan_of(taken[0]), source=taken[0].source)
        ledger.append([amended], expect=ledger.state.seq, actor=author)
    if refused:
        ledger.append(refused, expect=ledger.state.seq)
    if missing and not refused and not taken:
        ledger.project()
    return Reconciliation(tuple(edit.source for edit in taken), refused, missing)


def _require_whole(ledger: Ledger, found: tuple[Edit, ...]) -> None:
    """One file that is ahead of the ledger is an edit of its position; two are what swarmgate wrote itself."""
    ahead = [edit for edit in found if edit.ahead]
    if len(ahead) > 1:
        raise LedgerCorrupt(
            f"{' and '.join(edit.source for edit in ahead)} show ledger position {ahead[0].ahead}, and the ledger ends "
            f"at {ledger.state.seq}: lines were lost.",
            hint="Bring .swarm/ledger.jsonl back from a backup or from git; see: swarm verify",
        )


def edits(ledger: Ledger) -> tuple[tuple[Edit, ...], tuple[str, ...]]:
    """The edits that stand in the two files, and the names of files that are missing or stale. Changes nothing.

    Raises:
        UsageError: a file cannot be read.
    """
    if ledger.state.plan is None:
        return (), ()
    found, missing = [], []
    current = ledger.projector.plan_texts(ledger.state)
    files = ((ledger.folder.plan_md, parse, current[0]), (ledger.folder.plan_json, parse_json, current[1]))
    for path, parser, expected in files:
        try:
            data = ledger.projector.read(path)
        except OSError as error:
            raise UsageError(
                f"{path} cannot be read: {error.strerror or error}.", hint="Remove it: it comes back."
            ) from error
        if data == expected.encode():
            continue
        edit = None if data is None else _edit(ledger, path.name, data, parser)
        if edit is None:
            missing.append(path.name)
        else:
            found.append(edit)
    return tuple(found), tuple(missing)


def _edit(ledger: Ledger, name: str, data: bytes, parser: Callable[..., PlanView]) -> Edit | None:
    """The user's edit in a file that differs from the projection; None when the file is merely an older projection."""
    try:
        view = parser(data.decode("utf-8"), name=name)
    except UnicodeDecodeError as error:
        return Edit(name, data, None, (f"{name} is not UTF-8 (byte {error.start}).",))
    except PlanSyntaxError as error:
        return Edit(name, data, None, (error.message,))
    if view.seq > ledger.state.seq:
        claim = f"{name} claims ledger position {view.seq}; the ledger is at {ledger.state.seq}."
        return Edit(name, data, None, (claim,), ahead=view.seq)
    shown = _state_at(ledger, view.seq)
    base = view_of(shown)
    if base is None:
        return Edit(name, data, None, (f"{name} claims ledger position {view.seq}, where there was no plan.",))
    if view == base:
        return None
    problems = state_edits(base, view, name)
    if not problems and shown.plan != ledger.state.plan:
        problems = (f"{name} was edited at ledger position {view.seq}, and the plan has changed since.",)
    problems = problems or plan_change_problems(ledger.state, view.plan)
    return Edit(name, data, None if problems else view.plan, problems)


def state_edits(base: PlanView, edited: PlanView, name: str) -> tuple[str, ...]:
    """The places where an edit touches what only the ledger may say: statuses, attempts, notes."""
    before = {task.id: task for phase in base.phases for task in phase.tasks}
    found = [
        f"{name}: phase {phase.number} is {_phase_before(base, phase)}, and the edit says {phase.status}."
        for phase in edited.phases
        if phase.status != _phase_before(base, phase)
    ]
    for phase in edited.phases:
        for task in phase.tasks:
            found.extend(_task_state_edits(before.get(task.id), task, name))
    return tuple(found)


def _phase_before(base: PlanView, phase: PhaseView) -> str:
    return base.phases[phase.number - 1].status if phase.number <= len(base.phases) else "PENDING"


def _task_state_edits(before: TaskView | None, task: TaskView, name: str) -> list[str]:
    old = before or TaskView(**{**task.task.model_dump(), "attempts": ()})
    found = []
    if task.status is not old.status:
        found.append(
            f"{name}: task {task.id} is {old.status}, and the edit says {task.status}. Status comes from the ledger "
            f"alone; to give a task up use: swarm skip {task.id} --reason ..."
        )
    if task.attempts != old.attempts:
        found.append(f"{name}: the attempts of task {task.id} were edited. They are a record and stay as they were.")
    if task.note != old.note:
        found.append(f"{name}: the note of task {task.id} was edited. It is a record and stays as it was.")
    return found


def _agreed(found: tuple[Edit, ...]) -> tuple[Edit, ...]:
    """The edits that can be taken: all that are legal, unless they want different plans."""
    legal = tuple(edit for edit in found if edit.plan is not None)
    return legal if len({edit.plan.model_dump_json() for edit in legal if edit.plan}) == 1 else ()


def _plan_of(edit: Edit) -> Plan:
    if edit.plan is None:
        raise ValueError("a refused edit has no plan")
    return edit.plan


def _state_at(ledger: Ledger, seq: int) -> State:
    if seq == ledger.state.seq:
        return ledger.state
    return fold(State(), takewhile(lambda entry: entry.seq <= seq, (entry for entry, _ in ledger.entries())))

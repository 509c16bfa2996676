"""Reconciles plan.md and plan.json with the state: accepts allowed hand edits, quarantines the others.

Structure may be edited; state comes from the ledger alone. What is taken becomes one `plan_amended`; what is not is put
into the quarantine first, once for each content, and then both files are made what the ledger says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from swarmgate.domain.events.event import EditRefused, Event, PlanAmended
from swarmgate.domain.plan.merge import changed, merge
from swarmgate.domain.plan.plan import Plan
from swarmgate.domain.state.state import State
from swarmgate.errors import LedgerCorrupt
from swarmgate.ledger.hand_edits.edits import Edit, edits, refusals
from swarmgate.ledger.hand_edits.quarantine import keep
from swarmgate.ledger.ledger import Ledger
from swarmgate.ledger.views.edit_positions import about, in_json, in_markdown

__all__ = ["Edit", "Interrupt", "Reconciliation", "edits", "reconcile"]

_LISTED = 20
"""As many conflicts are told."""

_CHOOSE = (
    "Both files were edited, and the edits do not agree. Both are kept side by side; choose one: edit plan.md again."
)

Interrupt = Callable[[State], Sequence[Event]]
"""Gives the events that end the running attempt; none where it cannot be ended now."""


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """The outcome of a pass.

    Attributes:
        amended: files whose edit was taken in.
        refused: edits that were not, and where they are kept. One that was refused last time too is here, but not in
            the ledger again.
        restored: files that were missing, empty or stale and were written again.
        busy: files that somebody is writing: they are left as they are, for the next pass.
        interrupted: the task whose attempt an edit ended; empty where none did.
    """

    amended: tuple[str, ...] = ()
    refused: tuple[EditRefused, ...] = ()
    restored: tuple[str, ...] = ()
    busy: tuple[str, ...] = ()
    interrupted: str = ""


@dataclass(frozen=True, slots=True)
class _Decided:
    """What becomes of the edits: `plan` is put in the place of the present one for those that are `taken`."""

    plan: Plan | None
    taken: tuple[Edit, ...]
    left: tuple[Edit, ...]
    apart: bool = False  # the two that are left do not agree: they are kept side by side


def reconcile(ledger: Ledger, *, author: str, interrupt: Interrupt | None = None) -> Reconciliation:
    """Takes legal edits into the ledger, keeps the others in the quarantine, and brings both files up to date.

    Args:
        ledger: open for writing.
        author: who edited, as the ledger names the actor.
        interrupt: ends the running attempt where an edit changes that very task; without it such an edit is refused.

    Raises:
        LedgerCorrupt: both files were rendered at a position that the ledger has lost. Nothing was changed.
        LedgerError: as `Ledger.append` does.
    """
    found, missing, busy = edits(ledger, interruptible=interrupt is not None)
    _require_whole(ledger.state.seq, found)
    decided = _decide(ledger.state, found, interruptible=interrupt is not None)
    ends: tuple[Event, ...] = ()
    running = ledger.state.open
    if interrupt and decided.plan and ledger.state.plan and running in changed(ledger.state.plan, decided.plan):
        ends = tuple(interrupt(ledger.state))
        if not ends:
            decided = _decide(ledger.state, edits(ledger).found, interruptible=False)
    refused = keep(ledger.folder, ledger.projector, decided.left, apart=decided.apart)
    if decided.plan is not None:  # first: an append brings both files up to date, and what is refused is kept already
        amended = PlanAmended(plan=decided.plan, source=", ".join(edit.source for edit in decided.taken))
        ledger.append([*ends, amended], expect=ledger.state.seq, actor=author)
        for edit in decided.taken:
            if edit.own is not None:
                ledger.projector.saves.remember(edit.source, edit.data, edit.seq, edit.own)
    if refused and not _reported_last(ledger, refused):
        ledger.append(refused, expect=ledger.state.seq)
    elif refused or (missing and decided.plan is None):
        ledger.project()
    taken = tuple(edit.source for edit in decided.taken)
    return Reconciliation(taken, refused, missing, busy, running if ends else "")


def _require_whole(seq: int, found: tuple[Edit, ...]) -> None:
    """One file that is ahead of the ledger is an edit of its position; two are what swarmgate wrote itself."""
    ahead = [edit for edit in found if edit.ahead]
    if len(ahead) > 1:
        raise LedgerCorrupt(
            f"{' and '.join(edit.source for edit in ahead)} show ledger position {ahead[0].ahead}, and the ledger ends "
            f"at {seq}: lines were lost.",
            hint="Bring .swarm/ledger.jsonl back from a backup or from git; see: swarm verify",
        )


def _decide(state: State, found: tuple[Edit, ...], *, interruptible: bool) -> _Decided:
    legal = tuple(edit for edit in found if edit.plan is not None)
    left = tuple(edit for edit in found if edit.plan is None)
    if len(legal) < 2 or state.plan is None:  # noqa: PLR2004 - two files
        return _Decided(legal[0].plan if legal else None, legal, left)
    first, second = legal
    if first.plan is None or second.plan is None:
        raise ValueError("a legal edit has a plan")
    merged = merge(state.plan, first.plan, second.plan)
    if merged.plan is None:
        messages = [
            f"{clash.place}, {clash.field}: {first.source} wants {clash.ours}, {second.source} wants {clash.theirs}."
            for clash in merged.conflicts
        ]
        return _Decided(None, (), tuple(_clashing(edit, messages) for edit in legal), apart=True)
    if combined := refusals(state, merged.plan, interruptible=interruptible):
        return _Decided(None, (), tuple(_clashing(edit, list(combined)) for edit in legal), apart=True)
    return _Decided(merged.plan, legal, left)


def _clashing(edit: Edit, messages: list[str]) -> Edit:
    text = edit.data.decode("utf-8")
    look = in_markdown if edit.source.endswith(".md") else in_json
    placed = [
        f"{edit.source}{f' line {n}' if (n := look(text, about(each))) else ''}: {each}" for each in messages[:_LISTED]
    ]
    return Edit(edit.source, edit.data, None, (*placed, _CHOOSE), changed=edit.changed)


def _reported_last(ledger: Ledger, refused: tuple[EditRefused, ...]) -> bool:
    """Whether the ledger ends in these very refusals: then they are no news."""
    last = [(event.source, event.kept) for event in ledger.last(len(refused)) if isinstance(event, EditRefused)]
    return last == [(event.source, event.kept) for event in refused]

"""Transitions of a fleet's events: who works on the goal, and what that worker may have used before it says so."""

from __future__ import annotations

from swarmgate.domain.events import event as ev
from swarmgate.domain.state.state import UNUSED, Lease, State, replace
from swarmgate.errors import IllegalMove


def lease_taken(state: State, event: ev.LeaseTaken, _: ev.Entry) -> State:
    before = state.lease
    if event.epoch <= before.epoch:
        raise IllegalMove(
            f"Epoch {event.epoch} is not above {before.epoch}, in which {before.worker} took the goal.",
            hint="Fetch the goal anew: somebody else works on it.",
        )
    after = Lease(epoch=event.epoch, worker=event.worker, version=event.version)
    return replace(state, lease=after, reserved=UNUSED, forfeited=state.forfeited + state.reserved)


def budget_reserved(state: State, event: ev.BudgetReserved, _: ev.Entry) -> State:
    if not state.lease.epoch:
        raise IllegalMove("A budget is reserved under a lease, and nobody has taken one.")
    return replace(state, reserved=event.usage)

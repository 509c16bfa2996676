"""Epochs rise, and what a worker that is gone had reserved counts as spent."""

from __future__ import annotations

import pytest

from swarmgate.domain.events.event import BudgetReserved, Entry, Event, LeaseTaken, PauseReason, RunPaused
from swarmgate.domain.spending.budget import accounts
from swarmgate.domain.state.state import Rules, State, replace
from swarmgate.domain.transitions.fold import fold
from swarmgate.domain.usage import Usage
from swarmgate.errors import IllegalMove

CALL = Usage(calls=1, prompt_tokens=100, completion_tokens=50, usd=0.5)


def folded(state: State, *events: Event) -> State:
    return fold(state, (Entry(seq=n, time="", actor="swarmgate", event=each) for n, each in enumerate(events, start=1)))


def taken(epoch: int) -> LeaseTaken:
    return LeaseTaken(epoch=epoch, worker=f"w{epoch}", version="1")


def test_an_epoch_is_above_every_one_before() -> None:
    state = folded(State(), taken(1), taken(3))
    assert (state.lease.epoch, state.lease.worker) == (3, "w3")
    for epoch in (1, 3):
        with pytest.raises(IllegalMove, match="not above 3"):
            folded(state, taken(epoch))


def test_only_under_a_lease_is_anything_reserved() -> None:
    with pytest.raises(IllegalMove, match="under a lease"):
        folded(State(), BudgetReserved(usage=CALL))


def test_what_is_reserved_counts_as_spent_from_the_next_lease_on_and_no_sooner() -> None:
    limited = replace(State(), rules=Rules(budget_tokens=1000))
    state = folded(limited, taken(1), BudgetReserved(usage=CALL))
    assert accounts(state, "")[0].spent.tokens == 0
    assert accounts(folded(state, taken(2)), "")[0].spent.tokens == 150
    assert folded(state, taken(2), BudgetReserved(usage=CALL), taken(3)).forfeited.tokens == 300


def test_a_pause_ends_what_is_reserved() -> None:
    state = folded(State(), taken(1), BudgetReserved(usage=CALL), RunPaused(reason=PauseReason.STOPPED), taken(2))
    assert state.forfeited == Usage()

"""What was used so far, also by a run or a council in another process that has not recorded it yet."""

from __future__ import annotations

from collections.abc import Iterator

from swarmgate.domain.events.event import UsageRecorded
from swarmgate.domain.next_step import worked_on
from swarmgate.domain.spending.cost import Charge, CostReport, charge, recorded, report
from swarmgate.domain.state.state import State
from swarmgate.domain.usage import Usage
from swarmgate.ledger.councils.sessions import ROLE, unsettled
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.files.traces import Call, TraceStore
from swarmgate.ledger.ledger import Ledger


def cost_report(folder: SwarmFolder) -> CostReport:
    """The tables of `swarm cost`.

    Raises:
        LedgerCorrupt: the ledger is damaged.
    """
    sessions = unsettled(folder)  # first: what settles meanwhile is counted by the ledger that is read next
    ledger = Ledger.read(folder)
    state = ledger.state
    charges = [*recorded(entry for entry, _ in ledger.entries()), *_of_the_step(folder, state)]
    charges += (_charged(state, call, source=each.name) for each in sessions for call in each.uncounted(ledger))
    return report(charges, state.goals)


def pending(folder: SwarmFolder, state: State) -> Usage:
    """What the step that goes on, or died, used so far and is not on record yet."""
    return sum((each.usage for each in _of_the_step(folder, state)), Usage())


def _of_the_step(folder: SwarmFolder, state: State) -> Iterator[Charge]:
    for call in TraceStore(folder, lambda: state.seq).unrecorded(state.usage_seq):
        yield _charged(state, call, task=worked_on(state))


def _charged(state: State, call: Call, *, task: str = "", source: str = "") -> Charge:
    role = ROLE if source else call.role
    event = UsageRecorded(role=role, task=task, usage=call.usage, models={call.model: call.usage}, source=source)
    return charge(state, event, day=call.day, settled=False)

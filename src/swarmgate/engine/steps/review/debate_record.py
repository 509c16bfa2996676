"""Stores the record of a debate in its journal, and the head of that journal in the ledger."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from swarmgate.council.debate.model import Compared, Debate, Outcome, Spoke
from swarmgate.council.debate.rules import RULES
from swarmgate.council.debate.state import DebateState
from swarmgate.council.records.lifecycle import Completed
from swarmgate.council.records.record import Record
from swarmgate.domain.base import Frozen
from swarmgate.domain.events.event import DebateKept
from swarmgate.engine.context import Context
from swarmgate.errors import LedgerError

LoopRecord = Record[Debate, DebateState, Outcome]


@dataclass(frozen=True)
class OnRecord:
    """The debates about an attempt, or about the plan (`task` empty, `attempt` 0).

    The ledger gets the head of the journal with every line, and what is read is taken for true only where it ends as
    the ledger says. A process that is killed between journal and ledger leaves a debate that counts for nothing: it is
    held anew.
    """

    ctx: Context
    task: str
    attempt: int

    def ids(self) -> tuple[str, ...]:
        """The ids of all records, sorted: two debates of one case are named one after the other."""
        return tuple(sorted(self.ctx.records.documents.records()))

    def begin(self, debate: Debate) -> LoopRecord:
        """The record of a debate, begun."""
        record = self.ctx.records.begin(RULES, debate)
        record.witness = partial(self._keep, record)
        self._keep(record, debate)
        return record

    def load(self, debate_id: str) -> LoopRecord:
        """A debate that is on record.

        Raises:
            LedgerError: it is damaged, or its newest line is not what the ledger has on record.
        """
        record = self.ctx.records.open(RULES, debate_id)
        record.witness = partial(self._keep, record)
        if record.head != self.ctx.ledger.state.debate_heads.get(debate_id, ""):
            raise LedgerError(
                f"{record.place()} is damaged, or was changed by hand: it is not what the ledger has on record as the "
                "newest",
                hint="Bring the file back from a backup, or hold the debate anew.",
            )
        return record

    def _keep(self, record: LoopRecord, newest: Frozen) -> None:
        ledger = self.ctx.ledger
        event = DebateKept(
            task=self.task, attempt=self.attempt, debate=record.id, part=_part(newest), sha256=record.head
        )
        ledger.append([event], expect=ledger.state.seq)


def _part(newest: Frozen) -> str:
    """What a line of a debate is about."""
    match newest:
        case Debate():
            return "debate"
        case Spoke():
            return newest.speech.id
        case Compared():
            return f"round {newest.round}"
        case Completed():
            return "outcome"
    return str(getattr(newest, "type"))  # noqa: B009 - every event's tag

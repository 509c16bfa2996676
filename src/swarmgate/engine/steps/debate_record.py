"""A debate of the loop on record: in its files, and in the ledger what they come to, so that none can be put there."""

from __future__ import annotations

from dataclasses import dataclass

from swarmgate.domain.debate import Debate, DebateRecord, Outcome, Round
from swarmgate.domain.events import DebateKept
from swarmgate.engine.context import Context


@dataclass(frozen=True)
class OnRecord:
    """Keeps a debate about an attempt, or about the plan; implements `council.debating.DebateStore`.

    The ledger gets the hash of each part as it is kept, and what is read is taken for true only where its newest file
    is the one that the ledger names. A process that is killed between file and ledger leaves a debate that counts for
    nothing: it is held anew.
    """

    ctx: Context
    task: str
    attempt: int

    def begin(self, debate: Debate) -> None:
        """Keeps what is debated; one that an earlier run began is taken up again."""
        self.ctx.debates.begin(debate)
        if debate.id not in self.ctx.ledger.state.debate_heads:
            self._record(debate.id, "debate")

    def rounds(self, debate_id: str) -> tuple[Round, ...]:
        """The rounds in which somebody was heard: one that failed as a whole is held again.

        Raises:
            LedgerError: as `load`.
        """
        rounds = self.load(debate_id).rounds
        return rounds[:-1] if rounds and all(each.failed for each in rounds[-1].speeches) else rounds

    def load(self, debate_id: str) -> DebateRecord:
        """All that is kept of a debate.

        Raises:
            LedgerError: a file is damaged, or it is not what the ledger has on record.
        """
        return self.ctx.debates.load(debate_id, head=self.ctx.ledger.state.debate_heads.get(debate_id, ""))

    def keep_round(self, debate_id: str, held: Round) -> None:
        """Keeps a whole round."""
        self.ctx.debates.keep_round(debate_id, held)
        self._record(debate_id, f"round {held.number}")

    def keep_outcome(self, outcome: Outcome) -> None:
        """Keeps how a debate ended."""
        self.ctx.debates.keep_outcome(outcome)
        self._record(outcome.id, "outcome")

    def keep_failure(self, debate_id: str, why: str) -> None:
        """Nothing: whether it failed for good, or goes on in another run, is decided by who held it."""

    def _record(self, debate_id: str, part: str) -> None:
        ledger = self.ctx.ledger
        kept = DebateKept(
            task=self.task,
            attempt=self.attempt,
            debate=debate_id,
            part=part,
            sha256=self.ctx.debates.head(debate_id),
        )
        ledger.append([kept], expect=ledger.state.seq)

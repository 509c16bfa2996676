"""Replays recorded model exchanges, to debug a run offline and at no cost."""

from __future__ import annotations

from collections.abc import Iterable

from swarmgate.errors import UsageError
from swarmgate.llm.model import ModelReply, ModelRequest
from swarmgate.llm.wrappers.trace import Exchange


class RecordedModel:
    """A `Model` that answers with the replies of a trace, in order; failed exchanges are passed over.

    A request must be for the same purpose as the recorded one and as long. Its words may differ: the output of tools
    holds times and paths, and traces are redacted.
    """

    def __init__(self, exchanges: Iterable[Exchange]) -> None:
        self._exchanges = tuple(exchange for exchange in exchanges if exchange.reply)
        self._at = 0
        self.name = self._exchanges[0].model if self._exchanges else "recorded/empty"

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Give the next recorded reply.

        Raises:
            UsageError: the trace has ended, or went another way than this run.
        """
        number = self._at + 1
        if self._at >= len(self._exchanges):
            raise UsageError(f"the trace holds {self._at} answers; request {number} is for {_about(request.purpose)}")
        exchange = self._exchanges[self._at]
        here = (request.purpose, len(request.messages))
        recorded = (exchange.purpose, len(exchange.messages))
        if here != recorded:
            raise UsageError(
                f"request {number} is not the recorded one: {_about(request.purpose)}, {here[1]} messages; "
                f"the trace has {_about(exchange.purpose)}, {recorded[1]} messages",
                hint="replay from the commit and the ledger at which the trace was recorded",
            )
        self._at = number
        return exchange.reply or ModelReply()


def _about(purpose: dict[str, str]) -> str:
    return " ".join(f"{key}={value}" for key, value in purpose.items()) or "no stated purpose"

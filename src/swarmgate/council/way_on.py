"""How a debate goes on that ended without an outcome."""

from __future__ import annotations

from collections.abc import Sequence

from swarmgate.domain.debate import Round
from swarmgate.errors import CouncilFailed


def with_way_on(error: CouncilFailed, debate_id: str, rounds: Sequence[Round]) -> CouncilFailed:
    """The error with the command line that goes on: with the round in which all failed, or with the synthesis."""
    way = f"swarm debate resume {debate_id}"
    if not rounds:
        return error
    again = "that round" if all(each.failed for each in rounds[-1].speeches) else "the architect"
    hint = f"{error.hint}; {again} is asked again by: {way}" if error.hint else f"{again} is asked again by: {way}"
    return CouncilFailed(error.message, hint=hint)

"""Names that a request gives, and what they are called on record: letters and digits, each one once."""

from __future__ import annotations

from collections.abc import Sequence

from swarmgate.agents.tools.answer_text import squeezed
from swarmgate.council.requests.seats import slug

_ROOM = 36
"""Characters of a name that a number may follow: 40 with it."""


def recorded(names: Sequence[str], *, otherwise: str) -> tuple[str, ...]:
    """What given names are called on record, in their order: the same ones always, no two alike.

    Args:
        names: as a request gives them.
        otherwise: what one is called of which no letter can stand in an id.
    """
    found: list[str] = []
    taken: set[str] = set()
    for name in names:
        wanted = slug(name) or otherwise
        number, called = 1, wanted
        while squeezed(called) in taken:
            number += 1
            called = f"{wanted[:_ROOM]}-{number}"
        taken.add(squeezed(called))
        found.append(called)
    return tuple(found)

"""Who speaks next in a swarm chat: whoever has waited longest for an answer to be read."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

PLACES = 4
"""Agents that speak at a time."""


def next_speakers(
    oldest: Mapping[str, int], *, order: Sequence[str], speaking: Collection[str] = (), places: int = PLACES
) -> tuple[str, ...]:
    """The agents whose turn it is, at most as many as there are places left.

    The one whose oldest unread message is the oldest goes first, of equals the one that stands first in `order`. New
    messages are younger than all before them, and a turn reads from the oldest on: so whoever waits is overtaken only
    by messages that were there before, and nobody starves.

    Args:
        oldest: the number of the oldest unread message, by agent; who has none is left out.
        order: every agent.
        speaking: agents at a turn now: nobody has two at once.
        places: how many may speak at a time.
    """
    waiting = [agent for agent in order if agent in oldest and agent not in speaking]
    return tuple(sorted(waiting, key=oldest.__getitem__)[: max(0, places - len(speaking))])

"""Classifies an agreement by the messages it cites: convinced by an argument, or by how many agree."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from swarmgate.council.discussion.argument.structure import link_problem
from swarmgate.council.discussion.model import Cast, DiscussionRound, Relation, ShiftKind


def agreed_by(rounds: Sequence[DiscussionRound], cast: Cast, cites: Collection[str]) -> frozenset[str]:
    """How an agreement that rests on these messages came about: `argument`, `majority`, both; empty: they show neither.

    By *argument*: one of them moved somebody (a shift that counts cites it), or is the response that moved, or counters
    a message whose author supports it in turn. By *majority*: at least half of the experts who still speak, those with
    a message of the last round that did not fail, wrote one of them, or support one.

    Args:
        rounds: all of them.
        cast: who takes part.
        cites: ids of messages that there are.
    """
    cited = set(cites)
    messages = [each for held in rounds for each in held.messages if not each.failed]
    authors = {each.id: each.author for each in messages}
    moved = [
        each for each in messages if each.shift and each.shift.kind is not ShiftKind.NONE and not each.shift.refused
    ]
    supports = [
        (each.author, link.to)
        for each in messages
        for link in each.links
        if link.kind is Relation.SUPPORTS and not link_problem(link, each.author, authors)
    ]
    countered = {
        (authors[link.to], each.id)
        for each in messages
        for link in each.links
        if link.kind is Relation.COUNTERS and not link_problem(link, each.author, authors)
    }
    won = {each.id for each in moved} | {to for each in moved if each.shift for to in each.shift.cites}
    won |= {to for author, to in supports if (author, to) in countered}
    spoke = {each.author for each in rounds[-1].messages if not each.failed} if rounds else set()
    living = {each.id for each in cast.experts} & spoke
    holding = {authors[each] for each in cited if each in authors} | {author for author, to in supports if to in cited}
    by_majority = bool(living) and 2 * len(living & holding) >= len(living)
    return frozenset([*(["argument"] if cited & won else []), *(["majority"] if by_majority else [])])

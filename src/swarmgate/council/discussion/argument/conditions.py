"""Checks whether what experts named as that which would change their minds came up in the discussion.

The author of the conclusion says for which expert it did, and in which messages. Who is asked for evidence is the
record: a message shows it only if somebody else said it, after the condition was named.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from swarmgate.council.discussion.argument.structure import visible_before
from swarmgate.council.discussion.findings import ChangeCondition
from swarmgate.council.discussion.model import Cast, DiscussionRound, Message

Claim = tuple[bool, tuple[str, ...]]
"""Whether what an expert named came up, as somebody says, and the ids of the messages that are cited for that."""


def declared_conditions(rounds: Sequence[DiscussionRound], cast: Cast) -> tuple[ChangeCondition, ...]:
    """What each expert named last as that which would change its mind, with the message that first named it.

    Args:
        rounds: all of them.
        cast: who takes part; the result is in its order.
    """
    named: dict[str, dict[str, str]] = {}
    for each in (each for held in rounds for each in held.messages if not each.failed):
        for text in _named_in(each):
            own = named.setdefault(each.author, {})
            own[text] = own.pop(text, each.id)  # the newest stands last
    newest = {author: list(texts.items())[-1] for author, texts in named.items()}
    return tuple(
        ChangeCondition(author=each.id, text=newest[each.id][0], source=newest[each.id][1])
        for each in cast.experts
        if each.id in newest
    )


def checked_conditions(
    rounds: Sequence[DiscussionRound], cast: Cast, claims: Mapping[str, Claim]
) -> tuple[ChangeCondition, ...]:
    """The declared conditions, each with whether it came up.

    Args:
        rounds: all of them.
        cast: who takes part.
        claims: by the id of an expert.
    """
    said = {each.id: each.author for held in rounds for each in held.messages if not each.failed}
    made = []
    for each in declared_conditions(rounds, cast):
        came_up, cited = claims.get(each.author, (None, ()))
        known_before = visible_before(rounds, each.source)
        cites = tuple(at for at in cited if said.get(at, each.author) != each.author and at not in known_before)
        status = "unclaimed" if came_up is None else "absent" if not came_up else "came-up" if cites else "unproven"
        shown = {"status": status, "cites": cites if came_up else ()}
        moved = bool(came_up) and any({*cites} & _moved_by(message, each.author) for message in _messages(rounds))
        made.append(ChangeCondition.model_validate({**each.model_dump(), **shown, "moved": moved}))
    return tuple(made)


def _named_in(message: Message) -> Iterator[str]:
    if message.position and message.position.would_change_if:
        yield message.position.would_change_if
    if message.would_change_if:
        yield message.would_change_if


def _moved_by(message: Message, author: str) -> set[str]:
    """The messages that moved an author in one of its own."""
    shift = message.shift if message.author == author else None
    return {*shift.cites} if shift and shift.kind != "none" and not shift.refused else set()


def _messages(rounds: Sequence[DiscussionRound]) -> Iterator[Message]:
    return (each for held in rounds for each in held.messages)

"""Checks whether what experts named as that which would change their minds came up in the discussion.

The author of the conclusion says for which expert it did, and in which messages. Who is asked for evidence is the
record: a message shows it only if somebody else said it, after the condition was named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from swarmgate.council.discussion.argument.structure import visible_before
from swarmgate.council.discussion.findings import ChangeCondition
from swarmgate.council.discussion.model import Cast, DiscussionRound, Message

Claim = tuple[bool, tuple[str, ...]]
"""Whether what an expert named came up, as somebody says, and the ids of the messages that are cited for that."""


def declared_conditions(rounds: Sequence[DiscussionRound], cast: Cast) -> tuple[ChangeCondition, ...]:
    """What each expert named last as that which would change its mind, with the message that first named it.

    What a position names goes before what an argument names: that is what the expert is held to.

    Args:
        rounds: all of them.
        cast: who takes part; the result is in its order.
    """
    messages = [each for each in _messages(rounds) if not each.failed]
    newest = {**_newest(messages, _of_argument), **_newest(messages, _of_position)}
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


def _newest(messages: Iterable[Message], condition: Callable[[Message], str]) -> dict[str, tuple[str, str]]:
    """The newest condition of each author, and the id of the message that first named it."""
    named: dict[str, dict[str, str]] = {}
    for each in messages:
        if text := condition(each):
            own = named.setdefault(each.author, {})
            own[text] = own.pop(text, each.id)  # the newest stands last
    return {author: list(texts.items())[-1] for author, texts in named.items()}


def _of_argument(message: Message) -> str:
    return message.would_change_if


def _of_position(message: Message) -> str:
    return message.position.would_change_if if message.position else ""


def _moved_by(message: Message, author: str) -> set[str]:
    """The messages that moved an author in one of its own."""
    shift = message.shift if message.author == author else None
    return {*shift.cites} if shift and shift.kind != "none" and not shift.refused else set()


def _messages(rounds: Sequence[DiscussionRound]) -> Iterator[Message]:
    return (each for held in rounds for each in held.messages)

"""Weighs a statement by the messages that it cites: how many carry it, are countered, and stay unanswered."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from swarmgate.council.discussion.argument.structure import link_problem, takes_part
from swarmgate.council.discussion.findings import EvidenceWeight, Level
from swarmgate.council.discussion.model import DiscussionRound, Message, Relation, ShiftKind

_ANSWERS = (Relation.COUNTERS, Relation.RESPONDS_TO)
_CARRIED = 2
"""Messages that carry a statement which nobody countered, so that it is held with high confidence."""


class Evidence:
    """The links of a discussion, as evidence.

    Attributes:
        answered: ids of messages that somebody else countered or answered without being moved by them.
    """

    def __init__(self, rounds: Sequence[DiscussionRound]) -> None:
        messages = [each for held in rounds for each in held.messages if not each.failed]
        self._authors = {each.id: each.author for each in messages}
        self._speaking = {each.id for each in messages if takes_part(each)}
        self._counters: dict[str, set[str]] = defaultdict(set)
        answered: set[str] = set()
        for each in filter(takes_part, messages):
            for link in each.links:
                if link_problem(link, each.author, self._authors):
                    continue
                if link.kind is Relation.COUNTERS:
                    self._counters[link.to].add(each.id)
                if link.kind in _ANSWERS and link.to not in _moved_by(each):
                    answered.add(link.to)
        self.answered = frozenset(answered)

    def weight(self, cites: Iterable[str], against: Iterable[str] = ()) -> EvidenceWeight:
        """What a statement weighs that rests on these messages.

        Only messages of those who take part carry it: what the moderator and the historian say is none of it. What
        counters a message that it cites, without being cited itself, is against it, and so is what dissents.

            low     nothing carries it, or as many messages against it stand unanswered as carry it
            medium  some against it stand unanswered; or one message carries it, and nobody tried it
            high    all that is against it was answered; or two messages carry it, and nobody countered them

        Args:
            cites: ids of the messages that it rests on.
            against: ids of those that dissent.
        """
        cited = self._speaking.intersection(cites)
        countered = set(against) & self._authors.keys() | {each for one in cited for each in self._counters[one]}
        countered -= cited
        unanswered = countered - self.answered
        if len(unanswered) >= len(cited):
            level = Level.LOW
        elif unanswered or (not countered and len(cited) < _CARRIED):
            level = Level.MEDIUM
        else:
            level = Level.HIGH
        return EvidenceWeight(cited=len(cited), countered=len(countered), unanswered=len(unanswered), confidence=level)


def _moved_by(message: Message) -> tuple[str, ...]:
    shift = message.shift
    return shift.cites if shift and shift.kind is not ShiftKind.NONE and not shift.refused else ()

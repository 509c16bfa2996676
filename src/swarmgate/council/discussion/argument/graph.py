"""The argument graph of a discussion: messages, links between them, and how each expert's position evolved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from swarmgate.council.discussion.argument.structure import steel_manned
from swarmgate.council.discussion.findings import Camel
from swarmgate.council.discussion.model import USER, DiscussionRound, Message, Relation, Shift, ShiftKind, Step
from swarmgate.domain.base import Line
from swarmgate.domain.review.votes import SeatId

GIST = 160
"""Characters of the beginning that stands for a text."""


class Node(Camel):
    """A message in the graph. `gist` is the beginning of what it says; `failed`: it says nothing."""

    id: str
    author: SeatId
    round: int
    step: Step
    gist: Line = ""
    failed: bool = False


class Edge(Camel):
    """A link: from the message `source` to the earlier one `target`."""

    source: str
    target: str
    kind: Relation
    steel_manned: bool = False


class Stand(Camel):
    """Where an expert stood after a message: a declared position, or a response with a shift.

    `confidence` (0 to 1) and `position` are the last ones that it declared; None and empty: it never did, or declared a
    position without a confidence that can be read. `cites` moved it; `refused` says why a claimed shift counts as none.
    """

    message: str
    round: int
    step: Step
    confidence: float | None = None
    position: Line = ""
    shift: ShiftKind = ShiftKind.NONE
    cites: tuple[str, ...] = ()
    reason: Line = ""
    refused: Line = ""


class Evolution(Camel):
    """The stands of one expert in order."""

    expert: SeatId
    stands: tuple[Stand, ...]


class Graph(Camel):
    """The graph of messages and links, and how the experts' positions evolved, in order of speaking."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    evolution: tuple[Evolution, ...]

    @property
    def authors(self) -> tuple[str, ...]:
        """All authors, in order of their first message."""
        return tuple(dict.fromkeys(node.author for node in self.nodes))

    def between(self, kind: Relation) -> dict[tuple[str, str], int]:
        """How many links of a kind go from author to author."""
        authors = {node.id: node.author for node in self.nodes}
        return Counter((authors[each.source], authors[each.target]) for each in self.edges if each.kind is kind)


def gist(text: str, size: int = GIST) -> str:
    """The beginning of a text on one line, at most `size` characters and `...`."""
    line = " ".join(text[: 4 * size].split())
    return line if len(line) <= size and len(text) <= 4 * size else f"{line[:size]}..."


def graph(rounds: Sequence[DiscussionRound]) -> Graph:
    """The whole structure; links to messages that are not there are left out.

    Args:
        rounds: all of them, the one at work too.
    """
    messages = [each for held in rounds for each in held.messages]
    ids = {each.id for each in messages}
    return Graph(
        nodes=tuple(map(_node, messages)),
        edges=tuple(
            Edge(source=each.id, target=link.to, kind=link.kind, steel_manned=steel_manned(link))
            for each in messages
            for link in each.links
            if link.to in ids
        ),
        evolution=tuple(_evolution(messages)),
    )


def summary_of(message: Message) -> str:
    """What a message is known by: its prose, or else the position, the fault lines or the assessment that it has."""
    if message.text or message.failed:
        return message.text
    if message.position:
        return message.position.position
    if message.framing:
        return "; ".join(each.axis for each in message.framing.fault_lines)
    if message.shift and message.shift.reason:
        return message.shift.reason
    given = message.assessment
    return (given.summary or f"overall {given.overall} of 5") if given else ""


def _node(message: Message) -> Node:
    return Node(
        id=message.id,
        author=message.author,
        round=message.round,
        step=message.step,
        gist=gist(summary_of(message)),
        failed=bool(message.failed),
    )


def _evolution(messages: Iterable[Message]) -> Iterator[Evolution]:
    stands: dict[str, list[Stand]] = {}
    for message in messages:
        moved = message.shift is not None and (message.shift.kind is not ShiftKind.NONE or bool(message.shift.refused))
        if message.author != USER and (message.position or moved):
            own = stands.setdefault(message.author, [])
            own.append(_stand(message, own[-1] if own else None))
    yield from (Evolution(expert=expert, stands=tuple(each)) for expert, each in stands.items())


def _stand(message: Message, last: Stand | None) -> Stand:
    position, shift = message.position, message.shift or Shift()
    confidence = position.confidence if position else None
    if confidence is None and last and message.step is not Step.POSITION:
        confidence = last.confidence
    return Stand(
        message=message.id,
        round=message.round,
        step=message.step,
        confidence=confidence,
        position=gist(position.position) if position else last.position if last else "",
        shift=ShiftKind.NONE if shift.refused else shift.kind,
        cites=shift.cites,
        reason=gist(shift.reason),
        refused=shift.refused,
    )

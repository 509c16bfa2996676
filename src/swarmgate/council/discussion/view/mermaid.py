"""Renders the argument graph as a Mermaid flowchart (mermaid.js.org), with the text of models escaped."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from swarmgate.council.discussion.argument.graph import Graph, Node, gist
from swarmgate.council.discussion.model import USER, Relation
from swarmgate.domain.text.printable import printable

_LABEL = 70
"""Characters of what a message says in its box."""

_ARROWS = {
    Relation.SUPPORTS: "-->",
    Relation.COUNTERS: "-.->",
    Relation.EXTENDS: "-->",
    Relation.QUESTIONS: "-.->",
    Relation.RESPONDS_TO: "---",
}
_COLOURS = {Relation.SUPPORTS: "#1b7837", Relation.COUNTERS: "#b2182b", Relation.QUESTIONS: "#b35806"}
_CLASSES = (
    "  classDef expert fill:#e8f0fe,stroke:#4a6fa5,color:#111",
    "  classDef role fill:#f3f3f3,stroke:#888,color:#111",
    "  classDef person fill:#fff4d6,stroke:#b8860b,color:#111",
    "  classDef failed fill:#fff,stroke:#b2182b,color:#888,stroke-dasharray:4",
)


def mermaid(graph: Graph, experts: Collection[str]) -> str:
    """The flowchart: a frame for each round, counters dotted and red, supports green.

    Args:
        graph: what is drawn.
        experts: seats that are experts; all others but the user's are fixed roles.
    """
    return "\n".join(("flowchart TB", *_CLASSES, *_nodes(graph, experts), *_edges(graph))) + "\n"


def _nodes(graph: Graph, experts: Collection[str]) -> Iterator[str]:
    for number in sorted({each.round for each in graph.nodes}):
        yield f'  subgraph round_{number}["Round {number}"]'
        for each in graph.nodes:
            if each.round == number:
                yield f'    {_name(each.id)}["{label(_title(each))}"]:::{_class(each, experts)}'
        yield "  end"


def _edges(graph: Graph) -> Iterator[str]:
    colours: dict[str, list[str]] = {}
    for number, each in enumerate(graph.edges):
        how = "counters (steel-man)" if each.steel_manned and each.kind is Relation.COUNTERS else each.kind
        yield f'  {_name(each.source)} {_ARROWS[each.kind]}|"{label(how)}"| {_name(each.target)}'
        if each.kind in _COLOURS:
            colours.setdefault(_COLOURS[each.kind], []).append(str(number))
    for colour, numbers in colours.items():
        yield f"  linkStyle {','.join(numbers)} stroke:{colour},stroke-width:2px"


def label(text: str) -> str:
    """A text inside of the quotes of a label: all but letters, digits, blanks and harmless marks are `#code;`."""
    flat = " ".join(printable(text).split())
    return "".join(each if each.isalnum() or each in " .,:()_-" else f"#{ord(each)};" for each in flat)


def _title(node: Node) -> str:
    text = "gave no answer" if node.failed else gist(node.gist, _LABEL)
    return f"{node.id} {node.author}, {node.step}{f': {text}' if text else ''}"


def _name(message_id: str) -> str:
    return message_id.replace("-", "_")


def _class(node: Node, experts: Collection[str]) -> str:
    if node.failed:
        return "failed"
    return "expert" if node.author in experts else "person" if node.author == USER else "role"

"""Expands shell words (variables, substitutions, wildcards) without running the command line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from swarmgate.workspace.command_policy import heredocs, quoting
from swarmgate.workspace.command_policy.model import UNKNOWN, Word

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from tree_sitter import Node

    from swarmgate.workspace.command_policy.state import State

    Run = Callable[[Node, State], str]

_PARAMETER = re.compile(r"([!#]?)([A-Za-z_]\w*|[0-9]+|[@*#?$!-])(\[[^\]]*\])?(.*)", re.DOTALL)
_DEFAULTS = {":-", "-", ":=", "="}
_OTHERS = {":+", "+"}
_SLICE = re.compile(r":\s*(\d+)(?::\s*(\d+))?")
_ESCAPED_BLANKS = re.compile(rb"(?<!\\)(?:\\\\)*((?:\\[ \t\v\f])+)\Z")
_FAR = 200
"""Bytes before a word in which they are looked for."""

_BACKSLASH = re.compile(r"\\(\n|.)", re.DOTALL)
_IN_STRING = re.compile(r'\\([$`"\\\n])')


class Expansion:
    """Expands the words of one text.

    Args:
        content: the text, UTF-8.
        bodies: the here-documents that were lifted out of it.
        substituted: runs a `$(...)` and returns what it prints.
        process: runs a `<(...)` and returns the path that stands for it.
    """

    def __init__(self, content: bytes, bodies: Sequence[str], substituted: Run, process: Run) -> None:
        self._content = content
        self._bodies = bodies
        self._substituted = substituted
        self._process = process

    def source(self, node: Node) -> str:
        """The text of a node."""
        return self._content[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def grouped(self, nodes: Iterable[Node]) -> Iterator[list[Node]]:
        """Nodes that touch are one word, whatever the tree makes of them."""
        group: list[Node] = []
        for node in nodes:
            if group and group[-1].end_byte < node.start_byte:
                yield group
                group = []
            group.append(node)
        if group:
            yield group

    def words(self, group: Sequence[Node], state: State) -> list[Word]:
        """The words that one word of the source becomes: none, one or many."""
        return quoting.fields(self._begun(group) + self.text(group, state), home=state.home, cwd=state.cwd)

    def one(self, group: Sequence[Node], state: State) -> str:
        """The text of a word that is not split, such as the value of a variable."""
        text = self._begun(group) + self.text(group, state)
        if text.startswith("~"):
            text = state.home + text[1:] if text[1:2] in {"", "/"} else text
        return quoting.plain(text)

    def text(self, group: Sequence[Node], state: State) -> str:
        """The marked text of a word."""
        parts = []
        for index, node in enumerate(group):
            strings = index + 1 < len(group) and group[index + 1].type in {"string", "ansi_c_string"}
            parts.append("" if node.type == "$" and strings else self._piece(node, state, inside=False))
        return "".join(parts)

    def _begun(self, group: Sequence[Node]) -> str:
        """The escaped blanks that a word begins with: the grammar takes them for white space between words."""
        start = group[0].start_byte if group else 0
        found = _ESCAPED_BLANKS.search(self._content, max(0, start - _FAR), start)
        return quoting.quoted(found[1].decode()[1::2]) if found else ""

    def _piece(self, node: Node, state: State, *, inside: bool) -> str:  # noqa: C901 - one line a kind of node
        match node.type:
            case "raw_string":
                return quoting.quoted(self._raw(self.source(node)[1:-1]))
            case "ansi_c_string":
                return quoting.quoted(quoting.unescaped(self.source(node)[2:-1]))
            case "string":
                return self._string(node, state)
            case "string_content" | "heredoc_content":
                return quoting.quoted(_unescaped_in_string(self.source(node)))
            case "concatenation" | "command_name" | "translated_string":
                return self.text(node.children, state)
            case "simple_expansion":
                return self._valued(self.source(node)[1:], state, inside=inside)
            case "expansion":
                return self._expanded(node, state, inside=inside)
            case "command_substitution":
                printed = self._substituted(node, state)
                return quoting.quoted(printed) if inside else printed
            case "process_substitution":
                return quoting.quoted(self._process(node, state))
            case "arithmetic_expansion":
                self._descend(node, state)
                return "0"
            case "brace_expression":
                return self.source(node)
            case _:
                self._descend(node, state)
                return _BACKSLASH.sub(lambda found: quoting.quoted(found[1].strip("\n")), self.source(node))

    def _raw(self, inner: str) -> str:
        found = re.fullmatch(f"{heredocs.MARK}(\\d+){heredocs.MARK}", inner)
        return self._bodies[int(found[1])] if found else inner

    def _string(self, node: Node, state: State) -> str:
        """A `"..."`: what stands between its parts belongs to it, though the tree leaves blanks out."""
        parts, at = [quoting.QUOTED], node.start_byte + 1
        for child in node.children[1:-1]:
            gap = self._content[at : child.start_byte].decode("utf-8", "replace")
            parts += [quoting.quoted(_unescaped_in_string(gap)), self._piece(child, state, inside=True)]
            at = child.end_byte
        gap = self._content[at : node.end_byte - 1].decode("utf-8", "replace")
        return "".join([*parts, quoting.quoted(_unescaped_in_string(gap))])

    def _valued(self, name: str, state: State, *, inside: bool) -> str:
        if name == "@" and inside:
            return "\n".join(quoting.quoted(each) for each in state.arguments)
        value = state.value(name)
        return quoting.quoted(value) if inside else self._split(value, state)

    @staticmethod
    def _split(value: str, state: State) -> str:
        """The value of an unquoted variable, cut where IFS of the line says."""
        return value.translate({ord(char): " " for char in state.variables.get("IFS", "") if char not in UNKNOWN})

    def _expanded(self, node: Node, state: State, *, inside: bool) -> str:
        """`${...}`: plain, of an array, with a default, a part; any other is not known."""
        found = _PARAMETER.fullmatch(self.source(node)[2:-1])
        if not found or found[1]:
            self._descend(node, state)
            return "0" if found and found[1] == "#" else UNKNOWN
        name, index, rest = found[2], found[3], found[4]
        if index is not None:
            return self._element(name, index, state, inside=inside) if not rest else UNKNOWN
        if not rest:
            return self._valued(name, state, inside=inside)
        value = self._altered(node, name, state)
        return quoting.quoted(value) if inside else value

    def _element(self, name: str, index: str, state: State, *, inside: bool) -> str:
        elements = list(state.arrays.get(name, ()))
        if not elements:
            return UNKNOWN
        if index in {"[@]", "[*]"}:
            return "\n".join(quoting.quoted(each) if inside else each for each in elements)
        value = quoting.any_of(elements)
        return quoting.quoted(value) if inside else value

    def _altered(self, node: Node, name: str, state: State) -> str:
        rest = self.source(node)[2 + len(name) : -1]
        operator = rest[:2] if rest[:2] in _DEFAULTS | _OTHERS | {":?"} else rest[:1]
        value = state.value(name)
        after = [
            child
            for child in node.children
            if child.start_byte >= node.start_byte + 2 + len((name + operator).encode())
        ]
        if operator in _DEFAULTS:
            default = quoting.plain(self.text(after[:-1], state))
            if "=" in operator and UNKNOWN in value:
                state.assign(name, default)
            return default if UNKNOWN in value or not value else value
        if operator in _OTHERS:
            other = quoting.plain(self.text(after[:-1], state))
            return quoting.any_of([other, ""]) if UNKNOWN in value else other if value else ""
        self._descend(node, state)
        if operator in {":?", "?"}:
            return value
        if found := _SLICE.fullmatch(rest):
            start = int(found[1])
            return UNKNOWN if UNKNOWN in value else value[start : start + int(found[2])] if found[2] else value[start:]
        cases = {"^^": str.upper, ",,": str.lower}
        return cases[rest](value) if rest in cases and UNKNOWN not in value else UNKNOWN

    def _descend(self, node: Node, state: State) -> None:
        """Runs the substitutions below a node whose own text does not matter."""
        for child in node.children:
            if child.type == "command_substitution":
                self._substituted(child, state)
            elif child.type == "process_substitution":
                self._process(child, state)
            else:
                self._descend(child, state)


def _unescaped_in_string(text: str) -> str:
    return _IN_STRING.sub(lambda found: found[1].strip("\n"), text)

"""Parses machine-written YAML (pnpm-lock.yaml, yarn.lock of Yarn 2 and later) fast, line by line.

PyYAML on libyaml reads 0.5 MB a second, a lock of 20,000 packages has 3 MB. What such files use of YAML is little; a
line of any other shape hands the whole file to PyYAML. Scalars stay texts here: nobody asks a lock for its numbers.
"""

from __future__ import annotations

import re
from typing import Any

from swarmgate.gates.sbom.model import Malformed

_LINE = re.compile(
    r"^( *)(?:('(?:[^'\n]|'')+'|\"[^\"\\\n]+\"|[\w@./(][^:#'\"\n]*(?::[^ :#'\"\n]+)*):(?: (.*))?|- (.*))$"
)
_FLOW = re.compile(
    r"([\w.@/-]+|'[^']+'|\"[^\"\\]+\"): ('(?:[^']|'')*'|\"[^\"\\]*\"|[^,{}\[\]'\"]+|\[[^\[\]{}'\"]*\])(?:, |$)"
)
_NESTING = {"SequenceStartEvent": 1, "MappingStartEvent": 1, "SequenceEndEvent": -1, "MappingEndEvent": -1}
_DEEPEST = 100
_BLOCKS = {"|", "|-", ">", ">-", "|+", ">+"}


class _Other(Exception):
    """A line has a shape that this reader does not know."""


def loads(text: str) -> dict[str, Any]:
    """The document; a mapping.

    Raises:
        Malformed: it is not YAML, or no mapping.
    """
    try:
        return _read(text)
    except _Other:
        return _thorough(text)


def _thorough(text: str) -> dict[str, Any]:
    import yaml  # noqa: PLC0415 - late: 20 ms that few changes need

    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    depth = 0
    try:
        # libyaml takes quadratic time for the depth, and no lock is nested so: refused before anything is built.
        event: Any  # the stubs do not tell the kinds of events apart
        for event in yaml.parse(text, Loader=loader):
            depth += _NESTING.get(type(event).__name__, 0)
            if depth > _DEEPEST:
                raise Malformed("nested too deeply", event.start_mark.line + 1)
            if type(event).__name__ == "AliasEvent":
                raise Malformed("a lock with aliases is not read", event.start_mark.line + 1)
        document = yaml.load(text, loader)  # noqa: S506 - BaseLoader builds texts, lists and maps only
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise Malformed(f"not valid YAML: {error.problem or error.context}", mark.line + 1 if mark else 0) from error
    except (yaml.YAMLError, RecursionError) as error:
        raise Malformed(f"not valid YAML: {error}") from error
    if not isinstance(document, dict):
        raise Malformed("not a mapping", 1)
    return document


def _read(text: str) -> dict[str, Any]:
    reader = _Reader()
    match_line = _LINE.match
    for line in text.split("\n"):
        if not line or line[0] == "#" or line == "---":
            continue
        match = match_line(line)
        indent = len(match[1]) if match else len(line) - len(line.lstrip(" "))
        if reader.skips(indent):
            continue
        if match is None:
            raise _Other
        reader.take(indent, match[2], match[3], match[4])
    return reader.document


class _Reader:
    """The containers that are open, from the document inwards, each with its indentation."""

    def __init__(self) -> None:
        self.document: dict[str, Any] = {}
        self._stack: list[tuple[int, Any]] = [(0, self.document)]
        self._pending = ""  # a key of the innermost mapping whose value stands on the next lines
        self._block = -1  # the indentation of a key whose value is a block of text, which nobody asks for

    def skips(self, indent: int) -> bool:
        if self._block >= 0 and indent > self._block:
            return True
        self._block = -1
        return False

    def take(self, indent: int, key: str | None, value: str | None, item: str | None) -> None:
        """A line: `key: value`, `key:` or `- item`."""
        if self._pending:
            self._open(indent, is_item=item is not None)
        stack = self._stack
        while indent < stack[-1][0]:
            stack.pop()
        depth, container = stack[-1]
        if depth == indent and item is None and isinstance(container, list):  # a list as deep as its key has ended
            stack.pop()
            depth, container = stack[-1]
        if depth != indent:
            raise _Other
        if key is None:
            if not isinstance(container, list):
                raise _Other
            container.append(_scalar(item or ""))
        else:
            self._pair(indent, container, _scalar(key), value)

    def _pair(self, indent: int, container: Any, key: Any, value: str | None) -> None:
        if not isinstance(container, dict) or not isinstance(key, str) or not key or key in container:
            raise _Other
        if value in _BLOCKS:
            container[key], self._block = "", indent
        elif value is None:
            container[key], self._pending = "", key
        else:
            container[key] = _scalar(value)

    def _open(self, indent: int, *, is_item: bool) -> None:
        """Go into the value of the pending key where the line belongs to it (a list may stand as deep as its key)."""
        key, self._pending = self._pending, ""
        depth, container = self._stack[-1]
        if indent > depth or (is_item and indent == depth):
            container[key] = [] if is_item else {}
            self._stack.append((indent, container[key]))


def _scalar(text: str) -> Any:
    first = text[0] if text else ""
    if first == "'":
        if len(text) < 2 or text[-1] != "'" or text[1:-1].replace("''", "").count("'"):  # noqa: PLR2004
            raise _Other
        return text[1:-1].replace("''", "'")
    if first == '"':
        if len(text) < 2 or text[-1] != '"' or "\\" in text or text[1:-1].count('"'):  # noqa: PLR2004
            raise _Other
        return text[1:-1]
    if first == "{":
        return _flow(text)
    if first == "[":
        if text[-1] != "]" or any(mark in text for mark in "{}'\"") or text.count("[") > 1:
            raise _Other
        return [item.strip() for item in text[1:-1].split(",") if item.strip()]
    if (first and first in "&*!|>%@`") or " #" in text or ": " in text:
        raise _Other
    return text.rstrip()


def _flow(text: str) -> dict[str, Any]:
    inner = text[1:-1]
    if text[-1] != "}":
        raise _Other
    table: dict[str, Any] = {}
    position = 0
    while position < len(inner):
        match = _FLOW.match(inner, position)
        if match is None:
            raise _Other
        table[_scalar(match[1])] = _scalar(match[2])
        position = match.end()
    return table

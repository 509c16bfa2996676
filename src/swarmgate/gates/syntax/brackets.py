"""Checks that brackets match, from the tokens of a lexer or the leaves of a syntax tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swarmgate.gates.syntax.problem import Problem, place, problem_at

if TYPE_CHECKING:
    from collections.abc import Iterable

    from swarmgate.gates.syntax.lexers import Mark

_CLOSING = {b"(": b")", b"[": b"]", b"{": b"}"}


def unbalanced(content: bytes, marks: Iterable[Mark]) -> Problem | None:
    """The first bracket (or string, or comment) without its partner; None where all match."""
    stack: list[Mark] = []
    pairs: list[tuple[Mark, Mark]] = []
    for mark in marks:
        if mark.text in _CLOSING:
            stack.append(mark)
        elif mark.text in b")]}":
            if not stack:
                return _unexpected(content, mark, pairs)
            if _CLOSING[stack[-1].text] != mark.text:
                return _mismatch(content, stack, mark)
            pairs.append((stack.pop(), mark))
        else:
            return problem_at(content, mark.offset, f"`{mark.text.decode()}` is never closed")
    return _unclosed(content, stack[-1], pairs) if stack else None


def _mismatch(content: bytes, stack: list[Mark], mark: Mark) -> Problem:
    opener, line = stack[-1], place(content, mark.offset)[0]
    if not any(_CLOSING[each.text] == mark.text for each in stack):
        return problem_at(content, mark.offset, f"unexpected `{mark.text.decode()}`")
    closing = _CLOSING[opener.text].decode()
    where = "in" if place(content, opener.offset)[0] == line else "before"
    message = f"`{opener.text.decode()}` is not closed: `{closing}` is missing {where} line {line}"
    return problem_at(content, opener.offset, message)


def _unexpected(content: bytes, mark: Mark, pairs: list[tuple[Mark, Mark]]) -> Problem:
    text = mark.text.decode()
    for opener, closer in pairs:  # a deleted opener shows first where the closer stands further left than its partner
        if (
            closer.text == mark.text
            and _leads(content, closer.offset)
            and (_indent(content, closer.offset) > _indent(content, opener.offset))
        ):
            return problem_at(content, closer.offset, f"unexpected `{text}`: nothing opened is left to close here")
    return problem_at(content, mark.offset, f"unexpected `{text}`")


def _unclosed(content: bytes, last: Mark, pairs: list[tuple[Mark, Mark]]) -> Problem:
    text, closing = last.text.decode(), _CLOSING[last.text].decode()
    for opener, closer in pairs:  # the indentation tells which one it is when all the later ones shifted by one
        if (
            opener.text == last.text
            and _leads(content, closer.offset)
            and (_indent(content, closer.offset) < _indent(content, opener.offset))
        ):
            line = place(content, closer.offset)[0]
            return problem_at(
                content, opener.offset, f"`{text}` is not closed: `{closing}` is missing before line {line}"
            )
    return problem_at(content, last.offset, f"`{text}` is never closed: `{closing}` is missing")


def _leads(content: bytes, offset: int) -> bool:
    begin = content.rfind(b"\n", 0, offset) + 1
    return not content[begin:offset].strip()


def _indent(content: bytes, offset: int) -> int:
    begin = content.rfind(b"\n", 0, offset) + 1
    line = content[begin : begin + 400]
    return len(line) - len(line.lstrip(b" \t"))

"""Handles `#if` and `#else` in C, C++ and C# for the bracket check."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from swarmgate.gates.syntax import brackets, lexers
from swarmgate.gates.syntax.problem import blank

if TYPE_CHECKING:
    from swarmgate.gates.syntax.problem import Problem

_DIRECTIVE = re.compile(rb"^[ \t]*+#[ \t]*+(if|ifdef|ifndef|else|elif|elifdef|elifndef|endif)\b[^\n]*+", re.MULTILINE)

_ELSE = re.compile(rb"^[ \t]*+#[ \t]*+el(?:se|if)", re.MULTILINE)


def unbalanced(language: str, content: bytes) -> Problem | None:
    """None where all brackets match, or all those of the first branches as well as all those of the last ones."""
    if not _ELSE.search(content):
        return brackets.unbalanced(content, lexers.marks(language, content))
    for last in (False, True):
        chosen = _choose(content, last=last)
        found = brackets.unbalanced(chosen, lexers.marks(language, chosen))
        if found:
            return found
    return None


def _choose(content: bytes, *, last: bool) -> bytes:
    """The content with only the first (or last) branch of each condition; every byte stays in its place."""
    out, stack = bytearray(content), list[list[tuple[int, int]]]()
    for match in _DIRECTIVE.finditer(content):
        word = match[1]
        if word.startswith(b"if"):
            stack.append([(match.end(), match.end())])
        elif not stack:
            continue
        else:
            begin, _ = stack[-1][-1]
            stack[-1][-1] = begin, match.start()
            if word != b"endif":
                stack[-1].append((match.end(), match.end()))
                continue
            branches = stack.pop()
            for start, end in branches[:-1] if last else branches[1:]:
                out[start:end] = blank(bytes(out[start:end]))
    return bytes(out)

"""Decides whether a finding on an edited line is old or new, by comparing the code of the call.

An edit may make a weakness reachable: a constant argument becomes a variable, a sanitizer is taken away. So the code of
both must be equal word by word, but for comments, a name that the whole file now spells otherwise, and a number that
became a named constant.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from swarmgate.gates.source import comments

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from swarmgate.domain.review.finding import Finding
    from swarmgate.gates.source.file import SourceFile

_TOKENS = re.compile(
    r"""[A-Za-z]{0,2}"(?:\\.|[^"\\\n])*+"|[A-Za-z]{0,2}'(?:\\.|[^'\\\n])*+'|`[^`\n]*`|[$@]?\w+(?:(?:\.|::)\w+)*|[^\w\s]"""
)
_NAME = re.compile(r"[^\W\d]\w*")
_NUMBER = re.compile(r"\d\w*")
_NAMED_CONSTANT = re.compile(r"(?:\w+(?:\.|::))+[A-Z]\w*|[A-Z][A-Z0-9_]*")
_OPEN, _CLOSED = "([{", ")]}"
_ENDS = {(1, "{"), (0, ";")}
"""At this depth of brackets, such a mark ends a call that is part of a statement."""
_LINES = 30
"""Of a call over many lines, so many are read."""


def same_call(source: SourceFile) -> Callable[[Finding, Finding], bool]:
    """Make a function that decides whether an old and a new finding are about the same, edited call."""

    @cache
    def lines(*, old: bool) -> list[str]:
        side = source.was if old else source.now
        return comments.without(source.language, side.text).split("\n")

    def same(now: Finding, was: Finding) -> bool:
        if (now.rule, now.severity) != (was.rule, was.severity):
            return False
        new, old = _code(lines(old=False), now), _code(lines(old=True), was)
        if not new or len(new) != len(old):
            return False
        renamed = dict[str, str]()
        for before, after in zip(old, new, strict=True):
            if before == after or (_NUMBER.fullmatch(before) and _NAMED_CONSTANT.fullmatch(after)):
                continue
            if not (_NAME.fullmatch(before) and _NAME.fullmatch(after)) or renamed.get(before, after) != after:
                return False
            renamed[before] = after
        return all(
            _renamed(lines(old=True), lines(old=False), before, after, (was.line, now.line))
            for before, after in renamed.items()
        )

    return same


def may_be_old(source: SourceFile, findings: Iterable[Finding]) -> bool:
    """Quick check whether a finding on an edited line may be an old one, before the base is scanned."""
    current = {" ".join(line.split()) for line in source.now.text.split("\n")}
    removed = [line for line in source.was.text.split("\n") if " ".join(line.split()) not in current]
    marks = {_marks(line) for line in comments.without(source.language, "\n".join(removed)).split("\n")}
    lines = source.now.text.split("\n")
    places = {each.line for each in findings if 0 < each.line <= len(lines)}
    return any(_marks(comments.without(source.language, lines[place - 1])) in marks for place in places)


def _marks(line: str) -> tuple[str, ...]:
    """What a line has beside names and numbers, which is what renaming leaves."""
    return tuple(each for each in _TOKENS.findall(line) if not each[0].isalnum())


def _code(lines: list[str], finding: Finding) -> list[str]:
    """The words and marks of what a finding points to, from its column to where its brackets are closed."""
    if not 0 < finding.line <= len(lines):
        return []
    found: list[str] = []
    depth = 0
    first = lines[finding.line - 1][max(finding.column - 1, 0) :]
    for line in (first, *lines[finding.line : finding.line + _LINES]):
        for word in _TOKENS.findall(line):
            depth += (word in _OPEN) - (word in _CLOSED)
            if depth < 0 or (depth, word) in _ENDS:
                return found
            found.append(word)
        if depth == 0:
            return found
    return []


def _renamed(old: list[str], new: list[str], before: str, after: str, apart: tuple[int, int]) -> bool:
    """Whether a name has only another spelling: what the file says of it is the same, but for the lines of the call."""
    word, other = re.compile(rf"\b{re.escape(before)}\b"), re.compile(rf"\b{re.escape(after)}\b")
    if any(map(other.search, old)) or any(map(word.search, new)):
        return False
    spellings = [
        word.sub(after, line).split() for number, line in enumerate(old, 1) if number != apart[0] and word.search(line)
    ]
    # What no other line speaks of is a function or a value from elsewhere: another name is another thing.
    again = [line.split() for number, line in enumerate(new, 1) if number != apart[1] and other.search(line)]
    return bool(spellings) and spellings == again

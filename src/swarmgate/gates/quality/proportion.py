"""Counts the lines of tests for each line of code that a change adds."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from swarmgate.gates.quality.revisions import Change
    from swarmgate.gates.source.file import SourceFile

FLOOR = 20
"""Below as many added lines of code the proportion says nothing: a mended line may have its test already."""

_INLINE = {"rust": "#[cfg(test)]", "zig": 'test "'}
"""Where tests stand in the file itself: the line that begins them; they close the file by custom."""


_SLASHES = ("//", "/*", "*/", "* ")
_MARKS: dict[str, tuple[str, ...]] = dict.fromkeys(
    ("bash", "elixir", "perl", "powershell", "python", "r", "ruby"), ("#",)
)
_MARKS |= {"haskell": ("--",), "lua": ("--",), "php": ("#", *_SLASHES), "erlang": ("%",)}
"""How a line of comment begins, by language; with slashes in all others."""


def added_lines(change: Change) -> tuple[int, int]:
    """Lines of code and lines of tests that the change adds; blank lines, comments and moved lines do not count."""
    code, tests = Counter[str](), Counter[str]()
    for file in change.files:
        own, inline = _lines(file, file.now.text)
        (tests if file.is_test else code).update(own)
        tests.update(inline)
    old_code, old_tests = _base(change.files, change.deleted)
    return (code - old_code).total(), (tests - old_tests).total()


def _base(files: Iterable[SourceFile], deleted: Iterable[SourceFile]) -> tuple[Counter[str], Counter[str]]:
    code, tests = Counter[str](), Counter[str]()
    for file in (*files, *deleted):
        own, inline = _lines(file, file.was.text)
        (tests if file.is_test else code).update(own)
        tests.update(inline)
    return code, tests


def _lines(file: SourceFile, text: str) -> tuple[Counter[str], Counter[str]]:
    """The lines of code of a text, and those of them that are tests inside it."""
    language = file.language
    marker = _INLINE.get(language, "")
    head, found, tail = text.partition(f"\n{marker}") if marker else (text, "", "")
    return _code(language, head), _code(language, tail) if found else Counter()


def _code(language: str, text: str) -> Counter[str]:
    """The lines that are neither blank nor a comment by their first character; a docstring counts as code."""
    marks = _MARKS.get(language, _SLASHES)
    stripped = (line.strip() for line in text.split("\n"))
    return Counter(line for line in stripped if line and not line.startswith(marks))

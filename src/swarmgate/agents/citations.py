"""Whether a finding quotes something that stands in the change or in the file; what cites nothing counts for nothing.

A quote is compared line by line, white space aside. It may be a part of a line, carry the `+` or `-` of a diff, the
line number of a search, or an ellipsis for what it leaves out. For something that is missing, the line is quoted where
it should be.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from swarmgate.domain.evidence import Remark, Review

_PART = 4
"""Characters from which on a part of a line counts; anything shorter must be the whole line."""
_ELLIPSIS = re.compile(r"\.\.\.|\u2026")
_NUMBERED = re.compile(r"^(?:\S+:)?\d+\s*[:|]\s*")
"""`12: text`, `12 | text`, `src/a.py:12: text`: how search results, and models, show a line with its number."""


@dataclass(frozen=True)
class Material:
    """What may be quoted.

    `patch` is the change as a diff. `contents` gives the texts of a file after and before the change, an empty text for
    one that is not text; none where there neither is nor was such a file.
    """

    patch: str
    contents: Callable[[str], Sequence[str]]
    _lines: dict[str, frozenset[str]] = field(default_factory=dict, compare=False)

    def lines(self, path: str) -> frozenset[str]:
        """The lines of a file, before and after; of the diff where `path` is empty. White space is made even."""
        if path not in self._lines:
            texts = self.contents(path) if path else (self.patch,)
            found = (each for text in texts for each in text.splitlines())
            self._lines[path] = frozenset(even for each in found for even in _evened(each, diff=not path))
        return self._lines[path]


def problem(remark: Remark, material: Material) -> str:
    """Why a finding cites nothing; empty where it does cite something.

    Args:
        remark: the finding.
        material: what it may quote.
    """
    pieces = [line for line in remark.quote.strip().strip("`").splitlines() if line.strip(" \t`")]
    wanted = [line for line in pieces if _ELLIPSIS.sub("", line).strip(" \t[]()")]
    if not wanted or not re.search(r"\w", remark.quote):
        return "it quotes no line"
    path = remark.file.strip().removeprefix("./")
    lines = material.lines("") | (material.lines(path) if path else frozenset())
    if path and not material.contents(path):
        return f"there is no file {path}, neither before the change nor after it"
    missing = next((line for line in wanted if not _stands(line, lines)), None)
    if missing is None:
        return ""
    where = f"in the change or in {path}" if path else "in the change (name the `file` that it stands in)"
    return f"the line `{_even(missing)}` does not stand {where}"


def checked(review: Review, material: Material) -> tuple[Review, tuple[str, ...]]:
    """The review without the findings that cite nothing, which are kept in `dropped`; and why each of them does not."""
    found = [(finding, problem(finding, material)) for finding in review.findings]
    kept = tuple(finding for finding, why in found if not why)
    dropped = tuple(finding for finding, why in found if why)
    return review.model_copy(update={"findings": kept, "dropped": dropped}), tuple(why for _, why in found if why)


def _stands(line: str, lines: frozenset[str]) -> bool:
    return any(_found(each, lines) for each in _spellings(line))


def _found(line: str, lines: frozenset[str]) -> bool:
    if line in lines:
        return True
    if len(line) >= _PART and any(line in each for each in lines):
        return True
    parts = [part.strip() for part in _ELLIPSIS.split(line) if part.strip()]
    if len(parts) < 2 and not _ELLIPSIS.search(line):  # noqa: PLR2004 - one part is the whole line
        return False
    return all(len(part) >= _PART for part in parts) and any(_in_order(parts, each) for each in lines)


def _in_order(parts: Iterable[str], line: str) -> bool:
    at = 0
    for part in parts:
        at = line.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return True


def _spellings(line: str) -> Iterator[str]:
    """The line as it may stand in the material: as quoted, without a diff's mark, without a number before it."""
    plain = _even(line.strip(" \t").strip("`"))
    for each in dict.fromkeys((plain, _NUMBERED.sub("", plain))):
        yield each
        if each[:1] in {"+", "-"}:
            yield each[1:].strip()


def _evened(line: str, *, diff: bool) -> Iterator[str]:
    yield _even(line)
    if diff and line[:1] in {"+", "-"}:
        yield _even(line[1:])


def _even(line: str) -> str:
    return " ".join(line.split())

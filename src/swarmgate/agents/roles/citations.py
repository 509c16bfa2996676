"""Checks that a finding quotes text that stands in the change or in the file; other findings do not count.

A quote is compared by its tokens: white space, the Unicode form and curly quotation marks do not count. It may carry
what models and tools put around a line: fences, a number, the `+` or `-` of a diff, quotation marks, a comment, an
ellipsis for what it leaves out. A part of a line counts where it is whole tokens, and 8 characters or half of the line.
For something that is missing, the line is quoted where it should be.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from swarmgate.domain.review.evidence import Remark, Review

_PART = 8
"""Characters, without white space, from which on a part of a line counts; a shorter one must be half of its line."""
_PIECE = 4
"""Characters that the longest piece between two ellipses needs."""
_SPELLINGS = 60
"""As many ways to read one quoted line are tried; what people write has a dozen."""

_TOKEN = re.compile(r"\w+|[^\w\s]")
_STRAIGHT = str.maketrans(
    {**dict.fromkeys("\u201c\u201d\u201e\u201f", '"'), **dict.fromkeys("\u2018\u2019\u201a\u201b", "'")}
    | dict.fromkeys("\u200b\ufeff\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufffd", "")
)
_CLOSING = frozenset(")]}")
"""A comma before one of these comes and goes with the line break behind it."""
_ELLIPSIS = re.compile(r"\.\.\.|\u2026")
_FENCE = re.compile(r"\s*(?:`{3,}|~{3,})[\w+#.-]*\s*")
_ASIDE = re.compile(r"^\s*(?:#|//|/\*|<!--)")
"""How a line begins that is a comment and nothing else."""
_ESCAPED = re.compile(r'\\([nt"])')
_UNESCAPED = {"n": "\n", "t": "\t", '"': '"'}

_PREFIXES = (
    re.compile(
        r"(?:[\w./\\-]+:)?[+-]?\s*[\[(]?(?:lines?\s*|L)?\d+(?:\s*[-\u2013]\s*L?\d+)?\s*"
        r"(?:[:|>\t)\]-]|\u2192|\s{2}|\s(?=[+-]))",
        re.IGNORECASE,
    ),  # `12: text`, `12 | text`, `12<tab>text`, `12-text`, `src/a.py:12: text`, `L12: text`, `+12: text`
    re.compile(r"[+>-]"),
    re.compile(r"```[\w+#.-]*\s"),
)
_OWN_COMMENT = re.compile(r"\s+(?:#|//|<-|\u2190).*$")
_AROUND = ("`", '"', "'")

_HEADER = re.compile(r"(?:old|new|deleted|new file|deleted file) mode |(?:rename|copy) (?:from|to) |Binary files |@@ ")
"""Lines of git's that say what no other line says: of a mode, a name or a binary file. They count as a whole."""
_BREAK = "\0"

_PLACE = re.compile(
    r"(?::\d+(?:[-:]\d+)*:?|#L\d+(?:-L?\d+)?|\s*\(?\b(?:lines?|L)\s*\d+(?:\s*[-\u2013]\s*\d+)?\)?)$",
    re.IGNORECASE,
)
_FILES = re.compile(r"\s*[,;]\s*|\s+and\s+|\s+&\s+")


class _Text:
    """A text without white space, which remembers where its tokens and its lines began."""

    def __init__(self, lines: Iterable[str]) -> None:
        tokens: list[str] = []
        self._bounds, self._starts, at = {0}, [0], 0
        for line in lines:
            for token in _tokens(line):
                if token in _CLOSING and tokens[-1:] == [","]:
                    at -= len(tokens.pop())
                    self._bounds.discard(at + 1)
                    self._starts[-1] = min(self._starts[-1], at)
                tokens.append(token)
                at += len(token)
                self._bounds.add(at)
            if at > self._starts[-1]:
                self._starts.append(at)
        self._flat = "".join(tokens)

    def holds(self, part: str) -> bool:
        """Whether the part stands there, in whole tokens, and is enough to be told from chance."""
        at = self._next(part, 0, len(self._flat))
        while at >= 0:
            if self._enough(len(part), at, at + len(part)):
                return True
            at = self._next(part, at + 1, len(self._flat))
        return False

    def holds_in_order(self, parts: Sequence[str]) -> bool:
        """Whether the parts stand in one line, in this order."""
        total = sum(map(len, parts))
        if max(map(len, parts)) < _PIECE:
            return False
        return any(self._enough(total, *line) and self._in_line(parts, *line) for line in pairwise(self._starts))

    def _in_line(self, parts: Iterable[str], at: int, end: int) -> bool:
        for part in parts:
            at = self._next(part, at, end)
            if at < 0:
                return False
            at += len(part)
        return True

    def _next(self, part: str, at: int, end: int) -> int:
        """Where the part stands next, in whole tokens; -1: nowhere."""
        at = self._flat.find(part, at, end)
        while at >= 0 and not (at in self._bounds and at + len(part) in self._bounds):
            at = self._flat.find(part, at + 1, end)
        return at

    def _enough(self, characters: int, begin: int, end: int) -> bool:
        """Whether so many characters of the lines from `begin` to `end` are a quotation of them."""
        first = self._starts[bisect_right(self._starts, begin) - 1]
        after = self._starts[bisect_right(self._starts, end - 1)]
        return characters >= _PART or 2 * characters >= after - first


@dataclass(frozen=True)
class Material:
    """What may be quoted.

    `patch` is the change as a diff; lines of it that are no diff, such as a list of files before it, are no material.
    `contents` gives the texts of a file after and before the change, an empty text for one that is not text; none where
    there neither is nor was such a file.
    """

    patch: str
    contents: Callable[[str], Sequence[str]]
    _texts: dict[str, tuple[_Text, ...]] = field(default_factory=dict, compare=False)

    def texts(self, path: str) -> tuple[_Text, ...]:
        """The texts of a file, after and before; those of the diff where `path` is empty."""
        if path not in self._texts:
            found = (each.splitlines() for each in self.contents(path)) if path else _sides(self.patch)
            self._texts[path] = tuple(map(_Text, found))
        return self._texts[path]

    def header(self, line: str) -> bool:
        """Whether the line is one of git's between the file's changes."""
        plain = line.strip(" \t`")
        if not _HEADER.match(plain):
            return False
        wanted = _flat(plain)
        headers = (each for each in self.patch.split("\n") if _HEADER.match(each))
        return any(wanted in {_flat(each), _flat(each[: each.find("@@", 2) + 2])} for each in headers)

    def paths(self, named: str) -> tuple[str, ...]:
        """The files that a finding names, in whatever spelling: of a diff, absolute, with a line, several of them."""
        return tuple(dict.fromkeys(path for each in (named, *_FILES.split(named)) for path in self._known(each)))

    def _known(self, named: str) -> Iterator[str]:
        found = next((each for each in _spelled(named) if self.contents(each)), "")
        if found:
            yield found


def problem(remark: Remark, material: Material) -> str:
    """Why a finding cites nothing; empty where it does cite something.

    A file that nobody knows is no reason where the quote stands in the change.

    Args:
        remark: the finding.
        material: what it may quote.
    """
    if not re.search(r"\w", remark.quote):
        return "it quotes no line"
    paths = material.paths(remark.file)
    texts = [text for path in ("", *paths) for text in material.texts(path)]

    def stands(line: str) -> bool:
        return material.header(line) or any(_occurs(line, text) for text in texts)

    missing = _missing(remark.quote, stands, remark.file)
    if missing and _ESCAPED.search(remark.quote):
        plain = _ESCAPED.sub(lambda match: _UNESCAPED[match[1]], remark.quote)
        missing = missing if _missing(plain, stands, remark.file) else ""
    if not missing:
        return ""
    named = remark.file.strip()
    if named and not paths:
        return f"there is no file {named}, neither before the change nor after it, and the change has no such line"
    where = f"in the change or in {', '.join(paths)}" if paths else "in the change (name the `file` that it stands in)"
    return f"the line `{' '.join(missing.split())}` does not stand {where}"


def checked(review: Review, material: Material) -> tuple[Review, tuple[str, ...]]:
    """The review without the findings that cite nothing, which are kept in `dropped`; and why each of them does not."""
    found = [(finding, problem(finding, material)) for finding in review.findings]
    quoted = tuple(finding for finding, why in found if not why)
    dropped = tuple(finding for finding, why in found if why)
    return review.model_copy(update={"findings": quoted, "dropped": dropped}), tuple(why for _, why in found if why)


def _missing(quote: str, stands: Callable[[str], bool], file: str) -> str:
    """The first quoted line that does not stand there; empty if none.

    A comment of the reviewer's own, or the place as a line, may stand between lines that are there.
    """
    if stands(quote):
        return ""
    quoted = dict.fromkeys(quote.splitlines())
    lines = [line for line in quoted if _says(line) and not _FENCE.fullmatch(line)]
    lost = [line for line in lines if not stands(line)]
    if len(lost) < len(lines):
        code = [line for line in lines if line not in lost and not _ASIDE.match(line)]
        lost = [line for line in lost if not (code and (_ASIDE.match(line) or _is_place(line, file)))]
    return (lost or [""])[0] if lines else quote


def _says(line: str) -> bool:
    return bool(_ELLIPSIS.sub("", line).strip(" \t[]()`#/*-;"))


def _is_place(line: str, file: str) -> bool:
    plain, meant = _bare(line.strip(" \t`*:")), _bare(file)
    if not plain:
        return True
    return bool(meant) and (f"/{plain}".endswith(f"/{meant}") or f"/{meant}".endswith(f"/{plain}"))


def _occurs(line: str, text: _Text) -> bool:
    return any(_found(each, text) for each in _spellings(line)) or _prose(line, text)


def _found(line: str, text: _Text) -> bool:
    flat = _flat(line)
    if flat and text.holds(flat):
        return True
    parts = [part for part in map(_flat, _ELLIPSIS.split(line)) if part]
    return bool(parts) and bool(_ELLIPSIS.search(line)) and text.holds_in_order(parts)


def _prose(line: str, text: _Text) -> bool:
    """Whether the line is a sentence whose code, between backticks, stands there."""
    code = re.findall(r"`([^`]+)`", line) if "\n" not in line else []
    return bool(code) and all(_found(each, text) for each in code)


def _spellings(line: str) -> Iterator[str]:
    """The line as it may stand in the material: as quoted, and without what is put before, behind or around a line."""
    found = [line.strip()]
    for each in found:
        yield each
        shorter = [each[match.end() :] for prefix in _PREFIXES if (match := prefix.match(each))]
        shorter += [_OWN_COMMENT.sub("", each)]
        shorter += [each.strip("`")]
        shorter += [each[1:-1] for mark in _AROUND if each.translate(_STRAIGHT)[:1] == mark == _last(each)]
        new = dict.fromkeys(text for text in map(str.strip, shorter) if text and text not in found)
        found += [*new][: _SPELLINGS - len(found)]


def _last(line: str) -> str:
    return line.translate(_STRAIGHT)[-1:] if len(line) > 1 else ""


def _sides(patch: str) -> Iterator[list[str]]:
    """The diff's lines after the change, before it, and as they stand in it; hunks are kept apart."""
    lines, heading = list[str](), False
    for line in patch.split("\n"):
        if line.startswith(("diff --git ", "@@ ")):
            heading = line.startswith("diff")
            lines.append(f" {_BREAK}")
        elif line[:1] in {"+", "-", " "} and not heading:
            lines.append(line)
    yield [line[1:] for line in lines if line[0] != "-"]
    yield [line[1:] for line in lines if line[0] != "+"]
    yield lines


def _spelled(named: str) -> Iterator[str]:
    """The path that is meant, the likeliest reading first."""
    raw = named.strip()
    yield raw.removeprefix("./")
    bare = _bare(raw)
    yield bare
    if bare[:2] in {"a/", "b/"}:
        yield bare[2:]
    if raw.strip("`'\"*").startswith(("/", "\\")) or re.match(r"[`'\"*]*[A-Za-z]:[\\/]", raw):
        parts = bare.split("/")
        yield from ("/".join(parts[at:]) for at in range(1, len(parts)))


def _bare(named: str) -> str:
    """A path without a line, quotation marks, backslashes and what stands before its first folder."""
    plain = _ASIDE.sub("", named).strip(" \t`'\"*")
    plain = _PLACE.sub("", plain).strip(" \t`'\"*").replace("\\", "/")
    return re.sub(r"^(?:[A-Za-z]:)?(?:\.?/)+", "", plain)


def _tokens(line: str) -> list[str]:
    return _TOKEN.findall(unicodedata.normalize("NFC", line).translate(_STRAIGHT))


def _flat(line: str) -> str:
    return re.sub(r",(?=[)\]}])", "", "".join(_tokens(line)))

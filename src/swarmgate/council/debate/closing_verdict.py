"""Parses the verdict that stands at the end of an answer.

It begins with the last mark `FINAL_VERDICT` that opens a line outside of every fence or, where there is no mark, with
an object or a fenced block that ends the text. Behind it stand its parts alone: a word or an object, `CONFIDENCE:`,
`REASONS:` with a list, the claims. Whatever else stands there (a sentence, an object that cannot be read) makes all of
it unread: nothing earlier is taken instead. A line that is indented or quoted (`+`, `-`, `>`) opens nothing, thoughts
and comments are not looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from swarmgate.agents.briefs.brief import cut, one_line
from swarmgate.agents.tools.answer_text import Unread
from swarmgate.llm.parsing.json_objects import PLACES, Line, Undecodable, decoded, spelling, taken_apart

DECOR = "*_`# \t"
"""What stands around a word and says nothing."""

WORDS = frozenset(("APPROVE", "APPROVED", "REJECT", "REJECTED", "ABSTAIN", "ABSTAINED"))

_FIELDS = ("confidence", "reasons", "summary", "dissent")
_LABELS = {"reason": "reasons", "rationale": "reasons", "justification": "reasons"}
_PARTS = frozenset(("confidence", "reasons", "reason", "rationale", "summary", "dissent"))
_LABEL = re.compile(
    r"(?:#{1,6} {0,3})?[*_`]{0,4}"
    r"(FINAL[ _-]?VERDICT|CONFIDENCE|REASONS?|RATIONALE|JUSTIFICATION|SUMMARY|DISSENT)"
    r"[*_` \t]{0,8}([:=]|(?=\{|$))[*_ \t]{0,8}",
    re.IGNORECASE,
)
"""A key that opens a line; without a colon it stands before an object or alone."""

_OBJECT = re.compile(r"[ \t]{0,8}[*_`]{0,4}(?:json)?[ \t]{0,8}(?=\{)", re.IGNORECASE)
_FENCE_ALONE = re.compile(r"`{3,8}\w{0,12}")
_BETWEEN = r"(?: ?[,;|(] ?| (?:[-\u2013\u2014] )?)"
_WORD_AND_NUMBER = re.compile(
    rf"([A-Za-z]{{1,12}})[*_`]{{0,4}}"
    rf"(?:{_BETWEEN}(?:with )?(?:confidence)?[ :=]{{0,3}}([0-9.]{{1,20}} ?%?) ?\)?)?"
    rf"(?:{_BETWEEN}reasons? ?[:=] ?(.+))?",
    re.IGNORECASE,
)
"""`APPROVE`, `APPROVE (confidence 0.8)`, `APPROVE | confidence: 80% | reasons: ...`; whatever else stands there is read
as no verdict: `APPROVE if the tests pass`."""

ITEM = re.compile(r"[ \t]*(?:[-*+\u2022]|[0-9]{1,3}[.)])[ \t]+(.*)")
"""An item of a list, with its words as group 1."""

_LAST_OBJECTS, _STARTS, _LONGEST, _MOST_OBJECTS = 20, 100, 200_000, 50
"""How many objects may end a text, how many lines are tried as the beginning of one, its characters, and how many
objects stand behind one mark."""


@dataclass(frozen=True, slots=True)
class Closing:
    """What stands at the end of an answer.

    `verdicts` are all that its marks and objects name, words as they stand there; `objects` have their keys as
    `json_objects.spelling` has them, `parts` are lines by label, `above` is the prose before it, `begin` the number of
    its first line.
    """

    verdicts: tuple[Any, ...]
    objects: tuple[Mapping[str, Any], ...]
    parts: Mapping[str, tuple[str, ...]]
    above: str
    begin: int


def closing(lines: Sequence[Line], form: str) -> Closing | None:
    """The verdict at the end of an answer; None: there is none.

    Args:
        lines: those of the answer.
        form: what was asked for, for the message.

    Raises:
        Unread: there is one, and something that is no part of it stands in it or behind it.
    """
    begins = [at for at, line in enumerate(lines) if not line.block and _is_mark(lines, at)]
    if not begins and (begin := _last_objects(lines)) is not None:
        begins = [begin]
    if not begins:
        return None
    read = [_read(lines[begin:end]) for begin, end in zip(begins, [*begins[1:], len(lines)], strict=True)]
    if read[-1].left:
        excerpt = cut(one_line(read[-1].left), 60, "...")
        raise Unread(f"{excerpt!r} stands in or behind your FINAL_VERDICT, which must end your answer.", form)
    first = len(read)
    while first and not read[first - 1].left:
        first -= 1
    clean = read[first:]
    parts = [_confidence_above(lines, begins[first]), *(each.parts for each in clean)]
    return Closing(
        verdicts=tuple(verdict for each in read for verdict in each.verdicts()),
        objects=tuple(found for each in clean for found in each.objects),
        parts={label: tuple(" ".join(entry) for each in parts for entry in each[label]) for label in _FIELDS},
        above=prose(lines[: begins[first]]),
        begin=begins[first],
    )


def _confidence_above(lines: Sequence[Line], begin: int) -> Mapping[str, list[list[str]]]:
    """The confidence on the line above a mark, where it stands before the verdict."""
    above = next((each for each in reversed(lines[:begin]) if each.text.strip()), Line(""))
    found = None if above.block else _read([above])
    return found.parts if found and not found.left and found.parts["confidence"] else {label: [] for label in _FIELDS}


def prose(lines: Sequence[Line]) -> str:
    """The lines outside of fences, less the objects in them and the marks of verdicts."""
    plain = taken_apart("\n".join(each.text for each in lines if not each.block)).text
    return PLACES.sub("", "\n".join(each for each in plain.split("\n") if not _mark(each))).strip()


def _mark(line: str) -> re.Match[str] | None:
    found = _LABEL.match(line)
    return found if found and found[1][0] in "Ff" else None


def _is_mark(lines: Sequence[Line], at: int) -> bool:
    """Whether a line opens a verdict; a heading of this name, with prose below it, opens none."""
    found = _mark(lines[at].text)
    if not found or found[2] or lines[at].text[found.end() :]:
        return bool(found)
    below = next((each.text for each in lines[at + 1 :] if each.text.strip()), "")
    return bool(_OBJECT.match(below)) or _mark(below) is not None or _inline_parts(below)[0].upper() in WORDS


def _last_objects(lines: Sequence[Line]) -> int | None:
    """Where the objects and fenced blocks begin that end a text without a mark; None: it ends in something else."""
    end, begin, has_verdict = len(lines), None, False
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line.text) + 1)
    whole = "\n".join(each.text for each in lines)
    for _ in range(_LAST_OBJECTS):
        while end and not lines[end - 1].text.strip():
            end -= 1
        unit = _fenced_unit(lines, end) if end and lines[end - 1].block else _object_unit(lines, end, whole, starts)
        if unit is None:
            break
        read = _read(lines[unit:end])
        if read.left:
            break
        has_verdict = has_verdict or any("verdict" in each for each in read.objects) or bool(read.words)
        begin = end = unit
    return begin if has_verdict else None


def _fenced_unit(lines: Sequence[Line], end: int) -> int:
    begin = end
    while begin and lines[begin - 1].block == lines[end - 1].block:
        begin -= 1
    return begin


def _object_unit(lines: Sequence[Line], end: int, whole: str, starts: Sequence[int]) -> int | None:
    """The line at which an object begins that ends with line `end - 1`."""
    if not end or not lines[end - 1].text.rstrip(DECOR + ".").endswith("}"):
        return None
    tried = 0
    for at in range(end - 1, -1, -1):
        if lines[at].block or tried > _STARTS or starts[end] - starts[at] > _LONGEST:
            return None
        opens = _OBJECT.match(lines[at].text)
        if not opens or lines[at].text[0] in " \t":
            continue
        tried += 1
        try:
            _, ended = decoded(whole, starts[at] + opens.end())
        except Undecodable:
            continue
        if not whole[ended : starts[end]].strip(DECOR + ".\n"):
            return at
    return None


# --- one mark and what stands behind it ---


def _read(lines: Sequence[Line]) -> _Reader:
    reader = _Reader("\n".join(each.text for each in lines))
    reader.read()
    return reader


def _inline_parts(text: str) -> tuple[str, str, str]:
    """The verdict, the confidence and the reasons in what stands behind a mark; all of it where it is none of them."""
    plain = one_line(text).strip(DECOR + ".!\"'")
    found = _WORD_AND_NUMBER.fullmatch(plain)
    return (found[1], found[2] or "", found[3] or "") if found else (plain, "", "")


class _Reader:
    """Walks through a verdict up to the first thing that is no part of it: `left`, empty where there is none."""

    def __init__(self, text: str) -> None:
        self.words: list[str] = []
        self.objects: list[Mapping[str, Any]] = []
        self.parts: dict[str, list[list[str]]] = {label: [] for label in _FIELDS}
        self.left = ""
        self._text = text
        self._at = 0
        self._waits = False  # for the verdict of a mark
        self._entries: list[list[str]] | None = None  # of the newest label
        self._below = False  # whether the line stands directly below a label that has nothing beside it

    def read(self) -> None:
        """Walk."""
        while not self.left and self._at < len(self._text):
            if opens := _OBJECT.match(self._text, self._at):
                self._object(opens.end())
            else:
                self._line()

    def verdicts(self) -> Iterator[Any]:
        """All that are named; a mark without one names what stands in its place."""
        yield from self.words
        yield from (each["verdict"] for each in self.objects if "verdict" in each)
        if self._waits:
            yield self.left

    def _object(self, start: int) -> None:
        self._entries = None
        try:
            value, end = decoded(self._text, start)
        except Undecodable:
            self.left = self._text[start : start + 100]
            return
        line_end = self._line_end(end)
        behind = self._text[end:line_end].strip(DECOR + ".,;")
        keys = _flat(value)
        known = keys is not None and ("verdict" in keys or "claims" in keys or keys.keys() <= _PARTS)
        if behind or keys is None or not known or len(self.objects) == _MOST_OBJECTS:
            self.left = behind or self._text[start : min(end, start + 100)]
            return
        self.objects.append(keys)
        self._waits = self._waits and "verdict" not in keys
        self._at = line_end + 1

    def _line_end(self, at: int) -> int:
        end = self._text.find("\n", at)
        return end if end >= 0 else len(self._text)

    def _line(self) -> None:
        begin, end = self._at, self._line_end(self._at)
        line, self._at = self._text[begin:end], end + 1
        label = _LABEL.match(line)
        if not line.strip(DECOR + "-="):
            self._below = False
        elif label and _mark(line):
            self._verdict(begin + label.end(), line[label.end() :])
        elif label and label[2]:
            self._part(label[1].lower(), line[label.end() :].strip(DECOR))
        elif self._waits:
            self._word(line)
        else:
            self._entry(line)

    def _verdict(self, at: int, text: str) -> None:
        self._entries = None
        self._waits = True
        if _OBJECT.match(text):
            self._at = at
        elif text.strip(DECOR) and not _FENCE_ALONE.fullmatch(text.strip()):
            self._word(text)

    def _word(self, text: str) -> None:
        word, confidence, reason = _inline_parts(text)
        self.words.append(word)
        self._waits = False
        self.parts["confidence"].extend([[confidence]] if confidence else [])
        self.parts["reasons"].extend([[reason]] if reason else [])

    def _part(self, label: str, text: str) -> None:
        self._entries = self.parts[_LABELS.get(label, label)]
        self._below = not text
        self._entries.extend([[text]] if text else [])

    def _entry(self, line: str) -> None:
        """A line below a label: an item of its list, one that goes on, or the paragraph directly below it."""
        item = ITEM.match(line)
        if self._entries is None:
            self.left = line
        elif item:
            self._entries.append([item[1]])
            self._below = False
        elif self._entries and line[0] in " \t":
            self._entries[-1].append(line.strip())
        elif self._below:
            self._entries.append([line])
        else:
            self.left = line


def _flat(value: Mapping[str, Any]) -> dict[str, Any] | None:
    """The object with its verdict under `verdict`, whatever the key's spelling; None: it says two things."""
    keys: dict[str, Any] = {}
    rest: list[Mapping[str, Any]] = [value]
    while rest:
        for key, text in rest.pop().items():
            name = "verdict" if spelling(key) in ("final_verdict", "finalverdict") else spelling(key)
            if name == "verdict" and isinstance(text, dict):
                rest.append(text)
            elif name in keys and keys[name] != text:
                return None
            else:
                keys[name] = text
    return keys

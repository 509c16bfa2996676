"""Finds JSON objects, lines and fenced code in the text of an answer, in linear time."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from swarmgate.domain.text.unicode import whole_json

_CANDIDATES = 2_000
"""How many `{` that could open an object are tried; a text with more of them says nothing in JSON in good faith."""

_EFFORT = 4_000_000
"""Characters that those which open none may cost in all."""

_PLACE = "\x00{}\x00"
PLACES = re.compile("\x00([0-9]+)\x00")
"""What stands in the place of an object."""

_OPENS = re.compile(r'\{(?=\s{0,80}["}])')
_FENCE = re.compile(r"^[ \t]{0,8}(?:`{3,}|~{3,})[ \t]{0,8}\w{0,20}[ \t]{0,8}$", re.MULTILINE)
_INLINE_FENCE = re.compile(rf"(?<!`)```(?:json)?[ \t]{{0,8}}(?={PLACES.pattern})|(?<=\x00)[ \t]{{0,8}}```")

_THOUGHTS = "think|thinking|thought|reasoning|analysis|scratchpad|reflection"
_TOKEN = re.compile(
    r"^[ \t]{0,8}(?P<fence>`{3,}|~{3,})(?P<info>[^\n]*)$"
    rf"|(?P<hidden><(?:{_THOUGHTS})>|<!--)"
    rf"|^[ \t]{{0,8}}(?P<ended></(?:{_THOUGHTS})>)",
    re.MULTILINE | re.IGNORECASE,
)
_CLOSING_FENCE = re.compile(r"^[ \t]{0,8}(`{3,}|~{3,})[ \t]*$", re.MULTILINE)
_INFO = re.compile(r"[ \t]{0,8}([\w+#.-]{0,20})[ \t]{0,8}(.*)", re.DOTALL)
_BLANKS = re.compile(r"[ \t]*")
_OWN_WORDS = frozenset(("", "json", "jsonc", "json5", "text", "txt", "plain", "plaintext", "markdown", "md", "yaml"))
"""Languages of a fence that a voice puts around its own words; another one (`diff`, `python`) is a quotation."""


class Line(NamedTuple):
    """A line; `block` numbers the fenced blocks from 1, 0: it stands in none."""

    text: str
    block: int = 0


@dataclass(frozen=True, slots=True)
class Mixed:
    """A text whose JSON objects were taken out: `text` has a mark in the place of each, `objects` are they in order."""

    text: str
    objects: tuple[dict[str, Any], ...]


def taken_apart(text: str) -> Mixed:
    """The text and its objects; one in another is a part of that. What cannot be decoded stays text."""
    text = _plain(text)
    parts: list[str] = []
    objects: list[dict[str, Any]] = []
    done = at = effort = 0
    for _ in range(_CANDIDATES):
        opens = _OPENS.search(text, at)
        if opens is None or effort > _EFFORT:
            break
        try:
            value, end = decoded(text, opens.start())
        except Undecodable as error:
            at, effort = opens.end(), effort + error.effort
            continue
        parts += [text[done : opens.start()], _PLACE.format(len(objects))]
        objects.append(value)
        done = at = end
    without = "".join((*parts, text[done:]))
    return Mixed(_INLINE_FENCE.sub("", without), tuple(objects))


class Undecodable(Exception):
    """There is no JSON object; `effort` is how many characters it took to see that, at most."""

    def __init__(self, effort: int) -> None:
        super().__init__()
        self.effort = effort


def decoded(text: str, start: int) -> tuple[dict[str, Any], int]:
    """The object whose `{` stands at `start`, without halves of characters, and where it ends.

    Raises:
        Undecodable: there is none, or it says two things under one key, whatever the case of its letters.
    """
    try:
        value, end = _DECODER.raw_decode(text, start)
        spelt = text[start:end]
        if (clean := whole_json(spelt)) != spelt:
            value = _DECODER.decode(clean)
    except json.JSONDecodeError as error:
        raise Undecodable(error.pos - start + 1) from None
    except (ValueError, RecursionError):
        raise Undecodable(len(text) - start) from None
    return value, end


def spelling(key: str) -> str:
    """A key as it is compared: `Final Verdict` is `final_verdict`."""
    return key.strip().lower().replace(" ", "_").replace("-", "_")


def _unambiguous(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    seen: dict[str, Any] = {}
    for key, value in pairs:
        name = spelling(key)
        if name in seen and seen[name] != value:
            raise ValueError(key)
        seen[name] = value
    return dict(pairs)


_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_unambiguous)


def unfenced(text: str) -> str:
    """The text without the lines that open and close fences."""
    return _FENCE.sub("", text)


# --- lines ---


def visible_lines(text: str) -> list[Line]:
    """The lines without thoughts (`<think>` ...), comments (`<!-- -->`) and the lines that open and close a fence.

    A fence that is never closed reaches to the end, so does a thought that opens a line; what stands before the end of
    a thought that was never opened is one. The opening line of a fenced quotation (`diff` ...) is left in its block.
    """
    text = _plain(text)
    scanned = _Scanned(text)
    while token := _TOKEN.search(text, scanned.at):
        scanned.take(token)
    return scanned.lines()


def answer_lines(text: str) -> list[Line]:
    """The visible lines; an answer that is fenced as a whole is read as if it were not."""
    lines = visible_lines(text)
    full = [each for each in lines if each.text.strip()]
    whole = bool(full) and len({each.block for each in full}) == 1 and not full[0].text.lstrip().startswith(("`", "~"))
    return [Line(each.text) for each in lines] if whole else lines


def _plain(text: str) -> str:
    return text.replace("\x00", " ").replace("\r\n", "\n").replace("\r", "\n")


class _Scanned:
    """How far a text was scanned, and what was found in it."""

    def __init__(self, text: str) -> None:
        self.at = 0
        self._text = text
        self._lines: list[Line] = []
        self._visible: list[str] = []  # of the text outside of fences since the last one
        self._blank = True  # whether the line so far is
        self._blocks = 0
        self._unended: set[str] = set()

    def take(self, token: re.Match[str]) -> None:
        """What stands up to a token, and what that opens."""
        self._show(self._text[self.at : token.start()])
        self.at = token.end()
        if token["ended"]:
            self._lines, self._visible, self._blank = [], [], True
        elif token["hidden"]:
            self._hide(token[0])
        elif "`" in token["info"] and token["fence"][0] == "`":
            self._show(token[0])  # code within a line
        else:
            self._block(token)

    def lines(self) -> list[Line]:
        """All of it, with what stands behind the last token."""
        self._show(self._text[self.at :])
        self._end_plain()
        return self._lines

    def _show(self, piece: str) -> None:
        _, broken, last = piece.rpartition("\n")
        self._blank = (bool(broken) or self._blank) and not last.strip()
        self._visible.append(piece)

    def _hide(self, opening: str) -> None:
        closing = "-->" if opening == "<!--" else f"</{opening[1:].lower()}"
        pattern = re.compile(re.escape(closing), re.IGNORECASE)
        end = None if closing in self._unended else pattern.search(self._text, self.at)
        if end:
            after = _BLANKS.match(self._text, end.end()) if self._blank else None
            self.at = after.end() if after else end.end()
            self._visible.append("\n" if self._blank else " ")
        elif self._blank:
            self.at = len(self._text)
        else:
            self._unended.add(closing)
            self._show(opening)

    def _block(self, token: re.Match[str]) -> None:
        self._end_plain()
        self._blocks += 1
        begin, self.at = self.at + 1, len(self._text)
        end = self.at
        for found in _CLOSING_FENCE.finditer(self._text, begin):
            if found[1].startswith(token["fence"]):
                end, self.at = found.start(), found.end()
                break
        info = _INFO.match(token["info"])
        language, first = (info[1].lower(), info[2]) if info else ("", "")
        head = [first] if language in _OWN_WORDS and first.startswith("{") else []
        head = head if language in _OWN_WORDS else [token[0]]
        body = self._text[begin:end].removesuffix("\n")
        self._add([*head, *body.split("\n")], self._blocks)

    def _end_plain(self) -> None:
        self._add("".join(self._visible).split("\n"), 0)
        self._visible, self._blank = [], True

    def _add(self, lines: Iterable[str], block: int) -> None:
        self._lines += [Line(each, block) for each in lines]

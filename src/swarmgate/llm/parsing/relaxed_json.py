"""Parses malformed JSON of models: trailing commas, single quotes, Python literals, bare keys, line breaks. Pure.

Each repair is reported. Nothing is guessed: what has no one reading by this grammar is no value.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple, NoReturn

CUT = "closing brackets"
"""The repair of a value that ends with the text before all its brackets are closed."""
NESTED = "quotes within single quotes"
_QUOTES = "single quotes"
_DEPTH = 60
"""Levels of brackets; no call of ours comes near."""

_SPACE = re.compile(r"\s*")
_DOUBLE = re.compile(r'"((?:[^"\\]|\\.)*+)"', re.DOTALL)
_SINGLE = re.compile(r"'((?:[^'\\]|\\.)*+)'", re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_OTHERS = "uxUNav01234567\n"
"""What Python and JavaScript escape and JSON does not: `\\x1b` has two readings."""
_MARKED = re.compile(r'<\|"\|>(.*?)<\|"\|>|<escape>(.*?)<escape>', re.DOTALL)  # Gemma 4; FunctionGemma
_BARE_KEY = re.compile(r"[A-Za-z_]\w*(?=\s*:)")
_NUMBER = re.compile(r"-?\d{1,40}(?:\.\d{1,40})?(?:[eE][+-]?\d{1,3})?(?![\w.])")
_WORDS = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_WORD = re.compile(r"(?:true|false|null|True|False|None)\b")


class Unreadable(ValueError):
    """There is no such value; `effort` is how many characters it took to see that."""

    def __init__(self, why: str, effort: int) -> None:
        super().__init__(why)
        self.effort = effort


class Relaxed(NamedTuple):
    """A value, where it ends in the text, and what was put right. `doubled`: an object has a key twice."""

    value: Any
    end: int
    repairs: tuple[str, ...]
    doubled: bool


def relaxed_at(text: str, start: int) -> Relaxed:
    """The object or list that begins at a place of a text.

    Raises:
        Unreadable: none that has one reading.
    """
    reader = _Reader(text, start)
    try:
        value = reader.value(0)
    except ValueError as error:
        raise Unreadable(str(error), reader.at - start + 1) from None
    return Relaxed(value, reader.at, tuple(sorted(reader.repairs)), reader.doubled)


class _Reader:
    """How far a text was read, and the liberties that it took."""

    def __init__(self, text: str, at: int) -> None:
        self.at = at
        self.repairs: set[str] = set()
        self.doubled = False
        self._text = text

    def value(self, depth: int) -> Any:
        if depth > _DEPTH:
            self._fail("it is nested too deeply")
        self._skip()
        match self._text[self.at : self.at + 1]:
            case "{":
                return self._object(depth)
            case "[":
                return self._list(depth)
            case '"' | "'" | "<":
                return self._string()
            case _:
                return self._scalar()

    def _object(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        self.at += 1
        while not self._closed("}"):
            key = self._key()
            self._skip()
            if not self._took(":"):
                self._fail("no colon after a key")
            value = self.value(depth + 1)
            self.doubled |= key in found
            found[key] = value
            self._separated("}")
        return found

    def _list(self, depth: int) -> list[Any]:
        found: list[Any] = []
        self.at += 1
        while not self._closed("]"):
            found.append(self.value(depth + 1))
            self._separated("]")
        return found

    def _closed(self, bracket: str) -> bool:
        self._skip()
        if self.at < len(self._text):
            return self._took(bracket)
        self.repairs.add(CUT)
        return True

    def _separated(self, bracket: str) -> None:
        """A comma between two entries; one behind the last is taken too."""
        self._skip()
        if self._took(","):
            self._skip()
            if self._text[self.at : self.at + 1] in (bracket, ""):
                self.repairs.add("trailing comma")
        elif self._text[self.at : self.at + 1] not in (bracket, ""):
            self._fail("no comma between two entries")

    def _key(self) -> str:
        self._skip()
        bare = _BARE_KEY.match(self._text, self.at)
        if bare is None:
            return self._string()
        self.repairs.add("keys without quotes")
        self.at = bare.end()
        return bare[0]

    def _string(self) -> str:
        if marked := _MARKED.match(self._text, self.at):
            self.repairs.add("the model's own quotation marks")
            self.at = marked.end()
            return marked[1] if marked[1] is not None else marked[2]
        single = self._text[self.at : self.at + 1] == "'"
        found = (_SINGLE if single else _DOUBLE).match(self._text, self.at)
        if found is None:
            self._fail("a string that does not end")
        inner = found[1]
        if single:
            self.repairs.add(NESTED if '"' in inner or "\\" in inner else _QUOTES)
            inner = re.sub(r"\\(.)|(\")", _as_double, inner, flags=re.DOTALL)
        if (escaped := _ESCAPE.sub(_as_json, inner)) != inner:
            self.repairs.add("backslashes that escape nothing")
            inner = escaped
        if "\n" in inner or "\t" in inner:
            self.repairs.add("line breaks in strings")
        self.at = found.end()
        text: str = json.loads(f'"{inner}"', strict=False)
        return text

    def _scalar(self) -> Any:
        if word := _WORD.match(self._text, self.at):
            self.at = word.end()
            if word[0][0].isupper():
                self.repairs.add("Python's words")
            return _WORDS[word[0]]
        number = _NUMBER.match(self._text, self.at)
        if number is None:
            self._fail("no value")
        self.at = number.end()
        value = json.loads(number[0])
        if value in (float("inf"), float("-inf")):
            self._fail("a number out of range")
        return value

    def _took(self, mark: str) -> bool:
        if not self._text.startswith(mark, self.at):
            return False
        self.at += 1
        return True

    def _skip(self) -> None:
        found = _SPACE.match(self._text, self.at)
        self.at = found.end() if found else self.at

    def _fail(self, why: str) -> NoReturn:
        raise ValueError(f"{why} at character {self.at}")


def _as_json(found: re.Match[str]) -> str:
    r"""An escape that JSON knows; of one that nobody knows the backslash is meant, as in `\\d`, but not in `\\'`."""
    escaped = found[1]
    if len(escaped) > 1 or escaped in '"\\/bfnrt' or escaped in _OTHERS:  # the last fail
        return found[0]
    return "'" if escaped == "'" else f"\\\\{escaped}"


def _as_double(found: re.Match[str]) -> str:
    """A piece of a string in single quotes as it stands in one in double quotes."""
    if found[2]:
        return '\\"'
    return "'" if found[1] == "'" else found[0]

"""Finds and reads JSON objects in the text of an answer. Keys compare without case and without `_` or `-`.

Only these objects are read: no number and no word is ever taken out of prose. Quotations (lines that begin with `>`,
fences of a language other than JSON or plain text) and thoughts are not looked at. Two objects that say different
things under an asked-for key are no answer. What decides something stands at the end of the answer (`closing`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from swarmgate.llm.parsing.json_objects import PLACES, Line, answer_lines, taken_apart, unfenced


class Unread(ValueError):
    """An answer is not what was asked for.

    Args:
        problem: what is wrong with it, told to the model.
        form: what was asked for, told to the model too.
        otherwise: what it comes to where the model, asked once more, mends nothing; None: nothing.
    """

    def __init__(self, problem: str, form: str = "", *, otherwise: object = None) -> None:
        super().__init__(f"{problem} {form}".strip())
        self.problem, self.form = problem, form
        self.otherwise = otherwise


_LAST = 20
"""How many objects may end an answer."""

_DEEPEST = 50
"""How deep an object may nest; no form that is asked for goes beyond 4."""

_WRAPS = frozenset(("answer", "contribution", "evaluation", "output", "reply", "response", "result"))
"""Keys under which a voice puts the whole of its answer, instead of giving it as it is."""

_AUTHORS = ("participant", "who", "author")
_QUOTED = re.compile(r"[ \t]*>")
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_OTHER, _QUOTATION = "\x01", "\x02"
"""Where another fenced block begins or ends, and what stands in the place of one that is a quotation."""


def squeezed(key: str) -> str:
    """A key as it is compared: `wouldChangeIf`, `would_change_if` and `Would Change If` are `wouldchangeif`."""
    if key.isascii() and key.isalnum() and key.islower():
        return key  # so are most, and every one at the second look
    return "".join(letter for letter in key.casefold() if letter.isalnum()) or key


def objects_of(text: str) -> tuple[dict[str, Any], ...]:
    """The objects of an answer in order; keys, those of objects inside too, as `squeezed` has them.

    Raises:
        Unread: one nests deeper than anything that is asked for.
    """
    return tuple(each for each, _ in _found(text))


def fields_of(
    text: str,
    wanted: Collection[str],
    *,
    closing: bool = False,
    asked: Collection[str] = (),
    wrapped: bool = False,
) -> Mapping[str, Any]:
    """The fields of an answer, put together from all of its objects that have a wanted one; values as JSON has them.

    An object that holds the whole answer under one key, such as `{"response": {...}}`, is read as that.

    Args:
        text: the answer.
        wanted: keys, in any spelling; the result has them as `squeezed`.
        closing: whether they decide something: then only the objects count that end the answer, with white space and
            marks of fences alone behind them, and what stands earlier under a wanted key must be the same there.
        asked: the names of who was asked; an object that names somebody else as its author is not its answer. Empty:
            not known.
        wrapped: whether an answer may stand under one key of any name.

    Lists that several objects have under one key are put together, unless they decide something.

    Raises:
        Unread: no object has a wanted key, or two objects differ in one.
    """
    keys = {squeezed(each): each for each in wanted}
    found: dict[str, Any] = {}
    ends: set[str] = set()
    for each, last in _found(text, strict=closing):
        own = unwrapped(each, keys, by_any_name=wrapped)
        for key in keys.keys() & own.keys():
            _check_author((each, own), asked)
            found[key] = _both(keys[key], found.get(key, own[key]), own[key], joins=not closing)
            ends.update([key] if last else [])
    if not found:
        raise Unread("There is no JSON object of the asked-for form in your answer.")
    if closing and found.keys() - ends:
        missing = keys[min(found.keys() - ends)]
        raise Unread(f"`{missing}` stands in no JSON object that ends your answer. Put all of it into one there.")
    return found


def without_objects(text: str) -> str:
    """The prose of an answer: all of it but its JSON objects, the list that they stand in, and the marks of fences."""
    prose = PLACES.sub("", unfenced(taken_apart(text).text)).strip()
    return prose if prose.strip("[], \t\n") else ""


def unwrapped(found: dict[str, Any], keys: Collection[str], *, by_any_name: bool = False) -> dict[str, Any]:
    """What an answer says that stands as a whole under one key, unless the object itself has one of these keys."""
    for _ in range(3):
        alone = by_any_name and len(found) == 1
        inner = [found[key] for key in found if (alone or key in _WRAPS) and isinstance(found[key], dict)]
        if len(inner) != 1 or any(key in found for key in keys):
            break
        found = inner[0]
    return found


def plain_keys(value: Any, depth: int = 0, *, strict: bool = False) -> Any:
    """The value with the keys of all objects in it as `squeezed`; `strict`: none may stand for two values.

    Raises:
        Unread: it nests too deep, or two keys that are one say different things.
    """
    if depth > _DEEPEST:
        raise Unread(f"A JSON object of your answer nests more than {_DEEPEST} deep.")
    if isinstance(value, list):
        return [plain_keys(each, depth + 1, strict=strict) for each in value]
    if not isinstance(value, dict):
        return value
    found: dict[str, Any] = {}
    for name, each in value.items():
        key, plain = squeezed(str(name)), plain_keys(each, depth + 1, strict=strict)
        if strict and key in found and found[key] != plain:
            raise Unread(f"A JSON object of your answer says two different things under `{str(name)[:60]}`.")
        found[key] = plain
    return found


# --- inside ---


def _found(text: str, *, strict: bool = False) -> list[tuple[dict[str, Any], bool]]:
    """The objects that are no quotations, in order, and of each whether it ends the answer."""
    mixed = taken_apart("\n".join(_own(answer_lines(text), marked=strict)))
    places = list(PLACES.finditer(mixed.text))
    found: list[tuple[dict[str, Any], bool]] = []
    behind = mixed.text[places[-1].end() :] if places else ""
    ends = strict and not behind.strip(f"`~ \t\n{_OTHER}")
    for at in range(len(places) - 1, -1, -1):
        before = mixed.text[places[at - 1].end() if at else 0 : places[at].start()]
        above = mixed.text[: places[at].start()]
        ends = ends and at >= len(places) - _LAST and not _inside(above.rpartition(_OTHER)[2])
        if not _QUOTED.match(above[above.rfind("\n") + 1 :]):
            found.append((plain_keys(mixed.objects[int(places[at][1])], strict=strict), ends))
        else:
            ends = False
        ends = ends and not before.strip(f"`~ \t\n{_OTHER}")
    return found[::-1]


def _own(lines: Iterable[Line], *, marked: bool) -> Iterable[str]:
    """The lines without those of quotations; `marked`: with marks in their places, and between blocks."""
    lines = list(lines)
    quoted = {each.block for each in lines if each.block and each.text.lstrip().startswith(("```", "~~~"))}
    block = 0
    for each in lines:
        if marked and each.block != block:
            yield _QUOTATION if each.block in quoted else _OTHER
        block = each.block
        if block not in quoted:
            yield each.text.replace(_OTHER, " ").replace(_QUOTATION, " ")


def _inside(above: str) -> bool:
    """Whether a `{` above is still open, in strings or not: what follows is part of what could not be decoded."""
    for text in (above, _STRING.sub("", above)):
        depth = 0
        for letter in text:
            depth = max(0, depth + (letter == "{") - (letter == "}"))
        if depth:
            return True
    return False


def _both(name: str, before: Any, value: Any, *, joins: bool) -> Any:
    """The value of two objects under one key."""
    if joins and isinstance(before, list) and isinstance(value, list):
        return [*before, *(each for each in value if each not in before)]
    if before != value:
        raise Unread(f"Your answer says two different things under `{name}`. Say one.")
    return value


def _check_author(objects: Iterable[dict[str, Any]], asked: Collection[str]) -> None:
    names = {squeezed(each) for each in asked if each}
    for each in objects:
        for key in _AUTHORS:
            name = each.get(key)
            if names and isinstance(name, str) and name.strip() and squeezed(name) not in names:
                raise Unread(f"A JSON object of your answer is by {name[:60]!r}. Give your own, and no other.")

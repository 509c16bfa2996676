"""Field types of answers, parsed leniently: texts, lists, bounded whole numbers, ids.

A text may be an object with one, a list of its lines; a list may be one item of it. A text that is too long is
cut, and that is noted (`Spoken`).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field
from pydantic.json_schema import SkipJsonSchema

from swarmgate.agents.tools.answer_text import squeezed
from swarmgate.agents.tools.answers import TEXT, Answer
from swarmgate.council.participants.answer_prose import shortened
from swarmgate.domain.review.votes import message_id

LONGEST = 2_000
"""Characters of a typed text at most: a steel-man, a reason, a key risk. Prose has a bound of its own."""

ID_KEYS = ("to", "id", "target", "targetid", "messageid", "message", "ref", "cites")
_CONTENT = "content"
_SPELT = re.compile(r"\br([1-9][0-9]{0,5})-msg-([0-9]{1,6})\b", re.IGNORECASE)
_NO_ROUND = re.compile(r"#?msg-0*([1-9][0-9]{0,5})", re.IGNORECASE)
_FLAGS = {"true": True, "yes": True, "false": False, "no": False}
_TEXT_KEYS = ("text", "statement", "summary", "insight", "question", "description", "topic")


def text_of(value: Any) -> str:
    """A value as text: a string, the text of an object or else its words, the lines of a list; nothing for nothing."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list):
        return "\n".join(filter(None, map(text_of, value)))
    if isinstance(value, Mapping):
        found = next((value[key] for key in _TEXT_KEYS if isinstance(value.get(key), str)), None)
        return found.strip() if found else "; ".join(f"{key}: {text_of(each)}" for key, each in value.items())
    return "" if value is None else json.dumps(value)


def texts_of(value: Any) -> tuple[str, ...]:
    """A list of texts; one text is a list of one."""
    return tuple(filter(None, map(text_of, value if isinstance(value, list) else [value])))


def dicts_of(value: Any) -> tuple[Mapping[str, Any], ...]:
    """The objects of a list; one object is a list of one."""
    listed = value if isinstance(value, list) else [value]
    return tuple(each for each in listed if isinstance(each, Mapping))


def items_of(value: Any) -> tuple[Mapping[str, Any], ...]:
    """The objects of a list; a text in it stands for an object with that text."""
    listed = value if isinstance(value, list) else [value]
    return tuple(
        each if isinstance(each, Mapping) else {"text": text_of(each)} for each in listed if each not in (None, "")
    )


def by_voice(value: Any, voice: str, says: str, own: Collection[str]) -> tuple[Mapping[str, Any], ...]:
    """The objects of a list. One that stands in its place may have what each voice says under that voice's name.

    Args:
        value: the list, or the object.
        voice: the key that the name of the voice goes to.
        says: the key that what it says goes to, where that is no object.
        own: the keys of the objects of the list, as `squeezed`; an object with one of them is one of these.
    """
    if not isinstance(value, Mapping) or any(squeezed(key) in own for key in value):
        return items_of(value)
    said = ((name, each if isinstance(each, Mapping) else {says: each}) for name, each in value.items())
    return tuple({voice: name, **each} for name, each in said)


def first_of(found: Mapping[str, Any], *keys: str) -> Any:
    """The value under the first of these keys that there is one under."""
    return next((found[key] for key in keys if found.get(key) is not None), None)


def ids_of(value: Any) -> tuple[str, ...]:
    """Ids of messages, each once, in order; a blank or an object is none."""
    listed = value if isinstance(value, list) else [value]
    return tuple(dict.fromkeys(each.strip().strip("[]") for each in listed if isinstance(each, str) and each.strip()))


def message_ids(value: Any) -> tuple[str, ...]:
    """Ids of messages, each once, in order, however they are listed: texts, one text with commas, objects with one.

    An id may be spelt without leading zeros, or in capitals; of a text without any, the words with a digit are taken.
    """
    made: list[str] = []
    for each in value if isinstance(value, list | tuple) else [value]:
        named = first_of(each, *ID_KEYS) if isinstance(each, Mapping) else each
        if isinstance(named, str):
            spelt = [message_id(int(round_number), int(number)) for round_number, number in _SPELT.findall(named)]
            made += spelt or re.findall(r"\S*\d\S*", named.replace(",", " ").replace(";", " ")) or [named.strip()]
    return tuple(dict.fromkeys(filter(None, (each.strip("[]()`.") for each in made))))


def known(ids: Iterable[str], visible: Collection[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Ids that were shown, and those that were not."""
    listed = tuple(with_round(each, visible) for each in ids)
    return tuple(each for each in listed if each in visible), tuple(each for each in listed if each not in visible)


def with_round(named: str, visible: Collection[str]) -> str:
    """An id that names no round, `#msg-007`, as that of the newest message shown with that number; others as given."""
    if named in visible or not (short := _NO_ROUND.fullmatch(named)):
        return named
    same = [each for each in visible if each.rpartition("-")[2].lstrip("0") == short[1]]
    return max(same, key=lambda each: int(each[1 : each.index("-")]), default=named)


def contained(found: Mapping[str, Any]) -> Mapping[str, Any]:
    """The fields of an answer with those of its `content`."""
    inner = found.get(_CONTENT)
    return {**inner, **found} if isinstance(inner, Mapping) else found


def number_of(value: Any) -> float | None:
    """A JSON number; a word, a truth value or an infinite one is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def flag_of(value: Any) -> bool | None:
    """A truth value, in JSON or as the first word of a text; None: it is neither."""
    return value if isinstance(value, bool) else _FLAGS.get(squeezed((text_of(value).split() or [""])[0]))


def one_of(words: type[StrEnum]) -> BeforeValidator:
    """Reads a word of these in any spelling, whatever stands behind it; None: it is none of them, or lists several."""
    known_words = {squeezed(each): each for each in words}

    def read(value: Any) -> StrEnum | None:
        text = text_of(value)
        first = re.split(r"[^\w-]", text, maxsplit=1)[0]
        return None if "|" in text else known_words.get(squeezed(text)) or known_words.get(squeezed(first))

    return BeforeValidator(read)


def length_problem(name: str, text: str, least: int, most: int) -> str:
    """What is wrong with a text that is far from so many characters: under half of the least, over twice the most."""
    size = len(text)
    return "" if least <= 2 * size <= 4 * most else f"`{name}` has {size:,} characters; write {least:,} to {most:,}."


def clamped(name: str, value: float, least: int, most: int) -> tuple[int, str]:
    """The nearest whole number within bounds, and what is noted where that is another one."""
    clamped_value = min(max(round(value), least), most)
    return clamped_value, "" if clamped_value == value else f"{name} {value:g} was taken as {clamped_value}"


class Item(Answer):
    """An object of a list that is known by its first field; one that does not have it is that field in words."""

    @classmethod
    def fields_in(cls, found: Mapping[str, Any]) -> dict[str, Any]:
        """The fields."""
        first = next(name for name in cls.model_fields if name not in Answer.model_fields)
        return {first: found, **super().fields_in(found)}


# --- fields ---

Text = Annotated[str, BeforeValidator(text_of)]
Texts = Annotated[tuple[str, ...], BeforeValidator(texts_of)]
Ids = Annotated[tuple[str, ...], BeforeValidator(message_ids)]
Names = Annotated[tuple[str, ...], BeforeValidator(ids_of)]
Flag = Annotated[bool | None, BeforeValidator(flag_of)]
Number = Annotated[float | None, BeforeValidator(number_of)]


class Spoken(Answer):
    """An answer in a discussion: prose, and typed texts of at most `longest` characters.

    Its fields may stand in an object `content`, as in a message. `noted` has a phrase for each field in which a text
    was cut.
    """

    longest: ClassVar[int] = LONGEST
    text: Text = Field("", description="What you want to say beside it, if anything.")
    noted: SkipJsonSchema[tuple[str, ...]] = Field((), exclude=True)

    @classmethod
    def fields_in(cls, found: Mapping[str, Any]) -> dict[str, Any]:
        """The fields, their texts cut."""
        read = super().fields_in(contained(found))
        long = [key for key, value in read.items() if key != TEXT and _long(value, cls.longest)]
        noted = tuple(
            f"`{cls.asked_as(key)}` was cut: a text in it had more than {cls.longest:,} characters" for key in long
        )
        return {**read, **{key: _cut(read[key], cls.longest) for key in long}, "noted": noted}

    @classmethod
    def spellings(cls) -> tuple[str, ...]:
        """Those of its fields, and of the object that they may stand in."""
        return (*super().spellings(), _CONTENT)


def texts_in(value: Any) -> Iterator[str]:
    """Every text in a JSON value, keys not."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | Mapping):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from texts_in(each)


def _long(value: Any, most: int) -> bool:
    return any(len(each) > most for each in texts_in(value))


def _cut(value: Any, most: int) -> Any:
    if isinstance(value, str):
        return shortened(value, most)[0]
    if isinstance(value, list):
        return [_cut(each, most) for each in value]
    return {key: _cut(each, most) for key, each in value.items()} if isinstance(value, Mapping) else value

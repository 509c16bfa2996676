"""The typed fields of an answer in a discussion: lists of several objects put together, texts of a bounded length."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from swarmgate.agents.participant import Unread
from swarmgate.council.discussion.values import shortened
from swarmgate.council.objects import fields_of, objects_of, squeezed

LONGEST = 2_000
"""Characters of a typed text at most: a steel-man, a reason, a key risk. Prose has a bound of its own."""


class Fields(NamedTuple):
    """The fields by `squeezed` key, and a phrase for each that was cut."""

    found: Mapping[str, Any]
    noted: tuple[str, ...]


def fields(
    text: str, wanted: Collection[str], form: str, *, required: Collection[str] = (), most: int = LONGEST
) -> Fields:
    """The fields of an answer, as `council.objects.fields_of`; but lists under one key of several objects are joined.

    Args:
        text: the answer.
        wanted: keys, in any spelling.
        form: what was asked for.
        required: those without which it is no answer.
        most: characters of a text at most.

    Raises:
        Unread: as there.
    """
    try:
        found = fields_of(text, wanted, form, required=required)
    except Unread:
        together = _together(text, wanted, form, required)
        if together is None:
            raise
        found = together
    cut = [
        f"`{key}` was cut: a text in it had more than {most:,} characters" for key in found if _long(found[key], most)
    ]
    return Fields({key: _cut(each, most) for key, each in found.items()} if cut else found, tuple(cut))


def _together(text: str, wanted: Collection[str], form: str, required: Collection[str]) -> Mapping[str, Any] | None:
    """The fields with the lists of several objects joined; None: there are none to join."""
    values: dict[str, list[Any]] = {}
    for each in objects_of(text):
        for key in {squeezed(name) for name in (*wanted, *required)} & each.keys():
            values.setdefault(key, []).append(each[key])
    joined = {key: _joined(each) for key, each in values.items() if len(each) > 1 and _are_lists(each)}
    others, missing = (tuple(each for each in names if squeezed(each) not in joined) for names in (wanted, required))
    if not joined:
        return None
    more = missing or values.keys() - joined.keys()
    return {**(fields_of(text, others, form, required=missing) if more else {}), **joined}


def _are_lists(values: list[Any]) -> bool:
    return all(isinstance(each, list) for each in values)


def _joined(values: list[list[Any]]) -> list[Any]:
    """All items in order, each once."""
    made: list[Any] = []
    for each in values:
        made += [item for item in each if item not in made]
    return made


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

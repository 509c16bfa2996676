"""The JSON objects of an answer: what a voice was asked for as typed fields. Keys compare without case and `_-`.

Only these objects are read: no number and no word is ever taken out of prose. Quotations (fences of a language other
than JSON or plain text) and thoughts are not looked at. Two objects that say different things under an asked-for key
are no answer.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from swarmgate.agents.participant import Unread
from swarmgate.council.closing import answer_lines
from swarmgate.council.json_objects import taken_apart


def squeezed(key: str) -> str:
    """A key as it is compared: `wouldChangeIf`, `would_change_if` and `Would Change If` are `wouldchangeif`."""
    return "".join(letter for letter in key.casefold() if letter.isalnum())


def objects_of(text: str) -> tuple[dict[str, Any], ...]:
    """The objects of an answer in order; keys, those of objects inside too, as `squeezed` has them."""
    lines = answer_lines(text)
    quoted = {each.block for each in lines if each.block and each.text.lstrip().startswith(("```", "~~~"))}
    own = "\n".join(each.text for each in lines if each.block not in quoted)
    return tuple(_plain(each) for each in taken_apart(own).objects)


def fields_of(text: str, wanted: Collection[str], form: str, *, required: Collection[str] = ()) -> Mapping[str, Any]:
    """The fields of an answer, put together from all of its objects that have a wanted one; values as JSON has them.

    Args:
        text: the answer.
        wanted: keys, in any spelling; the result has them as `squeezed`.
        form: what was asked for, told to the voice with what is wrong.
        required: those without which it is no answer.

    Raises:
        Unread: no object has a wanted key, a required one is missing, or two objects differ in one.
    """
    keys = {squeezed(each): each for each in (*wanted, *required)}
    found: dict[str, Any] = {}
    for each in objects_of(text):
        for key in keys.keys() & each.keys():
            if key in found and found[key] != each[key]:
                raise Unread(f"Your answer says two different things under `{keys[key]}`. Say one.", form)
            found[key] = each[key]
    if not found:
        raise Unread("There is no JSON object of the asked-for form in your answer.", form)
    for name in required:
        if found.get(squeezed(name)) is None:
            raise Unread(f"`{name}` is missing in the JSON object of your answer.", form)
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {squeezed(str(key)): _plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value

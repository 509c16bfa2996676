"""Parses untrusted JSON into values that can be compared, stored and sent on."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

from swarmgate.domain.text.unicode import whole_json


class DuplicateKey(ValueError):
    """An object says two things under one key: whoever reads it may believe either."""

    def __init__(self, key: str) -> None:
        super().__init__(f"the key `{key[:80]}` stands twice in one object")
        self.key = key


def loaded(text: str, *, strict: bool = True) -> Any:
    """The value that a text spells; U+FFFD stands in it for each half of a character.

    Args:
        text: JSON and nothing else.
        strict: whether bare line breaks in strings are refused.

    Raises:
        DuplicateKey: an object of it has a key twice.
        json.JSONDecodeError: it is no JSON.
        ValueError: it holds a number that no JSON can spell or that is out of range, or it is nested too deeply.
    """
    try:
        return _decoder(strict=strict).decode(whole_json(text))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def loaded_at(text: str, start: int, *, strict: bool = True) -> tuple[Any, int, bool]:
    """The value that begins at a place of a text, where it ends, and whether it is one that `loaded` refuses.

    A list of which one entry is refused is not read entry by entry: its end is known, and so is that it is not clear.

    Raises:
        ValueError: no value that can be read begins there.
    """
    try:
        try:
            return *_decoder(strict=strict).raw_decode(text, start), False
        except ValueError:
            return *json.JSONDecoder(strict=strict).raw_decode(text, start), True
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _decoder(*, strict: bool) -> json.JSONDecoder:
    return _STRICT if strict else _LENIENT


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number of JSON's")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"the number {digits[:40]} is out of range")
    return number


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise DuplicateKey(key)
        found[key] = value
    return found


_STRICT, _LENIENT = (
    json.JSONDecoder(strict=strict, object_pairs_hook=_object, parse_constant=_no_number, parse_float=_finite)
    for strict in (True, False)
)

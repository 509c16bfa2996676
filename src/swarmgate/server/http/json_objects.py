"""Objects of a request that no schema describes to the end: what a council is asked, the context of a prompt."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator

DEEPEST = 32
"""Levels of an object: what is kept is read again by readers that go down level by level."""


def _plain(found: dict[str, Any]) -> dict[str, Any]:
    """The object, if it can be written as JSON in UTF-8 and read again."""
    level: list[Any] = [found]
    for _ in range(DEEPEST):
        level = [inner for value in level for inner in _inside(value)]
        if not level:
            return found
    raise ValueError(f"is deeper than {DEEPEST} levels")


def _inside(value: Any) -> list[Any]:
    """What a value holds, of an object the names too.

    Raises:
        ValueError: it is a text with half of a character.
    """
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise ValueError("holds half of a character: a surrogate without its other half") from None
    if isinstance(value, dict):
        return [*value, *value.values()]
    return value if isinstance(value, list) else []


JsonObject = Annotated[dict[str, Any], AfterValidator(_plain)]
"""An object of JSON: at most 32 levels deep, and Unicode throughout."""

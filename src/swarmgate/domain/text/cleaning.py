"""Cleans texts of agents and repositories before a program hears them: no secrets, no control characters."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, TypeVar

from immutables import Map
from pydantic import BaseModel

from swarmgate.domain.text.printable import printable
from swarmgate.domain.text.redaction import redact

T = TypeVar("T")

_SECRET = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$")
"""Ends the names of variables whose values are secrets."""
_SHORTEST = 8
"""Characters: a shorter value would be found in ordinary words."""
_KEPT = 4096
"""As many texts are at hand as they were cleaned last: the same ones are sent again and again."""


def secrets_of(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The values of the variables that are named as secrets are."""
    return tuple(
        value for name, value in environ.items() if _SECRET.search(name.upper()) and len(value.strip()) >= _SHORTEST
    )


def cleaning(secrets: Iterable[str]) -> Callable[[str], str]:
    """What cleans texts of these secrets, of what looks like one, and of control characters."""
    known = tuple(dict.fromkeys(secrets))

    @lru_cache(maxsize=_KEPT)
    def clean(text: str) -> str:
        return printable(redact(text, known))

    return clean


def plain(text: str) -> str:
    """A text that is of no project yet, such as what was asked for, without what looks like a key."""
    return printable(redact(text))


def cleaned(value: T, clean: Callable[[str], str]) -> T:
    """A value with every text in it cleaned: of models, tuples, lists and mappings, the keys of those too."""
    return _cleaned(value, clean)  # type: ignore[no-any-return]  # of the type that it had


def _cleaned(value: Any, clean: Callable[[str], str]) -> Any:
    if type(value) is str:
        return clean(value)
    if isinstance(value, BaseModel):
        found = {name: _cleaned(getattr(value, name), clean) for name in type(value).model_fields}
        return type(value).model_construct(value.model_fields_set, **found)
    if isinstance(value, tuple):
        parts = [_cleaned(each, clean) for each in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if isinstance(value, list):
        return [_cleaned(each, clean) for each in value]
    if isinstance(value, (dict, Map)):
        return {_cleaned(key, clean): _cleaned(each, clean) for key, each in value.items()}
    return value

"""Rewords errors about keys of a request in terms of the command-line flags that set them."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import TypeVar

from swarmgate.errors import UsageError

Refusal = TypeVar("Refusal", bound=UsageError)

_KEY = re.compile(r"`(?P<key>[A-Za-z_]+)(?:\.(?P<number>[0-9]+))?(?:\.(?P<field>[a-z_]+))?`")


def in_flags(
    error: Refusal, flags: Mapping[str, str], *, given: Collection[str], in_file: bool, page: str, verb: str
) -> Refusal:
    """The refusal with flags in the place of the keys that a flag gave, and with a hint where it had none.

    Args:
        error: as it came; it names keys in backticks, `key`, `key.2` or `key.2.field`, in camelCase too.
        flags: the flag of each `key`, and of each `key.field` that has one of its own.
        given: the keys that flags gave.
        in_file: whether the rest stands in a file.
        page: where the keys of a file are described.
        verb: the command that takes the flags.
    """
    named: list[str] = []

    def flag(found: re.Match[str]) -> str:
        key = re.sub(r"[A-Z]", lambda at: f"_{at[0].lower()}", found["key"])
        number, field = found["number"], found["field"]
        own = flags.get(f"{key}.{field}")
        if key not in flags or (in_file and key not in given):
            return found[0]
        named.append(own or flags[key])
        return own or f"{flags[key]}{f' {number}' if number else ''}"

    message, hint = (_KEY.sub(flag, text) for text in (error.message, error.hint))
    if not hint and named:
        hint = f"Change {named[0]}, then try again; what it takes: {verb} --help"
    if not hint and in_file:
        hint = f"Mend that, then try again; every key: {page}"
    return type(error)(message, hint=hint)

"""The file of a swarm chat: TOML with `[[agents]]`, `[initial]` and, if it likes, bounds of its own."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from swarmgate.council.chat_request import KEYS, chat_of, check_keys
from swarmgate.council.described import tables_of, text_of
from swarmgate.council.toml_lines import line_of
from swarmgate.errors import CouncilRefused

_LEFT_OUT = {"id": "chat", "ttl_s": 1, "messages": 1, "tokens": 1}
"""For keys that the file leaves out: the settings say them, which were checked already."""

_PLACE = re.compile(r"`(\w+)(?:\[(\d+)\])?(?:\.(\w+))?`")
_UNKNOWN = re.compile(r"unknown key `([^`]+)`")


def read(path: Path) -> dict[str, Any]:
    """What a file asks for: the arguments of `Council.swarm`, by name, which make a chat that can be held.

    Raises:
        CouncilRefused: the file cannot be read, or is not that of such a chat; the message names file, line and key.
    """
    text = text_of(path, "chat file", hint="Give the path of a TOML file; the format: swarm chat --help")
    values = tables_of(path, text)
    try:
        check_keys(values, KEYS, "")
        for key in ("agents", "initial"):
            if key not in values:
                what = "[[agents]] tables" if key == "agents" else "[initial] table"
                raise CouncilRefused(f"this is not a chat file: it has no {what}", hint="See: swarm chat --help")
        chat_of(**{**_LEFT_OUT, **values}, created_at=0.0)
    except CouncilRefused as error:
        line = line_of(text, _place(error.message), tables="agents")
        where = f"{path}, line {line}" if line else str(path)
        raise CouncilRefused(f"{where}: {error.message}", hint=error.hint) from None
    return values


def _place(message: str) -> tuple[int | str, ...]:
    """What a refusal of `chat_of` is about, which it names first: `ttl_s`, `agents[2].id`, or an unknown key."""
    found, strange = _PLACE.search(message), _UNKNOWN.search(message)
    place: list[int | str] = []
    if found and not (strange and strange.start() < found.start()):
        place = [found[1], *([int(found[2])] if found[2] else []), *([found[3]] if found[3] else [])]
    return (*place, strange[1]) if strange else tuple(place)

"""The file of a swarm chat: TOML with `[[agents]]`, `[initial]` and, if it likes, bounds of its own."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from swarmgate.config import toml_text
from swarmgate.council.chat_request import KEYS, check_keys
from swarmgate.errors import CouncilRefused

_MOST_BYTES = 10_000_000


def read(path: Path) -> dict[str, Any]:
    """What a file asks for: the arguments of `Council.swarm`, by name; what is in them is not looked at here.

    Raises:
        CouncilRefused: the file cannot be read, or is not that of a chat; the message names it.
    """
    try:
        if path.exists() and not path.is_file():
            raise CouncilRefused(f"{path} is not a regular file")
        if path.stat().st_size > _MOST_BYTES:
            raise CouncilRefused(f"{path} has more than {_MOST_BYTES:,} bytes: it is no chat file")
        values = toml_text.loads(path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError as error:
        raise CouncilRefused(f"{path} is not UTF-8 text (byte {error.start})", hint="Save it as UTF-8.") from None
    except OSError as error:
        raise CouncilRefused(f"{path} cannot be read: {error.strerror or error}") from None
    except tomllib.TOMLDecodeError as error:
        raise CouncilRefused(f"{path} is not valid TOML: {error}", hint="Mend that line, then try again.") from None
    check_keys(values, KEYS, f"{path}: ")
    for key in ("agents", "initial"):
        if key not in values:
            what = "[[agents]] tables" if key == "agents" else "[initial] table"
            raise CouncilRefused(f"{path} is not a chat file: it has no {what}", hint="See: swarm chat --help")
    return values

"""The text and the tables of a file that describes what a council is to do; what is none is refused, with a way on."""

from __future__ import annotations

import errno
import tomllib
from pathlib import Path
from typing import Any

from swarmgate.config import toml_text
from swarmgate.errors import CouncilRefused
from swarmgate.workspace import regular

_MOST_BYTES = 10_000_000
"""Far more than the material of any pattern."""


def text_of(path: Path, what: str, *, hint: str, most: int = _MOST_BYTES) -> str:
    """The text of a file.

    Args:
        path: where it is.
        what: it should be: `debate file`.
        hint: what to give in its place.
        most: bytes.

    Raises:
        CouncilRefused: it cannot be read, is no text, or far too long.
    """
    try:
        return regular.read(path, limit=most).decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise CouncilRefused(f"{path} is not UTF-8 text (byte {error.start})", hint="Save it as UTF-8.") from None
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise CouncilRefused(f"{path} has more than {most:,} bytes: it is no {what}", hint=hint) from None
        if error.errno == errno.EINVAL:
            raise CouncilRefused(f"{path} is not a regular file", hint=hint) from None
        raise CouncilRefused(f"{str(path)[:200]} cannot be read: {error.strerror or error}", hint=hint) from None
    except ValueError as error:  # a name with a NUL in it is a ValueError
        raise CouncilRefused(f"{str(path)[:200]} cannot be read: {error}", hint=hint) from None


def tables_of(path: Path, text: str) -> dict[str, Any]:
    """The tables of a text.

    Raises:
        CouncilRefused: it is no TOML; the message names the line.
    """
    try:
        return toml_text.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise CouncilRefused(f"{path} is not valid TOML: {error}", hint="Mend that line, then try again.") from None

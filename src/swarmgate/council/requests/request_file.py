"""Reads the files (TOML, YAML, JSON) that describe council requests; each mistake is told with file, line and key."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import ValidationError

from swarmgate.config import toml_text
from swarmgate.config.setting_errors import unknown
from swarmgate.council.requests import toml_lines, yaml_text
from swarmgate.council.requests.toml_lines import Place
from swarmgate.domain.base import Frozen
from swarmgate.errors import CouncilRefused
from swarmgate.workspace.files import regular

_MOST_BYTES = 10_000_000
"""Far more than the material of any pattern."""

F = TypeVar("F", bound=Frozen)


@dataclass(frozen=True)
class Described(Generic[F]):
    """The files that describe requests of one pattern.

    Attributes:
        schema: what may stand in one.
        what: it is called: `decision file`.
        asks: what is given where no file is: `question`.
        table: what may stand in one of its array of tables.
        keys: where all keys are listed, for the hint of a refusal.
        words: what is said of a kind of mistake, as pydantic calls it: `model_type`.
        naming: whether `places` name the key, too, since messages about it do not.
    """

    schema: type[F]
    what: str
    asks: str
    table: type[Frozen]
    keys: str
    words: Mapping[str, str] = field(default_factory=dict)
    naming: bool = False

    def values(self, path: Path) -> dict[str, Any]:
        """The tables of a file, unchecked.

        Raises:
            CouncilRefused: it cannot be read.
        """
        return tables_of(path, self._text(path))

    def read(self, path: Path) -> F:
        """What a file says; `model_fields_set` are the keys that stand there.

        Raises:
            CouncilRefused: it cannot be read, or a key is missing, unknown or of another kind.
        """
        try:
            return self.schema.model_validate(self.values(path))
        except ValidationError as error:
            place, what = self._mistake(error)
        raise self.refusal(path, place, what)

    def refusal(self, path: Path, place: Place, what: str) -> CouncilRefused:
        """That a key of a file says what it may not."""
        return CouncilRefused(
            f"{begins(path, self._text(path), place)}{what}", hint=f"Mend that, then try again; every key: {self.keys}"
        )

    def places(self, path: Path) -> Callable[[Place], str]:
        """How a message about a key of the file begins: with file and line.

        Raises:
            CouncilRefused: it cannot be read.
        """
        text = self._text(path)
        return lambda place: begins(path, text, place, naming=self.naming)

    def _mistake(self, error: ValidationError) -> tuple[Place, str]:
        """The first mistake: where, and what. A misspelled key is missing, too: the spelling is told."""
        found = error.errors(include_url=False, include_input=False)
        first = next((each for each in found if each["type"] == "extra_forbidden"), found[0])
        place = tuple(first["loc"])
        match first["type"]:
            case "extra_forbidden":
                known = self.schema if len(place) == 1 else self.table
                return place, unknown(str(place[-1]), known.model_fields)
            case "missing":
                return place[:-1], f"the key `{place[-1]}` is missing"
        message = self.words.get(first["type"], first["msg"].removeprefix("Value error, "))
        return place, re.sub(r"^(Input|String|List) should", "must", message)

    def _text(self, path: Path) -> str:
        hint = f"Give the path of a file. For a {self.asks} of these letters, add a blank: '{path} '"
        return text_of(path, self.what, hint=hint)


def is_named(given: str) -> bool:
    """Whether words on the command line are the name of such a file; a question may end with `.json`, too."""
    return given.endswith(".toml") or (given.endswith(yaml_text.SUFFIXES) and os.path.isfile(given))  # noqa: PTH113 - it may be too long for a path


def begins(file: Path | str, text: str, place: Place, *, naming: bool = True) -> str:
    """How a message about a key begins: with file and line, and `naming` it, with the key; of lists from 1 on."""
    lines = yaml_text if str(file).endswith(yaml_text.SUFFIXES) else toml_lines
    line, key = lines.line_of(text, place), ".".join(str(part + 1 if isinstance(part, int) else part) for part in place)
    return f"{file}{f', line {line}' if line else ''}: {f'`{key}`: ' if key and naming else ''}"


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
    """The tables of a text: YAML or JSON where its name says so, else TOML.

    Raises:
        CouncilRefused: it is none; the message names the line.
    """
    kind = {".json": "JSON", ".yaml": "YAML", ".yml": "YAML"}.get(path.suffix, "TOML")
    try:
        values = toml_text.loads(text) if kind == "TOML" else yaml_text.loads(text, is_json=kind == "JSON")
    except ValueError as error:  # tomllib.TOMLDecodeError and json.JSONDecodeError are such
        hint = "Mend that line, then try again."
        if kind != "YAML" and yaml_text.is_call(text):
            hint = f"Keys without quotes, as in {{ mode: ... }}, are read as YAML: call the file {path.stem}.yaml"
        raise CouncilRefused(f"{path} is not valid {kind}: {error}", hint=hint) from None
    if not isinstance(values, dict):
        raise CouncilRefused(f"{path} has no keys at its top", hint="Begin it with a key, such as `tasks:`.")
    return values

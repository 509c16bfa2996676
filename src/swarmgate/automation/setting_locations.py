"""Finds where each setting was written: the file and line, or the environment variable."""

from __future__ import annotations

import contextlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from platformdirs import user_config_path

from swarmgate.config import PREFIX, PROJECT_FILE, toml_text
from swarmgate.config.setting_errors import NOTHING, at, line_of
from swarmgate.ledger.files.folder import SwarmFolder


@dataclass(frozen=True)
class SettingsFile:
    """One file of settings as it stands.

    Attributes:
        name: as messages show it.
        path: where it lies.
        text: its text without a byte order mark; empty where it cannot be read.
    """

    name: str
    path: Path
    text: str

    @cached_property
    def values(self) -> dict[str, Any]:
        """What it says; empty where it is not valid TOML."""
        with contextlib.suppress(tomllib.TOMLDecodeError):
            return toml_text.loads(self.text)
        return {}

    def line(self, path: tuple[str, ...]) -> int:
        """The line of a key; 0 where it has none."""
        return line_of(self.text, path)


@dataclass(frozen=True)
class Places:
    """The files, weakest first, and the environment that wins over them."""

    files: tuple[SettingsFile, ...]
    environ: Mapping[str, str]

    def of(self, *path: str) -> tuple[str, int]:
        """The file and the line, or the variable and 0, that set a key last; nothing and 0 where it is not set."""
        if variable := self.variable(*path):
            return f"environment variable {variable}", 0
        for file in reversed(self.files):
            if at(file.values, path) is not NOTHING:
                return file.name, file.line(path)
        return "", 0

    def variable(self, *path: str) -> str:
        """The `SWARM_*` variable that sets a key; empty where none does."""
        for name, value in self.environ.items():
            if not name.upper().startswith(PREFIX):
                continue
            parts = tuple(name[len(PREFIX) :].lower().split("__"))
            if parts == path[: len(parts)] and at(_parsed(value), path[len(parts) :]) is not NOTHING:
                return name
        return ""


def written(folder: SwarmFolder, environ: Mapping[str, str]) -> Places:
    """What is on the disk now."""
    own = user_config_path("swarmgate") / "config.toml"
    return Places((_read(str(own), own), _read(PROJECT_FILE, folder.config)), environ)


def _read(name: str, path: Path) -> SettingsFile:
    with contextlib.suppress(OSError, UnicodeDecodeError):  # the check `settings` says why it cannot be read
        if path.is_file():  # a pipe would be waited for
            return SettingsFile(name, path, path.read_bytes().decode("utf-8-sig"))
    return SettingsFile(name, path, "")


def _parsed(value: str) -> Any:
    """A variable that sets a whole table holds it as JSON."""
    with contextlib.suppress(ValueError):
        return json.loads(value)
    return value

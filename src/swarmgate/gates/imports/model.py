"""Data model of one import statement: what it imports and how it is guarded."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Guard(Enum):
    """How an import is guarded against failing."""

    NONE = "none"
    TYPING = "typing"
    """Only a type checker reads it."""
    OPTIONAL = "optional"
    """The code expects that it may fail: a handler, a check of the version, the platform or of what is installed."""


@dataclass(frozen=True, slots=True)
class Import:
    """One imported module and the names that are taken from it.

    Python: `level` counts the leading dots, `module` is dotted; `names` is empty for `import module`. JavaScript:
    `module` is the specifier as it stands. `deferred`: it runs when a function is called, not with the file.
    """

    module: str
    names: tuple[str, ...] = ()
    level: int = 0
    line: int = 0
    column: int = 0
    guard: Guard = Guard.NONE
    deferred: bool = False

"""Data classes that the parser and the rules of the command policy share: words, redirects, simple commands."""

from __future__ import annotations

import re
from dataclasses import dataclass

UNKNOWN = "\ue000"
"""Stands in a text for what only running the command would tell."""

_VERSION = re.compile(r"(?<=[a-z])[0-9][0-9.]*$")


class Unreadable(Exception):
    """Raised when a line cannot be parsed; the message says where and why."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word as the program would get it. A wildcard counts as one even where quotes hide it from this shell."""

    text: str

    @property
    def glob(self) -> bool:
        """Whether it may stand for several files."""
        return any(char in self.text for char in "*?[")

    @property
    def dynamic(self) -> bool:
        """Whether a part of it is known only when it runs."""
        return UNKNOWN in self.text

    def __str__(self) -> str:
        return self.text.replace(UNKNOWN, "?")


@dataclass(frozen=True, slots=True)
class Redirect:
    """A file that is opened: the operator (`>`, `>>`, `<`, ...) and which."""

    operator: str
    target: Word

    @property
    def writes(self) -> bool:
        """Whether the file may be changed by it."""
        return ">" in self.operator


@dataclass(frozen=True, slots=True)
class Simple:
    """One program that the line would start, out of all its wrappings.

    Attributes:
        words: the program and its arguments; empty for redirections that stand by themselves.
        redirects: the files that are opened for it.
        cwd: the absolute folder in which it runs; empty where that is not known.
        via: what starts it, outermost first: `sh -c`, `xargs`, `find -exec`, ...
        assigned: the variables that are set for it alone.
        unread: why the code that it would run is not known; empty where it runs none, or that was read.
        loops: it starts itself again and again in the background: a fork bomb.
    """

    words: tuple[Word, ...]
    redirects: tuple[Redirect, ...] = ()
    cwd: str = ""
    via: tuple[str, ...] = ()
    assigned: tuple[tuple[str, str], ...] = ()
    unread: str = ""
    loops: bool = False

    @property
    def program(self) -> str:
        """The program's plain name: no folder, lower case; empty where there is none, `UNKNOWN` where it is dynamic."""
        return program_of(self.words[0]) if self.words else ""

    @property
    def texts(self) -> tuple[str, ...]:
        """The arguments as texts."""
        return tuple(word.text for word in self.words[1:])

    def __str__(self) -> str:
        parts = [f"{name}={value}" for name, value in self.assigned]
        parts += [_rendered(str(word)) for word in self.words]
        parts += [f"{each.operator} {each.target}" for each in self.redirects]
        return " ".join(parts).replace(UNKNOWN, "?")


@dataclass(frozen=True, slots=True)
class Feed:
    """The content of a command's input or output.

    Attributes:
        text: all of it; None where only running tells.
        programs: where it comes from, first to last.
        names: for a list of files, patterns that each of them fits.
        file: the one file whose content it is; empty otherwise.
    """

    text: str | None = None
    programs: tuple[str, ...] = ()
    names: tuple[Word, ...] = ()
    file: str = ""


def program_of(word: Word) -> str:
    """The plain name of the program that a word starts: no folder, no version, lower case."""
    name = word.text.rstrip("/").rpartition("/")[2].casefold().removesuffix(".exe")
    if not name or any(char in name for char in (UNKNOWN, "*", "?")):
        return UNKNOWN
    plain = _VERSION.sub("", name)
    return plain if plain in {"python", "pip", "perl", "ruby", "php", "pypy", "lua", "node"} else name


def _rendered(text: str) -> str:
    return f"'{text}'" if not text or any(char.isspace() for char in text) else text

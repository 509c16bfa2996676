"""Loads the table of Python standard library names by version, `gates/names/python_stdlib.txt`.

`gates/names/render_python_stdlib.py` says what a line of the file means, and writes it from typeshed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache

from swarmgate import assets

Version = tuple[int, int]

_WORD = re.compile(r"(?P<name>[^@<>]+)(?:@(?P<home>[^<>]+))?(?:>=(?P<since>[\d.]+))?(?:<(?P<until>[\d.]+))?$")
_UNKNOWN = frozenset({"test", "idlelib", "turtledemo", "lib2to3", "distutils", "encodings", "__main__", "__mp_main__"})
"""Modules of which typeshed does not know everything, or that another distribution brings as well."""


@dataclass(frozen=True, slots=True)
class Name:
    """A name of a module or class. `home`: the module of the class that it stands for."""

    name: str
    home: str = ""
    since: Version | None = None
    until: Version | None = None

    def lacking(self, python: Version | None) -> str:
        """Why the lowest supported version does not have it; empty where it does, or where no version is stated."""
        if python is not None and self.since is not None and python < self.since:
            return f"only from Python {_text(self.since)} on, and the project supports {_text(python)}"
        if python is not None and self.until is not None and python >= self.until:
            return f"no longer from Python {_text(self.until)} on"
        return ""


def knows(module: str, python: Version | None = None) -> bool:
    """Whether the names of this module, and the modules below it, are all known; for Python 2 none are."""
    top = module.partition(".")[0]
    return (python is None or python >= (3, 0)) and top not in _UNKNOWN and top in _index()


def is_module(module: str) -> bool:
    """Whether typeshed has a module of that name."""
    return module in _index()


@lru_cache(maxsize=256)
def names(title: str) -> dict[str, Name] | None:
    """The public names of a module, or of a class (`module:Class`); None where not all of them are known."""
    words = _index().get(title)
    if words is None or words.startswith("* "):
        return None
    return {found["name"]: _name(found) for word in words.split() if (found := _WORD.match(word))}


def _name(found: re.Match[str]) -> Name:
    return Name(found["name"], found["home"] or "", _version(found["since"]), _version(found["until"]))


def _version(text: str | None) -> Version | None:
    if text is None:
        return None
    major, _, minor = text.partition(".")
    return int(major), int(minor)


def _text(version: Version) -> str:
    return ".".join(map(str, version))


@cache
def _index() -> dict[str, str]:
    return {title: words for title, (words, _) in _lines().items()}


def life(module: str) -> Name:
    """The Python versions that have the module."""
    return _lines()[module][1]


@cache
def _lines() -> dict[str, tuple[str, Name]]:
    text = (assets.gates() / "names" / "python_stdlib.txt").read_text("utf-8")
    pairs = (line.partition(": ") for line in text.splitlines())
    found = ((_WORD.match(title.rstrip(":")), words) for title, _, words in pairs)
    return {title["name"]: (words, _name(title)) for title, words in found if title}

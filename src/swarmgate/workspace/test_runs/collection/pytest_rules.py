"""Explains why pytest does not collect a file: `python_files`, `testpaths`, `norecursedirs`, command-line paths.

After the reference of pytest, "Configuration options" and "Rootdir", and `_pytest.main.Session.collect`.
"""

from __future__ import annotations

import configparser
import re
import shlex
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import PurePosixPath
from typing import Any

from swarmgate.workspace.test_runs.collection.options import plain, values_of, within, words_after

Read = Callable[[str], str]
"""The text of a file of the tree by its path; empty where it is not there."""

Settings = Mapping[str, tuple[str, ...]]

_PYTHON_FILES = ("test_*.py", "*_test.py")
_NO_RECURSION = ("*.egg", ".*", "_darcs", "build", "CVS", "dist", "node_modules", "venv", "{arch}")
"""The defaults of `python_files` and `norecursedirs`."""
_KEYS = ("python_files", "testpaths", "norecursedirs", "addopts")
_TAKES_VALUE = re.compile(
    r"-[kmnpoWcr]|--(?:ignore|ignore-glob|deselect|maxfail|tb|override-ini|basetemp|durations|timeout|log-level|dist)"
)
"""Options whose value is the next word, and no path to look in."""
_UNREADABLE = re.compile(r"(?:-c|--config-file|--rootdir|--pyargs|--confcutdir)(?:=.*)?")
"""Options after which it is not known here which settings hold, or what a path is meant from."""
_INI = (("pytest.ini", "pytest"), (".pytest.ini", "pytest"))
_LATER = (("tox.ini", "pytest"), ("setup.cfg", "tool:pytest"))


@dataclass(frozen=True)
class PytestRules:
    """The settings and the words of one command line. `files` are the paths of the tree."""

    settings: Settings
    words: tuple[str, ...]
    files: Sequence[str]

    @classmethod
    def of(cls, command: str, files: Sequence[str], read: Read) -> PytestRules | None:
        """The rules that hold for a command; None where it is not known which do."""
        settings = _settings(read)
        given = words_after(command, ("pytest", "py.test"))
        words = (*settings.get("addopts", ()), *(given or ()))
        if given is None or any(_UNREADABLE.fullmatch(word) for word in words):
            return None
        for setting in values_of(words, "-o", "--override-ini"):
            key, _, value = setting.partition("=")
            settings = {**settings, key.strip(): _words(value)}
        return cls(settings, words, files)

    def excluded(self, path: str) -> tuple[str, bool] | None:
        """Why a file is passed over, and whether the user chose so by naming places; None where it is not."""
        named = self._named
        if path in named or path.rpartition("/")[2] == "conftest.py":
            return None
        for name in ("--ignore", "--ignore-glob"):
            if hit := next((each for each in values_of(self.words, name) if within(path, plain(each))), ""):
                return f"{name}={hit}", True
        return self._by_place(path, named) or self._by_name(path)

    def _by_place(self, path: str, named: Sequence[str]) -> tuple[str, bool] | None:
        if named and not any(within(path, each) for each in named):
            return f"the test command looks in {', '.join(named)} only", True
        starts = named
        if not named:
            places = self.settings.get("testpaths", ())
            starts = tuple(plain(each) for each in places if self._is_there(plain(each)))
            if starts and not any(within(path, each) for each in starts):
                return f"testpaths = {' '.join(places)}", True
        own = "norecursedirs" in self.settings
        patterns = self.settings.get("norecursedirs", _NO_RECURSION)
        for folder in map(str, list(reversed(PurePosixPath(path).parents))[1:]):
            if folder not in starts and (hit := next((each for each in patterns if _fits(folder, each)), "")):
                return f"norecursedirs = {hit}", own
        return None

    def _by_name(self, path: str) -> tuple[str, bool] | None:
        patterns = self.settings.get("python_files", _PYTHON_FILES)
        if any(_fits(path, each) for each in patterns):
            return None
        return f"python_files = {' '.join(patterns)}", False

    @property
    def _named(self) -> tuple[str, ...]:
        """The files and folders that the arguments name."""
        found, skipped = [], False
        for word in self.words:
            place = plain(word.partition("::")[0])
            if not skipped and not word.startswith("-") and ("/" in word or "::" in word or self._is_there(place)):
                found.append(place)
            skipped = _TAKES_VALUE.fullmatch(word) is not None
        return tuple(found)

    def _is_there(self, place: str) -> bool:
        return place == "." or any(within(path, place) for path in self.files)


def _fits(path: str, pattern: str) -> bool:
    """As pytest matches: a pattern without a slash is for the name alone (`_pytest.pathlib.fnmatch_ex`)."""
    if "/" not in pattern:
        return fnmatch(path.rpartition("/")[2], pattern)
    return fnmatch(f"/{path}", f"*/{pattern.removeprefix('/')}")


def _settings(read: Read) -> Settings:
    """Of the file that pytest takes: the first, in its order, that has a table for it."""
    for name in ("pytest.toml", ".pytest.toml"):
        if isinstance(table := _toml(read(name)).get("pytest"), dict):
            return _values(table)
    for found in (_ini(read, _INI), _in_pyproject(read), _ini(read, _LATER)):
        if found is not None:
            return _values(found)
    return {}


def _ini(read: Read, places: Sequence[tuple[str, str]]) -> Mapping[str, Any] | None:
    for name, section in places:
        parser = configparser.RawConfigParser(strict=False)
        try:
            parser.read_string(read(name))
        except configparser.Error:
            continue
        if parser.has_section(section):
            return dict(parser.items(section))
    return None


def _in_pyproject(read: Read) -> Mapping[str, Any] | None:
    tool = _toml(read("pyproject.toml")).get("tool")
    table = tool.get("pytest") if isinstance(tool, dict) else None
    if not isinstance(table, dict):
        return None
    inner = table.get("ini_options", table)
    return inner if isinstance(inner, dict) else None


def _toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


def _values(table: Mapping[str, Any]) -> Settings:
    """The settings that choose files, as lists of words."""
    found: dict[str, tuple[str, ...]] = {}
    for key in _KEYS:
        value = table.get(key)
        if isinstance(value, str):
            found[key] = _words(value)
        elif isinstance(value, list):
            found[key] = tuple(each for each in value if isinstance(each, str))
    return found


def _words(text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError:
        return tuple(text.split())

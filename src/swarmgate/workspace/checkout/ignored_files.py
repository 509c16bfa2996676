"""Adds git-ignored files (installed packages, settings, data) to a clean checkout, unchanged by agents.

A clean checkout holds none of it, and a project's tests seldom run without. What is small is copied beforehand
(`backups`); what is large or installed is only told apart (`fingerprints`): where agents changed it, it is left out,
or nothing can be proven. Byte code and build products are never brought: they were made of code that changed since.
"""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from swarmgate.workspace.checkout import fingerprints
from swarmgate.workspace.files import atomic, paths, regular

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from swarmgate.workspace.checkout.backups import Backups
    from swarmgate.workspace.checkout.fingerprints import State

_PRODUCTS = frozenset(
    {
        ".build", ".cache", ".git", ".gradle", ".hypothesis", ".mypy_cache", ".next", ".nox", ".nuxt", ".output",
        ".parcel-cache", ".pytest_cache", ".ruff_cache", ".svelte-kit", ".swarm", ".tox", ".turbo", "__pycache__",
        "_build", "bin", "build", "cmake-build-debug", "cmake-build-release", "coverage", "dist", "htmlcov", "log",
        "logs", "obj", "out", "target", "tmp",
    }
)  # fmt: skip
"""Ignored folders that hold what was built of the code, or caches."""
_PRODUCT_FILES = (".pyc", ".pyo", ".class", ".o", ".tsbuildinfo", ".log")
_SMALL = 1_000_000
"""Bytes up to which an ignored file is copied that nobody keeps a copy of."""
_BINARIES = (".so", ".pyd", ".dylib", ".node", ".dll")
_INSTALLED = frozenset({"node_modules", "vendor", "site-packages", "Pods", "bower_components", "deps", "venv", ".venv"})
"""Folders that a package manager fills; so is every folder with a `pyvenv.cfg`."""
_ENVIRONMENT = "pyvenv.cfg"
_BYTE_CODE = "__pycache__"
CACHES = frozenset({".cache", ".vite", ".vite-temp", ".vitest"})
"""Of `node_modules`: what tools leave there, and never comes along."""


_NAMED_SO = _INSTALLED - {"deps", "vendor"}
"""Those whose name alone says so, in a project that does not ignore them."""


def installed_in(untracked: Iterable[str]) -> tuple[str, ...]:
    """The folders of installed packages that these paths lie in, outermost ones alone."""
    found = set()
    for path in untracked:
        *folders, name = path.split("/")
        at = next((number for number, each in enumerate(folders) if each in _NAMED_SO), -1)
        if name == _ENVIRONMENT and at < 0:
            at = len(folders) - 1
        if at >= 0:
            found.add("/".join(folders[: at + 1]))
    return tuple(sorted(each for each in found if not any(each.startswith(f"{other}/") for other in found)))


def is_installed(path: str, root: Path) -> bool:
    """Whether a folder is one that a package manager fills."""
    return path.rpartition("/")[2] in _INSTALLED or (root / path / _ENVIRONMENT).is_file()


@dataclass(frozen=True, slots=True)
class Item:
    """An ignored file or folder that is included in a checkout.

    Attributes:
        path: repository-relative; no slash at the end.
        source: where it lies, or its copy.
        copied: whether the run gets a copy that it may write; else it reads what lies there.
        without: paths below it that do not come along, because agents made or changed them.
    """

    path: str
    source: Path
    copied: bool = False
    without: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Touched:
    """Ignored files that agents changed, by repository-relative paths.

    Attributes:
        installed: what differs in packages.
        left_out: what else of the user's they changed, and nobody kept a copy of.
        made: what they added, which nobody has who clones the project.
    """

    installed: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    made: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Known:
    """An ignored file or folder as it was before the agents: the states of its files by repository-relative path."""

    states: Mapping[str, State]
    installed: bool


def worth(ignored: Iterable[str]) -> tuple[str, ...]:
    """Selects the ignored entries, as `hidden_files.ignored` names them, that a test run may need."""
    return tuple(
        name
        for name in ignored
        if not _PRODUCTS & set(name.rstrip("/").split("/")) and not name.endswith(_PRODUCT_FILES)
    )


def binaries(items: Iterable[Item]) -> tuple[str, ...]:
    """Lists the compiled modules among the items that lie beside the code."""
    return tuple(item.path for item in items if item.path.endswith(_BINARIES))


def present(root: Path, ignored: Iterable[str]) -> tuple[Item, ...]:
    """All of it as it is now, where nobody kept copies: small files are copied, the rest is shared."""
    places = {name.rstrip("/"): _place(root, name) for name in worth(ignored)}
    return tuple(Item(name, place, copied=_is_small(place)) for name, place in places.items())


def _is_small(place: Path) -> bool:
    return place.is_file() and not place.is_symlink() and place.stat().st_size <= _SMALL


class IncludedFiles:
    """The ignored files that are included in the test runs of one work tree.

    Args:
        root: top level of the work tree.
        copies: of the small files.
        record: the file that remembers from run to run what agents changed.
    """

    def __init__(self, root: Path, copies: Backups, record: Path) -> None:
        self._root, self._copies, self._record = root, copies, record
        self._known: dict[str, _Known] = {}
        self._agents: dict[str, State | None] = {}

    def begin(self, ignored: Iterable[str], *, died_at_ns: int | None = None) -> frozenset[str]:
        """Takes note of what is there before anybody is at work; gives the files that are not the user's.

        What agents changed in an earlier run, and nobody has touched since, still counts as theirs.

        Args:
            ignored: what git ignores; a folder ends with a slash.
            died_at_ns: when the step began in which the last run died: of what changed since, nobody knows who did it,
                and it counts as the agents'.
        """
        before = self._load()
        self._known, self._agents = {}, {}
        for name in worth(ignored):
            states = self._states(name)
            theirs = {
                path: state
                for path, state in states.items()
                if before.get(path) == state or (died_at_ns is not None and state[-1] >= died_at_ns)
            }
            self._agents |= theirs
            users = {path: state for path, state in states.items() if path not in theirs}
            self._known[name] = _Known(users, installed=_is_installed(self._root, name))
        self._agents |= {path: None for path, state in before.items() if state is None and not self._is_there(path)}
        return frozenset(self._agents)

    def scan(self, ignored: Iterable[str]) -> Touched:
        """What agents changed since, and before; byte code of theirs is removed, for any Python makes it again.

        Args:
            ignored: what git ignores now.
        """
        installed: list[str] = []
        left_out: list[str] = []
        made: list[str] = []
        for name in dict.fromkeys((*self._known, *worth(ignored))):
            known = self._known.get(name) or _Known({}, installed=_is_installed(self._root, name))
            now = self._states(name)
            changed = sorted(self._but_byte_code(fingerprints.differing(known.states, now), now))
            self._agents |= {path: now.get(path) for path in changed}
            if known.installed:
                installed += changed
            else:
                left_out += (path for path in changed if path in known.states and not self._copies.holds(path))
                made += (path for path in changed if path not in known.states)
        self._save()
        return Touched(tuple(installed), tuple(left_out), tuple(made))

    def _but_byte_code(self, paths: Iterable[str], now: Mapping[str, State]) -> Iterator[str]:
        for path in paths:
            if _BYTE_CODE not in path.split("/"):
                if not _is_cache(path):
                    yield path
            elif path in now:
                with contextlib.suppress(OSError):
                    _place(self._root, path).unlink()

    def items(self) -> tuple[Item, ...]:
        """The items that a run includes now: as it was before the agents, without what they made."""
        found: dict[str, Item] = {}
        for name, known in self._known.items():
            path = name.rstrip("/")
            copied = [each for each in known.states if self._copies.holds(each)]
            if len(copied) < len(known.states):  # too much of it to copy
                without = frozenset(each for each in self._agents if each.startswith(name))
                if path not in without:
                    found[path] = Item(path, _place(self._root, path), without=without)
                copied = [each for each in copied if each in without]
            found |= {each: self._copied(each) for each in copied}
        found |= {each: self._copied(each) for each in self._agents if each not in found and self._copies.holds(each)}
        return tuple(found.values())

    def _copied(self, path: str) -> Item:
        return Item(path, self._copies.copy_of(path), copied=True)

    def _states(self, name: str) -> dict[str, State]:
        place = _place(self._root, name)
        if name.endswith("/"):
            return {name + _text(path): state for path, state in fingerprints.states(place).items()}
        with contextlib.suppress(OSError):
            return {name: fingerprints.state_of(place.lstat())}
        return {}

    def _is_there(self, path: str) -> bool:
        return os.path.lexists(_place(self._root, path))

    def _load(self) -> dict[str, State | None]:
        with contextlib.suppress(OSError, ValueError, TypeError, AttributeError):
            found = json.loads(regular.read(self._record))
            return {str(path): state and _state(*state) for path, state in found.items()}
        return {}

    def _save(self) -> None:
        if self._agents or self._record.exists():
            atomic.replace(self._record, json.dumps(self._agents), durable=False)


def _state(inode: int, size: int, modified_ns: int, changed_ns: int) -> State:
    return inode, size, modified_ns, changed_ns


def _place(root: Path, path: str) -> Path:
    return root / os.fsdecode(paths.encode(path))


def _text(path: str) -> str:
    """The text form of what the file system names, as git's would be; almost all names are their own."""
    return path if path.isascii() else paths.decode(os.fsencode(path))


def _is_installed(root: Path, name: str) -> bool:
    """Whether a package manager filled an ignored folder."""
    parts = name.rstrip("/").split("/")
    return name.endswith("/") and (bool(_INSTALLED & set(parts)) or (_place(root, name) / _ENVIRONMENT).is_file())


def _is_cache(path: str) -> bool:
    parts = set(path.split("/"))
    return "node_modules" in parts and bool(CACHES & parts)

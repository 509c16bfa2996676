"""A view of one tree of the repository: all file names, and file contents loaded on demand and cached."""

from __future__ import annotations

import os
import posixpath
import re
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from swarmgate.gates.project.files import MAX_BYTES, Trait, steers, suffixes_of, traits_of
from swarmgate.workspace import system
from swarmgate.workspace.files.paths import encode

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from pathlib import Path


_STEERING = 100
"""So many of the files that steer a project are read at once."""


class Trees(Protocol):
    """What is needed of a repository (`workspace.git.repository.Repository` has it)."""

    root: Path

    def list_tree(self, tree: str) -> tuple[str, ...]:
        """Every path in a tree."""
        ...

    def read_many(self, tree: str, wanted: Sequence[str]) -> dict[str, bytes]:
        """The contents of those paths that are files there."""
        ...


class View:
    """One tree, shared by all gates; names are listed once, contents read on demand.

    Args:
        repository: holds the tree.
        tree: its id.
        known: contents that the caller has already.
        twin: a view of another tree, and the paths at which the two differ: all else is asked there.
    """

    def __init__(
        self,
        repository: Trees,
        tree: str,
        known: Mapping[str, bytes] | None = None,
        *,
        twin: tuple[View, Collection[str]] | None = None,
    ) -> None:
        self.repository = repository
        self.tree = tree
        self.shared: dict[type, Any] = {}
        self._twin = twin
        self._contents: dict[str, bytes | None] = dict(known or {})

    @cached_property
    def files(self) -> frozenset[str]:
        """Every path of the tree."""
        return frozenset(self.repository.list_tree(self.tree))

    @cached_property
    def folders(self) -> frozenset[str]:
        """Every folder that holds a file at any depth, the root ("") too."""
        return _folders(self.files)

    def fetch(self, paths: Iterable[str]) -> None:
        """Read those of `paths` that are files and not read yet, with one call of git."""
        # What is equal in the other tree is only what is here at all.
        listed = self.files if self._twin else self.__dict__.get("files")
        wanted = {path for path in paths if path not in self._contents and (listed is None or path in listed)}
        if self._twin and (same := wanted - set(self._twin[1])):
            other = self._twin[0].contents(same)
            self._contents |= {path: other.get(path) for path in same}
            wanted -= same
        if wanted:
            wanted |= self._steering()
            found = self.repository.read_many(self.tree, sorted(wanted))
            self._contents |= {path: found.get(path) for path in wanted}

    def _steering(self) -> set[str]:
        """What is read along once the tree is known: nearly every check asks for some of it."""
        if self._twin or "files" not in self.__dict__ or self.shared.setdefault(View, False):
            return set()
        self.shared[View] = True
        return {
            path for path in [each for each in self.files if steers(each)][:_STEERING] if path not in self._contents
        }

    def contents(self, paths: Collection[str]) -> dict[str, bytes]:
        """The contents of those of `paths` that are files."""
        self.fetch(paths)
        read = {path: self._contents.get(path) for path in paths}
        return {path: content for path, content in read.items() if content is not None}

    def content(self, path: str) -> bytes | None:
        """The content of a file of the tree; None where there is no such file (submodules have none)."""
        return self.contents((path,)).get(path)

    def text(self, path: str) -> str:
        """The content as text; empty where there is no such file."""
        return (self.content(path) or b"").decode("utf-8", "replace")

    def on_disk(self, path: str) -> bool:
        """Whether the work tree has something there that the tree may not have (an ignored, generated file)."""
        return os.path.lexists(self.repository.root / os.fsdecode(encode(path)))

    def mentioning(
        self, names: Collection[str], languages: Collection[str], stopped: Callable[[], bool] = bool
    ) -> dict[str, bytes]:
        """The files of these languages whose bytes hold one of `names` as a word.

        The working tree is searched, which is five times faster than asking git for every file.
        """
        if not names:
            return {}
        searched = _any_of(names)
        exact = rb"(?<!\w)(?:%s)(?!\w)" % b"|".join(re.escape(each.encode()) for each in names)
        suffixes = suffixes_of(*languages)
        root, hits = os.fsencode(self.repository.root), []
        for path in sorted(each for each in self.files if each.endswith(suffixes)):
            if stopped():
                return {}
            content = _on_disk(os.path.join(root, encode(path)))  # noqa: PTH118 - pathlib would cost as much as reading
            if (content is None or searched(content)) and not traits_of(path) & {Trait.VENDORED, Trait.GENERATED}:
                hits.append(path)
        words = re.compile(exact)
        return {path: content for path, content in self.contents(hits).items() if words.search(content)}


def ancestors(path: str) -> list[str]:
    """The folders above a path, the nearest first, the root ("") last."""
    found = []
    while path:
        path = posixpath.dirname(path)
        found.append(path)
    return found


def _folders(files: Iterable[str]) -> frozenset[str]:
    found: set[str] = {""}
    for path in files:
        folder = posixpath.dirname(path)
        while folder not in found:
            found.add(folder)
            folder = posixpath.dirname(folder)
    return frozenset(found)


_FEW = 6


def _any_of(names: Collection[str]) -> Callable[[bytes], object]:
    """A fast first look: whether one of many names stands somewhere in a file."""
    raw = [each.encode() for each in names]
    if len(raw) <= _FEW:
        return lambda content: any(each in content for each in raw)
    import re2  # type: ignore[import-untyped]  # noqa: PLC0415 - RE2 ships no stubs; late: few changes need it

    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    search = re2.compile(b"|".join(re.escape(each) for each in raw), options).search
    return lambda content: search(content) is not None


def _on_disk(place: bytes) -> bytes | None:
    """The content of a regular file of reasonable size: empty for links and giants, None where it is not there."""
    try:
        handle = os.open(place, os.O_RDONLY | system.NOFOLLOW | system.NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError:
        return b""
    try:
        size = os.fstat(handle).st_size
        return os.read(handle, size) if size <= MAX_BYTES else b""
    except OSError:
        return b""
    finally:
        os.close(handle)

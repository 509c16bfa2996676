"""Reads the trees of a repository and the files in them, by few calls of git, and caches what cannot go stale."""

from __future__ import annotations

import os
import re
import threading
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from swarmgate.errors import WorkspaceError
from swarmgate.workspace.files import paths
from swarmgate.workspace.git.driver import Driver, call

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

_LINK_MODE = "120000"
"""How git says that an entry of a tree is a symbolic link."""
_NAMES = 200
"""Up to how many paths git looks up one by one; beyond, the whole tree is listed."""
CACHED_BYTES = 8_000_000
"""Most bytes that are cached of one tree, and of one patch."""
_REMEMBERED = 4
"""Trees and differences that are cached: an attempt asks for the same ones again and again."""
_SIZES = 10_000
"""Sizes of contents that are cached."""
_K = TypeVar("_K")
_V = TypeVar("_V")
ID = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")
"""A whole id: what it names cannot change."""
_OBJECT = re.compile(rb"([0-9a-f]+) ([a-z]+) ([0-9]+)")


class Blob(NamedTuple):
    """The content of a file, and its id."""

    id: str
    content: bytes


class Trees:
    """The trees of a project. Ids are hexadecimal object ids, paths are texts, relative to the project's folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._git = Driver(root)
        self._reading, self._listing = threading.Lock(), threading.Lock()
        # What names its own content cannot go stale: a tree its files, a commit its tree.
        self._cached: dict[str, dict[bytes, bytes | None]] = {}
        self._listed: dict[str, tuple[str, ...]] = {}
        self._trees: dict[str, str] = {}
        self._sizes: dict[str, int] = {}

    @property
    def top(self) -> Path:
        """The top level of the work tree that the project lies in."""
        return self._git.top

    def tree_of(self, revision: str) -> str:
        """The project's tree in a revision that the user named.

        Raises:
            WorkspaceError: git knows no such revision.
        """
        if tree := self._trees.get(revision):
            return tree
        code, out, _ = call(self.root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{tree}}")
        if code:
            raise WorkspaceError(f"git knows no revision `{revision}`", hint="see: git log --oneline, git branch")
        tree = out.decode().strip()
        if self._git.prefix:
            code, out, _ = call(
                self.root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"
            )
            tree = tree if code else self._git.trees([out.decode().strip()])[0]
        if ID.fullmatch(revision):  # any other name may mean another commit the next time
            self._trees[revision] = tree
        return tree

    def list_tree(self, tree: str) -> tuple[str, ...]:
        """Every path in `tree`, submodules included."""
        with self._listing:  # as with what is read
            listed = self._listed.get(tree)
            if listed is None:
                records = self._git.records("ls-tree", "-r", "-z", "--name-only", tree)
                listed = tuple(paths.decode(raw) for raw in records)
            if ID.fullmatch(tree):
                remember(self._listed, tree, listed)
            return listed

    def regular_files(self, tree: str, wanted: Sequence[str]) -> dict[str, str]:
        """Those `wanted` paths that are files in `tree`, and no links, each with the id of its content."""
        found: dict[str, str] = {}
        names = [os.fsdecode(paths.encode(path)) for path in wanted]
        for start in range(0, len(names), _NAMES):
            for record in self._git.records("ls-tree", "-z", tree, "--", *names[start : start + _NAMES]):
                header, _, raw = record.partition(b"\t")
                mode, kind, blob = header.decode().split()
                if kind == "blob" and mode != _LINK_MODE:
                    found[paths.decode(raw)] = blob
        return found

    def read(self, tree: str, path: str) -> bytes | None:
        """The content of one file of `tree` (of a symbolic link: its target); None when it is not a file there."""
        return self.read_many(tree, (path,)).get(path)

    def read_many(self, tree: str, wanted: Sequence[str]) -> dict[str, bytes]:
        """The contents of those `wanted` paths that are files in `tree`."""
        return self.read_trees({tree: wanted})[tree]

    def read_trees(self, wanted: Mapping[str, Sequence[str]]) -> dict[str, dict[str, bytes]]:
        """For each tree the contents of those paths that are files in it, by one process where they are few."""
        found: dict[str, dict[str, bytes]] = {}
        few: dict[str, dict[bytes, str]] = {}
        for tree, listed in wanted.items():
            raws = {paths.encode(path): path for path in listed if path}
            # Names that git resolves itself, a line each.
            if len(raws) <= _NAMES and not any(b"\n" in raw for raw in raws):
                few[tree] = raws
            else:
                found[tree] = self._listed_contents(tree, raws)
        with self._reading:  # gates ask for the same at the same time, from threads of their own
            return found | self._read_few(few)

    def _listed_contents(self, tree: str, raws: Mapping[bytes, str]) -> dict[str, bytes]:
        """The contents of many files."""
        blobs: dict[str, str] = {}
        for record in self._git.records("ls-tree", "-r", "-z", tree):
            header, _, raw = record.partition(b"\t")
            _, kind, blob = header.decode().split()
            if kind == "blob" and raw in raws:
                blobs[raws[raw]] = blob
        ids = sorted(set(blobs.values()))
        contents = dict(zip(ids, self._objects([blob.encode() for blob in ids]), strict=True))
        return {path: content for path, blob in blobs.items() if (content := contents[blob]) is not None}

    def sizes(self, ids: Iterable[str]) -> dict[str, int]:
        """How many bytes the contents of these ids have, by id; those that are no blob here are left out."""
        asked = {each for each in ids if each}
        names = sorted(asked - self._sizes.keys())
        stdin = "".join(f"{each}\n" for each in names).encode()
        out = self._git.run("cat-file", "--batch-check", stdin=stdin) if names else b""
        found = (_OBJECT.fullmatch(line) for line in out.splitlines())
        fresh = {name: int(each[3]) for name, each in zip(names, found, strict=True) if each and each[2] == b"blob"}
        known = {**self._sizes, **fresh}
        self._sizes = known if len(known) <= _SIZES else {}
        return {name: known[name] for name in asked if name in known}

    def _read_few(self, wanted: Mapping[str, Mapping[bytes, str]]) -> dict[str, dict[str, bytes]]:
        """The contents of few files of each tree."""
        known = {tree: dict(self._cached.get(tree, {})) for tree in wanted}
        fresh = [(tree, raw) for tree, raws in wanted.items() for raw in raws if raw not in known[tree]]
        contents = self._objects([tree.encode() + b":" + raw for tree, raw in fresh])
        for (tree, raw), content in zip(fresh, contents, strict=True):
            known[tree][raw] = content
        for tree, each in known.items():
            # A name such as HEAD may stand for another tree the next time.
            if ID.fullmatch(tree):
                size = sum(len(content or b"") for content in each.values())
                remember(self._cached, tree, each if size <= CACHED_BYTES else {})
        return {
            tree: {path: content for raw, path in raws.items() if (content := known[tree][raw]) is not None}
            for tree, raws in wanted.items()
        }

    def _objects(self, names: Sequence[bytes]) -> list[bytes | None]:
        """The contents of the blobs of these names, in their order; None for what is missing or no blob."""
        found = blobs(self._git, names)
        self._sizes |= {each.id: len(each.content) for each in found if each}
        return [each.content if each else None for each in found]


def blobs(git: Driver, names: Sequence[bytes]) -> list[Blob | None]:
    """The blobs of these names, in their order, by one call of git; None for what is missing or no blob."""
    out = git.run("cat-file", "--batch", stdin=b"".join(name + b"\n" for name in names)) if names else b""
    contents: list[Blob | None] = []
    position = 0
    for _ in names:
        start = out.index(b"\n", position) + 1
        found = _OBJECT.fullmatch(out, position, start - 1)  # else: `<name> missing`, or `submodule`
        size = int(found[3]) if found else -1
        blob = Blob(found[1].decode(), out[start : start + size]) if found and found[2] == b"blob" else None
        contents.append(blob)
        position = start + size + 1
    return contents


def remember(known: dict[_K, _V], name: _K, found: _V) -> None:
    """Keeps an answer; of the others, only those that were asked for last."""
    known.pop(name, None)
    known[name] = found
    for old in list(known)[:-_REMEMBERED]:
        known.pop(old, None)  # another thread may have been here

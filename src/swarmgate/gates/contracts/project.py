"""The files of the project around a change, read when needed: content by tree, files that mention a name, modules."""

from __future__ import annotations

import os
import posixpath
import re
import sys
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from swarmgate.gates.project.files import MAX_BYTES, Trait, suffixes_of, traits_of
from swarmgate.workspace.paths import encode

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from pathlib import Path

_ROOTS = ("", "src", "lib", "python", "source")
"""Folders that are commonly on the path of imports without being the folder of who imports."""


class Trees(Protocol):
    """What is needed of a repository (`workspace.repository.Repository` has it)."""

    root: Path

    def list_tree(self, tree: str) -> tuple[str, ...]:
        """Every path in a tree."""
        ...

    def read_many(self, tree: str, wanted: Sequence[str]) -> dict[str, bytes]:
        """The contents of those paths that are files there."""
        ...


class Project:
    """Two trees of a repository: `base`, the old one, and `tree`, the new one, which the working tree shows."""

    def __init__(self, repository: Trees, base: str, tree: str, stopped: Callable[[], bool] = bool) -> None:
        self.repository, self.base, self.tree, self.stopped = repository, base, tree, stopped
        self._contents: dict[tuple[str, str], bytes | None] = {}

    @cached_property
    def paths(self) -> frozenset[str]:
        """Every path of the new tree."""
        return frozenset(self.repository.list_tree(self.tree))

    def read(self, path: str, *, old: bool = False) -> bytes | None:
        """The content of a file of the new tree (`old`: of the base); None when it is not there."""
        return self.read_many((path,), old=old).get(path)

    def read_many(self, paths: Sequence[str], *, old: bool = False) -> dict[str, bytes]:
        """The contents of those `paths` that are files."""
        tree = self.base if old else self.tree
        missing = [path for path in paths if (tree, path) not in self._contents]
        if missing:
            found = self.repository.read_many(tree, missing)
            self._contents |= {(tree, path): found.get(path) for path in missing}
        read = {path: self._contents[tree, path] for path in paths}
        return {path: content for path, content in read.items() if content is not None}

    def mentioning(self, names: Collection[str], languages: Collection[str]) -> dict[str, bytes]:
        """The files of these languages whose bytes hold one of `names` as a word; content as in the new tree.

        The working tree is searched, which is five times faster than asking git for every file.
        """
        if not names:
            return {}
        searched, exact = (
            _any_of(names),
            rb"(?<!\w)(?:%s)(?!\w)" % b"|".join(re.escape(each.encode()) for each in names),
        )
        suffixes = suffixes_of(*languages)
        root, hits = os.fsencode(self.repository.root), []
        for path in sorted(each for each in self.paths if each.endswith(suffixes)):
            if self.stopped():
                return {}
            content = _on_disk(os.path.join(root, encode(path)))  # noqa: PTH118 - pathlib would cost as much as reading
            if (content is None or searched(content)) and not traits_of(path) & {Trait.VENDORED, Trait.GENERATED}:
                hits.append(path)
        words = re.compile(exact)
        return {path: content for path, content in self.read_many(hits).items() if words.search(content)}


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
        handle = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
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


def module_of(path: str, present: Collection[str]) -> str:
    """The dotted name of a Python file, from its outermost package on; `src/` and its like do not belong to it."""
    parts = _module_parts(path)
    packages = (i for i in range(len(parts)) if f"{'/'.join(parts[: i + 1])}/__init__.py" in present)
    bare = int(len(parts) > 1 and parts[0] in _ROOTS)
    return ".".join(parts[next(packages, bare) :])


def unit_of(path: str, present: Collection[str]) -> str:
    """What a Python module is called whatever its file: `a/b.py` and `a/b/__init__.py` are one, `src/` is left out."""
    parts = _module_parts(path)
    bare = len(parts) > 1 and parts[0] in _ROOTS and f"{parts[0]}/__init__.py" not in present
    return "/".join(parts[bare:]) + (".pyi" if path.endswith(".pyi") else "")


def _module_parts(path: str) -> list[str]:
    parts = posixpath.splitext(path)[0].split("/")
    return parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts


class PythonModules:
    """Which file a Python import leads to, judged by paths alone."""

    def __init__(self, present: frozenset[str]) -> None:
        self.present = present
        self._by_tail: dict[str, list[str]] | None = None

    def locate(self, module: str, importer: str) -> str:
        """The path of the module that `importer` gets; empty when it is none of the project's, or not certain.

        `module`: dotted, or as `python.absolute` gives a relative one.
        """
        if module.startswith("/"):
            return self._file(module[1:])
        top = module.partition(".")[0]
        if not module or top in sys.stdlib_module_names:
            return ""
        tail = module.replace(".", "/")
        for root in self._roots(importer):
            found = self._file(posixpath.join(root, tail))
            if found and self._is_root(root):
                return found
        others = [path for path in self._tails.get(tail.rpartition("/")[2], ()) if self._may_be(path, tail)]
        return others[0] if len(others) == 1 else ""

    def _roots(self, importer: str) -> Iterator[str]:
        folder = posixpath.dirname(importer)
        while folder:
            yield folder
            folder = posixpath.dirname(folder)
        yield from _ROOTS

    def _file(self, stem: str) -> str:
        names = (f"{stem}.py", f"{stem}/__init__.py", f"{stem}.pyi")
        return next((posixpath.normpath(name) for name in names if posixpath.normpath(name) in self.present), "")

    def _is_root(self, root: str) -> bool:
        return not root or f"{root}/__init__.py" not in self.present

    def _may_be(self, path: str, tail: str) -> bool:
        stem = "/".join(_module_parts(path))
        root = stem.removesuffix(tail).rstrip("/")
        inside = stem == tail or stem.endswith(f"/{tail}")
        packaged = f"{posixpath.join(root, tail.partition('/')[0])}/__init__.py" in self.present
        return inside and packaged and self._is_root(root)

    @property
    def _tails(self) -> dict[str, list[str]]:
        if self._by_tail is None:
            self._by_tail = {}
            for path in sorted(self.present):
                if path.endswith(".py"):
                    self._by_tail.setdefault(_module_parts(path)[-1], []).append(path)
        return self._by_tail

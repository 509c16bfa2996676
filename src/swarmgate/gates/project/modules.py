"""Maps Python module names to file paths, by paths alone."""

from __future__ import annotations

import posixpath
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

_ROOTS = ("", "src", "lib", "python", "source")
"""Folders that are commonly on the path of imports without being the folder of who imports."""


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

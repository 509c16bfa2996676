"""Recognises installed packages and build output that git does not ignore, so that gates skip them.

They are recognised by what a tool left in them, and only where git tracks nothing below the same folder: a marker among
the project's own files makes nothing of them foreign.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from swarmgate.domain.review.change import ChangeKind
from swarmgate.workspace.files.paths import decode
from swarmgate.workspace.git.driver import Driver

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from swarmgate.domain.review.change import ChangedFile
    from swarmgate.workspace.git.repository import Repository

_MARKS = {
    "pyvenv.cfg": re.compile(rb"^home\s*=", re.MULTILINE),
    "CACHEDIR.TAG": re.compile(rb"\ASignature: 8a477f597d28d172789f06886806bc55"),
    "CMakeCache.txt": re.compile(rb"^CMAKE_HOME_DIRECTORY:INTERNAL=", re.MULTILINE),
    "project.assets.json": re.compile(rb'"projectFileDependencyGroups"'),
}
"""The file in the top folder by which a tool marks it, and what that says (PEP 405, bford.info/cachedir)."""

_MODULES = "node_modules"
_PACKAGE = re.compile(rb'"name"\s*:\s*"')


def folders(repository: Repository, tree: str, files: Iterable[ChangedFile]) -> tuple[str, ...]:
    """The outermost untracked folders of a tree that a package manager or a build filled, sorted.

    Args:
        repository: holds the tree and the index.
        tree: what is judged.
        files: of the change; only what it adds is looked at.
    """
    added = [file.path for file in files if file.kind is ChangeKind.ADDED]
    marks = {path: _folder(path) for path in added if _folder(path)}
    if not marks:
        return ()
    contents = repository.read_many(tree, sorted(marks))
    marked = {folder for path, folder in marks.items() if _form(path).search(contents.get(path, b""))}
    if marked:
        tracked = set(_above(map(decode, Driver(repository.root).records("ls-files", "-z", "--cached"))))
        marked -= tracked
    return tuple(sorted(each for each in marked if not any(each.startswith(f"{other}/") for other in marked)))


def _folder(path: str) -> str:
    """The folder that a file marks, empty for none; the repository itself is never one."""
    folder, name = posixpath.split(path)
    parts = folder.split("/")
    if name == "package.json" and _MODULES in parts:
        return "/".join(parts[: parts.index(_MODULES) + 1])
    return folder if name in _MARKS else ""


def _form(path: str) -> re.Pattern[bytes]:
    return _MARKS.get(posixpath.basename(path), _PACKAGE)


def _above(paths: Iterable[str]) -> Iterator[str]:
    """Every folder above these paths."""
    seen = set[str]()
    for path in paths:
        folder = posixpath.dirname(path)
        while folder and folder not in seen:
            seen.add(folder)
            yield folder
            folder = posixpath.dirname(folder)

"""Which programs and modules swarmgate itself uses with the user's rights: none of the work tree, where agents write.

An active virtual environment of the project stands first on PATH, and an agent may put a `git` there.
"""

from __future__ import annotations

import os
import sys
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def search_path(folder: Path) -> str:
    """PATH less what is empty, relative, or lies in the work tree that `folder` belongs to."""
    return _cleaned(_tree(folder), os.environ.get("PATH", os.defpath))


def find(name: str, folder: Path) -> str | None:
    """A program on that path, as an absolute file name; what leads into the work tree by a link is passed over."""
    tree = _tree(folder)
    return next((place for place in _all(name, search_path(folder)) if not tree or not is_within(place, tree)), None)


def installed(name: str) -> str | None:
    """A program on PATH that lies in no work tree at all, whichever one is worked on."""
    for place in _all(name, os.environ.get("PATH", os.defpath)):
        real = os.path.realpath(place)
        if not any(_tree(Path(each).parent) for each in (place, real)):
            return real
    return None


def interpreter() -> str:
    """Python itself, for what needs the standard library alone: links that may lie in the work tree are resolved."""
    return os.path.realpath(sys.executable)


def is_within(place: str, tree: str) -> bool:
    """Whether an absolute path lies in a tree, by its letters or after links."""
    roots = {tree, os.path.realpath(tree)}
    return any(
        each == root or each.startswith(root.rstrip(os.sep) + os.sep)
        for each in (os.path.normpath(place), os.path.realpath(place))
        for root in roots
    )


def forget_modules(tree: Path, kept: Iterable[Path] = ()) -> None:
    """Take the folders of a work tree from where modules are imported, but for those that agents cannot write.

    Most modules are imported late: one that an agent wrote since must not be among them.
    """
    safe = [str(place) for place in kept]
    sys.path[:] = [
        entry
        for entry in sys.path
        if not is_within(os.path.abspath(entry), str(tree))  # noqa: PTH100 - an empty entry is the current folder
        or any(is_within(os.path.abspath(entry), place) for place in safe)  # noqa: PTH100 - as above
    ]


@lru_cache(64)
def _tree(folder: Path) -> str:
    """The work tree that a folder belongs to; empty without one."""
    place = Path(os.path.abspath(folder))  # noqa: PTH100 - links stay: PATH may name the tree by them
    return next((str(each) for each in (place, *place.parents) if os.path.lexists(each / ".git")), "")


@lru_cache(64)
def _cleaned(tree: str, path: str) -> str:
    entries = (entry for entry in path.split(os.pathsep) if entry.startswith(os.sep))
    return os.pathsep.join(entry for entry in entries if not tree or not is_within(entry, tree))


def _all(name: str, path: str) -> Iterator[str]:
    """The programs of that name on a path, in its order."""
    for entry in path.split(os.pathsep):
        place = os.path.join(entry, name)  # noqa: PTH118 - a text in, a text out
        if entry.startswith(os.sep) and os.path.isfile(place) and os.access(place, os.X_OK):  # noqa: PTH113 - as above
            yield place

"""Removes folders that agents can write from Python's import path.

`swarm` and `python -m swarmgate` call this before they import anything else, so it imports nothing but what every
Python has loaded by then: any other module, `__future__` among them, could be the work tree's own.
"""

# pathlib would be such a module.
# ruff: noqa: PTH100, PTH109, PTH111, PTH116, PTH117, PTH120

import os
import sys

_MARKS = (".git", ".swarm")
"""At the top of a work tree."""

_TREES: set[str] = set()
"""The work trees that this process has to do with: each as it was named, after links, and by its identity."""


_ENTERED: set[str] = set()
"""The folders in work trees that were asked about: of each once."""


_LEFT: set[str] = set()
"""What was taken from where modules are imported."""


def enter(folder: str) -> None:
    """Marks the work trees that a folder lies in as places where agents write."""
    if folder in _ENTERED:
        return
    for tree in trees(folder):
        _TREES.update((tree, os.path.realpath(tree), _identity(tree)))
        _ENTERED.add(folder)


def enter_current() -> None:
    """Marks the work trees of the current folder; a deleted folder lies in none."""
    try:
        enter(os.getcwd())
    except OSError:
        return


def known() -> int:
    """The number of marked trees; cached results are valid while it is unchanged."""
    return len(_TREES)


def trees(folder: str) -> list[str]:
    """The work trees that a folder lies in, innermost first.

    One that holds the user's home is none: no sandbox lets agents work there, and what the user installed lies in it.
    """
    home = os.path.realpath(os.path.expanduser("~"))
    found = [
        place for place in _above(os.path.abspath(folder)) if any(os.path.lexists(f"{place}/{name}") for name in _MARKS)
    ]
    return [place for place in found if not is_within(home, place)]


def is_within(place: str, tree: str) -> bool:
    """Whether an absolute path lies in a tree, by its letters or after links."""
    roots = {tree, os.path.realpath(tree)}
    return any(
        each == root or each.startswith(root.rstrip(os.sep) + os.sep)
        for each in (os.path.normpath(place), os.path.realpath(place))
        for root in roots
    )


def is_agents(place: str) -> bool:
    """Whether agents can write a place: it lies in a tree that was entered, or in any that swarmgate works in."""
    home = os.path.realpath(os.path.expanduser("~"))
    for each in {os.path.abspath(place), os.path.realpath(place)}:
        for folder in _above(each):
            if folder in _TREES or _identity(folder) in _TREES:
                return True
            if os.path.lexists(f"{folder}/.swarm") and not is_within(home, folder):
                return True
    return False


def keep_out() -> None:
    """Removes folders that agents can write from the import path.

    The environment that swarmgate runs from stays, also where it lies in the tree: `unsandboxed_files` guards it there.
    """
    own = [place for place in (sys.prefix, sys.base_prefix) if is_agents(place)]
    safe = [entry for entry in sys.path if not _is_tainted(entry, own)]
    _LEFT.update(set(sys.path) - set(safe))
    sys.path[:] = safe


def left() -> tuple[str, ...]:
    """The absolute entries that `keep_out` removed: the next start of this Python has them again."""
    return tuple(sorted(entry for entry in _LEFT if os.path.isabs(entry)))


def _is_tainted(entry: str, own: list[str]) -> bool:
    try:
        place = os.path.abspath(entry)
    except OSError:  # relative, and the current folder was deleted
        return True
    return is_agents(place) and not any(is_within(place, each) for each in own)


def _identity(folder: str) -> str:
    """The same for a folder by whatever name: letter case, a mount in another place."""
    try:
        found = os.stat(folder)
    except OSError:
        return f"absent {folder}"
    return f"{found.st_dev}:{found.st_ino}"


def _above(place: str) -> list[str]:
    """A folder and those around it, innermost first."""
    found = [place]
    while os.path.dirname(found[-1]) != found[-1]:
        found.append(os.path.dirname(found[-1]))
    return found

"""Cuts a patch into files for pages: each with its lines in runs of one kind, and how many were added and removed."""

from __future__ import annotations

from typing import NamedTuple

from swarmgate.engine.reports.goal_page.page import ShownChange, pieces

_OPEN = 3
"""As many files of a change are open from the start."""


class ChangedFile(NamedTuple):
    """One file of a change; `pieces` are its lines in runs of one kind, with the class of that kind."""

    path: str
    added: int
    removed: int
    pieces: list[tuple[str, str]]


class Change(NamedTuple):
    """A change as pages show it: `left` lines of it are not here, `problem` says why none is."""

    files: tuple[ChangedFile, ...]
    left: int = 0
    problem: str = ""
    open: int = _OPEN

    @property
    def added(self) -> int:
        """Lines that it adds, of those that are here."""
        return sum(file.added for file in self.files)

    @property
    def removed(self) -> int:
        """Lines that it removes, of those that are here."""
        return sum(file.removed for file in self.files)


def change_of(shown: ShownChange) -> Change:
    """The change as the evidence has it."""
    return Change(tuple(_file(part) for part in _files(shown.text)), shown.left, shown.problem)


def change_in(patch: str, *, lines: int = 2000) -> Change:
    """The change that a patch says, as far as a page has room: `lines` of it."""
    all_lines = patch.splitlines()
    text = "\n".join(line[:1000] for line in all_lines[:lines])
    return Change(tuple(_file(part) for part in _files(text)), max(0, len(all_lines) - lines))


def _files(patch: str) -> list[list[str]]:
    found: list[list[str]] = []
    for line in patch.splitlines():
        if line.startswith("diff --git ") or not found:
            found.append([])
        found[-1].append(line)
    return found


def _file(lines: list[str]) -> ChangedFile:
    runs = pieces("\n".join(lines))
    counts = {kind: sum(text.count("\n") for of, text in runs if of == kind) for kind in ("added", "removed")}
    body = [(kind, text) for kind, text in runs if kind != "file"]
    return ChangedFile(_path(lines), counts["added"], counts["removed"], body or runs)


def _path(lines: list[str]) -> str:
    """The name of the file after the change, of a deleted one before it."""
    head = [line for line in lines if line.startswith(("+++ ", "--- ", "rename to "))]
    names = [line.partition(" ")[2].removeprefix("to ") for line in reversed(head)]
    name = next((name for name in names if name != "/dev/null"), "")
    if not name:
        return lines[0].removeprefix("diff --git ").rpartition(" b/")[2]
    return name[2:] if name.startswith(("a/", "b/")) else name

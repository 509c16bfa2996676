"""The records of the built-in scanners: what each depends on, costs and may read.

`definition` and the pipeline read these without importing a scanner.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Dependence(StrEnum):
    """What an adapter's outcome depends on.

    `file`: the contents of the files that it is given, of each for itself, now and in the base revision. `files`: of
    these, and it may look anywhere in both trees. `change`: it judges the change as a whole, and runs even where no
    file is left to look at (a deleted lock).
    """

    FILE = "file"
    FILES = "files"
    CHANGE = "change"


@dataclass(frozen=True, slots=True)
class Record:
    """The properties of a built-in scanner.

    `cost`: milliseconds of one processor for one changed Python file of this repository, the median; those that cost
    most begin first. `reads_worktree`: it runs a tool on the working tree, and not only on the snapshot's content.
    `difference`: it judges a difference, and has nothing to say of files that are judged whole.
    """

    scope: Dependence
    cost: int
    reads_worktree: bool = False
    difference: bool = False


RECORDS: dict[str, Record] = {
    "build": Record(Dependence.CHANGE, cost=400, reads_worktree=True),
    "diff": Record(Dependence.CHANGE, cost=120, difference=True),
    "imports": Record(Dependence.CHANGE, cost=100),
    "integrity": Record(Dependence.CHANGE, cost=45, difference=True),
    "lint_check": Record(Dependence.FILES, cost=20, reads_worktree=True),
    "lint_fix": Record(Dependence.FILES, cost=25, reads_worktree=True),
    "placeholders": Record(Dependence.FILES, cost=50),
    "quality": Record(Dependence.FILES, cost=60, difference=True),
    "sast": Record(Dependence.FILE, cost=350),
    "sbom": Record(Dependence.CHANGE, cost=10),
    "secrets": Record(Dependence.FILES, cost=40),
    "syntax": Record(Dependence.FILES, cost=30),
}
"""The record of each, by the name that a definition's `adapter` key says, which is its module's."""

COMMAND = Record(Dependence.FILES, cost=1_000, reads_worktree=True)
"""A project's own command, of which nothing is known: it begins before all others."""

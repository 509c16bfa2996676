"""Stores the ledger's lines as a chain of git commits (anchors), so that later edits are noticed.

    refs/swarm/ledger/<first 16 hex digits of the first line's hash>/<goal>

Each anchor is a commit that holds the lines since the one before it, its parent; all of them together are the ledger up
to the newest. A linked work tree has names of its own, since its ledger may go another way, and so has
each project in a folder of a work tree.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from swarmgate.journal.chain import hash_of
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.files.high_water_mark import place_of
from swarmgate.workspace.git import growing_log
from swarmgate.workspace.git.driver import Driver
from swarmgate.workspace.git.folder import git_folder, is_linked

_ID = 16
"""As many hex digits of the hash of its first line name a ledger."""
_PREFIX, _LEFT = "refs/swarm/ledger", "refs/swarm/left"


class Chain(NamedTuple):
    """The anchors of one ledger: the ids that the refs name by goal, and every anchor, oldest first."""

    ends: Mapping[str, str]
    anchors: tuple[growing_log.Piece, ...]

    @property
    def lines(self) -> bytes:
        """The lines of the ledger that they hold."""
        return b"".join(each.data or b"" for each in self.anchors)

    @property
    def newest(self) -> str:
        """The id of the newest one; empty: there is none."""
        return self.anchors[-1].commit if self.anchors else ""


class Anchors:
    """The anchors of one ledger.

    Args:
        folder: the project's.
        ledger: the hash of the ledger's first line.
    """

    def __init__(self, folder: SwarmFolder, ledger: str) -> None:
        self._root = folder.root
        self.prefix = f"{_PREFIX}/{ledger[:_ID]}{_suffix(folder)}/"

    def add(self, goal: int, lines: bytes, *, seq: int, head: str, branch: str, parent: str) -> str:
        """Makes one; returns its id.

        Args:
            goal: the number of the present goal.
            lines: those since the anchor before.
            seq: the number of the last line.
            head: its hash.
            branch: of the work; empty before it began.
            parent: the id of the anchor before; empty: it is the first one.

        Raises:
            WorkspaceError: git refused.
        """
        message = f"{subject(seq, head)}\n\nSwarm-Branch: {branch}\n" if branch else f"{subject(seq, head)}\n"
        return growing_log.add(self._root, f"{self.prefix}{goal}", lines, message=message, parent=parent)

    def chain(self) -> Chain:
        """All of them.

        Raises:
            WorkspaceError: git cannot read them.
        """
        git = Driver(self._root)
        ends = {ref.removeprefix(self.prefix): commit for ref, commit in growing_log.ends(git, self.prefix).items()}
        return Chain(ends, growing_log.pieces(git, tuple(dict.fromkeys(ends.values()))))

    def put_away(self, name: str) -> str:
        """Gives the refs of all of them other names, so that another chain can begin; returns where they are now.

        Raises:
            WorkspaceError: git refused.
        """
        target = f"{_LEFT}/{name}/"
        return target if growing_log.move(Driver(self._root), self.prefix, target) else ""


def known(folder: SwarmFolder) -> list[str]:
    """The ledgers that have anchors here, each by the first digits of its first line's hash.

    Raises:
        WorkspaceError: git cannot tell.
    """
    suffix = _suffix(folder)
    names = {
        ref.removeprefix(f"{_PREFIX}/").partition("/")[0]
        for ref in growing_log.ends(Driver(folder.root), f"{_PREFIX}/")
    }
    return sorted(name[:_ID] for name in names if name[_ID:] == suffix)


def branches_of_others(folder: SwarmFolder) -> frozenset[str]:
    """The branches on which other projects of this work tree did their work, as their anchors say.

    Raises:
        WorkspaceError: git cannot tell.
    """
    form = "--format=%(refname) %(trailers:key=Swarm-Branch,valueonly)"
    listed = Driver(folder.root).run("for-each-ref", form, f"{_PREFIX}/").decode(errors="surrogateescape")
    pairs = (line.removeprefix(f"{_PREFIX}/").partition(" ") for line in listed.splitlines() if line)
    own = _suffix(folder).partition("-")[0]  # linked work trees have the same projects
    found = {branch.strip() for ref, _, branch in pairs if ref.partition("/")[0][_ID:].partition("-")[0] != own}
    return frozenset(found - {""})


def _suffix(folder: SwarmFolder) -> str:
    """What stands behind the name of a ledger in a folder of a work tree, and in a linked one."""
    found, below = git_folder(folder.root), place_of(folder.root)
    linked = hashlib.sha256(found.name.encode()).hexdigest()[:8] if found and is_linked(found) else ""
    return f"{f'+{below}' if below else ''}{f'-{linked}' if linked else ''}"


def subject(seq: int, head: str) -> str:
    """The first line of what an anchor says."""
    return f"Ledger line {seq} {head}"


def positions(anchors: Sequence[growing_log.Piece]) -> list[tuple[int, str]]:
    """Number and hash of the line that each anchor ends in, by the lines that they hold."""
    found, seq = [], 0
    for each in anchors:
        seq += (each.data or b"").count(b"\n")
        found.append((seq, hash_of(each.data or b"")))
    return found

"""Clears index flags that hide files from git, and finds staged content that is not in the work tree."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from swarmgate.workspace.files import paths
from swarmgate.workspace.git.driver import OUTSIDE

if TYPE_CHECKING:
    from pathlib import Path

    from swarmgate.workspace.git.driver import Driver

_FLAGGED = re.compile(rb"(?:^|\0)([a-z]|S) ([^\0]+)")
"""Of `git ls-files -v`: lower case is an entry with assume-unchanged, S one with skip-worktree (s: with both)."""


def unflag(git: Driver, index: Path) -> tuple[str, ...]:
    """Clears assume-unchanged and skip-worktree in the entries of a scratch index.

    A file of a sparse checkout that is not on disk keeps its flag: it is not deleted, it is not there.

    Returns:
        The paths whose flags were taken away.
    """
    flagged = _FLAGGED.findall(git.run("ls-files", "-v", "-z", index=index))
    assumed = [path for tag, path in flagged if tag.islower()]
    skipped = [path for tag, path in flagged if tag in b"Ss" and os.path.lexists(git.root / os.fsdecode(path))]
    for flag, raws in (("assume-unchanged", assumed), ("skip-worktree", skipped)):
        if raws:
            listing = b"".join(path + b"\0" for path in raws)
            git.run("update-index", f"--no-{flag}", "-z", "--stdin", index=index, stdin=listing)
    return tuple(paths.decode(path) for path in sorted({*assumed, *skipped}))


def staged_apart(git: Driver, head: str, tree: str) -> tuple[str, ...]:
    """The paths of which the user's index holds something that is neither in the tree `head` nor in `tree`."""
    if not (fresh := _differing(git, head)):
        return ()
    apart = _differing(git, tree)
    return tuple(paths.decode(path) for path in sorted(fresh & apart))


def _differing(git: Driver, tree: str) -> set[bytes]:
    options = ("--cached", "--no-renames", "--ignore-submodules=none", "--name-only", "-z", "--relative")
    with git.index(copied=False) as index:  # the tree as the index has it: below the project's folder
        git.read_tree(tree, index)
        whole = git.run("write-tree", index=index).decode().strip() if git.prefix else tree
    return set(git.records("diff-index", *options, whole, "--", ".", OUTSIDE))

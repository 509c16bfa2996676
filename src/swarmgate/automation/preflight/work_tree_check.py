"""The preflight check of the work tree: clean or as the paused attempt left it, and on the branch of the work."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path

from swarmgate.automation.preflight.context import CheckResult, PreflightContext, few
from swarmgate.errors import SwarmError
from swarmgate.workspace.git.repository import Repository

_LOCKS = ("index.lock", "HEAD.lock")
"""Files in git's folder that keep every commit from being made (api-lockfile of git)."""
_LOCK_S, _PAUSE_S = 2.0, 0.1
"""How long a git command, such as an editor's, may hold one of them; and between two looks."""


def inspect(context: PreflightContext) -> Mapping[str, CheckResult]:
    """`repository` and `branch`."""
    return {"repository": _as_expected(context), "branch": _branch(context)}


def _as_expected(context: PreflightContext) -> CheckResult:
    """No file differs from HEAD or, while a task is unfinished, from what its last step left."""
    repository, left = context.fresh(), context.state.tree
    if lock := _standing_lock(repository):
        return CheckResult(
            f"{lock.name} stands",
            f"{lock} stands: git commits nothing while it is there",
            f"End the git command that made it; where none runs any more: rm '{lock}'",
        )
    try:
        if not left:
            paths = repository.dirty()
        else:
            tree = repository.snapshot()
            paths = () if tree == left else repository.changes(left, tree).paths
    except SwarmError as error:
        return CheckResult.of(error)
    if not paths:
        return CheckResult(f"as task {context.state.last or context.state.open} left it" if left else "clean")
    if left:
        return CheckResult(
            "a task is unfinished",
            f"files differ from what its last step left: {few(paths)}",
            "`swarm run` brings them back and keeps what differs in .swarm/quarantine/; or commit what is yours.",
        )
    return CheckResult(
        f"{len(paths)} uncommitted",
        f"uncommitted changes would get mixed with the agents' work: {few(paths)}",
        "Commit them, or put them aside with: swarm run --stash",
    )


def _standing_lock(repository: Repository) -> Path | None:
    """A lock of git's that stays: a command that is at work now gives it back in a moment."""
    places = [repository.git_dir / name for name in _LOCKS]
    until = time.monotonic() + _LOCK_S
    while standing := next((place for place in places if os.path.lexists(place)), None):
        if time.monotonic() >= until:
            return standing
        time.sleep(_PAUSE_S)
    return None


def _branch(context: PreflightContext) -> CheckResult:
    """On the branch of the work, or on any where it is not made yet; no merge, rebase or conflict stands."""
    repository, wanted = context.fresh(), context.state.branch
    try:
        here = repository.branch()
        repository.require_quiet()
    except SwarmError as error:
        return CheckResult.of(error)
    if wanted and here != wanted:
        create = "" if repository.branch_exists(wanted) else "-c "
        return CheckResult(
            here or "detached HEAD",
            f"the work is on branch {wanted}, and {here or 'no branch'} is checked out",
            f"git switch {create}{wanted}",
        )
    if not here:
        return CheckResult("detached HEAD", "no branch is checked out", "git switch main, or the branch to begin from")
    return CheckResult(here if wanted else f"{here}; the branch of the work is made from it")

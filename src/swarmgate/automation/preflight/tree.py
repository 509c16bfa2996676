"""The work tree: clean, or as the paused attempt left it; and on the branch of the work, with nothing half done."""

from __future__ import annotations

from collections.abc import Mapping

from swarmgate.automation.preflight.ground import Found, Ground, few
from swarmgate.errors import SwarmError


def look(ground: Ground) -> Mapping[str, Found]:
    """`repository` and `branch`."""
    return {"repository": _as_expected(ground), "branch": _branch(ground)}


def _as_expected(ground: Ground) -> Found:
    """No file differs from HEAD or, while a task is unfinished, from what its last step left."""
    repository, left = ground.fresh(), ground.state.tree
    try:
        if not left:
            paths = repository.dirty()
        else:
            tree = repository.snapshot()
            paths = () if tree == left else repository.changes(left, tree).paths
    except SwarmError as error:
        return Found.of(error)
    if not paths:
        return Found(f"as task {ground.state.last or ground.state.open} left it" if left else "clean")
    if left:
        return Found(
            "a task is unfinished",
            f"files differ from what its last step left: {few(paths)}",
            "`swarm run` brings them back and keeps what differs in .swarm/quarantine/; or commit what is yours.",
        )
    return Found(
        f"{len(paths)} uncommitted",
        f"uncommitted changes would get mixed with the agents' work: {few(paths)}",
        "Commit or stash them.",
    )


def _branch(ground: Ground) -> Found:
    """On the branch of the work, or on any where it is not made yet; no merge, rebase or conflict stands."""
    repository, wanted = ground.fresh(), ground.state.branch
    try:
        here = repository.branch()
        repository.require_quiet()
    except SwarmError as error:
        return Found.of(error)
    if wanted and here != wanted:
        create = "" if repository.branch_exists(wanted) else "-c "
        return Found(
            here or "detached HEAD",
            f"the work is on branch {wanted}, and {here or 'no branch'} is checked out",
            f"git switch {create}{wanted}",
        )
    if not here:
        return Found("detached HEAD", "no branch is checked out", "git switch main, or the branch to begin from")
    return Found(here if wanted else f"{here}; the branch of the work is made from it")

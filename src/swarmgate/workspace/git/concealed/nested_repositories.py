"""Moves nested git repositories and disguised git folders that a command created into quarantine."""

from __future__ import annotations

import shutil
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from swarmgate.errors import WorkspaceError
from swarmgate.workspace.files import guard, paths
from swarmgate.workspace.git.driver import OUTSIDE

if TYPE_CHECKING:
    from pathlib import Path

    from swarmgate.workspace.git.driver import Driver


def put_away(git: Driver, quarantine: Path) -> tuple[str, ...]:
    """Move untracked repositories, and `.git` or `.swarm` in another spelling, from the work tree below `quarantine`.

    What is ignored stays: it is not judged, and not committed.

    Returns:
        The paths of what was moved, repository-relative, sorted.

    Raises:
        WorkspaceError: something cannot be moved.
    """
    listed = git.records("ls-files", "-z", "--others", "--exclude-standard", "--", ".", OUTSIDE)
    found = sorted({place for raw in listed if (place := _foreign(paths.decode(raw)))})
    for place in found:
        target = quarantine / place
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(git.root / place, target)
        except OSError as error:
            raise WorkspaceError(f"`{place}` cannot be moved to {quarantine}: {error}") from error
    return tuple(found)


def _foreign(path: str) -> str:
    """The folder that has to go on account of an untracked path: git lists a repository as a folder with a slash."""
    if path.endswith("/"):
        return path.rstrip("/")
    parts = PurePosixPath(path).parts
    heads = (str(PurePosixPath(*parts[: size + 1])) for size in range(len(parts)))
    return next((head for head in heads if guard.is_reserved(head)), "")

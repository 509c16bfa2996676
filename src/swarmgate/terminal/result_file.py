"""Writes a result to the file that `--out` names, in addition to stdout."""

from __future__ import annotations

import os
from pathlib import Path

from swarmgate.errors import UsageError
from swarmgate.workspace.files import atomic, guard


def save(path: Path, version: str) -> None:
    """Writes a version to a file, in one step.

    Raises:
        OSError: the disk refused.
    """
    atomic.replace(path, f"{version}\n")


def check_out(path: Path, draft: Path | None, *, root: Path, force: bool) -> None:
    """Whether the result may be written there; asked before anybody is paid for it.

    Args:
        path: where to; outside of the repository anywhere.
        draft: the file that may be replaced, if there is one.
        root: of the repository, resolved.
        force: whether any file may be replaced; those in `.git` and `.swarm` may not.

    Raises:
        UsageError: it is in `.git` or `.swarm`, something else is there, no file, or no folder.
    """
    for place in (Path(os.path.abspath(path)), path.resolve()):  # noqa: PTH100 - without following links
        if place.is_relative_to(root) and guard.is_reserved(place.relative_to(root).as_posix()):
            raise UsageError(f"--out: {path} lies in .git or .swarm", hint="Name a file of the project, or elsewhere.")
    if path.exists() and not path.is_file():
        what = "a folder" if path.is_dir() else "no regular file"
        raise UsageError(f"--out: {path} is {what}", hint="Name a file.")
    if not path.parent.is_dir():
        raise UsageError(f"--out: there is no folder {path.parent}", hint="Make it first.")
    same = draft is not None and draft.exists() and path.exists() and path.samefile(draft)
    if path.exists() and not same and not force:
        raise UsageError(f"--out: {path} is there already", hint="Name another file, or replace that one with --force.")

"""Decides where a page for people may be written: over an older page of its kind, and over nothing else."""

from __future__ import annotations

import os
from pathlib import Path

from swarmgate.errors import UsageError
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.workspace.files import regular

_HEAD = 1_000
"""As many bytes at the beginning of a page are looked at for its mark."""


def require_free(target: Path, folder: SwarmFolder, *, own: Path, mark: str, verb: str) -> None:
    """Refuses a place that holds anything but an older page, and git's and swarmgate's own folders.

    Args:
        target: where to, absolute.
        folder: the project's.
        own: the one place in `.swarm/` where such a page belongs.
        mark: stands near the beginning of every such page.
        verb: who writes them: `handoff`.

    Raises:
        UsageError: the page must not be written there.
    """
    if not target.parent.is_dir() or target.is_dir():
        raise UsageError(
            f"{target} cannot be written: it needs a folder, and a name of a file there.",
            hint="Make the folder first, or name another file with --out.",
        )
    root, place = folder.root.resolve(), target.parent.resolve() / target.name
    inside = place.relative_to(root) if place.is_relative_to(root) else place
    reserved = {".git", folder.path.name} & {part.casefold() for part in inside.parts}
    if reserved and inside != own.relative_to(folder.root):
        raise UsageError(
            f"{target} lies in {reserved.pop()}/, where no page of yours belongs.",
            hint=f"Name a file elsewhere: {verb.upper()}{own.suffix}",
        )
    if os.path.lexists(target) and not _is_page(target, mark):
        raise UsageError(
            f"{target} is there, and swarm {verb} did not write it: it stays as it is.",
            hint="Name another file with --out, or move that one away.",
        )


def shown(target: Path, folder: SwarmFolder) -> str:
    """The place as messages show it: from the root of the repository where it lies in that."""
    return folder.relative(target) if target.is_relative_to(folder.root) else str(target)


def _is_page(path: Path, mark: str) -> bool:
    try:
        return mark.encode() in regular.read(path, follow=False)[:_HEAD].split(b"\n")
    except OSError:
        return False

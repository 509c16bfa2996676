"""Saves what gates fixed in uncommitted files as a patch, so that it can be undone."""

from __future__ import annotations

import contextlib
import shlex
from typing import TYPE_CHECKING

from platformdirs import user_state_path

if TYPE_CHECKING:
    from pathlib import Path

    from swarmgate.workspace.git.repository import Repository

_KEPT = 50
"""So many patches are kept, the newest ones."""


def saved(repository: Repository, before: str, after: str) -> str:
    """Keep the way back from the tree `after` to `before`; says how to take it.

    Args:
        repository: where files were fixed.
        before: the work tree's tree before the fixes.
        after: the same after them.
    """
    patch = repository.patch(before, after)
    try:
        place = _written(patch, f"{before[:12]}-{after[:12]}.patch")
    except OSError as error:
        return f"what was fixed is in the files and could not be kept as a patch: {error}"
    root = shlex.quote(str(repository.root))
    return f"files were fixed (see git diff); undo: git -C {root} apply -R {shlex.quote(str(place))}"


def _written(patch: bytes, name: str) -> Path:
    from swarmgate.workspace.files import atomic  # noqa: PLC0415 - late: few runs fix anything

    folder = user_state_path("swarmgate") / "fixes"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)  # work that is in no commit is nobody else's to read
    place = folder / name
    atomic.replace(place, patch, durable=False)
    older = sorted(folder.glob("*.patch"), key=lambda each: each.stat().st_mtime, reverse=True)[_KEPT:]
    for each in older:
        with contextlib.suppress(OSError):
            each.unlink()
    return place

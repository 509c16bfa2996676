"""Moves refused hand edits of the plan into the quarantine, so that nothing of the user's is lost."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

from swarmgate.domain.events.event import EditRefused
from swarmgate.journal.disk_errors import writing
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.hand_edits.edits import Edit
from swarmgate.ledger.views.projections import Projector
from swarmgate.workspace.files.atomic import replace
from swarmgate.workspace.files.folders import make


def keep(
    folder: SwarmFolder, projector: Projector, refused: Sequence[Edit], *, apart: bool = False
) -> tuple[EditRefused, ...]:
    """The refusals, to be recorded; what each file says lies in the quarantine then, once for each content.

    Args:
        folder: the project's.
        projector: knows the files that the edits stand in.
        refused: the edits.
        apart: they do not agree with each other, and are kept side by side.

    Raises:
        LedgerWriteFailed: the disk refused.
    """
    place: Path | None = None
    if apart:
        place = _place(folder, "conflict", {edit.source: edit.data for edit in refused})
    messages = []
    for edit in refused:
        target = place / edit.source if place else _place(folder, edit.source, {"": edit.data})
        if edit.unreadable:
            _move(projector, edit, target)
        elif not target.exists():
            with writing(target):
                make(target.parent)
                replace(target, edit.data)
        messages.append(EditRefused(source=edit.source, problems=edit.problems, kept=folder.relative(target)))
    return tuple(messages)


def _place(folder: SwarmFolder, name: str, files: dict[str, bytes]) -> Path:
    """Where the quarantine has these bytes, or will have them: an editor may save the same mistake every second.

    Args:
        folder: the project's.
        name: how the place is called, behind a time and the beginning of a hash.
        files: what lies there by its path below the place; "" is the place itself.
    """
    digest = hashlib.sha256(b"\0".join(files.values())).hexdigest()
    name = f"{digest[:16]}-{name}"
    for there in _ending(folder.quarantine, f"-{name}"):
        if all(_holds(there / file if file else there, data) for file, data in files.items()):
            return there
    return folder.quarantine_folder(name)


def _ending(folder: Path, end: str) -> list[Path]:
    """What lies in a folder, by the end of its name: thousands of others are passed over one by one."""
    try:
        with os.scandir(folder) as found:
            return [folder / each.name for each in found if each.name.endswith(end)]
    except FileNotFoundError:
        return []


def _holds(path: Path, data: bytes) -> bool:
    return path.is_file() and path.stat().st_size == len(data) and path.read_bytes() == data


def _move(projector: Projector, edit: Edit, target: Path) -> None:
    file = projector.plan_md if edit.source == projector.plan_md.path.name else projector.plan_json
    with writing(target):
        make(target.parent)
        file.move(target)

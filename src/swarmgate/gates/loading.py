"""The present files of a change with their content, read once from the tree that is judged, for all gates."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from swarmgate.gates.files import MAX_BYTES, UNREADABLE, Source, Trait, language_of, traits_of
from swarmgate.workspace.paths import encode

if TYPE_CHECKING:
    from pathlib import Path

    from swarmgate.domain.change import ChangedFile, ChangeSet
    from swarmgate.workspace.repository import Repository

_REGULAR = ("100644", "100755", "100664")
_LINK, _SUBMODULE = "120000", "160000"


def load(repository: Repository, change: ChangeSet) -> tuple[Source, ...]:
    """Every present file of the change; content only of those that a gate may read."""
    described = [(file, _traits(repository.root, file)) for file in change.present]
    readable = [file.path for file, traits in described if not traits & UNREADABLE]
    contents = repository.read_many(change.tree, readable) if readable else {}
    return tuple(
        Source(
            path=file.path,
            language=language_of(file.path),
            traits=traits,
            content=contents.get(file.path, b""),
            base_path=(file.old_path or file.path) if file.old_mode in _REGULAR else "",
            added_lines=frozenset(file.added_lines),
        )
        for file, traits in described
    )


def _traits(root: Path, file: ChangedFile) -> frozenset[Trait]:
    by_mode = {_LINK: Trait.LINK, _SUBMODULE: Trait.SUBMODULE}.get(file.new_mode)
    if by_mode:
        return frozenset({by_mode})
    found = {Trait.BINARY} if file.binary else set()
    try:
        # The tree is a snapshot of these files; asking git for the size would cost another process.
        if (root / os.fsdecode(encode(file.path))).lstat().st_size > MAX_BYTES:
            found.add(Trait.LARGE)
    except OSError:
        pass  # gone meanwhile: the tree still has it
    return traits_of(file.path) | found

"""What a debate is about: given text, files of the repository, and what the work tree changes against a revision."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from swarmgate.errors import CouncilRefused
from swarmgate.workspace.files import FileTree
from swarmgate.workspace.repository import Repository

_MOST = 200_000
"""Characters of all material: what no window of today's models holds is refused, not cut."""


def gathered(root: Path, text: str = "", *, files: Sequence[str] = (), diff: str = "") -> str:
    """The material: the text, then each file and the diff under a title.

    Args:
        root: top level of the work tree.
        text: as it is.
        files: repository-relative paths of text files.
        diff: a revision; empty: no diff.

    Raises:
        UnsafePath, FileProblem: a file is outside of the repository, not there, or no text.
        WorkspaceError: no such revision.
        CouncilRefused: it is more than 200,000 characters, or nothing was changed.
    """
    parts = [text.strip()] if text.strip() else []
    tree = FileTree(root)
    parts += [f"### {path}\n{tree.read(path, limit=_MOST + 1)}" for path in files]
    if diff:
        repository = Repository.discover(root)
        patch = repository.patch(repository.tree_of(diff), repository.snapshot()).decode("utf-8", "replace")
        if not patch.strip():
            raise CouncilRefused(f"`diff` is {diff!r}: the work tree does not differ from it.")
        parts.append(f"### The change against {diff}\n{patch}")
    material = "\n\n".join(parts)
    if len(material) > _MOST:
        raise CouncilRefused(
            f"The material has {len(material):,} characters; a debate holds {_MOST:,}.",
            hint="Give fewer files; the voices can read any file of the repository themselves.",
        )
    return material

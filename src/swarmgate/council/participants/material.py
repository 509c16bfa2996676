"""Loads the material of a council: given text, files of the repository, and the diff against a revision."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from swarmgate.council.limits import MATERIAL
from swarmgate.errors import CouncilRefused, FileProblem, UnsafePath
from swarmgate.workspace.file_tools.files import FileTree
from swarmgate.workspace.git.repository import Repository

OF_A_DEBATE = 200_000
"""Characters of a debate's material, of which every brief has all: what is more is refused, not cut."""


def gathered(
    root: Path,
    text: str = "",
    *,
    files: Sequence[str] = (),
    diff: str = "",
    most: int = int(MATERIAL.most),
    where: Callable[[tuple[int | str, ...]], str] = lambda _: "",
) -> str:
    """The material: the text, then each file and the diff under a title.

    Args:
        root: top level of the work tree.
        text: as it is.
        files: paths of text files, from the root of the repository, or absolute ones inside of it.
        diff: a revision; empty: no diff.
        most: characters of all of it.
        where: how a message about `files`, with the place in it from 0, or about `diff` begins.

    Raises:
        CouncilRefused: a file is not there, or no text; it is more than `most` characters, or nothing was changed.
        UnsafePath: a file is outside of the repository.
        WorkspaceError: no such revision.
    """
    parts = [text.strip()] if text.strip() else []
    tree = FileTree(root)
    parts += [_file_part(tree, path, where(("files", at)), most) for at, path in enumerate(files)]
    if diff:
        repository = Repository.discover(root)
        patch = repository.patch(repository.tree_of(diff), repository.snapshot()).decode("utf-8", "replace")
        if not patch.strip():
            raise CouncilRefused(f"{where(('diff',))}`diff` is {diff!r}: the work tree does not differ from it.")
        parts.append(f"### The change against {diff}\n{patch}")
    material = "\n\n".join(parts)
    if len(material) > most:
        raise CouncilRefused(
            f"The material has {len(material):,} characters: the limit is {most:,}.",
            hint="Give fewer files; the voices can read any file of the repository themselves.",
        )
    return material


def _file_part(tree: FileTree, path: str, begins: str, most: int) -> str:
    named = _from_root(tree.root, path)
    try:
        return f"### {named}\n{tree.read(named, limit=most + 1)}"
    except FileProblem as error:
        if (tree.root / named).exists():
            raise CouncilRefused(f"{begins}{error.message}", hint="Give text files of the repository.") from error
        raise CouncilRefused(
            f"{begins}There is no file {path[:200]!r} in the repository.",
            hint=f"Paths are from the current folder, or from the root of the repository, {tree.root}.",
        ) from error
    except UnsafePath as error:
        raise UnsafePath(f"{begins}{error.message}", hint="Give files inside of the repository.") from error


def _from_root(root: Path, path: str) -> str:
    """The path from the root of the repository; what is outside of it stays as it is, and is refused later."""
    given = Path(path)
    if not given.is_absolute():
        return path
    try:
        place = given.parent.resolve() / given.name
    except (OSError, RuntimeError, ValueError):
        return path
    return place.relative_to(root).as_posix() if place.is_relative_to(root) else path

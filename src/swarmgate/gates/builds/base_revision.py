"""Writes the base revision to a temporary folder, so that a build can be run on the code before the change."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from swarmgate.gates.builds import cache
from swarmgate.gates.source import comparison
from swarmgate.gates.source.file import Revision, SourceFile
from swarmgate.workspace.files.paths import encode
from swarmgate.workspace.process import temporary

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from swarmgate.domain.review.change import ChangeSet
    from swarmgate.domain.review.finding import Finding
    from swarmgate.workspace.git.repository import Repository

_ENVIRONMENTS = ("node_modules", ".venv", "venv")
"""What the packages of the project are installed in: not in git, and the base needs them as well."""


@contextlib.contextmanager
def checkout(repository: Repository, tree: str, folders: Sequence[str]) -> Iterator[Path]:
    """Write the files of `tree` to a temporary folder; the installed packages of `folders` are linked into it."""
    with temporary.folder("base") as root:
        for path, content in repository.read_many(tree, repository.list_tree(tree)).items():
            target = root / os.fsdecode(encode(path))
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            cache.date(target, content)
        for folder in {"", *folders}:
            for name in _ENVIRONMENTS:
                installed, link = repository.root / folder / name, root / folder / name
                if installed.is_dir() and link.parent.is_dir() and not link.exists():
                    link.symlink_to(installed, target_is_directory=True)
        yield root


def mark(
    repository: Repository, change: ChangeSet, found: Sequence[Finding], before: Sequence[Finding]
) -> list[Finding]:
    """Mark the findings that the base revision had as well as old.

    Other than a scanner's, a build's finding may stand in a file that the change did not touch: its line is compared
    with the same line of the base. One in a file that is no part of the tree (installed packages, what git ignores) is
    old: nobody wrote it here.

    Args:
        repository: the user's repository.
        change: what differs.
        found: findings in `change.tree`.
        before: findings in `change.base`, under the paths of the base.
    """
    former = {file.path: file.old_path or file.path for file in change.files if file.old_mode}
    new = {file.path for file in change.files if not file.old_mode}
    lines = {file.path: frozenset(file.added_lines) for file in change.files}
    paths = sorted({each.path for each in found})
    now = repository.read_many(change.tree, paths)
    base_paths = {path: "" if path in new else former.get(path, path) for path in paths}
    was = repository.read_many(change.base, [path for path in base_paths.values() if path])
    marked: list[Finding] = []
    for path in paths:
        base_path = base_paths[path]
        old = Revision(base_path, content=was.get(base_path, b"")) if base_path else None
        added = lines.get(path, frozenset())
        source = SourceFile.of(path, content=now.get(path, b""), old=old, added_lines=added)
        current = [each for each in found if each.path == path]
        past = [each for each in before if each.path == base_path] if base_path or not path else []
        compared = comparison.compare(source, current, past, edited=comparison.alike)
        foreign = _is_foreign(repository.root, change, path, in_tree=path in now)
        marked += [each.model_copy(update={"new": False}) for each in compared] if foreign else compared
    return marked


def _is_foreign(root: Path, change: ChangeSet, path: str, *, in_tree: bool) -> bool:
    """Whether a file that is there is nobody's work here: it lies elsewhere, is ignored, or belongs to packages."""
    if path.startswith(tuple(f"{folder}/" for folder in change.installed)):
        return True
    return bool(path) and not in_tree and (root / os.fsdecode(encode(path))).is_file()


def relative(findings: Sequence[Finding], root: Path, folder: str) -> list[Finding]:
    """Make the findings' paths relative to the repository; tools print them in several ways."""
    placed = []
    for each in findings:
        if not each.path:
            placed.append(each)
            continue
        place = Path(os.path.normpath(root / folder / each.path))
        inside = place.is_relative_to(root)
        placed.append(each.model_copy(update={"path": place.relative_to(root).as_posix() if inside else each.path}))
    return placed

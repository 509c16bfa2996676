"""Checks the size of a change, bytes and files, against the limits of `[gates.size]`.

A change that nobody can read is a change that nobody judges: gates read files up to a size, a reviewer sees so many
lines, and what is once in the history stays in every clone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from swarmgate.domain.review.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from swarmgate.config import Size
    from swarmgate.domain.review.change import ChangedFile, ChangeSet
    from swarmgate.workspace.git.repository import Repository

_MB = 1_000_000
_SUBMODULE = "160000"
_WAY_OUT = "keep it out of the repository, or split the work; the limits are [gates.size] in .swarm/config.toml"


def judge(repository: Repository, change: ChangeSet, limits: Size, *, first: bool) -> Iterator[Finding]:
    """The findings about the size of a change.

    Args:
        repository: holds the contents.
        change: what is judged.
        limits: what a change may hold.
        first: it is the first commit to be: then only its files are measured, one by one.
    """
    # A file that is moved, or gets another mode, brings no content.
    written = [each for each in change.present if each.new_id != each.old_id and each.new_mode != _SUBMODULE]
    sizes = repository.sizes({name for each in written for name in (each.new_id, each.old_id)})
    most = limits.max_file_mb
    added_bytes = {each.path: _added_bytes(each, sizes, most) for each in written}
    for path, count in added_bytes.items():
        if most is not None and count > most * _MB:
            message = f"the change brings {count / _MB:.1f} MB in one file, where {most:g} MB are allowed"
            yield _finding("large-file", path, message)
    total = sum(added_bytes.values())
    if limits.max_change_mb is not None and total > limits.max_change_mb * _MB and not first:
        message = f"the change brings {total / _MB:.1f} MB in all, where {limits.max_change_mb:g} MB are allowed"
        yield _finding("large-change", max(added_bytes, key=lambda path: added_bytes[path]), message)
    if limits.max_files is not None and len(written) > limits.max_files and not first:
        message = f"the change writes {len(written):,} files, where {limits.max_files:,} are allowed"
        yield _finding("many-files", written[0].path, message)


def _added_bytes(file: ChangedFile, sizes: Mapping[str, int], most: float | None) -> int:
    """The bytes of a written file; of one that was over the limit before, those that it grew by."""
    now, was = sizes.get(file.new_id, 0), sizes.get(file.old_id, 0)
    return max(now - was, 0) if most is not None and was > most * _MB else now


def _finding(rule: str, path: str, message: str) -> Finding:
    return Finding(rule=rule, path=path, severity=Severity.HIGH, message=message, suggestion=_WAY_OUT)

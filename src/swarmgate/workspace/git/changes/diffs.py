"""Compares two git trees: the status of each file, and which lines are new."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from swarmgate.domain.review.change import ChangedFile, ChangeKind, ChangeSet
from swarmgate.workspace.files import paths
from swarmgate.workspace.git.driver import BIG, LEFT_OUT, OUTSIDE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from pathlib import Path

    from swarmgate.workspace.git.driver import Driver

ABSENT = "000000"
"""The mode that git prints for a file that is not there."""

SUBMODULE = "160000"
"""The mode of a commit of another repository."""

_KINDS = {
    "A": ChangeKind.ADDED,
    "C": ChangeKind.ADDED,
    "D": ChangeKind.DELETED,
    "M": ChangeKind.MODIFIED,
    "R": ChangeKind.RENAMED,
    "T": ChangeKind.TYPE_CHANGED,
}
_PLAIN = ("--no-ext-diff", "--no-textconv", "--no-color", "--submodule=short", "-l2000")
_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_BINARY_PROBE = 8000  # bytes in which git looks for a NUL (xdiff-interface.c, FIRST_FEW_BYTES)


@dataclass(frozen=True)
class Raw:
    """One entry of `git diff-tree --raw`: modes and object ids on both sides, git's letter, raw paths."""

    letter: str
    old_mode: str
    new_mode: str
    old_id: str
    new_id: str
    old_path: bytes
    path: bytes

    @property
    def entry(self) -> Entry:
        """Its new side."""
        return Entry(self.path, self.new_mode, self.new_id)

    @property
    def old(self) -> Entry:
        """Its old side."""
        return Entry(self.old_path, self.old_mode, self.old_id)


@dataclass
class _Lines:
    binary: bool = False
    added: int = 0
    removed: int = 0
    numbers: list[int] = field(default_factory=list)

    def count(self, hunk: re.Match[bytes]) -> int:
        """Take in a hunk's header; returns how many lines of text follow it."""
        removed, start, added = int(hunk[1] or 1), int(hunk[2]), int(hunk[3] or 1)
        self.removed += removed
        self.added += added
        self.numbers.extend(range(start, start + added))
        return removed + added


def raw(git: Driver, base: str, tree: str) -> tuple[Raw, ...]:
    """What differs between two trees outside `.swarm/`, sorted by path as git sorts; no renames."""
    records = iter(git.records("diff-tree", "-r", "-z", "--no-renames", "--raw", base, tree, "--", ".", OUTSIDE))
    return tuple(_raw(header, records) for header in records)


def _raw(header: bytes, records: Iterator[bytes]) -> Raw:
    old_mode, new_mode, old_id, new_id, letter = header.decode().lstrip(":").split()
    old_path = next(records)
    path = next(records) if letter[0] in "RC" else old_path
    return Raw(letter[0], old_mode, new_mode, old_id, new_id, old_path, path)


class Entry(NamedTuple):
    """What an index holds at a path. Where nothing is there, the mode is `ABSENT`, and the id is zeros."""

    path: bytes
    mode: str
    id: str


def entries(change: ChangeSet, wanted: Collection[str]) -> list[Entry]:
    """The new side of a change at those of its paths that are wanted."""
    nothing = ABSENT, "0" * len(change.tree)
    moved = (file.old_path for file in change.files if file.kind is ChangeKind.RENAMED)
    gone = [Entry(paths.encode(path), *nothing) for path in moved if path in wanted]
    sides = ((file.path, (file.new_mode, file.new_id) if file.exists else nothing) for file in change.files)
    return [*gone, *(Entry(paths.encode(path), *side) for path, side in sides if path in wanted)]


def enter(git: Driver, found: Iterable[Entry], *, index: Path | None) -> None:
    """Set entries of an index, the user's own when None; removals first, for a file that became a folder."""
    ordered = sorted(found, key=lambda each: each.mode != ABSENT)
    place = b"\t" + git.prefix
    lines = (f"{int(each.mode, 8):o} {each.id}".encode() + place + each.path + b"\0" for each in ordered)
    git.run("update-index", "-z", "--index-info", stdin=b"".join(lines), index=index)


def changes(git: Driver, base: str, tree: str) -> ChangeSet:
    """The change set from `base` to `tree`."""
    wanted = ("--raw", "-p", "-U0", "-M50%", *_PLAIN)
    entries, text = _split(git.run("diff-tree", "-r", "-z", *wanted, base, tree, "--", ".", OUTSIDE))
    sections = _sections(text)
    # A change of type is printed as a deletion and a creation.
    counts = [[next(sections) for _ in range(2 if entry.letter == "T" else 1)] for entry in entries]
    files = (_file(git, entry, parts) for entry, parts in zip(entries, counts, strict=True))
    return ChangeSet(base=base, tree=tree, files=tuple(sorted(files, key=lambda file: file.path)))


def _split(out: bytes) -> tuple[tuple[Raw, ...], bytes]:
    """What `diff-tree -z --raw -p` prints: NUL-terminated raw records, one more NUL, and the patch."""
    entries, position = [], 0

    def fields() -> Iterator[bytes]:
        nonlocal position
        while True:
            start, position = position, out.index(b"\0", position) + 1
            yield out[start : position - 1]

    records = fields()
    while out[position : position + 1] == b":":
        entries.append(_raw(next(records), records))
    return tuple(entries), out[position + 1 :]


def patch(git: Driver, base: str, tree: str, *, without: Sequence[str] = ()) -> bytes:
    """The difference as a patch that `git apply` takes, binary files included; of some paths, only that they differ."""
    wanted = ("diff-tree", "-r", "-p", "--full-index", "-M50%", *_PLAIN)
    names = [os.fsdecode(paths.encode(path)) for path in without]
    whole = git.run(*wanted, "--binary", base, tree, "--", ".", OUTSIDE, *(f"{LEFT_OUT}{name}" for name in names))
    return whole + git.run(*wanted, base, tree, "--", *names) if names else whole


def _sections(text: bytes) -> Iterator[_Lines]:
    """One record for each `diff --git` section of a patch without context lines."""
    current: _Lines | None = None
    skip = 0
    for line in text.split(b"\n"):
        if skip and not line.startswith(b"\\"):
            skip -= 1
        elif line.startswith(b"diff --git "):
            if current:
                yield current
            current = _Lines()
        elif current and line.startswith(b"Binary files "):
            current.binary = True
        elif current and (hunk := _HUNK.match(line)):
            skip = current.count(hunk)
    if current:
        yield current


def _file(git: Driver, entry: Raw, parts: list[_Lines]) -> ChangedFile:
    if parts[-1].binary and entry.letter != "T":
        parts = [_unmasked(git, entry) or parts[-1]]
    kind = _KINDS[entry.letter]
    return ChangedFile(
        path=paths.decode(entry.path),
        kind=kind,
        old_path=paths.decode(entry.old_path) if kind is ChangeKind.RENAMED else "",
        old_mode="" if entry.old_mode == ABSENT else entry.old_mode,
        new_mode="" if entry.new_mode == ABSENT else entry.new_mode,
        old_id="" if entry.old_mode == ABSENT else entry.old_id,
        new_id="" if entry.new_mode == ABSENT else entry.new_id,
        binary=any(part.binary for part in parts),
        added=sum(part.added for part in parts),
        removed=sum(part.removed for part in parts),
        added_lines=tuple(parts[-1].numbers) if kind is not ChangeKind.DELETED else (),
    )


def _unmasked(git: Driver, entry: Raw) -> _Lines | None:
    """The lines of a file that is text, and binary only by a `.gitattributes` rule: such a rule must not hide them."""
    ids = [blob for mode, blob in ((entry.old_mode, entry.old_id), (entry.new_mode, entry.new_id)) if mode != ABSENT]
    if SUBMODULE not in {entry.old_mode, entry.new_mode} and any(
        int(git.run("cat-file", "-s", blob)) > BIG for blob in ids
    ):
        return None
    old, new = (
        git.run("cat-file", "blob", blob) if mode not in {ABSENT, SUBMODULE} else b""
        for mode, blob in ((entry.old_mode, entry.old_id), (entry.new_mode, entry.new_id))
    )
    if b"\0" in old[:_BINARY_PROBE] + new[:_BINARY_PROBE]:
        return None
    if entry.letter in "MR":
        text = git.run("diff", "-U0", "--text", *_PLAIN, entry.old_id, entry.new_id)
        return next(_sections(text), None)
    return _Lines(added=_count(new), removed=_count(old), numbers=list(range(1, _count(new) + 1)))


def _count(content: bytes) -> int:
    return content.count(b"\n") + (not content.endswith(b"\n") and bool(content))

"""The change set: the difference that git reports between two trees."""

from __future__ import annotations

from enum import StrEnum

from swarmgate.domain.base import Frozen


class ChangeKind(StrEnum):
    """How a file differs (git's status letters A, M, D, R, T; a copy counts as added)."""

    ADDED = "added"
    MODIFIED = "modified"
    DELETED = "deleted"
    RENAMED = "renamed"
    TYPE_CHANGED = "type_changed"


class ChangedFile(Frozen):
    """One file of a change set.

    Paths are repository-relative with `/`. Modes are git's octal strings (`100644`, `100755`, `120000` for a symbolic
    link, `160000` for a submodule), empty where the file does not exist on that side. `added_lines` lists the line
    numbers (from 1) of the new version that the change brought in; it is empty for binary and deleted files. `old_id`
    and `new_id` are git's ids of the contents, empty where there is none.
    """

    path: str
    kind: ChangeKind
    old_path: str = ""
    old_mode: str = ""
    new_mode: str = ""
    old_id: str = ""
    new_id: str = ""
    binary: bool = False
    added: int = 0
    removed: int = 0
    added_lines: tuple[int, ...] = ()

    @property
    def exists(self) -> bool:
        """Whether the file is there after the change."""
        return self.kind is not ChangeKind.DELETED

    @property
    def mode_changed(self) -> bool:
        """Whether the executable bit or the file type differs."""
        return bool(self.old_mode and self.new_mode) and self.old_mode != self.new_mode

    @property
    def touched(self) -> tuple[str, ...]:
        """The paths on both sides: what has to be staged to commit this file's change."""
        return (self.old_path, self.path) if self.kind is ChangeKind.RENAMED else (self.path,)


class ChangeSet(Frozen):
    """The difference between the tree `base` and the tree `tree` (git object ids), files sorted by path.

    `installed`: folders of installed packages and build output that git should ignore; what is in them is no part of
    `files`.
    """

    base: str
    tree: str
    files: tuple[ChangedFile, ...] = ()
    installed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.files or self.installed)

    @property
    def paths(self) -> tuple[str, ...]:
        """Every path that the change touches, old names of renamed files included, sorted."""
        return tuple(sorted({path for file in self.files for path in file.touched}))

    @property
    def present(self) -> tuple[ChangedFile, ...]:
        """The files that exist after the change."""
        return tuple(file for file in self.files if file.exists)

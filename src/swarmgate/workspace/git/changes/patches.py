"""Splits a patch by file for display: text is shown as text, whatever git attributes say."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from swarmgate.domain.review.change import ChangedFile, ChangeSet
from swarmgate.workspace.files.paths import encode

_SECTION = re.compile(rb"^(?=diff --git )", re.MULTILINE)
_BINARY = b"\nGIT binary patch\n"
_QUOTED = re.compile(rb'\\([0-7]{3}|[abtnvfr"\\])')
_UNQUOTED = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}

Contents = Callable[[str, Sequence[str]], Mapping[str, bytes]]
"""Gives the contents of paths in a tree."""


@dataclass(frozen=True)
class FilePatch:
    """What a change does to one file, as a diff; of a binary file the head alone, without its bytes."""

    file: ChangedFile
    text: str

    @property
    def path(self) -> str:
        """Where the file is now, or was."""
        return self.file.path


def by_file(
    patch: bytes, change: ChangeSet, contents: Contents, is_text: Callable[[ChangedFile], bool]
) -> tuple[FilePatch, ...]:
    """The sections of a patch as git made it with `--binary`, in the order of the change's files.

    Git prints as binary what an attribute calls so, or what has a NUL in it. Where that is text all the same, its lines
    are shown: all old ones go and all new ones come.

    Args:
        patch: of this very change.
        change: its files.
        contents: the files of its trees.
        is_text: whether a file is read as text, whatever git calls it.
    """
    heads = {_head(file): file.path for file in change.files}
    sections: dict[str, list[bytes]] = {file.path: [] for file in change.files}
    for section in _SECTION.split(patch):
        path = heads.get(_unquoted(section.partition(b"\n")[0]))
        if path is not None:
            sections[path].append(section)
    for file in change.files:  # nothing that changed is left out, whatever its section may be called
        if not sections[file.path]:
            sections[file.path] = [_head(file) + _BINARY]
    hidden = [file for file in change.files if is_text(file) and any(_BINARY in each for each in sections[file.path])]
    old = contents(change.base, [file.old_path or file.path for file in hidden if file.old_mode])
    new = contents(change.tree, [file.path for file in hidden if file.new_mode])
    rewritten = {file.path: _rewritten(old.get(file.old_path or file.path), new.get(file.path)) for file in hidden}
    return tuple(FilePatch(file, _text(file, sections[file.path], rewritten)) for file in change.files)


def _text(file: ChangedFile, sections: Sequence[bytes], rewritten: Mapping[str, bytes]) -> str:
    parts = []
    for section in sections:
        head, binary, _ = section.partition(_BINARY)
        body = rewritten.get(file.path, b"(binary)\n")
        parts.append(head + b"\n" + body if binary else section)
    return b"".join(parts).decode("utf-8", "replace")


def _rewritten(old: bytes | None, new: bytes | None) -> bytes:
    """A hunk that takes out all lines of one text and puts in those of the other."""
    before, after = (content.split(b"\n") if content else [] for content in (old, new))
    before, after = (lines[:-1] if lines and not lines[-1] else lines for lines in (before, after))
    span = b"@@ -%d,%d +%d,%d @@\n" % (bool(before), len(before), bool(after), len(after))
    return span + b"".join([*(b"-%b\n" % line for line in before), *(b"+%b\n" % line for line in after)])


def _head(file: ChangedFile) -> bytes:
    return b"diff --git a/%b b/%b" % (encode(file.old_path or file.path), encode(file.path))


def _unquoted(head: bytes) -> bytes:
    """A section's first line with the paths as they are: git quotes those with unusual characters."""
    if b'"' not in head:
        return head

    def plain(match: re.Match[bytes]) -> bytes:
        return bytes([int(match[1], 8)]) if match[1].isdigit() else _UNQUOTED.get(match[1], match[1])

    return re.sub(rb'"((?:[^"\\]|\\.)*)"', lambda quoted: _QUOTED.sub(plain, quoted[1]), head)

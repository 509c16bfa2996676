"""Tracks which parts of a change a reviewer has seen, so that no verdict covers unread code.

Every character of a changed line counts. It was shown where it stood in the brief, in a part that `read_change` gave,
or in a line that `read_file` or `search` gave. Padding hides nothing: what has to be seen stands first in the brief.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from swarmgate.domain.review.change import ChangedFile
from swarmgate.errors import FileProblem

_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_LISTED = 5
"""Files that are named where something was not seen."""
_MATCH = re.compile(r"(.*?):(\d+): (.*)", re.DOTALL)


@dataclass
class ShownFile:
    """The change of one file, and how much of it was shown.

    `text` is its diff; `must` says whether it has to be seen before the change is approved.
    """

    file: ChangedFile
    text: str
    must: bool = True
    _mask: bytearray = field(init=False, default_factory=bytearray)

    def __post_init__(self) -> None:
        self._mask = bytearray(len(self.text))

    @property
    def path(self) -> str:
        """Where the file is now, or was."""
        return self.file.path

    def show(self, start: int, end: int) -> str:
        """These characters of the diff; they were shown from now on."""
        end = min(end, len(self.text))
        self._mask[start:end] = b"\1" * max(0, end - start)
        return self.text[start:end]

    def show_line(self, number: int, line: str) -> None:
        """A line of the file as it is now was shown; it counts where it is this very line."""
        start, end = self._new_lines.get(number, (0, 0))
        if end and self.text[start + 1 : end].strip("\r\ufeff") == line.strip("\r\ufeff"):
            self.show(start, end)

    @cached_property
    def _changed(self) -> tuple[tuple[int, int, int], ...]:
        """Each changed line: its number in the new file (0: it is gone), where it begins in the diff, where it ends."""
        found, at, number, inside = [], 0, 0, False
        for line in self.text.split("\n"):
            end = at + len(line)
            if hunk := _HUNK.match(line):
                number, inside = int(hunk[1]), True
            elif line.startswith("diff --git "):
                inside = False
            elif inside and line[:1] == "-":
                found.append((0, at, end))
            elif inside and line[:1] == "+":
                found.append((number, at, end))
            number += inside and line[:1] in {"+", " "} and not hunk
            at = end + 1
        return tuple(found)

    @cached_property
    def _new_lines(self) -> dict[int, tuple[int, int]]:
        return {number: (start, end) for number, start, end in self._changed if number}

    def first_unseen(self) -> int | None:
        """Where the first character of a changed line stands that was not shown; None: all were."""
        return next(
            (place for _, start, end in self._changed if (place := self._mask.find(0, start, end)) != -1),
            None,
        )


@dataclass
class ShownChange:
    """A whole change on its way to a reviewer.

    Args:
        files: what has to be seen first.
        part: characters of one part that `read_change` gives.
    """

    files: Sequence[ShownFile]
    part: int

    @cached_property
    def _by_path(self) -> dict[str, ShownFile]:
        return {each.path: each for each in self.files}

    def brief(self, size: int) -> str:
        """The list of the files and as much of their diffs as `size` characters hold; the rest is named."""
        text = f"{self._names(size // 4)}\n\n"
        for number, each in enumerate(self.files):
            room = size - len(text)
            if len(each.text) > room:
                end = each.text.rfind("\n", 0, max(room, 0)) + 1 or max(room, 0)
                return f"{text}{each.show(0, end)}\n{self._rest(number, end)}"
            text += each.show(0, len(each.text))
        return text

    def read(self, path: str, part: int) -> str:
        """A part of the change of one file, from 1.

        Raises:
            FileProblem: the file is not changed, or its change has no such part.
        """
        each = self._by_path.get(path)
        if each is None:
            raise FileProblem(f"`{path[:200]}` is no file of the change; they are listed at its beginning")
        parts = self._parts(each)
        if not 1 <= part <= parts:
            raise FileProblem(f"the change of `{path}` has {parts} parts; there is no part {part}")
        text = each.show((part - 1) * self.part, part * self.part)
        more = f"; call read_change with part={part + 1}" if part < parts else ""
        return f"{text}\n[part {part} of {parts} of the change of {path}{more}]"

    def was_read(self, path: str, start: int | None, result: str) -> None:
        """`read_file` gave this text, from that line on."""
        each = self._by_path.get(path)
        if each is not None and each.must:
            for number, line in enumerate(result.split("\n"), start or 1):
                each.show_line(number, line)

    def was_found(self, result: str) -> None:
        """`search` gave these lines."""
        for line in result.split("\n"):
            match = _MATCH.fullmatch(line)
            if match and (each := self._by_path.get(match[1])) is not None:
                each.show_line(int(match[2][:9]), match[3])

    @property
    def unseen(self) -> tuple[ShownFile, ...]:
        """The files that have to be seen and were not, not wholly."""
        return tuple(each for each in self.files if each.must and each.first_unseen() is not None)

    def objection(self) -> str:
        """Why the change cannot be approved yet, with the next part of what was not seen; empty where all was."""
        unseen = self.unseen
        if not unseen:
            return ""
        places = [f"{each.path} (from part {self._at(each)} of {self._parts(each)} on)" for each in unseen[:_LISTED]]
        more = f" and {len(unseen) - _LISTED} more" if len(unseen) > _LISTED else ""
        message = (
            "APPROVED speaks for the whole change, and not all of its code was shown to you. Not seen: "
            f"{', '.join(places)}{more}. Read it with read_change, then submit again. Here is what comes next:"
        )
        room, visible = self.part, []
        for each in unseen:
            while room > 0 and (start := each.first_unseen()) is not None:
                text = each.show(start, start + room)
                visible.append(f"{each.path}:\n{text}")
                room -= len(text)
        return "\n".join([message, *visible])

    def _names(self, size: int) -> str:
        """The files, one a line, as many as the size holds; the rest is counted."""
        listed, used = list[str](), 0
        for each in self.files:
            listed.append(_line(each.file))
            used += len(listed[-1]) + 1
            if used > size:
                break
        left = len(self.files) - len(listed)
        return "\n".join([*listed, *([f"and {left:,} files more"] if left else [])])

    def _rest(self, number: int, end: int) -> str:
        """What is said where the brief ends, in the change of one file."""
        each, after = self.files[number], self.files[number + 1 :]
        seen = sum(file.must for file in after)
        follow = f"; {len(after):,} files follow, {seen:,} of them code" if after else ""
        left = f"{len(each.text) - end:,} characters of the change of {each.path}"
        return f"[... {left} left out{follow}: call read_change with this path and part={end // self.part + 1} ...]"

    def _parts(self, each: ShownFile) -> int:
        return max(1, -(-len(each.text) // self.part))

    def _at(self, each: ShownFile) -> int:
        return (each.first_unseen() or 0) // self.part + 1


def _line(file: ChangedFile) -> str:
    size = "binary" if file.binary else f"+{file.added} -{file.removed}"
    moved = f" (was {file.old_path})" if file.old_path else ""
    return f"{file.kind}: {file.path}{moved} ({size})"

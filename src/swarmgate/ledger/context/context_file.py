"""Reads, changes and writes context.md under a lock, so that concurrent writers lose no update.

A change happens under a lock of its own (`runtime/context.lock`), for an instant. Two blocks of the file are
swarmgate's: what is derived from the ledger, and the summaries of evidence. All outside of them is the user's, and
stays byte for byte, marks that he quotes too: a mark counts where it has its line for itself, outside of code fences,
and what stands behind it begins as swarmgate begins a block. Where a hand changed a block that has to be written
anew, the whole file is kept in quarantine first; `runtime/context.json` holds what was written last.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from swarmgate.errors import UsageError
from swarmgate.ledger.context.redaction import without_keys
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.workspace import system
from swarmgate.workspace.files import exclusive, regular
from swarmgate.workspace.files.atomic import replace
from swarmgate.workspace.files.folders import make

DERIVED_BEGIN, DERIVED_END = "<!-- swarm: derived from the ledger, do not edit -->", "<!-- swarm: end -->"
"""The marks around what is derived from the ledger."""
EVIDENCE_BEGIN = "<!-- swarm: evidence summaries, derived; do not edit -->"
EVIDENCE_END = "<!-- swarm: end of evidence summaries -->"
"""The marks around the summaries of evidence."""
BLOCKS = {DERIVED_BEGIN: DERIVED_END, EVIDENCE_BEGIN: EVIDENCE_END}
"""What begins and ends the parts that are not the user's."""

_MARKS = frozenset({*BLOCKS, *BLOCKS.values()})

EVIDENCE_HEADING = "## Evidence of long tasks"
_HEADINGS = {
    DERIVED_BEGIN: ("## Decisions", "## Overrides", "## Approved without a person", "## Patterns"),
    EVIDENCE_BEGIN: (EVIDENCE_HEADING,),
}
"""How a block begins that swarmgate wrote; what begins with anything else is the user's own."""

LARGEST = 20_000_000
"""Bytes of a context.md that are read."""

NEW = b"# Context\n"
"""A context.md that nobody has written to yet."""

TASKS, LINES = 20, 40
"""As many tasks have a summary, of so many lines at most; the ones that were written longest ago go first."""

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_FENCE = re.compile(r"(`{3,}|~{3,})([^`]*)")
_OPENS_FENCE = re.compile(r"^(?:```|~~~)", re.MULTILINE)
_HEAD = re.compile(r"^### Task (?P<task>\S+), goal (?P<goal>\d{1,9})(?=:|$)", re.MULTILINE)
_WAIT_S, _PAUSE_S = 2.0, 0.01
_TRIES = 5
_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}
"""What a file system says that has no locks: there, an update is only as safe as its stamp."""


def update(path: Path, change: Callable[[bytes], bytes], *, precious: bool = False) -> bool:
    """Changes context.md, whoever else does meanwhile.

    Args:
        path: the file, in `.swarm/`.
        change: makes the new content of the present one; it may be asked more than once.
        precious: the change cannot be made again: it is written durably, and also where the lock was not to be had.

    Returns:
        False where another process held the lock for 2 seconds: nothing was done.

    Raises:
        OSError: the disk refused, or what stands there is no file that can be read; it is as before.
        LedgerWriteFailed: what a hand changed could not be kept; the file is as before.
    """
    with _locked(path) as free:
        if free or precious:
            _rewrite(path, change, durable=precious)
        return free or precious


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[bool]:
    """Holds the lock of context.md; False where it was not to be had in time."""
    lock = path.parent / "runtime" / "context.lock"
    make(lock.parent)
    handle = os.open(lock, os.O_RDWR | os.O_CREAT | system.CLOEXEC, 0o644)
    try:
        yield _take(handle)
    finally:
        os.close(handle)  # which gives the lock back


def _take(handle: int) -> bool:
    until = time.monotonic() + _WAIT_S
    while True:
        try:
            exclusive.take(handle, wait=False)
        except BlockingIOError:
            if time.monotonic() >= until:
                return False
            time.sleep(_PAUSE_S)
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
            return True
        else:
            return True


def read(path: Path) -> bytes:
    """The content of a context.md; nothing where there is none.

    Raises:
        UsageError: it is a folder, a pipe or a device, is larger than 20 MB, or cannot be read.
    """
    try:
        return regular.read(path, limit=LARGEST)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read: {error.strerror or error}.", hint="Make it a readable file, or move it away."
        ) from error


def _rewrite(path: Path, change: Callable[[bytes], bytes], *, durable: bool) -> None:
    record = path.parent / "runtime" / "context.json"
    known = _known(record)
    for _ in range(_TRIES):
        before = _stamp(path)
        old = regular.read(path, limit=LARGEST) if before else NEW
        new = change(old)
        there, after = _prints(old), _prints(new)
        ours = {begin: digest for begin, digest in after.items() if digest != there.get(begin)}
        if any(begin in there and there[begin] != known.get(begin) for begin in ours):
            SwarmFolder(path.parent.parent).keep(path.name, old)
        if _stamp(path) == before:  # an edit that the user saved meanwhile is read first
            break
    if new != old or not before:
        replace(path, new, durable=durable)
    if ours:
        with contextlib.suppress(OSError):  # without the record, the next change keeps one file more
            replace(record, json.dumps({**known, **ours}, indent=1) + "\n", durable=False)


def _prints(content: bytes) -> dict[str, str]:
    """The SHA-256 of what stands in each block of ours that is not empty, by its first mark."""
    text = _text(content)
    lines = _LINE.findall(text)
    found = {begin: "".join(lines[block.first + 1 : block.last]) for begin in BLOCKS if (block := _own(text, begin))}
    return {begin: hashlib.sha256(_bytes(held)).hexdigest() for begin, held in found.items() if held.strip()}


def _known(record: Path) -> dict[str, str]:
    """The same of what was written last; nothing where that is not known."""
    try:
        found = json.loads(regular.read(record))
    except (OSError, ValueError):
        return {}
    return {str(key): str(value) for key, value in found.items()} if isinstance(found, dict) else {}


def _stamp(path: Path) -> tuple[int, ...]:
    """What tells two versions of a file apart; empty when there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return ()
    return found.st_ino, found.st_mtime_ns, found.st_size


class Block(NamedTuple):
    """A block of swarmgate's: its first mark, and the numbers of the lines, from 0, of its first and its last mark."""

    begin: str
    first: int
    last: int


def blocks(text: str) -> tuple[Block, ...]:
    """What stands between two marks that belong together, each alone on its line and outside of code fences."""
    lines = [line.rstrip() for line in _LINE.findall(text)]
    found: list[Block] = []
    unclosed: dict[str, int] = {}
    number = 0
    while number < len(lines):
        begin = lines[number]
        if begin in BLOCKS:
            last = next((n for n in range(number + 1, len(lines)) if lines[n] in _MARKS), number)
            if lines[last] == BLOCKS[begin]:
                found.append(Block(begin, number, last))
                number = last
        else:
            number = _fence_end(lines, number, unclosed)
        number += 1
    return tuple(found)


def _fence_end(lines: list[str], number: int, unclosed: dict[str, int]) -> int:
    """The line that ends the code fence which begins here; the line itself where none does, or none ends.

    `unclosed` has the length, by its character, of the shortest fence that does not end: none behind it does either.
    """
    opened = _FENCE.fullmatch(lines[number])
    if opened is None or len(opened[1]) >= unclosed.get(opened[1][0], len(opened[1]) + 1):
        return number
    fence = opened[1]
    for end in range(number + 1, len(lines)):
        if lines[end].startswith(fence) and not lines[end].strip(fence[0]):
            return end
    unclosed[fence[0]] = len(fence)
    return number


def _own(text: str, begin: str) -> Block | None:
    """The block that swarmgate wrote between these marks, or that was emptied; None: there is none."""
    lines = _LINE.findall(text)
    for block in blocks(text):
        inside = "".join(lines[block.first + 1 : block.last]).strip()
        if block.begin == begin and (not inside or inside.startswith(_HEADINGS[begin])):
            return block
    return None


def with_block(old: bytes, begin: str, end: str, text: str) -> bytes:
    """The content with the text between these marks, keys masked: in the place of our block, else at the end.

    Args:
        old: the content.
        begin: the first mark.
        end: the last one.
        text: lines of `unmarked` text, the first of them a heading of such a block.
    """
    new = f"{begin}\n{without_keys(text)}{end}"
    content = _text(old)
    block = _own(content, begin)
    if block is None:
        return old + _bytes(f"\n{new}\n")
    lines = _LINE.findall(content)
    rest = lines[block.last][len(lines[block.last].rstrip()) :]
    return _bytes("".join((*lines[: block.first], new, rest, *lines[block.last + 1 :])))


def _text(content: bytes) -> str:
    return content.decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def unmarked(text: str) -> str:
    """The text with nothing in it that looks like one of the marks, or opens a code fence."""
    return _OPENS_FENCE.sub(r"\\\g<0>", text.replace("<!--", "<!\u200b--"))


def keep_summary(path: Path, *, goal: int, task: str, lines: list[str]) -> bool:
    """Puts the summary of a task's evidence into the block, in the place of its older one.

    Args:
        path: context.md.
        goal: the goal of the task.
        task: its id.
        lines: markdown, without a heading; the first is the title. Further ones than `LINES` are left out.

    Returns:
        False as `update` does.

    Raises:
        OSError: the disk refused.
    """
    title, body = unmarked(lines[0]), [unmarked(line) for line in lines[1:]]
    if len(body) > LINES - 2:
        body = [*body[: LINES - 3], f"... {len(body) - LINES + 3} more lines: swarm evidence {task} --summary"]
    own = "\n".join((f"### Task {task}, goal {goal}: {title}", "", *body))

    def change(old: bytes) -> bytes:
        stored = {key: text for key, text in _summaries(old).items() if key != (goal, task)}
        newest = [*stored.values(), own][-TASKS:]
        return with_block(old, EVIDENCE_BEGIN, EVIDENCE_END, f"{EVIDENCE_HEADING}\n\n" + "\n\n".join(newest) + "\n")

    return update(path, change)


def _summaries(content: bytes) -> dict[tuple[int, str], str]:
    """The summaries that stand in the block, by goal and task, in order."""
    text = _text(content)
    found = _own(text, EVIDENCE_BEGIN)
    if found is None:
        return {}
    block = "".join(_LINE.findall(text)[found.first + 1 : found.last])
    heads = list(_HEAD.finditer(block))
    ends = [*(head.start() for head in heads), len(block)][1:]
    return {
        (int(head["goal"]), head["task"]): block[head.start() : until].rstrip()
        for head, until in zip(heads, ends, strict=True)
    }

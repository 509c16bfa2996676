"""The one place where context.md is read, changed and written: a run and a watcher never lose each other's update.

A change happens under a lock of its own (`runtime/context.lock`), for an instant. Two blocks of the file are
swarmgate's: what is derived from the ledger, and the summaries of evidence. All outside of their marks is the user's,
and stays byte for byte.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from swarmgate.workspace.atomic import replace

DERIVED_BEGIN, DERIVED_END = "<!-- swarm: derived from the ledger, do not edit -->", "<!-- swarm: end -->"
"""The marks around what is derived from the ledger."""
EVIDENCE_BEGIN = "<!-- swarm: evidence summaries, derived; do not edit -->"
EVIDENCE_END = "<!-- swarm: end of evidence summaries -->"
"""The marks around the summaries of evidence."""
BLOCKS = {DERIVED_BEGIN: DERIVED_END, EVIDENCE_BEGIN: EVIDENCE_END}
"""What begins and ends the parts that are not the user's."""

NEW = b"# Context\n"
"""A context.md that nobody has written to yet."""

TASKS, LINES = 20, 40
"""As many tasks have a summary, of so many lines at most; the ones that were written longest ago go first."""

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
        OSError: the disk refused; the file is as before.
    """
    with _locked(path) as free:
        if free or precious:
            _rewrite(path, change, durable=precious)
        return free or precious


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[bool]:
    """Holds the lock of context.md; False where it was not to be had in time."""
    lock = path.parent / "runtime" / "context.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        yield _take(handle)
    finally:
        os.close(handle)  # which gives the lock back


def _take(handle: int) -> bool:
    until = time.monotonic() + _WAIT_S
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
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


def _rewrite(path: Path, change: Callable[[bytes], bytes], *, durable: bool) -> None:
    for _ in range(_TRIES):
        before = _stamp(path)
        old = path.read_bytes() if before else NEW
        new = change(old)
        if _stamp(path) == before:  # an edit that the user saved meanwhile is read first
            break
    if new != old or not before:
        replace(path, new, durable=durable)


def _stamp(path: Path) -> tuple[int, ...]:
    """What tells two versions of a file apart; empty when there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return ()
    return found.st_ino, found.st_mtime_ns, found.st_size


def with_block(old: bytes, begin: str, end: str, text: str) -> bytes:
    """The content with the text between these marks: where they stand, else at the end."""
    block = f"{begin}\n{text}{end}".encode()
    new, found = _marked(begin, end).subn(lambda _: block, old, count=1)
    return new if found else old + b"\n" + block + b"\n"


def _marked(begin: str, end: str) -> re.Pattern[bytes]:
    return re.compile(f"{re.escape(begin)}(?:(?!{re.escape(begin)}).)*?{re.escape(end)}".encode(), re.DOTALL)


def unmarked(text: str) -> str:
    """The text with nothing in it that looks like one of the marks."""
    return text.replace("<!--", "<!\u200b--")


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
        kept = {key: text for key, text in _summaries(old).items() if key != (goal, task)}
        newest = [*kept.values(), own][-TASKS:]
        return with_block(
            old, EVIDENCE_BEGIN, EVIDENCE_END, "## Evidence of long tasks\n\n" + "\n\n".join(newest) + "\n"
        )

    return update(path, change)


def _summaries(content: bytes) -> dict[tuple[int, str], str]:
    """The summaries that stand in the block, by goal and task, in order."""
    found = _marked(EVIDENCE_BEGIN, EVIDENCE_END).search(content)
    if found is None:
        return {}
    block = found[0].decode("utf-8", "replace").removesuffix(EVIDENCE_END)
    heads = list(_HEAD.finditer(block))
    ends = [*(head.start() for head in heads[1:]), len(block)]
    return {
        (int(head["goal"]), head["task"]): block[head.start() : until].rstrip()
        for head, until in zip(heads, ends, strict=True)
    }

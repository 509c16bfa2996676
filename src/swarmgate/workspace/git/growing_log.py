"""Stores an append-only log in git: a chain of commits below our own refs, one for each appended piece.

    refs/swarm/ledger/<name>/1 -> commit -> commit -> ...      each tree: `log`, the bytes since the commit before

Files and trees may stand beside the log: they are as the newest commit has them, and what did not change costs nothing.

Nothing is stored twice, no hook runs, no identity or signature of the user's is used, and `git gc` keeps all of it.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from typing import TYPE_CHECKING, NamedTuple

from swarmgate.workspace.git.driver import call, failure
from swarmgate.workspace.git.object_model import walk
from swarmgate.workspace.git.trees import blobs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from swarmgate.workspace.git.driver import Driver

_FILE = "log"
_AUTHOR = "swarmgate <swarmgate@localhost>"
_REPORT = re.compile(r"^fast-import: dumping crash report to (.+)$", re.MULTILINE)
_STALE_S = 10.0
"""After so long a lock of one of our refs is a dead process's: git holds it for milliseconds, and one writer asks."""
_OPTIONS = (
    "-c",
    "fastimport.unpackLimit=100",  # no pack of its own for each piece, whatever the user prefers
    "-c",
    "core.hooksPath=/dev/null",
)
_DURABLE = ("-c", "core.fsync=committed,loose-object")
"""What it proves has to outlive a power cut."""
_FLEETING = ("-c", "core.fsync=none")


class Piece(NamedTuple):
    """One commit of the chain: its id, its message, its parents, its bytes (None: it holds no such file)."""

    commit: str
    message: str
    parents: tuple[str, ...]
    data: bytes | None


class Beside(NamedTuple):
    """What changes beside the log, by path: the bytes of files (None: it is gone), and trees (empty: it is gone)."""

    files: Mapping[str, bytes | None] = {}
    trees: Mapping[str, str] = {}

    def commands(self) -> Iterator[bytes]:
        """The lines of a stream of `git fast-import` that make it so."""
        for path, data in self.files.items():
            name = _quoted(path)
            yield b"D " + name if data is None else b"M 100644 inline %s\ndata %d\n" % (name, len(data)) + data
        for path, tree in self.trees.items():
            yield b"M 040000 %s %s" % (tree.encode(), _quoted(path)) if tree else b"D " + _quoted(path)


def _quoted(path: str) -> bytes:
    """A path as a stream takes it, whatever characters it has."""
    escaped = os.fsencode(path).replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
    return b'"%s"' % escaped


_NOTHING = Beside()


def add(
    root: Path,
    ref: str,
    piece: bytes,
    *,
    message: str,
    parent: str,
    beside: Beside = _NOTHING,
    durable: bool = True,
) -> str:
    """Adds a piece to the chain, and moves the ref there; returns the commit's id.

    Args:
        root: of the work tree.
        ref: that names the end of the chain; made if it is not there, and never taken off what it names.
        piece: the bytes.
        message: of the commit.
        parent: the id of the commit before; empty: this is the first one.
        beside: what changes beside it.
        durable: whether it outlives a power cut; False: another copy of it does.

    Raises:
        WorkspaceError: git refused: the parent is gone, or the ref names something that is not before this.
    """
    text = message.encode()
    stream = (
        f"commit {ref}\nmark :1\ncommitter {_AUTHOR} {int(time.time())} +0000\ndata {len(text)}\n".encode() + text,
        *([f"from {parent}".encode()] if parent else []),
        f"M 100644 inline {_FILE}\ndata {len(piece)}\n".encode() + piece,
        *beside.commands(),
        b"get-mark :1",
        b"done\n",
    )
    options = (*_OPTIONS, *(_DURABLE if durable else _FLEETING))
    code, out, err = _import(root, options, b"\n".join(stream))
    if code and _unlocked(root, ref):
        code, out, err = _import(root, options, b"\n".join(stream))
    if code:
        raise failure(f"fast-import of {ref}", err)
    return out.decode().strip()


def _import(root: Path, options: tuple[str, ...], stream: bytes) -> tuple[int, bytes, str]:
    code, out, err = call(root, *options, "fast-import", "--quiet", "--done", stdin=stream)
    for report in _REPORT.findall(err):
        (root / report).unlink(missing_ok=True)
    return code, out, err


def _unlocked(root: Path, ref: str) -> bool:
    """Whether a lock of the ref was found that a dead process left, and is gone now."""
    code, out, _ = call(root, "rev-parse", "--git-common-dir")
    lock = root / os.fsdecode(out.rstrip(b"\n")) / f"{ref}.lock"
    with contextlib.suppress(OSError):
        if not code and time.time() - lock.stat().st_mtime > _STALE_S:
            lock.unlink()
            return True
    return False


def move(git: Driver, prefix: str, target: str) -> bool:
    """Gives the refs below a prefix other names, all or none; returns whether there were any. Both end in `/`.

    Raises:
        WorkspaceError: git refused.
    """
    found = ends(git, prefix)
    made = [f"create {target}{ref.removeprefix(prefix)} {commit}\n" for ref, commit in found.items()]
    gone = [f"delete {ref} {commit}\n" for ref, commit in found.items()]
    if found:
        git.run("update-ref", "--stdin", stdin="".join((*made, *gone)).encode(errors="surrogateescape"))
    return bool(found)


def ends(git: Driver, prefix: str) -> dict[str, str]:
    """The refs below a prefix that ends in `/`, with the ids that they name."""
    listed = git.run("for-each-ref", "--format=%(objectname) %(refname)", prefix.rstrip("/"))
    found = (line.partition(" ") for line in listed.decode(errors="surrogateescape").splitlines())
    return {ref: name for name, _, ref in found}


def pieces(git: Driver, tips: tuple[str, ...]) -> tuple[Piece, ...]:
    """Every commit that these reach, parents first.

    Raises:
        WorkspaceError: one of them is no commit, or an object is missing.
    """
    if not tips:
        return ()
    found = walk(git, tips, parents_first=True)
    logs = blobs(git, [f"{each.commit}:{_FILE}".encode() for each in found])
    return tuple(
        Piece(each.commit, each.message, each.parents, log.content if log else None)
        for each, log in zip(found, logs, strict=True)
    )

"""Reads and writes notes of commits (git-notes(1)) below a ref of swarmgate's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swarmgate.workspace.files import exclusive
from swarmgate.workspace.git.driver import call, failure
from swarmgate.workspace.git.trees import blobs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from swarmgate.workspace.git.driver import Driver
    from swarmgate.workspace.git.locks import Locks

_DURABLE = ("-c", "core.fsync=committed,loose-object", "-c", "core.hooksPath=/dev/null")
"""What a note proves has to outlive a power cut; no hook of the user's runs for it."""


def write(git: Driver, locks: Locks, ref: str, commit: str, text: str) -> None:
    """Makes this text the note of a commit, byte for byte, instead of the one that it had.

    Args:
        git: of the project.
        locks: of its work tree.
        ref: below `refs/notes/`.
        commit: its id.
        text: of the note.

    Raises:
        WorkspaceError: git refused.
        GitLocked: somebody else holds the lock of the ref.
    """
    blob = git.run("hash-object", "-w", "--stdin", stdin=text.encode()).decode().strip()

    def put() -> None:
        # git replaces the ref whatever it names by then: two writers at once would lose a note.
        with exclusive.folder(git.common_dir):
            code, _, err = call(git.root, *_DURABLE, "notes", f"--ref={ref}", "add", "--force", "-C", blob, commit)
        if code:
            raise failure("notes", err)

    locks.take("notes", put)


def merge(git: Driver, locks: Locks, ref: str, other: str) -> None:
    """Takes in the notes of another history of the ref; where both have one of the same commit, that of this one stays.

    The history that comes of it has both behind it, so that no note is lost.

    Args:
        git: of the project.
        locks: of its work tree.
        ref: below `refs/notes/`.
        other: the newest commit of the other history.

    Raises:
        WorkspaceError: git refused.
        GitLocked: somebody else holds the lock of the ref.
    """

    def join() -> None:
        with exclusive.folder(git.common_dir):  # see `write`
            code, _, err = call(git.root, *_DURABLE, "notes", f"--ref={ref}", "merge", "--quiet", "-s", "ours", other)
        if code:
            raise failure("notes", err)

    locks.take("notes", join)


def tip(git: Driver, ref: str) -> str:
    """The newest commit of the history of the ref; empty where it is not there."""
    return git.run("for-each-ref", "--format=%(objectname)", ref).decode("ascii").strip()


def read(git: Driver, ref: str) -> Mapping[str, str]:
    """The notes below a ref by the ids of their commits; none where the ref is not there.

    Raises:
        WorkspaceError: git cannot read them.
    """
    if not tip(git, ref):
        return {}
    listed = git.run("notes", f"--ref={ref}", "list").decode("ascii")
    pairs = [line.split() for line in listed.splitlines()]
    found = blobs(git, [blob.encode() for blob, _ in pairs])
    return {
        commit: "" if each is None else each.content.decode(errors="replace")
        for (_, commit), each in zip(pairs, found, strict=True)
    }

"""Reads and moves references of a remote that several machines write: all together or none, and never unseen.

A push names what each reference has to be at. Who comes second is told so, and nothing of theirs is there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from swarmgate.errors import GitKilled, RemoteAway
from swarmgate.workspace.git import driver
from swarmgate.workspace.git.driver import failure
from swarmgate.workspace.git.hosting.remotes import without_login

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

_QUIET = {"GIT_TERMINAL_PROMPT": "0"}
_ALONE = (
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "push.gpgSign=false"),
    *("-c", "gc.auto=0"),
    *("-c", "maintenance.auto=false"),
    *("-c", "protocol.ext.allow=never"),
)
"""Neither hooks of the user's nor a signature nor a clean-up: workers push many times a minute."""

ANSWER_S, FETCH_S = 60.0, 900.0
"""Seconds after which a remote counts as away that was asked, or pushed to; and fetched from: a network that swallows
what is sent to it says nothing, and git waits for a quarter of an hour."""


class Move(NamedTuple):
    """A reference, the id that it has to be at (empty: it is not there) and the one that it gets (empty: none)."""

    ref: str
    old: str
    new: str


def listed(folder: Path, remote: str, patterns: Sequence[str]) -> dict[str, str]:
    """The references of a remote that match, with the ids that they name.

    Args:
        folder: any that git can run in.
        remote: its address, or its name in the repository of the folder.
        patterns: as `git ls-remote` takes them.

    Raises:
        RemoteAway: it cannot be asked.
    """
    code, out, err = _call(folder, "ls-remote", "--quiet", "--", remote, *patterns, timeout_s=ANSWER_S)
    if code:
        raise _away(remote, err)
    pairs = (line.partition("\t") for line in out.decode(errors="surrogateescape").splitlines())
    return {ref: name for name, _, ref in pairs}


def fetch(folder: Path, remote: str, refspecs: Iterable[str], *, depth: int = 0, prune: bool = False) -> None:
    """Fetches references into those that the specifications name, by force: they are of nobody else.

    Args:
        folder: of the repository.
        remote: its address.
        refspecs: `refs/heads/a:refs/heads/b`.
        depth: the newest commits of each alone; 0: all.
        prune: references that the remote has no more go.

    Raises:
        RemoteAway: it cannot be fetched from, or has no such reference.
    """
    only = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--force")
    shallow = (*((f"--depth={depth}",) if depth else ()), *(("--prune",) if prune else ()))
    code, _, err = _call(folder, "fetch", *only, *shallow, "--", remote, *refspecs, timeout_s=FETCH_S)
    if code:
        raise _away(remote, err)


def push_together(folder: Path, remote: str, moves: Sequence[Move]) -> str:
    """Moves references of a remote, all or none; empty where they moved, else why not, as git says it.

    Whether the remote took them though the answer was lost, only the remote knows: see `listed`.

    Args:
        folder: of the repository that has the objects.
        remote: its address.
        moves: what becomes of each.
    """
    leases = (f"--force-with-lease={each.ref}:{each.old}" for each in moves)
    specs = (f"{each.new}:{each.ref}" for each in moves)
    only = ("--porcelain", "--quiet", "--atomic", "--no-verify", "--no-follow-tags", "--recurse-submodules=no")
    code, out, err = _call(folder, "push", *only, *leases, "--", remote, *specs, timeout_s=ANSWER_S)
    if not code:
        return ""
    refused = [line for line in out.decode(errors="replace").splitlines() if line.startswith("!")]
    return without_login(" ".join((*refused, *err.split()))) or f"exit code {code}"


def _call(folder: Path, *args: str, timeout_s: float) -> tuple[int, bytes, str]:
    try:
        return driver.call(folder, *_ALONE, *args, env=_QUIET, timeout_s=timeout_s)
    except GitKilled as error:
        return 1, b"", error.message


def _away(remote: str, err: str) -> RemoteAway:
    place = without_login(remote)
    return RemoteAway(
        without_login(failure(f"at the remote {place}", err).message),
        hint=f"See whether this works here: git ls-remote {place}",
    )

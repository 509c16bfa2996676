"""Makes throwaway clones of a remote that share one cache of objects, so that a second one costs next to nothing."""

from __future__ import annotations

import hashlib
import os
import shutil
from typing import TYPE_CHECKING

from swarmgate.workspace.files import exclusive
from swarmgate.workspace.git.driver import call, failure
from swarmgate.workspace.git.hosting import shared_refs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_SETTINGS = (("gc.auto", "0"), ("maintenance.auto", "false"), ("core.logAllRefUpdates", "false"))
_NAME = 16
"""As many hex digits of the hash of a remote's address name its cache."""


class Cache:
    """The objects of one remote on this machine, in a bare repository. Processes share it.

    Args:
        home: the folder of all caches.
        remote: address of the remote.
    """

    def __init__(self, home: Path, remote: str) -> None:
        self.remote = remote
        self.path = home / f"{hashlib.sha256(remote.encode()).hexdigest()[:_NAME]}.git"

    def require(self) -> None:
        """Makes it where it is not there yet, with the remote's own default branch.

        Raises:
            RemoteAway: the remote is out of reach.
            WorkspaceError: git refused.
        """
        if (self.path / "complete").exists():
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with (self.path.parent / f"{self.path.name}.lock").open("w") as lock:
            exclusive.take(lock.fileno())
            if (self.path / "complete").exists():
                return
            _made(self.path, "--bare")
            shared_refs.fetch(self.path, self.remote, ["HEAD:refs/cache/head"])
            (self.path / "complete").touch()

    def clone(self, folder: Path, refspecs: Sequence[str], *, settings: Mapping[str, str]) -> None:
        """Makes a repository without files, with these references of the remote, that borrows objects from the cache.

        Args:
            folder: where it is made; what stands there goes.
            refspecs: what it gets, see `shared_refs.fetch`.
            settings: of git, there alone.

        Raises:
            RemoteAway: the remote is out of reach, or has no such reference.
            WorkspaceError: git refused.
        """
        self.require()
        shutil.rmtree(folder, ignore_errors=True)
        _made(folder, settings=settings)
        alternates = folder / ".git" / "objects" / "info" / "alternates"
        alternates.parent.mkdir(parents=True, exist_ok=True)
        alternates.write_bytes(os.fsencode(self.path / "objects") + b"\n")
        shared_refs.fetch(folder, self.remote, refspecs)

    def keep(self, folder: Path, refspecs: Sequence[str]) -> None:
        """Takes references of a clone in, with all that they reach: they outlive it.

        Raises:
            RemoteAway: git refused.
        """
        shared_refs.fetch(self.path, str(folder), refspecs)


def switch(folder: Path, branch: str, commit: str) -> None:
    """Makes a branch at a commit and checks it out, whatever stands there.

    Raises:
        WorkspaceError: git refused.
    """
    _run(folder, "-c", "core.hooksPath=/dev/null", "checkout", "--quiet", "--force", "-B", branch, commit)


def make(folder: Path) -> None:
    """Makes a bare repository.

    Raises:
        WorkspaceError: git refused.
    """
    _made(folder, "--bare")


def _made(folder: Path, *options: str, settings: Mapping[str, str] | None = None) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    _run(folder, "init", "--quiet", "--initial-branch=main", *options)
    with (folder / ("config" if "--bare" in options else ".git/config")).open("a", encoding="utf-8") as config:
        for key, value in (*_SETTINGS, *(settings or {}).items()):
            section, _, rest = key.partition(".")
            of, _, name = rest.rpartition(".")
            head = f'{section} "{of}"' if of else section
            escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
            config.write(f'[{head}]\n\t{name} = "{escaped}"\n')


def _run(folder: Path, *args: str) -> None:
    code, _, err = call(folder, *args)
    if code:
        raise failure(next(each for each in args if each.isalpha()), err)

"""The sandbox by Landlock and seccomp on Linux, where bubblewrap is missing: no mounts, so less is possible."""

from __future__ import annotations

import os
import sys
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from swarmgate.workspace.programs import trusted
from swarmgate.workspace.sandbox import seccomp
from swarmgate.workspace.sandbox.confinement import ROOTS_OWN, SYSTEM

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from swarmgate.workspace.process.process import Completed
    from swarmgate.workspace.sandbox.confinement import Confinement

_DEVICES = tuple(f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom", "shm"))
_OLDEST = 3
"""Landlock's version of Linux 6.2: before it, any file of the user's could be cut to nothing (truncate)."""
_GAVE_UP, _REFUSAL = 126, "the sandbox cannot be set up: "
"""How `launcher.py` ends and what it says then; importing it here would open the C library."""
_SCOPED = 6
"""Landlock's version of Linux 6.12, from which on signals stay inside."""


class Landlock:
    """The kernel's own confinement of a process, set up by `launcher.py`."""

    name = "landlock"
    relocates = False
    private_home = False

    def __init__(self, version: int) -> None:
        self._version = version

    @property
    def weaknesses(self) -> tuple[str, ...]:
        """What it holds back less than bubblewrap, on this kernel and for this user."""
        return (
            "commands can see other processes and their arguments, and share /dev/shm with them",
            "commands can change modes and times of your files everywhere, though not their content",
            *(() if self._version >= _SCOPED else ("commands can end other processes of yours",)),
            *(() if os.getuid() else ("you are root: the number of processes is not limited",)),
        )

    hindrances = (
        "commands cannot make or remove entries at the top of the repository (write_file and delete_file can)",
        "commands write temporary files to $TMPDIR, not to /tmp",
        "commands have no sockets, not even to 127.0.0.1",
    )

    def argv(self, command: Sequence[str], confinement: Confinement, own: Path) -> list[str]:
        """The launcher, what it is to allow, and the command."""
        bound = confinement
        guarded = frozenset(map(str, bound.guarded))
        open_ones = (bound.root, *bound.writable, *bound.spared)
        write = [place for folder in open_ones for place in _spared(str(folder), guarded)]
        write += [str(own), *_DEVICES]
        read = _readable(bound)
        processes = _running() + bound.limits.processes
        limits = (bound.limits.memory_bytes, processes, bound.limits.file_bytes)
        numbers = (int(bound.network), *limits, len(read), len(write))
        families = (seccomp.IPV4, seccomp.IPV6, seccomp.NETLINK) if bound.network else ()
        refused = seccomp.program(os.uname().machine, families, apart=False).hex()
        launcher = str(Path(__file__).parents[1] / "process/supervision/launcher.py")
        return [trusted.interpreter(), "-I", "-S", launcher, refused, *map(str, numbers), *read, *write, *command]

    def refused(self, done: Completed) -> str:
        """The output of the launcher when it failed."""
        return done.stderr.strip() if done.exit_code == _GAVE_UP and done.stderr.startswith(_REFUSAL) else ""


def available() -> Landlock | str:
    """Landlock, or why there is none."""
    if not sys.platform.startswith("linux"):
        return "Landlock is a part of Linux"
    from swarmgate.workspace.process.supervision import launcher  # noqa: PLC0415 - late: it opens the C library

    version = launcher.abi()
    if not version:
        return "this kernel has no Landlock, or it is switched off"
    return Landlock(version) if version >= _OLDEST else "this kernel's Landlock is too old (Linux 6.2 is needed)"


@lru_cache(8)
def _readable(bound: Confinement) -> tuple[str, ...]:
    system = [place for name in SYSTEM for place in _spared(name, ROOTS_OWN)] if os.getuid() == 0 else SYSTEM
    hidden = frozenset(map(str, bound.hidden))
    visible = map(str, (*bound.readable, *bound.guarded, bound.root))
    return (*system, "/proc", *(place for each in visible for place in _not_below(each, hidden)))


def _not_below(folder: str, hidden: Collection[str]) -> Iterator[str]:
    """What may be read of a folder: nothing where it is hidden itself, or lies in what is."""
    if not any(folder.startswith(place + os.sep) for place in hidden):
        yield from _spared(folder, hidden)


def _spared(folder: str, guarded: Collection[str]) -> Iterator[str]:
    """What may be written of a folder: itself, or its entries but for what is guarded.

    What is allowed holds for everything below it, so that `.git` is spared only by naming its neighbours. A link among
    them is left out: allowed would be what it leads to.
    """
    if folder in guarded:
        return
    if not any(place.startswith(folder + os.sep) for place in guarded):
        yield folder
        return
    for entry in os.scandir(folder):
        if not entry.is_symlink():
            yield from _spared(entry.path, guarded)


def _running() -> int:
    """Processes of this user now: the kernel's limit counts them all."""
    mine, found = os.getuid(), 0
    for entry in os.scandir("/proc") if mine else ():  # root is not limited
        if entry.name.isdigit():
            try:
                found += entry.stat().st_uid == mine
            except OSError:
                continue
    return found

"""The sandbox by bubblewrap on Linux: separate namespaces for processes, network and mounts; the strongest kind."""

from __future__ import annotations

import os
import subprocess
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from swarmgate.workspace.process import temporary
from swarmgate.workspace.programs import trusted
from swarmgate.workspace.sandbox import seccomp
from swarmgate.workspace.sandbox.confinement import ROOTS_OWN, SYSTEM, Confinement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from swarmgate.workspace.process.process import Completed

_ISOLATED = ("--die-with-parent", "--cap-drop", "ALL", "--unshare-user", "--unshare-pid", "--unshare-ipc",
             "--unshare-uts", "--unshare-cgroup-try")  # fmt: skip

_KERNEL = tuple(f"/proc/{name}" for name in ("bus", "fs", "irq", "sys", "sysrq-trigger"))
"""The kernel's own settings: where root is the user, their owner may write them without any capability."""

_BOUNDED = (
    'ulimit -d "$1"; ulimit -u "$2" 2>/dev/null || ulimit -p "$2"; ulimit -f "$3" 2>/dev/null; shift 3; exec "$@"'
)
"""Sets the limits in the new namespaces, where the count of processes is the sandbox's own."""

_FILTERED = 'exec 9<"$1"; shift; exec "$@"'
"""Opens the filter of system calls for `bwrap`, which reads it from a descriptor and closes that."""

_FAMILIES = (seccomp.UNIX, seccomp.IPV4, seccomp.IPV6, seccomp.NETLINK)
"""What the namespaces hold back. Others do not know them: AF_VSOCK reaches the machine that a virtual one runs on."""

_NO_NESTING = ("--disable-userns",)
"""No user namespaces inside, where one would have the kernel's rarely used parts to attack; since bubblewrap 0.8."""

_BLOCK = 512
"""Bytes in which POSIX' `ulimit -f` counts."""


class Bubblewrap:
    """`bwrap`, found by `available`. `nesting` are options against namespaces inside, where it has them."""

    name = "bubblewrap"
    relocates = True
    private_home = True
    hindrances = ()

    def __init__(self, program: str, nesting: Sequence[str] = ()) -> None:
        self._program, self._nesting = program, tuple(nesting)

    @property
    def weaknesses(self) -> tuple[str, ...]:
        """None, but for root, whose processes the kernel does not count, and on machines that are not known."""
        machine = os.uname().machine
        known = seccomp.program(machine, _FAMILIES, apart=True)
        return (
            *(() if os.getuid() else ("you are root: the number of processes is not limited",)),
            *(() if known else (f"system calls are not filtered on {machine}: the kernel's keys can be read",)),
        )

    def argv(self, command: Sequence[str], confinement: Confinement, own: Path) -> list[str]:
        """`bwrap` and its options before the command."""
        places = (("/tmp", "tmp"), ("/var/tmp", "tmp"), ("/dev/shm", "shm"), (str(confinement.home), "home"))  # noqa: S108 - the command's own
        private = [part for place, name in places for part in ("--bind", f"{own}/{name}", place)]
        bounds = confinement.limits
        limits = map(str, (bounds.memory_bytes // 1024, bounds.processes, bounds.file_bytes // _BLOCK))
        inside = ["--", "/bin/sh", "-c", _BOUNDED, "sh", *limits, *command]
        options = [*self._nesting, *_system(confinement.network), *private, *_project(confinement)]
        refused = seccomp.program(os.uname().machine, _FAMILIES, apart=True)
        if not refused:
            return [self._program, *options, *inside]
        place = own / "filter"
        place.write_bytes(refused)
        return ["/bin/sh", "-c", _FILTERED, "sh", str(place), self._program, "--seccomp", "9", *options, *inside]

    def refused(self, done: Completed) -> str:
        """The output of `bwrap` before it ended with its own exit code, 1."""
        return done.stderr.strip() if done.exit_code == 1 and done.stderr.startswith("bwrap: ") else ""


@lru_cache(4)
def _system(network: bool) -> tuple[str, ...]:  # noqa: FBT001 - its only argument
    """A root of its own with the system in it, read only."""
    parts = [*_ISOLATED, *([] if network else ["--unshare-net"])]
    for place in map(Path, SYSTEM):
        if place.is_symlink():
            parts += ["--symlink", str(place.readlink()), str(place)]
        elif place.exists():
            parts += ["--ro-bind", str(place), str(place)]
    resolver = Path("/etc/resolv.conf").resolve()
    if network and resolver.is_file() and not resolver.is_relative_to("/etc"):
        parts += ["--ro-bind", str(resolver), str(resolver)]
    for name in ROOTS_OWN:
        if Path(name).is_dir():
            parts += ["--tmpfs", name]
        elif os.access(name, os.R_OK):
            parts += ["--ro-bind", "/dev/null", name]
    parts += ["--dev", "/dev", "--proc", "/proc"]
    parts += [part for name in _KERNEL if Path(name).exists() for part in ("--ro-bind", name, name)]
    return tuple(parts)


@lru_cache(8)
def _project(confinement: Confinement) -> tuple[str, ...]:
    """What is shown, what may be written, and over both what is guarded; a later mount covers an earlier one."""
    parts: list[str] = []
    for place in dict.fromkeys(confinement.readable):
        if not any(place.is_relative_to(name) for name in SYSTEM):
            parts += _readable_mounts(place, confinement.readable)
    seat = confinement.place or confinement.root
    parts += ["--bind", str(confinement.root), str(seat)]
    for place in (*confinement.writable, *confinement.above_guarded()):
        parts += ["--bind", str(place), str(place)]
    for source, place in confinement.visible:
        parts += ["--ro-bind", str(source), str(place)]
    for place, written in confinement.exceptions():
        parts += ["--bind" if written else "--ro-bind", str(place), str(place)]
    for place in confinement.hidden:
        parts += ["--tmpfs", str(place)] if place.is_dir() else ["--ro-bind", "/dev/null", str(place)]
    cwd = seat / confinement.cwd.relative_to(confinement.root)
    return (*parts, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", str(cwd))


def _readable_mounts(place: Path, readable: tuple[Path, ...]) -> list[str]:
    """A place as it is on the disk: a link stays one, since programs look for their files beside what it leads to."""
    if not place.is_symlink():
        return ["--ro-bind", str(place), str(place)]
    others = [*(each for each in readable if each != place), *map(Path, SYSTEM)]
    leads_to = place.resolve()
    if not any(leads_to.is_relative_to(each) for each in others):
        return ["--ro-bind", str(place), str(place)]
    if any(place.is_relative_to(each) for each in others):
        return []  # it is in what is shown with its folder
    return ["--symlink", str(leads_to), str(place)]


def available() -> Bubblewrap | str:
    """A working bubblewrap, or why there is none: containers often refuse the namespaces, or the mount of `/proc`."""
    program = trusted.installed("bwrap")
    if program is None:
        return "bubblewrap is not installed"
    found = Bubblewrap(program, _NO_NESTING)
    problem = _problem(found)
    if problem:  # an older one does not know the option, and in some containers the kernel refuses it
        found = Bubblewrap(program)
        problem = _problem(found)
    return problem or found


def _problem(found: Bubblewrap) -> str:
    """Why it does not start; empty where it does."""
    with temporary.folder("probe") as own:
        for name in ("root", "home", "tmp", "shm"):
            (own / name).mkdir()
        probe = found.argv(["true"], Confinement(root=own / "root", home=Path("/nonexistent")), own)
        try:
            done = subprocess.run(probe, capture_output=True, timeout=10, check=False, text=True)
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"bubblewrap does not start: {error}"
    return f"bubblewrap is refused here: {done.stderr.strip()}" if done.returncode else ""

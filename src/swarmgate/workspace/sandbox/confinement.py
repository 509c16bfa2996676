"""The confinement of a command, as data: what it may see and change, whichever sandbox enforces it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from swarmgate.workspace.process.process import Completed

GUARDED = (".git", ".swarm")
"""At the top of the repository: readable, and written by nobody but swarmgate and the user."""

SYSTEM = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/gnu", "/snap", "/sys",
    "/var/lib/ca-certificates", "/var/lib/dpkg", "/var/lib/gems", "/var/lib/ghc", "/var/cache/fontconfig",
)  # fmt: skip
"""What is read of the machine. All else is hidden: homes, other projects, and the sockets of daemons."""

ROOTS_OWN = ("/etc/shadow", "/etc/gshadow", "/etc/ssh", "/etc/ssl/private", "/etc/kubernetes", "/etc/rancher")
"""Read by root alone, and by nobody in a sandbox: where root is the user, no right of the system keeps it from them."""

_KEPT = frozenset({"PATH", "LANG", "LANGUAGE", "TERM", "TZ", "COLUMNS", "LINES", "CI", "NO_COLOR", "USER", "LOGNAME",
                   "VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED",
                   "PYENV_ROOT", "CARGO_HOME", "RUSTUP_HOME", "GOPATH", "GOROOT", "GOFLAGS", "JAVA_HOME", "NVM_DIR",
                   "NODE_PATH", "DOTNET_ROOT"})  # fmt: skip
"""Variables that a command inherits. Every other one may hold a key, and stays outside."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one command may use: bytes of private memory a process, processes at a time, and bytes of one file."""

    memory_bytes: int = 4 << 30
    processes: int = 512
    file_bytes: int = 2 << 30


@dataclass(frozen=True, slots=True)
class Confinement:
    """The bounds of commands; `confine.confine` builds them from what lies on the disk.

    Attributes:
        root: the repository, writable but for what is guarded.
        home: the user's home; hidden but for what is readable in it.
        readable: files and folders that a command may read besides `SYSTEM`.
        writable: further folders that it may write, such as a cache.
        guarded: files and folders that it may read and never write, wherever they lie.
        spared: folders in what is guarded that it may write all the same.
        hidden: files and folders that it may not even read; what is hidden needs no guard.
        network: whether it may reach the network.
        limits: memory, processes, and the size of a file.
        folder: where commands run, if not in the root.
        place: where commands find the root, if elsewhere; only where the sandbox `relocates`.
        visible: files and folders that can be read, each with where commands find it; likewise.
    """

    root: Path
    home: Path
    readable: tuple[Path, ...] = ()
    writable: tuple[Path, ...] = ()
    guarded: tuple[Path, ...] = ()
    spared: tuple[Path, ...] = ()
    hidden: tuple[Path, ...] = ()
    network: bool = False
    limits: Limits = Limits()
    folder: Path | None = None
    place: Path | None = None
    visible: tuple[tuple[Path, Path], ...] = ()

    @property
    def cwd(self) -> Path:
        """Where commands run."""
        return self.folder or self.root

    def exceptions(self) -> tuple[tuple[Path, bool], ...]:
        """What differs from the folder that it lies in, and whether it may be written; outermost first."""
        both = [*((place, False) for place in self.guarded), *((place, True) for place in self.spared)]
        return tuple(sorted(both, key=lambda each: len(each[0].parts)))

    def above_guarded(self) -> tuple[Path, ...]:
        """The folders between what may be written and what is guarded in it, outermost first.

        They must keep their names: moving one away would put another in the place of what is guarded.
        """
        bases = (self.root, *self.writable)
        above = {
            folder
            for place in self.guarded
            for folder in place.parents
            if any(folder.is_relative_to(base) and folder != base for base in bases)
            and not any(folder.is_relative_to(each) for each in self.guarded)
        }
        return tuple(sorted(above))


class Sandbox(Protocol):
    """One way of confining a command."""

    @property
    def name(self) -> str:
        """The name for display: `bubblewrap`, `landlock`, `sandbox-exec` or `none`."""
        ...

    @property
    def weaknesses(self) -> tuple[str, ...]:
        """What it does not hold back, in words; empty for the strongest."""
        ...

    @property
    def hindrances(self) -> tuple[str, ...]:
        """What it does not let through though a build may need it, in words."""
        ...

    @property
    def relocates(self) -> bool:
        """Whether it can show commands the root in another place, and what was there is out of sight."""
        ...

    @property
    def private_home(self) -> bool:
        """Whether the command finds its own home and temporary folder in the places of the user's."""
        ...

    def argv(self, command: Sequence[str], confinement: Confinement, own: Path) -> list[str]:
        """The command line that runs `command` confined.

        `own` is a folder of this call, resolved; the folders `home`, `tmp` and `shm` in it are the command's own.
        """
        ...

    def refused(self, done: Completed) -> str:
        """Why the sandbox did not start a command that ended like this; empty where it did."""
        ...


def environment(inherited: Mapping[str, str], own: Mapping[str, str] | None = None) -> dict[str, str]:
    """The variables of a confined command: the harmless ones that are inherited, and `own` on top."""
    inherited_variables = {name: value for name, value in inherited.items() if name in _KEPT or name.startswith("LC_")}
    return {**inherited_variables, **(own or {})}

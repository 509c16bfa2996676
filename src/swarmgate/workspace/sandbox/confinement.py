"""What a confined command may see and touch, whatever enforces it."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

GUARDED = (".git", ".swarm")
"""At the top of the repository: readable, and written by nobody but swarmgate and the user."""

_TOOLCHAINS = (
    ".asdf", ".bun", ".cargo/bin", ".cargo/config.toml", ".cargo/git", ".cargo/registry", ".deno/bin", ".dotnet",
    ".goenv", ".gradle/caches", ".gradle/wrapper", ".jenv", ".local/bin", ".local/lib", ".local/share/mise",
    ".local/share/pipx", ".local/share/pnpm", ".local/share/uv", ".m2/repository", ".nodenv", ".npm-global",
    ".nuget/packages", ".nvm", ".pyenv", ".rbenv", ".rustup", ".sdkman/candidates", ".volta", "go/bin", "go/pkg/mod",
)  # fmt: skip
"""Below the user's home: programs and packages that a build needs, and nothing that holds a credential."""

_KEPT = frozenset({"PATH", "LANG", "LANGUAGE", "TERM", "TZ", "COLUMNS", "LINES", "CI", "NO_COLOR", "VIRTUAL_ENV",
                   "CARGO_HOME", "RUSTUP_HOME", "GOPATH", "GOROOT", "GOFLAGS", "JAVA_HOME", "NVM_DIR", "PYENV_ROOT",
                   "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "DOTNET_ROOT", "NODE_PATH"})  # fmt: skip
"""Variables that a command inherits. Every other one may hold a key, and stays outside."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one command may use: bytes of private memory a process, and processes at a time."""

    memory_bytes: int = 4 << 30
    processes: int = 512


@dataclass(frozen=True, slots=True)
class Confinement:
    """The bounds of one command.

    Attributes:
        root: the repository; writable but for `GUARDED`.
        home: the user's home; hidden but for the toolchains in it.
        readable: further files and folders below hidden places that a command may read.
        writable: further folders that it may write, such as a cache.
        network: whether it may reach the network.
        limits: memory and processes.
    """

    root: Path
    home: Path
    readable: tuple[Path, ...] = ()
    writable: tuple[Path, ...] = ()
    network: bool = False
    limits: Limits = Limits()

    def guarded(self) -> tuple[Path, ...]:
        """The entries at the top of the repository that stay as they are."""
        return tuple(path for name in GUARDED if os.path.lexists(path := self.root / name))

    def shown(self) -> tuple[Path, ...]:
        """What is read below hidden places: toolchains, the running Python, and what the settings name."""
        wanted = [*(self.home / name for name in _TOOLCHAINS), *_on_path(self.home), *self.readable]
        wanted += [Path(sys.prefix), Path(sys.base_prefix)]
        found = dict.fromkeys(path for each in wanted if each.exists() for path in (each, each.resolve()))
        return tuple(path for path in found if not self.home.is_relative_to(path))


class Sandbox(Protocol):
    """One way of confining a command."""

    @property
    def name(self) -> str:
        """What the user is told: `bubblewrap`, `landlock`, `sandbox-exec` or `none`."""
        ...

    @property
    def weaknesses(self) -> tuple[str, ...]:
        """What it does not hold back, in words; empty for the strongest."""
        ...

    def argv(self, command: Sequence[str], confinement: Confinement) -> list[str]:
        """The command line that runs `command` confined."""
        ...


def environment(inherited: Mapping[str, str], own: Mapping[str, str] | None = None) -> dict[str, str]:
    """The variables of a confined command: the harmless ones that are inherited, and `own` on top."""
    kept = {name: value for name, value in inherited.items() if name in _KEPT or name.startswith("LC_")}
    return {**kept, "HOME": inherited.get("HOME", "/nonexistent"), "TMPDIR": "/tmp", **(own or {})}  # noqa: S108 - private there


def _on_path(home: Path) -> list[Path]:
    """The folders of PATH; of one that belongs to a virtual environment, the environment."""
    found = []
    for entry in os.environ.get("PATH", "").split(os.pathsep):
        place = Path(entry)
        if entry and place.is_absolute() and place != home:
            found.append(place.parent if (place.parent / "pyvenv.cfg").is_file() else place)
    return found

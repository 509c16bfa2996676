"""Decides which toolchains sandboxed commands may read, and which files of the repository are protected."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from swarmgate.errors import WorkspaceError
from swarmgate.workspace.files import regular
from swarmgate.workspace.git.folder import top_of
from swarmgate.workspace.sandbox import unsandboxed_files
from swarmgate.workspace.sandbox.confinement import GUARDED, Confinement, Limits

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_TOOLCHAINS = (
    ".asdf", ".bun", ".cache/pyright-python", ".cargo/bin", ".cargo/config.toml", ".cargo/env", ".cargo/git",
    ".cargo/registry", ".deno/bin",
    ".dotnet", ".goenv", ".gradle/caches", ".gradle/wrapper", ".jenv", ".local/bin", ".local/lib", ".local/share/mise",
    ".local/share/pipx", ".local/share/pnpm", ".local/share/uv", ".m2/repository", ".nodenv", ".npm-global",
    ".nuget/packages", ".nvm", ".pyenv", ".rbenv", ".rustup", ".sdkman/candidates", ".volta", "go/bin", "go/pkg/mod",
)  # fmt: skip
"""Below the user's home: programs and packages that a build needs, and nothing that holds a credential."""

_TOOLCHAIN_VARIABLES = {
    "CONDA_PREFIX": (".",), "DOTNET_ROOT": (".",), "GOPATH": ("bin", "pkg/mod"), "GOROOT": (".",), "JAVA_HOME": (".",),
    "NVM_DIR": (".",), "PYENV_ROOT": (".",), "RUSTUP_HOME": (".",), "VIRTUAL_ENV": (".",),
    "CARGO_HOME": ("bin", "config.toml", "env", "git", "registry"),
}  # fmt: skip
"""Where toolchains lie that were put elsewhere, and what of each a build needs: credentials stand beside it."""

_NO_HOME = Path("/nonexistent")
_FOLDER_OF_ENVIRONMENT = ("pyvenv.cfg", "conda-meta")
"""Beside `bin` they say that the folder is a Python environment of its own."""


def confine(
    root: Path,
    *,
    environ: Mapping[str, str],
    readable: Iterable[str] = (),
    writable: Iterable[str] = (),
    guarded: Iterable[Path] = (),
    network: bool = False,
    limits: Limits = Limits(),  # noqa: B008 - frozen
) -> Confinement:
    """Builds the confinement of commands in a work tree.

    Args:
        root: the project's folder.
        environ: PATH and HOME as the user has them.
        readable: further files and folders to read, `~` is the home; what is not there is left out.
        writable: further folders to write, likewise.
        guarded: what stays as it is besides `.git`, `.swarm` and `unsandboxed_files.places`.
        network: whether commands may reach the network.
        limits: memory, processes, and the size of a file.

    Raises:
        WorkspaceError: the repository cannot be guarded: `.git` is a link, the home lies in the repository, or git
            runs what no sandbox can guard. Or what is to be opened holds the home or the repository.
    """
    root, home = root.resolve(), _home(environ)
    if home.resolve().is_relative_to(root):
        raise WorkspaceError(
            f"the repository {root} holds your home folder: no sandbox can keep commands from your keys and write it",
            hint='move the project into a folder of its own, or accept the risk: [commands] sandbox = "none"',
        )
    readable, writable = tuple(readable), tuple(writable)
    _refuse_too_wide(root, home, "readable", readable)
    _refuse_too_wide(root, home, "writable", writable)
    _refuse_programs(root, home, writable, environ.get("PATH", ""))
    wanted = [*(home / name for name in _TOOLCHAINS), *_environments(environ, home, root), *_expanded(readable, home)]
    found = dict.fromkeys(path for each in wanted if each.exists() for path in (each, each.resolve()))
    return Confinement(
        root=root,
        home=home,
        readable=tuple(path for path in found if not home.is_relative_to(path)),
        writable=tuple(dict.fromkeys(each.resolve() for each in _expanded(writable, home) if each.is_dir())),
        guarded=tuple(
            dict.fromkeys(
                [*_guarded(root), *unsandboxed_files.places(root), *(each for each in guarded if os.path.lexists(each))]
            )
        ),
        network=network,
        limits=limits,
    )


def _refuse_too_wide(root: Path, home: Path, key: str, named: Iterable[str]) -> None:
    """Raises WorkspaceError where a place that the settings open holds the home, or more than the repository."""
    for place in _expanded(named, home):
        held = place.resolve()
        if home != _NO_HOME and home.resolve().is_relative_to(held):
            what = f"your home {home}"
        elif root.is_relative_to(held):
            what = f"the repository {root}"
        else:
            continue
        raise WorkspaceError(
            f"[commands] {key}: {place} holds {what}, and would open all of it to commands",
            hint=f"name the folders that commands need there, in [commands] {key} of .swarm/config.toml",
        )


def _refuse_programs(root: Path, home: Path, writable: Iterable[str], path: str) -> None:
    """Raises WorkspaceError where agents could write what runs with the user's rights."""
    for place in _expanded(writable, home):
        if what := unsandboxed_files.opened(root, place.resolve(), path):
            raise WorkspaceError(
                f"[commands] writable: {place} would let commands write {what}: that runs with your rights",
                hint="name the folders that commands need there and that hold no programs, such as a cache",
            )


def _home(environ: Mapping[str, str]) -> Path:
    home = Path(environ.get("HOME") or _NO_HOME)
    return home if home.is_absolute() and home != Path("/") else _NO_HOME


def _expanded(paths: Iterable[str], home: Path) -> list[Path]:
    """Absolute paths; a relative one is meant from the home."""
    return [home / path.removeprefix("~/").removeprefix("~") for path in paths]


def _guarded(root: Path) -> Iterator[Path]:
    """What is written by nobody: `.git`, `.swarm`, and git's folder where that lies outside of the project."""
    for name in GUARDED:
        place = root / name
        if place.is_symlink():
            raise WorkspaceError(
                f"{place} is a symbolic link: no sandbox can guard what it leads to and the link",
                hint=f"replace it by a file that says `gitdir: {place.resolve()}`"
                if name == ".git"
                else "replace it by a real folder",
            )
        if place.exists():
            yield place
    top = top_of(root) or root
    if top != root:
        yield top / ".git"
    if (top / ".git").is_file():
        yield from _git_folders(top)


def _git_folders(root: Path) -> Iterator[Path]:
    """Git's own folders of a linked work tree or a submodule (gitrepository-layout(5): `gitdir`, `commondir`)."""
    with contextlib.suppress(OSError, UnicodeDecodeError):
        own = root / regular.text(root / ".git").removeprefix("gitdir:").strip()
        if own.is_dir():
            own = own.resolve()
            yield own
            yield (own / regular.text(own / "commondir").strip()).resolve()


def _environments(environ: Mapping[str, str], home: Path, root: Path) -> Iterator[Path]:
    """Folders of programs on PATH; of a Python environment the whole, and what is installed there as editable.

    What an environment inside the repository says counts for nothing: a command could have written it.
    """
    entries = [Path(entry) for entry in environ.get("PATH", "").split(os.pathsep) if entry]
    found = [Path(sys.prefix), Path(sys.base_prefix)]
    for name, parts in _TOOLCHAIN_VARIABLES.items():
        if (place := Path(environ.get(name) or "-")).is_absolute() and place != home:
            found += [place / part for part in parts]
    for place in entries:
        if place.is_absolute() and place != home:
            own = any((place.parent / name).exists() for name in _FOLDER_OF_ENVIRONMENT)
            found.append(place.parent if own else place)
    for place in dict.fromkeys(found):
        yield place
        if (place / "pyvenv.cfg").is_file() and not place.resolve().is_relative_to(root):
            yield from _editable(place)


def _editable(environment: Path) -> Iterator[Path]:
    """Source folders of packages that were installed as editable (PEP 610: `direct_url.json`)."""
    for record in environment.glob("lib/python*/site-packages/*.dist-info/direct_url.json"):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            record_data = json.loads(regular.read(record))
            url = urlsplit(record_data["url"])
            if url.scheme == "file" and record_data["dir_info"]["editable"] is True:
                yield Path(unquote(url.path))

"""Hashes the environment that a gate result depends on: tools, versions, settings and platform.

That is: swarmgate's own code and rules (by size and time of each file, so that an editable checkout counts as well),
the interpreter, every installed package with its version, the programs that a search of PATH could find, the variables
that tools listen to, the project's installed dependencies, and tool configurations that stand outside of git's tree
(ignored, or above the repository's root). Installing, upgrading or removing anything gives another hash.
"""

from __future__ import annotations

import contextlib
import functools
import os
import platform
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from swarmgate import assets
from swarmgate.gates import tool_environment
from swarmgate.gates.cache.store import key_of
from swarmgate.version import __version__
from swarmgate.workspace.files import regular
from swarmgate.workspace.programs import trusted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_VARIABLES = (
    "BANDIT", "BIOME", "CARGO", "CLIPPY", "CONDA", "ESLINT", "GO", "JAVA", "LANG", "LC_", "MYPY", "NODE", "NPM",
    "PIP", "PYRIGHT", "PYTHON", "RUFF", "RUST", "SEMGREP", "SHELLCHECK", "UV_", "VIRTUAL_ENV", "XDG_CONFIG",
)  # fmt: skip
"""How the names of variables begin that change what a tool says."""

CONFIGURATIONS = (
    ".bandit", ".biome.json", ".clippy.toml", ".editorconfig", ".eslintignore", ".eslintrc", ".eslintrc.cjs",
    ".eslintrc.js", ".eslintrc.json", ".eslintrc.yaml", ".eslintrc.yml", ".mypy.ini", ".python-version", ".ruff.toml",
    ".rustfmt.toml", ".shellcheckrc", "biome.json", "biome.jsonc", "clippy.toml", "eslint.config.cjs",
    "eslint.config.js", "eslint.config.mjs", "eslint.config.ts", "go.work", "mypy.ini", "package.json",
    "pyproject.toml", "pyrightconfig.json", "ruff.toml", "rustfmt.toml", "setup.cfg", "tox.ini", "tsconfig.json",
)  # fmt: skip
"""Files by which tools are configured, in any folder above what they look at."""

_PYTHON_ENVIRONMENTS = (".venv", "venv", "env")
_NODE_STATES = ("", ".bin", ".package-lock.json", ".yarn-integrity", ".yarn-state.yml", ".modules.yaml")


def digest(root: Path, paths: Iterable[str] = ()) -> str:
    """The hash of the environment.

    Args:
        root: the repository's root.
        paths: the changed files: what is installed or configured in a folder above one of them counts.
    """
    folders = folders_of(root, paths)
    return key_of(
        (
            _own(),
            *_interpreter(),
            *_programs(),
            *(f"{name}={value}" for name, value in sorted(os.environ.items()) if name.startswith(_VARIABLES)),
            *(part for folder in (*folders, *root.parents) for part in _configured(folder)),
            *(part for folder in folders for part in _installed(folder)),
        )
    )


def folders_of(root: Path, paths: Iterable[str]) -> list[Path]:
    """The root, and every folder above one of the paths."""
    return [root, *sorted({place for path in paths for place in _above(root, root / path)})]


@functools.cache
def _own() -> str:
    """The code and rules of swarmgate, as it was when this process first asked: later edits are not what runs here."""
    places = (Path(__file__).resolve().parent.parent, assets.gates())
    return key_of((__version__, *(part for place in places for part in _files(place))))


def _files(folder: Path) -> Iterator[str]:
    for entry in sorted(os.scandir(folder), key=lambda each: each.name):
        if entry.name.startswith(("__pycache__", ".")):
            continue
        if entry.is_dir():
            yield from _files(Path(entry.path))
        else:
            yield state(entry.path)


def _interpreter() -> Iterator[str]:
    yield from (sys.version, sys.executable, sys.platform, platform.machine())
    for place in sys.path:
        with contextlib.suppress(OSError):
            names = os.listdir(place or ".")  # noqa: PTH208 - names only, ten times as fast as Path's objects
            yield from (place, *sorted(name for name in names if name.endswith(("-info", ".pth", ".egg-link"))))


def _programs() -> Iterator[str]:
    path = trusted.given().get("PATH", os.defpath)
    for place in (*path.split(os.pathsep), str(tool_environment.folder() / "bin")):
        yield state(place)


def _configured(folder: Path) -> Iterator[bytes]:
    for name in CONFIGURATIONS:
        # Opening is cheaper than asking first: nearly all are missing. What is no regular file is none for the tools.
        with contextlib.suppress(OSError):
            content = regular.read(f"{folder}/{name}")
            yield f"{folder}/{name}".encode("utf-8", "surrogateescape")
            yield content


def _installed(folder: Path) -> Iterator[str]:
    for name in _PYTHON_ENVIRONMENTS:
        if (folder / name / "pyvenv.cfg").is_file():
            yield state(f"{folder}/{name}/pyvenv.cfg")
            for place in sorted(folder.glob(f"{name}/lib/python*/site-packages")):
                yield state(str(place))
    if (folder / "node_modules").is_dir():
        yield from (state(f"{folder}/node_modules/{name}") for name in _NODE_STATES)


def _above(root: Path, place: Path) -> Iterator[Path]:
    for folder in place.parents:
        if folder == root or not folder.is_relative_to(root):
            return
        yield folder


def state(path: str) -> str:
    """Identity, size and time of a file or folder, which a change of it changes."""
    try:
        state = os.stat(path)  # noqa: PTH116 - called some hundred times a run
    except OSError:
        return f"{path} -"
    return f"{path} {state.st_ino} {state.st_size} {state.st_mtime_ns}"

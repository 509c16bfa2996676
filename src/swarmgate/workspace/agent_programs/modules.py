"""Finds the package and interpreter folders of an agent program that is installed outside of the repository.

An npm program is a link into `lib/node_modules`, or a wrapper of pnpm's that names a file there; a Python program
lies in the `bin` of an environment. Where such folders stand below the home or the system, they can be read anyway.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from swarmgate.workspace.programs import trusted

_PACKAGES = "node_modules"
_ENVIRONMENT = "pyvenv.cfg"
_HEAD = 8_000
"""Bytes of a program in which its interpreter is named; wrappers are no longer."""
_INTERPRETER = re.compile(rb"#!\s*(?:\S*/env(?:\s+-S)?\s+)?(?:[A-Z_]+=\S*\s+)*(\S+)")
_WRAPPED = re.compile(r"\$\{?basedir\}?/([^\s\"']+)")
"""How wrappers of npm, pnpm and yarn name the file that they start (package `@zkochan/cmd-shim`)."""
_SCRIPTS = {".js", ".mjs", ".cjs", ".ts", ".mts"}


def required_files(program: Path, root: Path) -> Iterator[Path]:
    """Lists folders and files that a program needs besides itself; none that holds the repository or the home.

    Args:
        program: an existing file outside of the repository.
        root: the repository: neither an interpreter nor a package is looked for in it.
    """
    seen: set[Path] = set()
    waiting = [program]
    while waiting:
        place = waiting.pop()
        if place in seen or place.is_relative_to(root) or not _is_there(place):
            continue
        seen |= {place}
        yield place
        for folder in (*_installed(place), *_package_folders(place)):
            if not any(held.is_relative_to(folder) for held in (root, Path.home())):
                yield folder
        waiting += [place.resolve(), *_started_by(place, root)]


def _installed(place: Path) -> Iterator[Path]:
    """The outermost folder of packages that it lies in, and the Python environment."""
    packages = [folder for folder in place.parents if folder.name == _PACKAGES]
    yield from packages[-1:]
    yield from (folder for folder in place.parents if _is_there(folder / _ENVIRONMENT))


def _package_folders(place: Path) -> Iterator[Path]:
    """Where node looks for the packages of a script that lies in none: in the folders above it."""
    if place.suffix in _SCRIPTS and _PACKAGES not in place.parts:
        for folder in place.parents:
            yield from (each for each in (folder / _PACKAGES, folder / "package.json") if _is_there(each))


def _is_there(place: Path) -> bool:
    try:
        return place.is_file() or (place.name == _PACKAGES and place.is_dir())
    except OSError:  # not for us to look at
        return False


def _started_by(place: Path, root: Path) -> Iterator[Path]:
    """The interpreter that its first line names, and the files that a wrapper starts."""
    try:
        with place.open("rb") as file:
            head = file.read(_HEAD)
    except OSError:
        return
    if found := _INTERPRETER.match(head):
        word = found[1].decode(errors="replace")
        if place_of := trusted.find(word, root) if "/" not in word else word:
            yield Path(place_of)
        for name in _WRAPPED.findall(head.decode(errors="replace")):
            yield place.parent / name

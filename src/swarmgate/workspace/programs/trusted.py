"""Finds programs to start, and excludes those that agents could have written.

With the user's rights, outside of any sandbox, runs nothing that agents can write: `find` passes over what lies in a
work tree, and `environment` is without the entries by which programs, libraries and modules would be found there. An
active virtual environment of the project stands first on PATH, and an agent may put a `git` there. What is the
project's own is found by `located`, and is only ever started confined.
"""

from __future__ import annotations

import os
import re
import sys
from functools import lru_cache
from typing import TYPE_CHECKING

from swarmgate.errors import MissingRequirement
from swarmgate.workspace.programs import import_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_LISTS = frozenset({
    "PATH", "PYTHONPATH", "PYTHONHOME", "PYTHONPYCACHEPREFIX", "PYTHONUSERBASE", "PYTHONSTARTUP", "NODE_PATH",
    "PERL5LIB", "PERLLIB", "RUBYLIB", "CLASSPATH", "BASH_ENV", "GIT_EXEC_PATH", "GIT_TEMPLATE_DIR",
    "LD_LIBRARY_PATH", "LD_PRELOAD", "LD_AUDIT", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH",
    "DYLD_FRAMEWORK_PATH", "DYLD_INSERT_LIBRARIES", "GCONV_PATH",
})  # fmt: skip
"""Variables by whose entries programs, libraries, modules and start-up files are found."""
_OPTIONS = frozenset({"NODE_OPTIONS", "PERL5OPT", "RUBYOPT", "JAVA_TOOL_OPTIONS"})
"""Variables with options of an interpreter."""
_LOADING = re.compile(r"(?:^|\s)(?:-r|-I|-M|-javaagent|-agent|--require|--import|--loader|--experimental-loader)")
"""Options by which it loads files, most of them as the current folder has them."""
_LIBRARIES = ("LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES")
"""Here blanks separate as well, and a bare name is looked for where the system's libraries lie."""
_PROJECTS = (".venv/bin", "venv/bin", "node_modules/.bin")
"""Where a project has programs of its own."""

_taken: dict[str, tuple[str, str]] = {}
"""Variables of this process that `keep_out` changed: as they are since, and as they were given."""


# --- with the user's rights ---


def find(name: str, folder: Path) -> str | None:
    """Finds a program to start with the user's rights for work in a folder, as an absolute path; None without one."""
    return next((place for place in _all(name, search_path(folder)) if not import_path.is_agents(place)), None)


def named(word: str, folder: Path) -> str:
    """A program that the user names, by its name or its path, to start with the user's rights; an absolute file name.

    Raises:
        MissingRequirement: it is not there, or lies in a work tree.
    """
    place = os.path.join(folder, os.path.expanduser(word)) if os.sep in word else find(word, folder)  # noqa: PTH111, PTH118 - texts
    if place is None or import_path.is_agents(place) or not os.access(place, os.X_OK):
        raise MissingRequirement(
            f"the program `{word}` was not found outside of the work tree, or cannot be executed",
            hint="what lies in the work tree is not started with your rights: install it elsewhere",
        )
    return place


def search_path(folder: Path) -> str:
    """PATH without entries that are empty, relative, or writable by agents."""
    import_path.enter(str(folder))
    return _cleaned("PATH", os.environ.get("PATH", os.defpath), import_path.known()) or os.defpath


def is_agents(place: str) -> bool:
    """Whether agents can write a place, as far as its path tells: it lies in a work tree, by a link perhaps."""
    return import_path.is_agents(place)


def installed(name: str) -> str | None:
    """A program on PATH that lies in no work tree at all, whichever one is worked on."""
    for place in _all(name, os.environ.get("PATH", os.defpath)):
        real = os.path.realpath(place)
        if not any(import_path.trees(os.path.dirname(each)) for each in (place, real)):  # noqa: PTH120 - texts
            return real
    return None


def interpreter() -> str:
    """Python itself, for what needs the standard library alone: links that may lie in the work tree are resolved."""
    return os.path.realpath(sys.executable)


def module(name: str, *arguments: str) -> list[str]:
    """The command that runs a module of swarmgate in a new Python, which imports nothing of a work tree."""
    return [sys.executable, "-P", "-m", "swarmgate.workspace.programs.isolated_run", name, *arguments]


def environment(folder: Path, variables: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The variables of this process, or others, for a program with the user's rights that works in a folder."""
    import_path.enter(str(folder))
    known = import_path.known()
    safe = ((name, _cleaned(name, value, known)) for name, value in {"PATH": os.defpath, **variables}.items())
    return {name: os.defpath if value is None else value for name, value in safe if value is not None or name == "PATH"}


def keep_out(*folders: Path) -> None:
    """Removes entries that lead into work trees from PATH, the import path and other search variables.

    Most modules are imported late, and packages that it imports start programs by their names. What the variables were
    is kept for what runs confined (`given`).
    """
    for folder in folders:
        import_path.enter(str(folder))
    import_path.keep_out()
    known = import_path.known()
    for name in (_LISTS | _OPTIONS) & os.environ.keys():
        value = os.environ[name]
        # Empty is as good as none for all of them but PATH, where it would be the current folder.
        clean = _cleaned(name, value, known) or (os.defpath if name == "PATH" else "")
        if clean != value:
            _taken[name] = (clean, given().get(name, value))
            os.environ[name] = clean


# --- confined ---


def given() -> dict[str, str]:
    """The variables of this process as the user gave them: what runs confined may use the project's own programs."""
    changed = {name: old for name, (now, old) in _taken.items() if os.environ.get(name) == now}
    return {**os.environ, **changed}


def recall(variables: Mapping[str, str]) -> None:
    """Takes over the variables that another process of swarmgate was given, for `given`."""
    for name, value in variables.items():
        _taken[name] = (os.environ.setdefault(name, ""), value)


def located(name: str, root: Path, folder: str = "", *, further: str = "") -> str | None:
    """Finds a program to start confined: the project's own before the one on PATH as the user gave it.

    Args:
        name: its name, or its path from the root.
        root: the work tree.
        folder: of the tree; environments in it and in those above it count.
        further: a folder of programs after those of PATH.
    """
    if os.sep in name:
        return next(_all(os.path.basename(name), str((root / name).parent)), None)  # noqa: PTH119 - a text
    place = root / folder
    above = [base for base in (place, *place.parents) if base.is_relative_to(root)]
    own = os.pathsep.join(str(base / each) for base in above for each in _PROJECTS)
    return next(_all(name, os.pathsep.join((own, given().get("PATH", os.defpath), further))), None)


def own_program(name: str, root: Path) -> str:
    """The path, from the root, of a program that the project has of its own; empty where it has none."""
    places = (f"{folder}/{name}" for folder in _PROJECTS)
    return "" if os.sep in name else next((each for each in places if (root / each).is_file()), "")


def project_variables(root: Path) -> dict[str, str]:
    """Variables by which a confined command finds the project's own programs first, as in an activated environment.

    Nothing where the project has none. For commands in a sandbox alone: agents may have put the programs there.
    """
    folders = [str(root / each) for each in _PROJECTS if (root / each).is_dir()]
    if not folders:
        return {}
    variables = {"PATH": os.pathsep.join([*folders, given().get("PATH", os.defpath)])}
    environments = (root / each.removesuffix("/bin") for each in _PROJECTS if each.endswith("/bin"))
    if found := next((each for each in environments if (each / "pyvenv.cfg").is_file()), None):
        variables["VIRTUAL_ENV"] = str(found)
    return variables


# --- what leads where ---


@lru_cache(256)
def _cleaned(name: str, value: str, _known: int) -> str | None:
    """A variable without what leads to where agents write; None where nothing of it is left."""
    if name in _OPTIONS:
        return None if _LOADING.search(value) else value
    if name not in _LISTS:
        return value
    libraries = name in _LIBRARIES
    entries = re.split(r"[:\s]+", value) if libraries else value.split(os.pathsep)
    safe = [each for each in entries if _is_safe(each, bare=libraries)]
    return os.pathsep.join(safe) or None


def _is_safe(entry: str, *, bare: bool) -> bool:
    if bare and entry and os.sep not in entry:
        return True
    return entry.startswith(os.sep) and not import_path.is_agents(entry)


def _all(name: str, path: str) -> Iterator[str]:
    """The programs of that name on a path, in its order."""
    for entry in path.split(os.pathsep):
        place = os.path.join(entry, name)  # noqa: PTH118 - a text in, a text out
        if entry.startswith(os.sep) and os.path.isfile(place) and os.access(place, os.X_OK):  # noqa: PTH113 - a text
            yield place

"""Finds files of a work tree that run unsandboxed with the user's rights, which agents therefore must not change.

That is swarmgate itself where it is installed in the project's own environment; what git's settings name: included
files, filters, drivers, monitors; git's hooks; and the git folders of repositories inside of this one.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from swarmgate.errors import WorkspaceError
from swarmgate.workspace.files import globs, regular
from swarmgate.workspace.git.driver import call
from swarmgate.workspace.git.folder import top_of
from swarmgate.workspace.sandbox.confinement import GUARDED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_PROGRAMS = re.compile(
    r"filter\..*\.(clean|smudge|process)|diff\.external|diff\..*\.(textconv|command)|merge\..*\.driver"
    r"|core\.(fsmonitor|sshcommand|editor|pager|gitproxy|askpass|alternaterefscommand)|sequence\.editor|pager\..*"
    r"|gpg\.(.*\.)?program|gpg\.ssh\.defaultkeycommand|credential\.(.*\.)?helper|trailer\..*\.(command|cmd)"
    r"|remote\..*\.(uploadpack|receivepack|vcs)|uploadpack\.packobjectshook|interactive\.difffilter"
)
"""Keys of git's settings whose value git runs (git-config(1)); sections and names in lower case."""
_INCLUDES = re.compile(r"include\.path|includeif\..*\.path")
"""Keys whose value is a file with further settings, which may name programs again."""
_LARGE = ".lfsconfig"
"""What git-lfs reads in the work tree."""
_WORD = re.compile(r"""[^\s"'`=:;|&()<>{}$]*/[^\s"'`=:;|&()<>{}$]*""")
"""Something like a path in a hook."""
_HOOKS_PATH = "git's setting core.hooksPath"
_HOOK_BYTES = 200_000
_OF_HOOKS = (
    ".pre-commit-config.{yaml,yml}", "**/.pre-commit-hooks.yaml", ".husky/**", ".huskyrc*", ".githooks/**",
    "lefthook*.*", ".lefthook*.*", ".lefthook/**", ".config/lefthook*.*", "**/.lintstagedrc*",
    "**/lint-staged.config.*", "**/.simple-git-hooks.*", ".overcommit.yml", ".git-hooks/**",
)  # fmt: skip
"""What says to the known managers of hooks which programs to run."""
_REPOSITORY = b"160000 "
_DEPTH = 4
_LISTED = 5
_PASSED_OVER = frozenset({".git", ".swarm", "node_modules", ".venv", "venv", ".tox", ".nox", "__pycache__", "target",
                          "dist", "build"})  # fmt: skip
"""Where no repository inside of the repository is looked for: large, and full of what tools put there."""

_FILES_OF_SETTINGS = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM")
"""Variables by which git reads its settings from another file, without a word where that is empty or not there."""


def places(root: Path) -> dict[Path, str]:
    """The files and folders of a work tree that must not change, resolved, each with what makes it so.

    Raises:
        WorkspaceError: one of them cannot be guarded: it is not there, so that an agent could make it, or a link
            in the work tree leads to it. Or swarmgate's own folders lie in the tree.
    """
    if own := next((place for place in _own_folders() if place.resolve().is_relative_to(root)), None):
        raise WorkspaceError(
            f"{own}, where swarmgate keeps programs and answers of its own, lies in the work tree: agents write there",
            hint="let XDG_CACHE_HOME, XDG_DATA_HOME and XDG_CONFIG_HOME lead out of the repository",
        )
    found: dict[Path, str] = {}
    for place, why in (*_swarmgate(), *_settings(root), *_hooks(root), *_repositories(root)):
        if not place.is_relative_to(root) or place.relative_to(root).parts[:1] in {(), (".git",), (".swarm",)}:
            continue
        whole = _whole(place, root)
        link = next((each for each in (whole, *whole.parents) if each.is_relative_to(root) and each.is_symlink()), None)
        if link is not None:
            raise WorkspaceError(
                f"{link} is a symbolic link, and {why} leads through it: no sandbox can guard a link",
                hint="name what it leads to instead, or replace the link",
            )
        if not whole.exists():
            raise WorkspaceError(
                f"{why} names {place}, which is not there: an agent could make it, and git would run or read it",
                hint="make it, or for this clone: git config core.hooksPath .git/hooks"
                if why == _HOOKS_PATH
                else "make the file, or take the setting away: git config --show-origin --list names its place",
            )
        found.setdefault(whole, why)
    return {place: why for place, why in found.items() if not any(each in found for each in place.parents)}


def notice(root: Path, guarded: Iterable[Path]) -> str:
    """The notice about guarded places in the work tree besides `.git` and `.swarm`; empty without any."""
    inside = (str(place.relative_to(root)) for place in guarded if place != root and place.is_relative_to(root))
    names = [name for name in inside if name not in GUARDED]
    if not names:
        return ""
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"agents cannot write what git or swarmgate uses with your rights: {', '.join(names[:_LISTED])}{more}"


def of_hooks(root: Path, paths: Iterable[str]) -> tuple[str, ...]:
    """The repository-relative paths that say what the hooks run; none where the repository has no hooks."""
    folder = _hooks_folder(root)
    if folder is None or not any(_is_hook(each) for each in _entries(folder)):
        return ()
    own = f"{folder.relative_to(root)}/" if folder.is_relative_to(root) else "\0"
    return tuple(
        path for path in paths if path.startswith(own) or any(globs.matches(path, pattern) for pattern in _OF_HOOKS)
    )


def _whole(place: Path, root: Path) -> Path:
    """What has to be guarded so that a program stays as it is: of a Python environment the whole."""
    inside = (each for each in (place, *place.parents) if each.is_relative_to(root))
    return next((each for each in inside if (each / "pyvenv.cfg").is_file()), place)


def _swarmgate() -> Iterator[tuple[Path, str]]:
    """Modules are imported and programs started from there while agents are at work.

    That is the whole environment, and Python itself: those of conda and pixi are one, and may lie in the project.
    """
    for place in dict.fromkeys((sys.prefix, sys.base_prefix)):
        yield Path(os.path.abspath(place)), "swarmgate runs from here"  # noqa: PTH100 - links are looked at later
    yield Path(__file__).resolve().parents[2], "swarmgate runs from here"


# --- outside of the work tree ---


def opened(root: Path, folder: Path, path: str) -> str:
    """Lists what would run with the user's rights from a folder outside of the work tree, if agents wrote it.

    Args:
        root: the work tree.
        folder: the folder, resolved.
        path: PATH.

    Returns:
        The place and what it is; empty where there is nothing.
    """
    if folder.is_relative_to(root):
        return ""  # agents write there anyway, and nothing is started from there
    for place, why in _outside(root, path):
        if any(each.is_relative_to(folder) for each in (place, place.resolve())) or folder.is_relative_to(place):
            return f"{place}, {why}"
    return ""


def _own_folders() -> tuple[Path, ...]:
    """Where swarmgate keeps what is its own and the user's: caches, tools, settings."""
    from platformdirs import PlatformDirs  # noqa: PLC0415 - late: most commands need none of it

    own = PlatformDirs("swarmgate")
    return own.user_cache_path, own.user_data_path, own.user_config_path


def _outside(root: Path, path: str) -> Iterator[tuple[Path, str]]:
    yield from ((Path(each), "where swarmgate's modules are imported from") for each in sys.path if each)
    folders = (*_own_folders(), Path(sys.executable).parent)
    yield from ((each, "which is swarmgate's own") for each in folders)
    yield from _settings(root)
    for entry in (each for each in path.split(os.pathsep) if each.startswith(os.sep)):
        yield Path(entry), "which is on PATH"
        with contextlib.suppress(OSError), os.scandir(entry) as entries:
            links = [each.path for each in entries if each.is_symlink()]
            yield from ((Path(os.path.realpath(each)), f"to which {each} on PATH leads") for each in links)


# --- git's settings ---


def _settings(root: Path) -> Iterator[tuple[Path, str]]:
    """Files with settings, those that are not there yet as well, and what settings name."""
    for variable in _FILES_OF_SETTINGS:
        if value := os.environ.get(variable):
            yield _normal(root / value), f"the variable {variable}"
    top = top_of(root) or root  # git names its files from there, and runs programs there
    code, out, _ = call(top, "config", "--show-origin", "--list", "-z")
    parts = out.decode(errors="surrogateescape").split("\0")[:-1] if not code else []
    large = False
    for origin, entry in zip(parts[::2], parts[1::2], strict=False):
        key, _, value = entry.partition("\n")
        here = top / origin.removeprefix("file:") if origin.startswith("file:") else top
        if origin.startswith("file:"):
            yield _normal(here), "git reads its settings from it"
        large = large or key.lower().startswith("filter.lfs.")
        named = (place for base in {top, root} for place in _named(key.lower(), value, here.parent, base))
        yield from ((place, f"git's setting {key}") for place in named)
    if large and (top / _LARGE).exists():
        yield top / _LARGE, "git-lfs reads its settings from it"


def _named(key: str, value: str, folder: Path, root: Path) -> Iterator[Path]:
    """The files of the work tree that a setting names."""
    if _INCLUDES.fullmatch(key) and not value.startswith("%"):
        yield _normal(folder / Path(value).expanduser())
    elif _PROGRAMS.fullmatch(key):
        first, *others = _words(value.removeprefix("!")) or [""]
        if "/" in first and not first.startswith(("~", "$", "%")):
            yield _normal(root / first)
        yield from (place for word in (*others, *_WORD.findall(value)) if (place := _normal(root / word)).is_file())


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()


def _normal(place: Path) -> Path:
    """Without `..`, links left as they are."""
    return Path(os.path.normpath(place))


# --- hooks ---


def _hooks(root: Path) -> Iterator[tuple[Path, str]]:
    """The folder of the hooks where it lies in the work tree; hooks that lead there; and what a hook names there."""
    folder = _hooks_folder(root)
    if folder is None:
        return
    for place in dict.fromkeys((folder, folder.resolve())):
        yield place, _HOOKS_PATH
    for hook in _entries(folder):
        if _is_hook(hook):
            real = hook.resolve()
            yield real, f"git's hook {hook.name}"
            named = (place for base in {top_of(root) or root, root} for place in _mentioned(real, base))
            yield from ((place, f"git's hook {hook.name}") for place in named)


def _hooks_folder(root: Path) -> Path | None:
    """Where git takes hooks from; None where there is no repository."""
    code, out, _ = call(root, "rev-parse", "--git-path", "hooks")
    folder = _normal(root / os.fsdecode(out.rstrip(b"\n")))
    if code:
        return None
    return folder.parent if folder.name == "_" else folder  # husky: what is in .husky/_ runs its neighbours above


def _entries(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _is_hook(place: Path) -> bool:
    return place.is_file() and not place.name.endswith(".sample")


def _mentioned(hook: Path, root: Path) -> Iterator[Path]:
    try:
        script = regular.read(hook, limit=_HOOK_BYTES).decode(errors="surrogateescape")
    except OSError:
        return
    for word in dict.fromkeys(_WORD.findall(script)):
        place = _normal(root / word)
        whole = _whole(place, root) if place.is_file() else root
        if whole.resolve() == whole != root:  # a mere mention, so that links are no reason to stop
            yield whole


# --- repositories inside of this one ---


def _repositories(root: Path) -> Iterator[tuple[Path, str]]:
    """The `.git` of each repository in the work tree: those that the index knows, and those not far below the top."""
    code, out, _ = call(root, "-c", "core.fsmonitor=false", "ls-files", "-s", "-z")
    listed = (record.partition(b"\t") for record in out.split(b"\0")) if not code else ()
    known = [root / os.fsdecode(path) for entry, _, path in listed if entry.startswith(_REPOSITORY)]
    for folder in (*known, *_folders(root, _DEPTH)):
        if folder != root and os.path.lexists(folder / ".git"):
            yield folder / ".git", "git reads its settings from it"


def _folders(folder: Path, depth: int) -> Iterator[Path]:
    yield folder
    if not depth:
        return
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.name not in _PASSED_OVER and entry.is_dir(follow_symlinks=False):
            yield from _folders(Path(entry.path), depth - 1)

"""Checks a path that a model wrote: which files may be opened at all."""

from __future__ import annotations

import re
import stat
import unicodedata
from pathlib import Path, PurePosixPath

from swarmgate.errors import UnsafePath
from swarmgate.workspace import system

_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_DEVICE = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.IGNORECASE)
"""Names that Windows gives to devices, whatever follows the first dot (Microsoft: Naming Files, Paths, Namespaces)."""
_SHORT_GIT = re.compile(r"git~\d+")  # the 8.3 name that Windows gives `.git`


def resolve(root: Path, path: str) -> Path:
    """The absolute form of the repository-relative `path`, which names a regular file or nothing yet.

    Symbolic links are allowed as long as they end inside the root, outside `.git` and `.swarm`.

    Args:
        root: top level of the work tree, resolved.
        path: with `/`, as a model wrote it.

    Raises:
        UnsafePath: with the path and the reason.
    """
    try:
        place = _lexical(path)
        target = (root / place).resolve()
    except (OSError, RuntimeError, ValueError) as error:  # too long, a loop of links, a lone surrogate
        raise _refused(path, f"it is no usable path ({getattr(error, 'strerror', None) or error})") from error
    if not target.is_relative_to(root):
        raise _refused(path, "a symbolic link on it leads out of the repository")
    inner = PurePosixPath(target.relative_to(root))
    _refuse_reserved(path, inner)
    if inner == PurePosixPath():
        raise _refused(path, "it names the repository itself; name a file in it")
    _refuse_irregular(path, target)
    return root / place


def is_reserved(path: str) -> bool:
    """Whether a repository-relative path enters `.git`, at any depth, or `.swarm`, on some file system."""
    return bool(_owner(PurePosixPath(path)))


def windows_problem(name: str) -> str:
    """Why Windows cannot hold a file or folder of that name, or holds it as another one; empty: it can."""
    if _DEVICE.fullmatch(name.rstrip(". ")):
        return f"`{name}` is a device on Windows"
    if name not in {".", ".."} and name != name.rstrip(". "):
        return f"`{name}` ends in a dot or a blank, which Windows drops"
    if found := sorted({*name} & {*'<>:"|?*\\'} | {char for char in name if char < " "}):
        return f"`{name}` has {found[0]!r}, which Windows allows in no name"
    return ""


def _lexical(path: str) -> PurePosixPath:
    """The path without `.` and `..`, judged by its letters alone."""
    if not path.strip():
        raise _refused(path, "it is empty")
    if "\0" in path:
        raise _refused(path, "it contains a NUL character")
    if path.startswith(("/", "\\", "~")) or _DRIVE.match(path):
        raise _refused(path, "it is not relative to the repository's root; write it like src/app.py")
    if ".." in path.split("\\") or "\\.." in path:
        raise _refused(path, "it has backslashes; write folders with /")
    parts: list[str] = []
    for part in PurePosixPath(path).parts:
        if system.IS_WINDOWS and (problem := windows_problem(part)):
            raise _refused(path, problem)
        if part != "..":
            parts.append(part)
        elif parts:
            parts.pop()
        else:
            raise _refused(path, "it leaves the repository")
    place = PurePosixPath(*parts)
    _refuse_reserved(path, place)
    if path.endswith("/") or place == PurePosixPath():
        raise _refused(path, "it names a folder; name a file")
    return place


def _refuse_reserved(path: str, place: PurePosixPath) -> None:
    if owner := _owner(place):
        raise _refused(path, f"{owner}; no file tool may enter it")


def _owner(place: PurePosixPath) -> str:
    """Whose the place is where no role may write; empty where it is the project's."""
    names = [_folded(part) for part in place.parts]
    if any(name == ".git" or _SHORT_GIT.fullmatch(name) for name in names):
        return "`.git` belongs to git"
    return "`.swarm` belongs to swarmgate" if names[:1] == [".swarm"] else ""


def _folded(name: str) -> str:
    """The name as a lenient file system might read it: no case, no invisible characters, no trailing dots or blanks."""
    visible = "".join(char for char in unicodedata.normalize("NFKC", name) if unicodedata.category(char) != "Cf")
    return visible.casefold().partition(":")[0].rstrip(". ")


def _refuse_irregular(path: str, target: Path) -> None:
    for parent in target.parents:
        if parent.exists():
            if not parent.is_dir():
                raise _refused(path, f"`{parent.name}` is a file, not a folder")
            break
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return
    except OSError as error:
        raise _refused(path, f"it cannot be opened ({error.strerror})") from error
    if stat.S_ISDIR(mode):
        raise _refused(path, "it is a folder; name a file, or call list_files")
    if not stat.S_ISREG(mode):
        raise _refused(path, "it is not a regular file (a pipe, a socket or a device)")


def _refused(path: str, reason: str) -> UnsafePath:
    return UnsafePath(f"path {path[:200]!r} is refused: {reason}")

"""Creates all temporary files and folders, below one folder of this process.

    <TMPDIR>/swarmgate-<user id>/run-<process>/<what>-<random>

The folder of a process is there as long as something is in it. What a process that was killed left is removed by the
next one of the same user, which knows by the name whose it is, and that it has ended (`identity`).
"""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import shutil
import stat
import tempfile
import threading
import time
import weakref
from pathlib import Path
from typing import TYPE_CHECKING

from swarmgate.errors import WorkspaceError
from swarmgate.workspace import system
from swarmgate.workspace.process import identity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_RUN = re.compile(f"run-({identity.PATTERN})")
_FORGOTTEN_S = 7 * 86_400
"""After how long what belongs to another boot, machine or container is taken to be nobody's any more."""
_PRIVATE = 0o700
_TRIES = 10
_ELSEWHERE = ("/tmp", "/var/tmp", "/usr/tmp")  # noqa: S108 - where a folder of our own is made
_OCTAL = re.compile(rb"\\([0-7]{3})")

_lock = threading.RLock()
"""Held while a folder is made or the emptied one above removed: threads do not take it from each other."""
_swept: set[int] = set()


@contextlib.contextmanager
def folder(what: str) -> Iterator[Path]:
    """Creates a folder for the length of a block; what cannot be removed then is removed later.

    Raises:
        WorkspaceError: none can be made.
    """
    place = created(what)
    try:
        yield place
    finally:
        remove(place)


def created(what: str) -> Path:
    """Creates a folder; the caller removes it with `remove` later.

    Args:
        what: the beginning of its name.

    Raises:
        WorkspaceError: none can be made.
    """
    try:
        for _ in range(_TRIES):
            if os.getpid() not in _swept:
                sweep()
            with _lock, contextlib.suppress(FileNotFoundError):  # another process may have taken it away
                return Path(tempfile.mkdtemp(prefix=f"{what}-", dir=_run_folder()))
    except OSError as error:
        raise WorkspaceError(
            f"no temporary folder can be made in {place()}: {error}",
            hint="make room there, or set TMPDIR to a folder that you may write",
        ) from error
    raise WorkspaceError(f"no temporary folder can be made in {place()}: it is removed again and again")


def owned(what: str, owner: object) -> Path:
    """Creates a folder that is deleted with its owner, an object.

    Raises:
        WorkspaceError: none can be made.
    """
    place = created(what)
    weakref.finalize(owner, remove, place)
    return place


def persistent(what: str) -> Path:
    """Creates a folder that is the user's from now on and is not deleted.

    Raises:
        OSError: none can be made.
    """
    return Path(tempfile.mkdtemp(prefix=f"{what}-", dir=place()))


def remove(place: Path) -> bool:
    """Remove a folder with all that is in it, folders without the right to write too; whether that was possible."""
    shutil.rmtree(place, onerror=_insist)
    if _RUN.fullmatch(place.parent.name):
        with _lock, contextlib.suppress(OSError):
            place.parent.rmdir()  # when it was the last
    return not os.path.lexists(place)


@contextlib.contextmanager
def holding(data: bytes | None) -> Iterator[int]:
    """Yields a descriptor to read `data` from: a nameless file, since a pipe could block.

    Raises:
        WorkspaceError: there is no room for it.
    """
    if not data:
        nothing = os.open(os.devnull, os.O_RDONLY)
        try:
            yield nothing
        finally:
            os.close(nothing)
        return
    try:
        file = tempfile.TemporaryFile(dir=place())  # noqa: SIM115 - closed below
        file.write(data)
        file.seek(0)
    except OSError as error:
        raise WorkspaceError(f"no temporary file can be written in {place()}: {error}") from error
    with file:
        yield file.fileno()


def place() -> Path:
    """The folder for temporary files: as TMPDIR says, unless that is a work tree, where agents write."""
    named = Path(tempfile.gettempdir()).resolve()
    if not _in_work_tree(named):
        return named
    usable = (Path(each) for each in _ELSEWHERE if os.access(each, os.W_OK | os.X_OK))
    return next((each.resolve() for each in usable if not _in_work_tree(each.resolve())), named)


def leave() -> None:
    """Removes the folder of this process with all that is in it, at its end."""
    with contextlib.suppress(OSError):
        for top in _tops():
            remove(top / f"run-{identity.own()}")


atexit.register(leave)


def sweep() -> tuple[Path, ...]:
    """Removes what ended processes of this user left; returns what cannot be removed.

    Where something is mounted in it nothing is touched.
    """
    _swept.add(os.getpid())
    left = []
    with contextlib.suppress(OSError):
        for top in _tops():
            left += [each for each in top.iterdir() if _is_nobodys(each) and (_mounted_in(each) or not remove(each))]
    return tuple(left)


def _run_folder() -> Path:
    """The folder of this process; who asks holds the lock."""
    run = _top() / f"run-{identity.own()}"
    run.mkdir(_PRIVATE, exist_ok=True)
    return run


def _top() -> Path:
    """The folder of this user: private, and nobody else's. Where somebody else took the name, one of another name."""
    named = place() / f"swarmgate-{system.user_id()}"
    with contextlib.suppress(FileExistsError):
        named.mkdir(_PRIVATE)
    return next(_tops(), None) or Path(tempfile.mkdtemp(prefix=f"{named.name}-", dir=named.parent))


def _tops() -> Iterator[Path]:
    """The folders of this user, the usual one first."""
    base, name = place(), f"swarmgate-{system.user_id()}"
    if _is_ours(base / name):
        yield base / name
    yield from (each for each in sorted(base.glob(f"{name}-*")) if _is_ours(each))


def _is_ours(top: Path) -> bool:
    """Whether it is a real folder of this user that nobody else can enter; its mode is set right."""
    try:
        found = top.lstat()
        if not stat.S_ISDIR(found.st_mode) or not system.owns(found):
            return False
        if stat.S_IMODE(found.st_mode) != _PRIVATE:
            top.chmod(_PRIVATE)
    except OSError:
        return False
    return True


def _is_nobodys(run: Path) -> bool:
    match = _RUN.fullmatch(run.name)
    if match is None:
        return False
    if not identity.is_foreign(match[1]):
        return identity.has_ended(match[1])
    try:
        return time.time() - run.lstat().st_mtime > _FORGOTTEN_S
    except OSError:
        return False


def _mounted_in(folder: Path) -> bool:
    """Whether something is mounted on the folder or below: to remove that would empty a place that is not ours."""
    try:
        table = Path("/proc/self/mountinfo").read_bytes()
    except OSError:
        return any(os.path.ismount(each) for each in (folder, *folder.rglob("*")))
    at = os.fsencode(folder)
    points = (_OCTAL.sub(lambda code: bytes([int(code[1], 8)]), line.split()[4]) for line in table.splitlines())
    return any(point == at or point.startswith(at + b"/") for point in points)


def _insist(function: Callable[..., object], path: str, _: object) -> None:
    """Called with what `rmtree` could not remove: a folder that may not be written is opened, and tried again."""
    parent = Path(path).parent
    with contextlib.suppress(OSError):
        for each in (parent, Path(path)):
            if stat.S_ISDIR(each.lstat().st_mode):
                each.chmod(_PRIVATE)
        if function in {os.open, os.scandir, os.lstat, os.listdir}:
            shutil.rmtree(path, ignore_errors=True)
        else:
            function(path)


def _in_work_tree(folder: Path) -> bool:
    return any(os.path.lexists(each / ".git") for each in (folder, *folder.parents))

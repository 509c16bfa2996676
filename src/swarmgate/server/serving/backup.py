"""Copies what cannot be dropped of a server's home, also while it serves, and brings it back.

Ledger and git of a goal at work are copied until both are as they were before: the copy is then of one moment, and the
next run goes on from there as after any crash.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from swarmgate.domain.base import Frozen
from swarmgate.errors import UsageError
from swarmgate.server.serving.home import ARCHIVE, COUNCILS, DATABASE, GOALS, PUSH_KEY, SCRATCH, SIGNING_KEY
from swarmgate.version import __version__
from swarmgate.workspace.files.atomic import replace

MANIFEST = "backup.json"
_FORM = 1
_PRIVATE = 0o700
_TRIES = 10
"""How often a goal is copied that moves on meanwhile: a step that is recorded takes seconds, a copy less."""
_LOCKS = frozenset({"lock", "watch.lock"})
"""Of `.swarm/runtime`: of the processes here, as all that ends so beside a record."""
_MOVING = frozenset({"runtime", "traces", "objects"})
"""Folders whose files say nothing about where the work stands: of `.swarm/` those of this moment, of git the contents,
which only grow. The rest of the work tree is brought back to what the last step left.
"""


class Backup(Frozen):
    """What a backup holds.

    Attributes:
        form: of the backup.
        version: of the swarmgate that made it.
        created: UTC.
        home: where it came from.
        goals: how many.
        councils: how many.
        files: how many in all.
    """

    form: int = _FORM
    version: str = __version__
    created: str
    home: str
    goals: int
    councils: int
    files: int


def back_up(home: Path, target: Path) -> Backup:
    """Copies a home into a new folder.

    Args:
        home: of the server, which may be at work.
        target: the new folder; it appears when all is in it.

    Raises:
        UsageError: there is something already, there is no home, or it cannot be read or written.
    """
    if not (home / DATABASE).is_file() or not (home / SIGNING_KEY).is_file():
        raise UsageError(f"There is no server's home at {home}.", hint="Name it: --home DIR, or begin: swarm serve")
    with _appearing(target) as place:
        _copy_database(home / DATABASE, place / DATABASE)
        for key in (SIGNING_KEY, PUSH_KEY):
            if (home / key).is_file():  # that of pushes is made with the first browser that wants them
                shutil.copy2(home / key, place / key)
        for name in (GOALS, COUNCILS, ARCHIVE, SCRATCH):
            (place / name).mkdir()
            for each in _folders(home / name):
                _copy_settled(each, place / name / each.name)
        backup = Backup(
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            home=str(home),
            goals=len(_folders(place / GOALS)),
            councils=len(_folders(place / COUNCILS)),
            files=_count(place),
        )
        replace(place / MANIFEST, backup.model_dump_json(indent=2) + "\n")
    return backup


def restore(source: Path, home: Path) -> Backup:
    """Brings a backup back as the home of a server that is not there yet.

    Raises:
        UsageError: there is something at the home already; or what is to be restored is no backup, is damaged, or is
            of a newer swarmgate.
    """
    backup = _read(source)
    if home.is_dir() and not home.is_symlink() and not any(home.iterdir()):
        home.rmdir()
    with _appearing(home) as place:
        shutil.copytree(source, place, symlinks=True, dirs_exist_ok=True)
        (place / MANIFEST).unlink()
        _move_paths(place, backup.home, str(home))
    return backup


def _read(source: Path) -> Backup:
    try:
        found = json.loads((source / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise UsageError(f"{source} is no backup of a server: it has no {MANIFEST} that can be read.") from None
    if not isinstance(found, dict) or found.get("form") != _FORM:
        raise UsageError(f"{source} has another form than this swarmgate knows.", hint="Restore it with a newer one.")
    backup = Backup.model_validate(found)
    files = _count(source) - 1
    if files != backup.files:
        raise UsageError(f"{source} is not whole: it has {files:,} files, and had {backup.files:,}.")
    try:
        with closing(sqlite3.connect(f"file:{source / DATABASE}?immutable=1", uri=True)) as database:
            said = database.execute("PRAGMA integrity_check").fetchone()[0]
    except sqlite3.Error as error:
        said = str(error)
    if said != "ok":
        raise UsageError(f"{source / DATABASE} is damaged: {said}")
    return backup


def _copy_database(source: Path, target: Path) -> None:
    """Copies a database as it is at one moment, whoever writes to it."""
    with (
        closing(sqlite3.connect(f"file:{source}?mode=ro", uri=True)) as found,
        closing(sqlite3.connect(target)) as copy,
    ):
        found.backup(copy)
    target.chmod(0o600)


@contextmanager
def _appearing(target: Path) -> Iterator[Path]:
    """A folder beside the target, which becomes it at the end of the block; it is removed where the block fails."""
    if os.path.lexists(target):
        raise UsageError(f"{target} is there already; nothing is overwritten.", hint="Name a new folder.")
    place = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.mkdir(mode=_PRIVATE)
        yield place
        place.rename(target)
    except (OSError, shutil.Error, sqlite3.Error) as error:
        raise UsageError(f"{target} could not be written: {error}") from error
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _copy_settled(source: Path, target: Path) -> None:
    """Copies the folder of a goal or a council at a moment at which nothing of it was recorded.

    Raises:
        UsageError: there was none.
    """
    for _ in range(_TRIES):
        before = _standing(source)
        whole = _copy_tree(source, target)
        if whole and _standing(source) == before:
            return
        shutil.rmtree(target, ignore_errors=True)
    raise UsageError(
        f"{source} changes faster than it can be copied.", hint=f"Pause {source.name} for that time, and try again."
    )


def _standing(folder: Path) -> tuple[tuple[str, int, int, int], ...]:
    """Where the work stands: each file of records, ledger and git, but contents, by size, time and number."""
    found = []
    for base, folders, files in os.walk(folder):
        inside = {".git", ".swarm"} & {*Path(base).relative_to(folder).parts}
        folders[:] = [each for each in folders if not (inside and each in _MOVING)]
        for name in files:
            if inside or base == str(folder):
                try:
                    at = os.lstat(f"{base}/{name}")
                except OSError:
                    continue
                found.append((f"{base}/{name}", at.st_size, at.st_mtime_ns, at.st_ino))
    return tuple(sorted(found))


def _copy_tree(source: Path, target: Path) -> bool:
    """Copies files, folders and links; whether all that was there at the beginning was there when its turn came."""
    whole = True

    def copied(file: str, to: str) -> str:
        nonlocal whole
        try:
            if stat.S_ISREG(os.lstat(file).st_mode):
                shutil.copy2(file, to, follow_symlinks=False)
        except FileNotFoundError:
            whole = False
        return to

    def left_out(folder: str, names: list[str]) -> set[str]:
        if folder == str(source):
            return {name for name in names if name.endswith(".lock")}
        return {*names} & _LOCKS if folder.endswith(".swarm/runtime") else set()

    try:
        shutil.copytree(source, target, symlinks=True, copy_function=copied, ignore=left_out)
    except (FileNotFoundError, shutil.Error):
        return False
    return whole


def _folders(place: Path) -> list[Path]:
    return sorted(each for each in place.iterdir() if each.is_dir()) if place.is_dir() else []


def _count(place: Path) -> int:
    return sum(len(files) for _, _, files in os.walk(place))


def _move_paths(place: Path, old: str, new: str) -> None:
    """Has the records of goals and councils name the folders where they are from now on."""
    for name, record in ((GOALS, "goal.json"), (ARCHIVE, "goal.json"), (COUNCILS, "job.json")):
        for each in _folders(place / name):
            file = each / record
            if not file.is_file():
                continue
            known = json.loads(file.read_text(encoding="utf-8"))
            path = str(known.get("path", ""))
            if path.startswith(f"{old}/"):
                replace(file, json.dumps({**known, "path": f"{new}{path.removeprefix(old)}"}))

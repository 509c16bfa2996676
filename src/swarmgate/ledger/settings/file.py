"""Writes `.swarm/config.toml` and `.swarm/.gitignore` without losing what a user wrote there.

A change is decided purely (`ledger.settings.text`), and then saved: under a lock, against the bytes that it was decided
on, with the old ones kept in `.swarm/quarantine/`.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from swarmgate.config.loading import require_file
from swarmgate.errors import ConfigError, UsageError
from swarmgate.journal.disk_errors import writing
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.settings.text import Edit, Put, Remove, Rename, changed
from swarmgate.workspace import system
from swarmgate.workspace.files import exclusive
from swarmgate.workspace.files.atomic import replace
from swarmgate.workspace.files.folders import make

__all__ = ["Draft", "Edit", "Put", "Remove", "Rename", "changed", "edited", "read", "save"]

_WAIT_S, _PAUSE_S = 3.0, 0.02
"""How long another writer is waited for: it holds the lock for an instant."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A file as it was read, and the text that it should have: what `save` writes.

    Attributes:
        path: the file.
        before: its bytes; None where there is none.
        after: its new text.
    """

    path: Path
    before: bytes | None
    after: str


def read(path: Path) -> tuple[bytes | None, str]:
    """The bytes of a file, None where there is none, and its text with the line ends as they are.

    Raises:
        ConfigError: it cannot be read, or is not UTF-8.
    """
    try:
        require_file(path)
        data = path.read_bytes()
        return data, data.decode("utf-8")
    except FileNotFoundError:
        return None, ""
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8 text (byte {error.start})", hint="save it as UTF-8") from error
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from error


def edited(path: Path, edits: Sequence[Edit]) -> Draft:
    """The new text of a settings file after edits; nothing is written.

    Raises:
        ConfigError: the file cannot be read, is not valid TOML, or cannot hold them.
    """
    before, text = read(path)
    try:
        return Draft(path, before, changed(text, edits))
    except ConfigError as error:
        raise ConfigError(f"{path}: {error.message}", hint=error.hint) from error


def save(folder: SwarmFolder, drafts: Sequence[Draft]) -> tuple[Path, ...]:
    """Writes each draft atomically, with the permissions that the file has; returns the copies of what was replaced.

    An editor takes no lock of ours: what it saves in the instant between the last look and the replacement is lost to
    the file. Until then any change is noticed.

    Raises:
        UsageError: a file was changed since it was read, or is a link that leads out of the repository. Nothing more
            is written then.
        LedgerWriteFailed: a file cannot be written; it is as before.
    """
    drafts = [each for each in drafts if each.before is None or each.after.encode() != each.before]
    if not drafts:
        return ()
    with _locked(folder):
        for draft in drafts:
            _require_unchanged(draft)
        return tuple(stored for draft in drafts if (stored := _replace(folder, draft)) is not None)


def _replace(folder: SwarmFolder, draft: Draft) -> Path | None:
    target = _target(folder, draft.path)
    stored = None if draft.before is None else _keep(folder, target, draft.before)
    with writing(target):
        make(target.parent)
        _require_unchanged(draft)
        replace(target, draft.after)
    return stored


def _require_unchanged(draft: Draft) -> None:
    if read(draft.path)[0] != draft.before:
        raise UsageError(
            f"{draft.path} was changed by somebody else in the meantime; it is left as it is now.",
            hint="Run the command again: it begins with what stands there now.",
        )


def _target(folder: SwarmFolder, path: Path) -> Path:
    """The file itself; a symbolic link is written through where it leads to a file of this repository."""
    if not path.is_symlink():
        return path
    target = path.resolve()
    if target.is_relative_to(folder.root.resolve()) and target.is_file():
        return target
    raise UsageError(
        f"{path} is a symbolic link to {target}, which is no file of this repository; it is not written to.",
        hint="Make the change there yourself, or replace the link by a file.",
    )


def _keep(folder: SwarmFolder, target: Path, data: bytes) -> Path:
    """The old bytes in the quarantine, to be read by nobody who could not read them before."""
    with writing(folder.quarantine):
        make(folder.quarantine)
        stored = folder.quarantine_folder(target.name.removeprefix("."))
        os.close(os.open(stored, os.O_CREAT | os.O_EXCL | os.O_WRONLY, target.stat().st_mode & 0o777))
        replace(stored, data)
    return stored


@contextlib.contextmanager
def _locked(folder: SwarmFolder) -> Iterator[None]:
    """Two writers of settings never overlap; the kernel's lock ends with its process."""
    path = folder.runtime / "settings.lock"
    with writing(path):
        make(path.parent)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | system.CLOEXEC, 0o644)
    try:
        with writing(path):
            _take(descriptor, path)
        yield
    finally:
        os.close(descriptor)


def _take(descriptor: int, path: Path) -> None:
    until = time.monotonic() + _WAIT_S
    while True:
        try:
            exclusive.take(descriptor, wait=False)
        except BlockingIOError:
            if time.monotonic() > until:
                raise UsageError(
                    f"Another process is changing the settings: it holds {path}.", hint="Try again when it is done."
                ) from None
            time.sleep(_PAUSE_S)
        else:
            return

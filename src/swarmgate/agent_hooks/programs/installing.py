"""Puts hooks into the settings of a program, and takes them out again; first as a difference, then on disk.

Before a file is changed, it is copied to the user's state folder. Where it is as it was left when the hooks are taken
out again, that copy comes back, byte for byte; where it was edited since, only what was installed is cut out.
"""

from __future__ import annotations

import contextlib
import difflib
import shlex
import sys
from hashlib import sha256
from pathlib import Path

from pydantic import ValidationError

from swarmgate.agent_hooks import places
from swarmgate.agent_hooks.programs import json_text
from swarmgate.agent_hooks.programs.listing import PROGRAMS, is_ours
from swarmgate.domain.base import Frozen
from swarmgate.errors import UsageError
from swarmgate.workspace.files import atomic, regular
from swarmgate.workspace.programs import trusted

_PLUGIN = Path(__file__).with_name("opencode.js")
_MARK = b"`swarm hook install opencode`"
"""Stands in the plugin, whatever else was changed in it."""
_COMMAND = '"swarm"'
"""In the plugin's text, the command; it is replaced where another one is used."""


class Change(Frozen):
    """What would be written to one file.

    Attributes:
        program: its name.
        path: the file.
        before: its text; None: there is none.
        after: its text then; None: it goes.
    """

    program: str
    path: Path
    before: bytes | None
    after: bytes | None

    @property
    def changes(self) -> bool:
        """Whether anything would be written."""
        return self.before != self.after

    @property
    def lines(self) -> list[str]:
        """The difference, as `diff -u` shows it."""
        old, new = ((each or b"").decode("utf-8", "replace").splitlines() for each in (self.before, self.after))
        of_old, of_new = (str(self.path) if each is not None else "/dev/null" for each in (self.before, self.after))
        return list(difflib.unified_diff(old, new, of_old, of_new, lineterm=""))


class Backup(Frozen):
    """What stood in a file, in the copy of that name (empty: there was no file), and the hash of what was written."""

    path: Path
    copy_name: str
    written: str


def installing(name: str, root: Path | None, swarm: str) -> Change:
    """The change that puts the hooks into a program's settings; those that are there already are written anew.

    Args:
        name: of the program.
        root: the repository; None: the user's own settings.
        swarm: the command that answers, as a shell takes it.

    Raises:
        UsageError: the settings cannot be read, or are of another form.
    """
    program = PROGRAMS[name]
    path = program.place(root)
    before = _read(path)
    if not program.hooks:
        return Change(program=name, path=path, before=before, after=_plugin(path, before, swarm))
    try:
        if _ours(before or b"") == [(event, entry) for event, entry in program.entries(swarm)]:
            return Change(program=name, path=path, before=before, after=before)
        after = json_text.without_entries(before) if before and before.strip() else b""
        for event, entry in program.entries(swarm):
            after = json_text.with_entry(after, event, entry)
    except UsageError as error:
        raise UsageError(f"{path}: {error.message}", hint=error.hint) from error
    return Change(program=name, path=path, before=before, after=after)


def uninstalling(name: str, root: Path | None) -> Change:
    """The change that takes the hooks out of a program's settings.

    Raises:
        UsageError: as above.
    """
    program = PROGRAMS[name]
    path = program.place(root)
    before = _read(path)
    known = _backup(path)
    if before is not None and known is not None and known.written == sha256(before).hexdigest():
        copy = _folder() / known.copy_name
        return Change(program=name, path=path, before=before, after=regular.read(copy) if known.copy_name else None)
    if not program.hooks:
        ours = before is not None and _MARK in before
        return Change(program=name, path=path, before=before, after=None if ours else before)
    try:
        after = json_text.without_entries(before) if before and _ours(before) else before
    except UsageError as error:
        raise UsageError(f"{path}: {error.message}", hint=error.hint) from error
    return Change(program=name, path=path, before=before, after=after or None)


def installed(name: str, root: Path | None) -> bool:
    """Whether hooks of ours stand in a program's settings; what cannot be read has none."""
    program = PROGRAMS[name]
    with contextlib.suppress(UsageError):
        text = _read(program.place(root)) or b""
        return bool(_ours(text)) if program.hooks else _MARK in text
    return False


def apply(change: Change, *, keep: bool) -> Path | None:
    """Writes a change; returns the copy of what stood there, if one was made.

    Args:
        change: what to write.
        keep: whether what stood there is kept, for when the hooks are taken out again.

    Raises:
        UsageError: the disk refuses.
    """
    try:
        copy = _kept(change) if keep else None
        if change.after is None:
            change.path.unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # a folder that was made for it, where nothing else is in it
                change.path.parent.rmdir()
        else:
            change.path.parent.mkdir(parents=True, exist_ok=True)
            atomic.replace(change.path.resolve(), change.after)  # the file that a link leads to stays the one it is
    except OSError as error:
        raise UsageError(f"{change.path} cannot be written: {error.strerror or error}") from error
    return copy


def command(root: Path | None) -> str:
    """The command that a hook starts: `swarm` in a shared file where that is what a shell finds, else its path."""
    own = Path(sys.argv[0]).resolve()
    found = trusted.find("swarm", root) if root is not None else None
    if found and Path(found).resolve() == own:
        return "swarm"
    return shlex.quote(str(own)) if own.name == "swarm" else f"{shlex.quote(sys.executable)} -P -m swarmgate"


def _kept(change: Change) -> Path | None:
    folder = _folder()
    places.make_state_folder(folder.name)
    known = _backup(change.path)
    again = known is not None and change.before is not None and known.written == sha256(change.before).hexdigest()
    name = known.copy_name if known and again else ""
    if change.before is not None and not again:
        name = f"{places.key(str(change.path), sha256(change.before).hexdigest())}.backup"
        atomic.replace(folder / name, change.before)
    backup = Backup(path=change.path, copy_name=name, written=sha256(change.after or b"").hexdigest())
    atomic.replace(_record(change.path), backup.model_dump_json())
    return folder / name if name else None


def _backup(path: Path) -> Backup | None:
    with contextlib.suppress(OSError, ValidationError):
        return Backup.model_validate_json(_record(path).read_bytes())
    return None


def _folder() -> Path:
    return Path(places.state_folder()) / "backups"


def _record(path: Path) -> Path:
    return _folder() / f"{places.key(str(path))}.json"


def _read(path: Path) -> bytes | None:
    try:
        return regular.read(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from error


def _ours(text: bytes) -> list[tuple[str, object]]:
    return [(event, entry) for event, entry in json_text.entries(text) if is_ours(entry)]


def _plugin(path: Path, before: bytes | None, swarm: str) -> bytes:
    if before is not None and _MARK not in before:
        raise UsageError(f"{path} is there, and is not swarmgate's", hint="Rename it, then again.")
    text = _PLUGIN.read_text(encoding="utf-8")
    words = shlex.split(swarm)
    listed = ", ".join(f'"{each}"' for each in words) if all('"' not in each for each in words) else _COMMAND
    return text.replace(_COMMAND, listed, 1).encode()

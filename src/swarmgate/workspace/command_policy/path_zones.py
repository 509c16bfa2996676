"""Classifies a path of a command: in the repository, protected, in a temporary folder, or outside."""

from __future__ import annotations

import fnmatch
import posixpath
import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from swarmgate.workspace.command_policy.builtins import joined
from swarmgate.workspace.command_policy.model import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from swarmgate.workspace.command_policy.model import Word

TEMPORARY = ("/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp", "/dev/shm", "/run/user", "/private/var/folders")  # noqa: S108 - named, not used
_STREAMS = re.compile(
    r"/dev/(?:null|zero|full|u?random|tty|stdin|stdout|stderr|fd/\d+|(?:tcp|udp)/.*)|/proc/self/fd/\d+"
)
_SHORT_GIT = re.compile(r"git~\d+")


class Zone(StrEnum):
    """The kinds of locations of a path."""

    INSIDE = "inside of the repository"
    GUARDED = "in .git or .swarm"
    TEMPORARY = "in a temporary folder"
    STREAM = "a stream"
    DEVICE = "a device"
    OUTSIDE = "outside of the repository"
    UNKNOWN = "known only when it runs"


@dataclass(frozen=True, slots=True)
class Grounds:
    """The paths that a command line is judged against: repository, scope of the task, and further writable folders.

    Attributes:
        root: the repository's top, absolute.
        scope: files and folders of the task, relative to it.
        writable: further folders that commands may write, absolute.
        own_history: whether commands may add to the repository's history.
    """

    root: str
    scope: tuple[str, ...] = ()
    writable: tuple[str, ...] = ()
    own_history: bool = False

    def zone(self, word: Word, cwd: str) -> Zone:
        """Where the word's path lies, links not followed; a wildcard lies wherever it may match."""
        text = word.text.removeprefix("file://")
        certain = text.replace(UNKNOWN, "")
        if not text.startswith(UNKNOWN) and (path := joined(cwd, text.partition(UNKNOWN)[0] or ".")) and word.dynamic:
            return self._worse(self._absolute(path, folder=True), self._named(certain))
        if word.dynamic:
            return self._worse(Zone.UNKNOWN, self._named(certain))
        path = joined(cwd, text)
        return self._absolute(path) if path else self._worse(Zone.UNKNOWN, self._named(text))

    def relative(self, word: Word, cwd: str) -> str:
        """The path below the repository's top; `.` for the top, empty where it lies elsewhere or is not known."""
        path = joined(cwd, word.text)
        inside = path == self.root or path.startswith(self.root.rstrip("/") + "/")
        return posixpath.relpath(path, self.root) if path and inside else ""

    def _absolute(self, path: str, *, folder: bool = False) -> Zone:
        base = self.root.rstrip("/")
        if path == base or path.startswith(base + "/"):
            return self._inside(path[len(base) + 1 :])
        if _STREAMS.fullmatch(path):
            return Zone.STREAM
        if any(path == each or path.startswith(each.rstrip("/") + "/") for each in self.writable):
            return Zone.TEMPORARY
        if not base.startswith(path.rstrip("/") + "/"):
            for each in TEMPORARY:
                rest = path[len(each) + 1 :]
                if (path.startswith(each + "/") and rest.strip("*")) or (folder and path == each):
                    return Zone.TEMPORARY
        return Zone.DEVICE if path.startswith("/dev/") else Zone.OUTSIDE

    @staticmethod
    def _inside(relative: str) -> Zone:
        parts = relative.split("/")
        if any(_reserved(part, ".git") or _SHORT_GIT.fullmatch(folded(part)) for part in parts):
            return Zone.GUARDED
        return Zone.GUARDED if _reserved(parts[0], ".swarm") else Zone.INSIDE

    @staticmethod
    def _named(text: str) -> Zone:
        """Guarded when a folder of a path that starts nobody knows where is called `.git` or `.swarm`."""
        return Zone.GUARDED if any(folded(part) in {".git", ".swarm"} for part in text.split("/")) else Zone.INSIDE

    @staticmethod
    def _worse(first: Zone, second: Zone) -> Zone:
        return Zone.GUARDED if Zone.GUARDED in {first, second} else first


def folded(name: str) -> str:
    """The name as a lenient file system might read it: no case, no invisible characters, no trailing dots or blanks."""
    if name.isascii():
        return name.casefold().rstrip(". ")
    visible = "".join(char for char in unicodedata.normalize("NFKC", name) if unicodedata.category(char) != "Cf")
    return visible.casefold().rstrip(". ")


def _reserved(part: str, name: str) -> bool:
    """Whether a part of a path is, or as a pattern matches, a reserved name."""
    plain = folded(part)
    if plain == name:
        return True
    return plain.startswith(".") and any(char in plain for char in "*?[") and fnmatch.fnmatchcase(name, plain)


def paths(words: Sequence[Word], valued: str = "") -> list[Word]:
    """The words that are no options; `valued`: letters and long names of options whose value is none either."""
    found, skip, plain = [], False, False
    options = valued.split()
    for word in words:
        text = word.text
        if plain or skip:
            if plain:
                found.append(word)
            skip = False
        elif text == "--":
            plain = True
        elif text.startswith("-") and text != "-":
            skip = text in options
        else:
            found.append(word)
    return found

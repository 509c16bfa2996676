"""The tamper-proof channel of a test run: a pipe on which its test runners report signed records.

Everything that says anything has a name and a key that it took from a file which is gone before code of the project
runs; records that lack the right signature, or one of which is missing, are noticed. The pipe is read here, outside of
the sandbox, while the tests run.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
import json
import os
import random
import re
import secrets
import shlex
from dataclasses import dataclass, field, replace
from importlib import resources
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swarmgate.workspace.process import temporary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from swarmgate.workspace.sandbox.command_runner import CommandRunner

_SESSIONS = 64
"""Runners of one command, at most, that can speak; workers of a parallel run are runners of their own."""
_AHEAD = 16
"""So many find their file before any was taken; one more is laid for each that was."""
_GROUPS = 16
"""Groups of canaries that a runner may use, besides the first and the last one."""
_LAST = "PPPPPPUUUUpu"
"""One for each way in which those of `inside.pytest_cases` fail."""
_FIRST = tuple("".join(order) for other in "pau" for order in permutations(f"PAU{other}"))
_PAIRS = tuple("".join(order) for other in "AUpau" for order in permutations(f"P{other}"))
_CHUNK = 1 << 16
_OWN_PATH = re.compile(r"\bPYTHONPATH=(?=\S)")
_MOST = 512 << 20
"""Bytes read of one run; a suite of a million tests reports about 150 MB."""
UNREADABLE = "a record of the runner cannot be read"
_INSIDE = ("startup.py", "pytest_witness.py", "pytest_cases.py", "unittest_witness.py")


def _plan(chance: random.Random) -> str:
    """Groups of letters in an order that nobody can know; a capital letter is a canary that must fail.

    P is a plain function, A one with the fixtures that every test of the project has, U a method of unittest's.
    """
    last = "".join(chance.sample(_LAST, len(_LAST)))
    return ".".join([chance.choice(_FIRST), *chance.choices(_PAIRS, k=_GROUPS), last])


@dataclass
class Session:
    """The records of one runner. `broken` is why they are incomplete or not all its own."""

    key: bytes
    plan: str
    """The groups of its canaries."""
    records: list[dict[str, Any]] = field(default_factory=list)
    counts: dict[int, int] = field(default_factory=dict)
    broken: str = ""

    def signed(self, body: str) -> str:
        """The signature of a record by this runner."""
        return hashlib.blake2b(body.encode(), key=self.key, digest_size=16).hexdigest()

    def receive(self, signature: str, body: str) -> None:
        """Stores a record, if it is signed by this runner."""
        if not hmac.compare_digest(self.signed(body), signature):
            self.broken = "a record was not signed by the runner"
            return
        try:
            process, count, record = json.loads(body)
            if count != self.counts.get(process, 0):
                self.broken = "records of the runner are missing"
            self.counts[process] = count + 1
            self.records.append({**record, "process": process})
        except (TypeError, ValueError, RecursionError):  # who took its key may sign anything
            self.broken = UNREADABLE


@contextlib.contextmanager
def opened(heard: Callable[[dict[str, Any]], None] = lambda _record: None) -> Iterator[Channel]:
    """Opens a channel that is read for the length of a block, and closed afterwards; `heard` gets what runners say."""
    with temporary.folder("tests") as folder:
        for each in ("inside", "outside", "outside/sessions"):
            (folder / each).mkdir()
        channel = Channel(folder / "inside", folder / "outside", heard)
        with channel.reading():
            yield channel


class Channel:
    """Open while a command runs. `inside` is what Pythons load, to be read only; `folder` they have to write to."""

    def __init__(
        self, inside: Path, folder: Path, heard: Callable[[dict[str, Any]], None] = lambda _record: None
    ) -> None:
        self.inside, self.folder, self._heard = inside, folder, heard
        self.sessions: dict[str, Session] = {}
        self.greeted = False
        """Whether a Python was there that loaded us."""
        self.strange = ""
        """Why the pipe holds what no runner of ours writes; empty where it does not."""
        self._parts: list[bytes] = []  # of a line that has not ended
        self._read = 0
        self._pipe = -1

    def commands(self, runner: CommandRunner) -> CommandRunner:
        """The same, for commands that can read what they load."""
        bounds = runner.confinement
        return replace(runner, confinement=replace(bounds, readable=(*bounds.readable, self.inside)))

    def line(self, command: str, variables: Mapping[str, str]) -> str:
        """The command line, with what has every Python that it starts load us; its own PYTHONPATH comes behind.

        Args:
            command: the command line.
            variables: what it is given, and what programs that tests start should not get.
        """
        self._lay(variables)
        folder = shlex.quote(str(self.inside))
        own = _OWN_PATH.sub(lambda found: f"{found[0]}{folder}{os.pathsep}", command)
        return f'PYTHONPATH={folder}"${{PYTHONPATH:+{os.pathsep}$PYTHONPATH}}"; export PYTHONPATH; {own}'

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """Reads the records that are reported."""
        place = self.folder / "pipe"
        os.mkfifo(place, 0o600)
        self._pipe = os.open(place, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)  # a writer of our own: it never ends
        loop = asyncio.get_running_loop()
        loop.add_reader(self._pipe, self._take)
        try:
            yield
        finally:
            loop.remove_reader(self._pipe)
            while self._take():
                pass
            self._check_integrity(place)
            os.close(self._pipe)

    def _check_integrity(self, place: Path) -> None:
        """Whether what runners were to find was there for them to the end."""
        own = os.fstat(self._pipe)
        try:
            found = place.lstat()
            left = {each.name for each in (self.folder / "sessions").iterdir()}
        except OSError:
            self.strange = "it was taken away"
            return
        gone = [each for name, each in self.sessions.items() if name not in left and not each.records]
        if (found.st_dev, found.st_ino) != (own.st_dev, own.st_ino) or gone:
            self.strange = "what runners were to find there was taken away"

    def _lay(self, variables: Mapping[str, str]) -> None:
        """Writes what is loaded, and a file for each runner that may come."""
        files = resources.files("swarmgate.workspace.test_runs.canary.inside")
        cases = f"test_{secrets.token_hex(6)}.py"
        names = {"startup.py": "sitecustomize.py", "pytest_cases.py": cases}
        for name in _INSIDE:
            text = files.joinpath(name).read_text(encoding="utf-8").replace("@token@", secrets.token_hex(8))
            (self.inside / names.get(name, name)).write_text(text, encoding="utf-8")
        before = {name: os.environ.get(name) for name in variables}
        pipe = os.fstat(self._pipe)
        places = {
            "channel": str(self.folder),
            "pipe": (pipe.st_dev, pipe.st_ino),
            "cases": cases,
            "variables": before,
        }
        (self.inside / "places").write_text(json.dumps(places), encoding="utf-8")
        # Seeded anew for each run, and no runner sees more than its own short plan: that tells nothing of the others.
        self._chance = random.Random(secrets.token_bytes(32))  # noqa: S311 - `SystemRandom` asks the kernel each time
        for _ in range(_AHEAD):
            self._offer()

    def _offer(self) -> None:
        """Lays the file of one more runner: whole as soon as it has its name."""
        name, key = secrets.token_hex(6), secrets.token_bytes(16)
        session = Session(key, _plan(self._chance))
        self.sessions[name] = session
        place = self.folder / "sessions" / name
        being_written = place.with_suffix(".new")
        being_written.write_text(f"{key.hex()} {session.plan}", encoding="ascii")
        being_written.rename(place)

    def _take(self) -> bool:
        """Reads what is there; whether there was anything."""
        try:
            data = os.read(self._pipe, _CHUNK)
        except BlockingIOError:
            return False
        self._read += len(data)
        if self._read > _MOST:
            self.strange = f"more than {_MOST:,} bytes were written to it"
            return True
        self._parts.append(data)
        if b"\n" in data:
            *lines, rest = b"".join(self._parts).split(b"\n")
            self._parts = [rest]
            for line in lines:
                self.receive(line.decode("utf-8", "replace"))
        return bool(data)

    def receive(self, line: str) -> None:
        """Takes one line that was written to the pipe."""
        words = line.split(" ", 2)
        session = self.sessions.get(words[0])
        if words == ["python"]:
            self.greeted = True
        elif session is None or len(words) < 3:  # noqa: PLR2004 - name, signature, record
            self.strange = "something that is no record was written to it"
        else:
            begun = len(session.records)
            session.receive(words[1], words[2])
            for record in session.records[begun:]:
                self._heard(record)
            if not begun and session.records and len(self.sessions) < _SESSIONS:
                with contextlib.suppress(OSError):  # that the folder is gone is noticed at the end
                    self._offer()

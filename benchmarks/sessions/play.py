"""Plays a scripted session with the real command line, one process a command, and records its results."""

from __future__ import annotations

import json
import os
import pty
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sessions.session import Call, Edit, Session
from swarmgate.testing import ScriptedServer
from swarmgate.testing.exchange import Response
from swarmgate.testing.script import brief_headers

SWARM = Path(sys.executable).with_name("swarm")
LONGEST_S = 120.0
SEAT_S = 0.06
"""Seconds between the answers of two neighbours: who is heard first would else be chance."""

KEPT = ("discussions", "traces/debates", "traces/dispatches")
"""What is copied out of `.swarm/`."""

ID = re.compile(r"\b\d{8}-\d{6}-[0-9a-f]{4}")
SETTINGS = """
[providers.local]
base_url = "{url}"
max_retries = 0

[roles.default]
model = "local/senior"

[roles.participant]
model = "local/junior"

[prices.senior]
input = 1
output = 2

[prices.junior]
input = 1
output = 2
"""


class Participants(ScriptedServer):
    """The models of a session: a script whose answers come in the order of the seats."""

    def __init__(self, session: Session) -> None:
        super().__init__(list(session.rules))
        self._seats = session.seats

    def respond(self, body: Mapping[str, Any], http_headers: Mapping[str, str]) -> Response:
        """The scripted answer, later for later seats."""
        asked = (str(each.get("content") or "") for each in body.get("messages", ()) if each.get("role") == "user")
        headers = brief_headers(next(asked, ""))
        name = str(headers.get("PARTICIPANT") or headers.get("ROLE"))
        response = super().respond(body, http_headers)
        time.sleep(SEAT_S * self._seats.index(name) if name in self._seats else 0)
        return response

    def received(self, headers: Mapping[str, str]) -> bool:
        """Whether a request with these headers came in."""
        return any(headers.items() <= request.headers.items() for request in self.requests)

    def asked(self) -> dict[str, int]:
        """How often each voice was asked in each step."""
        keys = ("ROLE", "STEP", "PARTICIPANT", "ROUND")
        named = (" ".join(str(each.headers[key]) for key in keys if key in each.headers) for each in self.requests)
        return dict(sorted(Counter(named).items()))


def template(folder: Path) -> Path:
    """A committed project with `.swarm/`, made once and copied for each session; its commit is always the same."""
    root = folder / "template"
    (root / "src").mkdir(parents=True)
    (root / "docs").mkdir()
    (root / "src" / "cache.py").write_text('"""A cache."""\n\nENTRIES: dict[str, str] = {}\n')
    (root / "docs" / "design.md").write_text("# The cache\n\nEvery worker has one of its own.\n")
    (root / "AGENTS.md").write_text("HOUSE-RULE: names in English.\n")
    dated = {
        **_environ(folder),
        "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z",
        "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z",
    }
    for argv in (
        ("git", "init", "--quiet", "--initial-branch=main"),
        ("git", "config", "user.name", "Ada Tester"),
        ("git", "config", "user.email", "ada@example.test"),
        ("git", "add", "--all"),
        ("git", "commit", "--quiet", "--message=Start"),
        (str(SWARM), "init"),
        ("git", "add", "--all"),
        ("git", "commit", "--quiet", "--message=swarm init"),
    ):
        subprocess.run(argv, cwd=root, env=dated, check=True, capture_output=True)
    (root / "src" / "cache.py").write_text('"""A cache."""\n\nENTRIES: dict[str, bytes] = {}\n')
    return root


def play(session: Session, form: str, made: Path, into: Path) -> list[str]:
    """Plays it as people read it (`plain`) or with `--json`, and writes the record; what went not as it was meant.

    Args:
        session: what is played.
        form: `plain` or `json`.
        made: the project to copy.
        into: the folder of the record.
    """
    with tempfile.TemporaryDirectory(prefix="swarm-session-") as place, Participants(session) as participants:
        stage = _Stage(session, form, Path(place).resolve(), into, participants)
        stage.set_up(made)
        for step in session.calls:
            if isinstance(step, Edit):
                stage.edit(step)
            elif form == "plain" or not step.typed:
                stage.run(step)
        stage.keep()
        return stage.wrong


class _Stage:
    """One session at work."""

    def __init__(self, session: Session, form: str, place: Path, into: Path, participants: Participants) -> None:
        self.session, self.form, self.place, self.into, self.voices = session, form, place, into, participants
        self.project, self.out = place / "project", place / "out"
        self.wrong: list[str] = []
        self._id = "20261121-224500-3f2a"
        self._number = 0

    def set_up(self, made: Path) -> None:
        """A fresh copy of the project, with the session's files and settings."""
        shutil.copytree(made, self.project, symlinks=True)
        subprocess.run(["git", "update-index", "-q", "--refresh"], cwd=self.project, check=False)
        for folder in (self.out, self.place / "in", self.place / "home"):
            folder.mkdir()
        for name, text in self.session.files.items():
            (self.place / "in" / name).write_text(text)
        settings = SETTINGS.replace("{url}", self.voices.base_url) + self.session.settings
        (self.project / ".swarm" / "config.toml").write_text(settings)

    def edit(self, step: Edit) -> None:
        """A hand edit."""
        path = self.project / self._filled(step.path)
        text = path.read_text("utf-8")
        if step.old not in text:
            self.wrong.append(f"{step.path} has no {step.old!r}")
        path.write_text(text.replace(step.old, step.new), "utf-8")

    def run(self, step: Call) -> None:
        """One command, and what it printed."""
        argv = [self._filled(each) for each in step.argv] + (["--json"] if self.form == "json" else [])
        environ = {**_environ(self.place / "home"), **step.environ}
        if step.typed:
            out, err, code = _at_terminal([str(SWARM), *argv], self.project, environ, step.typed)
        else:
            out, err, code = self._piped(argv, environ, step)
        self._number += 1
        folder = self.into / "-".join([f"{self._number:02}", *(word for word in step.argv[:2] if word.isalpha())])
        folder.mkdir(parents=True)
        for name, text in (
            ("argv", shlex.join(("swarm", *argv))),
            ("exit", str(code)),
            ("stdout", out),
            ("stderr", err),
        ):
            (folder / name).write_text(text + ("" if text.endswith("\n") else "\n"), "utf-8")
        if code != step.exits:
            self.wrong.append(
                f"{folder.name}: exit code {code}, meant is {step.exits}: {shlex.join(argv)}\n{err[-500:]}"
            )
        if found := ID.findall(out + err):
            self._id = found[-1]

    def keep(self) -> None:
        """Copies the records and what was exported."""
        for name in KEPT:
            if (self.project / ".swarm" / name).exists():
                shutil.copytree(self.project / ".swarm" / name, self.into / "files" / name)
        if any(self.out.iterdir()):
            shutil.copytree(self.out, self.into / "out")
        (self.into / "asked.json").write_text(json.dumps(self.voices.asked(), indent=1) + "\n")

    def _piped(self, argv: list[str], environ: Mapping[str, str], step: Call) -> tuple[str, str, int]:
        process = subprocess.Popen(
            [str(SWARM), *argv],
            cwd=self.project,
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        if step.cut:
            end = time.monotonic() + LONGEST_S
            while not self.voices.received(step.cut.headers) and process.poll() is None and time.monotonic() < end:
                time.sleep(0.01)
            process.send_signal(step.cut.by)
        try:
            out, err = process.communicate(timeout=LONGEST_S)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            out, err = process.communicate()
            self.wrong.append(f"{shlex.join(argv)} did not end within {LONGEST_S:g} s")
        return out, err, process.returncode

    def _filled(self, text: str) -> str:
        where = {"{id}": self._id, "{in}": str(self.place / "in"), "{out}": str(self.out)}
        for name, value in where.items():
            text = text.replace(name, value)
        return text


def _environ(home: Path) -> dict[str, str]:
    """The variables of every command: nothing of this machine but the way to its programs."""
    fixed = {"LANG": "C.UTF-8", "TZ": "UTC", "NO_COLOR": "1", "COLUMNS": "160", "TERM": "dumb"}
    return {"PATH": f"{SWARM.parent}{os.pathsep}{os.environ['PATH']}", "HOME": str(home), **fixed}


def _at_terminal(
    argv: list[str], folder: Path, environ: Mapping[str, str], typed: tuple[tuple[str, str], ...]
) -> tuple[str, str, int]:
    """Runs it in a terminal of its own and answers what it asks; all that the terminal showed is its stdout."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        argv, cwd=folder, env={**environ, "TERM": "xterm"}, stdin=theirs, stdout=theirs, stderr=theirs, close_fds=True
    )
    os.close(theirs)
    left, output, seen, end = list(typed), "", 0, time.monotonic() + LONGEST_S
    try:
        while time.monotonic() < end:
            try:
                data = os.read(ours, 65_536)
            except OSError:  # the other end is closed: the program is over
                break
            output += data.decode("utf-8", "replace")
            if left and left[0][0] in output[seen:]:
                seen = len(output)
                os.write(ours, f"{left.pop(0)[1]}\n".encode())
        return output.replace("\r\n", "\n"), "", process.wait(timeout=LONGEST_S)
    finally:
        process.kill()
        process.wait()
        os.close(ours)

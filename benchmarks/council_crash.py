"""Crash test: kill -9 at random moments of a council session of any pattern, each resumed; nothing lost or doubled.

    python benchmarks/chat_crash.py [KILLS] [SEED]

A pattern's own file has a `Case`, which says what is held and what has to come of it. The rest is here: each record is
begun by a process of its own, which is killed when a random number of lines is in its journal, and a random moment
later; then it is resumed. Afterwards every line that was whole at the kill is there still, as the first ones of a
journal that ends once; what came of it is as in a record that nobody killed; and the ledger counts each call once.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.testing import CliRunner
from workload import make_project

from swarmgate.cli.app import app
from swarmgate.domain.events.event import UsageRecorded
from swarmgate.journal.chain import walk
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger
from swarmgate.project import Project
from swarmgate.workspace.process.background import serving

KILLS, SEED = 50, 2026
_LONGEST_S = 120


@dataclass(frozen=True)
class Case:
    """What is held, and what has to come of it.

    Attributes:
        pattern: in records: `chat`.
        verb: of the command line.
        rules: what the scripted server answers.
        begin: given a folder for files and an id, the arguments behind the verb that begin a record of that id.
        result_of: what `show --json` prints, without all that may differ from one time to the other.
        problem: what is wrong with what `show --json` prints, beside; empty: nothing.
        resume: given an id, the arguments behind the verb that go on; None: those that begin it.
        latency_s: how long the server takes for an answer, in seconds.
        program: what Python runs with the command line that begins a record.
    """

    pattern: str
    verb: str
    rules: Sequence[dict[str, Any]]
    begin: Callable[[Path, str], Sequence[str]]
    result_of: Callable[[dict[str, Any]], Any]
    problem: Callable[[dict[str, Any]], str] = lambda _shown: ""
    resume: Callable[[str], Sequence[str]] | None = lambda name: ("resume", name)
    latency_s: float = 0.01
    program: Sequence[str] = ("-m", "swarmgate")


@dataclass(frozen=True)
class Place:
    """The project in which records are killed, and the folder around it."""

    case: Case
    root: Path

    def journal(self, name: str) -> Path:
        """The journal of a record."""
        return self.root / ".swarm/discussions" / name / "journal.jsonl"

    def lines(self, name: str) -> list[bytes]:
        """The whole lines of a record now."""
        path = self.journal(name)
        data = path.read_bytes() if path.exists() else b""
        return data[: data.rfind(b"\n") + 1].splitlines(keepends=True)

    def kinds(self, name: str) -> list[str]:
        """The types of the events of a record, its chain checked."""
        return [json.loads(line)["event"]["type"] for line, _ in walk(b"".join(self.lines(name)), name=name)]

    def begin(self, name: str) -> list[str]:
        """The command line that begins a record, behind `swarm`."""
        return self._line(self.case.begin(self.root.parent, name))

    def json_of(self, *arguments: str) -> Any:
        """What a command prints, run in this process: only what is killed is one of its own."""
        done = CliRunner().invoke(app, self._line(arguments))
        if done.exit_code not in {0, 1}:  # 1: some patterns end in a rejection
            raise SystemExit(
                f"swarm {self.case.verb} {' '.join(arguments)}: exit {done.exit_code}\n{done.stdout}{done.stderr}"
            )
        return json.loads(done.stdout)

    def killed(self, name: str, *, at: int, pause: float) -> bool:
        """Begins a record and kills its process `pause` seconds after line `at`; whether it was at work still."""
        process = subprocess.Popen(
            [sys.executable, *self.case.program, *self.begin(name)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        end = time.monotonic() + _LONGEST_S
        while len(self.lines(name)) < at and process.poll() is None and time.monotonic() < end:
            time.sleep(0.003)
        time.sleep(pause)
        at_work = process.poll() is None
        process.kill()
        process.wait()
        return at_work

    def go_on(self, name: str) -> None:
        """Goes on with what was killed; begins it where nothing of it is on record, and leaves it where it is over."""
        if self.kinds(name)[-1:] == ["completed"]:
            return
        if self.lines(name) and self.case.resume:
            self.json_of(*self.case.resume(name))
        else:
            self.hold(name)

    def hold(self, name: str) -> None:
        """Begins a record, or goes on with it, to its end."""
        command = [sys.executable, *self.case.program, *self.begin(name)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode not in {0, 1}:
            raise SystemExit(f"{self.case.pattern} {name}: exit {done.returncode}\n{done.stdout}{done.stderr}")

    def _line(self, arguments: Sequence[str]) -> list[str]:
        return [self.case.verb, *arguments, "--json", "--repo", str(self.root)]

    def problem(self, name: str, before: Sequence[bytes], expected: Any) -> str:
        """What is not as it should be of a record that was resumed; empty: all is."""
        after = self.lines(name)
        if after[: len(before)] != list(before):
            return "lines that were whole are not there any more"
        kinds = self.kinds(name)
        if kinds[-1] != "completed" or kinds.count("begun") != 1:
            return f"its journal does not end once: {kinds}"
        record = self.json_of("show", name)
        if wrong := self.case.problem(record):
            return wrong
        if (result := self.case.result_of(record)) != expected:
            return f"it came to {result}"
        return self._miscounted(f"{self.case.pattern}-{name}")

    def _miscounted(self, session: str) -> str:
        """Whether the ledger counts each call that was answered once."""
        folder, project = SwarmFolder(self.root), Project(self.root)
        project.writing().close()  # which counts what a killed process could not
        events = (entry.event for entry, _ in Ledger.read(folder).entries())
        mine = (each for each in events if isinstance(each, UsageRecorded) and each.source == session)
        counted = sum(each.usage.calls for each in mine)
        traces = (folder.traces / "council" / session).glob("*.json")
        answered = sum("reply" in json.loads(path.read_text()) for path in traces)
        return "" if counted == answered else f"{answered} calls were answered, the ledger counts {counted}"


def main(case: Case, *, kills: int = KILLS) -> None:
    """Kills as often as the command line says, prints what came of that, and exits with 1 where any is not whole."""
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else kills
    chance = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else SEED)  # noqa: S311 - moments, not keys
    whole, stood = 0, Counter[int]()
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "script.json"
        script.write_text(json.dumps({"rules": list(case.rules)}))
        served = [sys.executable, "-m", "swarmgate.testing", str(script), "--latency", str(case.latency_s)]
        with serving([*served, "--until-stdin-closes"]) as base_url:
            place = Place(case, Path(folder) / "project")
            make_project(place.root, base_url)
            place.hold("reference")
            expected, length = case.result_of(place.json_of("show", "reference")), len(place.lines("reference"))
            print(f"a {case.pattern} has {length} lines; {kills} kills", flush=True)
            number = 0
            while stood.total() < kills and number < 3 * kills:
                number += 1
                name = f"killed-{number}"
                if not place.killed(name, at=chance.randrange(length), pause=chance.uniform(0, 2 * case.latency_s)):
                    continue
                before = place.lines(name)
                stood[len(before)] += 1
                place.go_on(name)
                wrong = place.problem(name, before, expected)
                whole += not wrong
                if wrong:
                    print(f"kill {number}, after line {len(before)}: {wrong}", flush=True)
    print(f"lines on record at the kill: {dict(sorted(stood.items()))}")
    print(f"{whole} of {stood.total()} whole, as if nobody had killed them")
    raise SystemExit(0 if whole == stood.total() == kills else 1)

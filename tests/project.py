"""A small real project with a scripted model behind it, and the rules of a script: a test says only what is special."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import pytest
from tests.confined import SANDBOX
from typer.testing import CliRunner, Result

from swarmgate.cli.app import app
from swarmgate.domain.state.state import State
from swarmgate.engine import Swarm
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger
from swarmgate.testing import ReceivedRequest, ScriptedServer

E = TypeVar("E")
Rule = dict[str, Any]

GOAL = "Add parts"


# --- the rules of a script ---


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"name": tool, "arguments": arguments}


def rule(role: str, step: str, *replies: Any, **match: Any) -> Rule:
    """Each reply is a list of calls, or a reply as the script format has it."""
    turns = [{"tool_calls": reply} if isinstance(reply, list) else reply for reply in replies]
    return {"match": {"role": role, "step": step, **match}, "replies": turns}


def task(task_id: str, **more: Any) -> dict[str, Any]:
    """A task of a plan, for the file that the default coder writes."""
    return {
        "id": task_id,
        "title": f"Part {task_id}",
        "acceptance": [f"part {task_id} has a value"],
        "files": [f"src/calc/part_{task_id}.py"],
        "complexity": "SMALL",
        **more,
    }


def save(*tasks: dict[str, Any], title: str = "Parts") -> dict[str, Any]:
    """The call of save_plan, a phase for each first number of the ids."""
    phases: dict[str, list[dict[str, Any]]] = {}
    for each in tasks:
        phases.setdefault(each["id"].partition(".")[0], []).append(each)
    return call("save_plan", title=title, phases=[{"name": f"Phase {n}", "tasks": of} for n, of in phases.items()])


def plan(*tasks: dict[str, Any] | str, step: str = "plan", **match: Any) -> Rule:
    return rule("architect", step, [save(*(task(each) if isinstance(each, str) else each for each in tasks))], **match)


def delegate(instructions: str = "Write the part.", scope: tuple[str, ...] = (), **match: Any) -> Rule:
    declared = [call("declare_scope", files=list(scope))] if scope else []
    return rule("architect", "delegate", [*declared, call("delegate", instructions=instructions)], **match)


def _writes(files: Mapping[str, str]) -> list[dict[str, Any]]:
    return [call("write_file", path=path, content=text) for path, text in files.items()]


def code(files: Mapping[str, str], **match: Any) -> Rule:
    return rule("coder", "code", [*_writes(files), call("finish", summary="I-CLAIM-IT-IS-DONE")], **match)


def implement(files: Mapping[str, str], **match: Any) -> Rule:
    return rule("architect", "implement", [*_writes(files), call("finish", summary="done")], **match)


def verdict(
    word: str = "APPROVED", summary: str = "as the criteria say", *findings: str, **more: Any
) -> dict[str, Any]:
    found = [{"severity": "high", "message": text} for text in findings]
    return call("submit_verdict", verdict=word, summary=summary, findings=found, **more)


def critic(word: str = "APPROVED", summary: str = "small and testable", *findings: str, **match: Any) -> Rule:
    return rule("critic", "review_plan", [verdict(word, summary, *findings)], **match)


def review(word: str = "APPROVED", summary: str = "as the criteria say", *findings: str, **match: Any) -> Rule:
    return rule("reviewer", "review", [verdict(word, summary, *findings)], **match)


def engineer(
    files: Mapping[str, str] | None = None, word: str = "APPROVED", summary: str = "tested", **match: Any
) -> Rule:
    mapped = [{"criterion": "1", "tests": ["test_start"]}]
    return rule("test_engineer", "test", [*_writes(files or {}), verdict(word, summary, criteria=mapped)], **match)


def close_phase(summary: str = "Parts were added.", **match: Any) -> Rule:
    told = call("close_phase", summary=summary, decisions=["Parts are modules."], lessons=["Small parts."])
    return rule("architect", "close_phase", [told], **match)


def part(value: str) -> str:
    """A module that passes every gate."""
    return f'"""A part."""\n\nVALUE = "{value}"\n'


def toml(value: Any) -> str:
    """A value as TOML writes it on one line."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key} = {toml(each)}' for key, each in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml, value))}]"
    return json.dumps(value)


def flood(length: int) -> str:
    """So many characters that say nothing twice: an answer that repeats itself is cut."""
    return "".join(f"{number} " for number in range(length))[: length - 1] + "."


DEFAULTS: tuple[Rule, ...] = (
    plan("1.1"),
    plan("1.1", step="revise"),
    critic(),
    delegate(),
    code({"src/calc/part_{{task}}.py": part("{{task}}")}),
    rule("architect", "implement", [call("finish", summary="nothing left to do")]),
    review(),
    rule("reviewer", "security_review", [verdict(summary="nothing to exploit")]),
    engineer(),
    rule("test_engineer", "adversarial_test", [verdict(summary="it held")]),
    close_phase(),
)
"""Everything goes well. A rule of a test wins over these when it says as much or more about whom it is for."""


# --- the project ---

BARE_PYTEST = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "SWARM_COMMANDS__ENV": '["PYTEST_DISABLE_PLUGIN_AUTOLOAD"]'}
"""For programs that make a project of their own: pytest starts there without the plugins of our environment."""

SUITES = {
    "pytest": (
        f"{sys.executable} -m pytest -q",
        "def test_start() -> None:\n    assert 1 + 1 == 2\n",
    ),
    "unittest": (
        f"{sys.executable} -m unittest discover -q -s tests",
        """import unittest


class TestStart(unittest.TestCase):
    def test_start(self) -> None:
        assert 1 + 1 == 2
""",
    ),
}
"""What runs the project's tests, and its only one. Marked `suite("unittest")` are tests that neither write tests nor
ask what pytest alone can tell: it starts in a sixth of the time."""

SETTINGS: dict[str, dict[str, Any]] = {
    "roles.default": {"model": "local/senior"},
    "roles.coder": {"model": "local/junior"},
    "tests": {"timeout_s": 60, "unproven": "off", "unmapped": "note"},
    # Half a second of every judgement; that it judges in the loop like any other is shown by a test of its own.
    "gates": {"skip": ["sast_scan"]},
    # A quarter of a second of every first run; what it finds, and that it is on, tests/engine/between_steps/ shows.
    "automation.capabilities": {"phase_preflight": False},
    "commands": {"sandbox": SANDBOX, "env": ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"]},
    "prices.senior": {"input": 1, "output": 2},
    "prices.junior": {"input": 1, "output": 2},
}


@dataclass
class Project:
    """A git repository on `main` with one package and one test, initialised; `play` gives it its model.

    `habits` are those of the endpoint, see `swarmgate.testing.habits`.
    """

    root: Path
    suite: str = "pytest"
    requests: list[ReceivedRequest] = field(default_factory=list)
    server: ScriptedServer | None = None
    habits: tuple[str, ...] = ()
    processes: list[subprocess.Popen[str]] = field(default_factory=list)

    def play(self, *rules: Rule, **tables: dict[str, Any]) -> ScriptedServer:
        """Serves DEFAULTS and these rules from now on; `tables` are added to the settings, `a__b` for `[a.b]`."""
        self.silence()
        self.server = ScriptedServer([*DEFAULTS, *rules], habits=self.habits, pace=0.002).start()
        self.server.requests = self.requests
        self.configure(**tables)
        return self.server

    def configure(self, **tables: dict[str, Any]) -> None:
        """Writes config.toml; what is None is left out."""
        url = self.server.base_url if self.server else "http://127.0.0.1:9/v1"
        settings = {"providers.local": {"base_url": url, "max_retries": 2}, **SETTINGS}
        settings["tests"] = {"command": self.test_command, **SETTINGS["tests"]}
        for name, values in tables.items():
            key = name.replace("__", ".")
            settings[key] = {**settings.get(key, {}), **values}
        lines = [
            f"[{name}]\n" + "".join(f"{key} = {toml(value)}\n" for key, value in values.items() if value is not None)
            for name, values in settings.items()
        ]
        self.folder.config.write_text("\n".join(lines))

    def silence(self) -> None:
        """The endpoint is down from now on."""
        if self.server is not None:
            self.server.stop()

    @property
    def test_command(self) -> str:
        return SUITES[self.suite][0]

    @property
    def folder(self) -> SwarmFolder:
        return SwarmFolder(self.root)

    @property
    def state(self) -> State:
        return Swarm(self.root).state

    # --- commands ---

    def swarm(self, *args: str, exits: int = 0, stdin: str | None = None) -> Result:
        """Runs a verb in this process and insists on its exit code."""
        result = CliRunner().invoke(app, [*args, "--repo", str(self.root)], input=stdin)
        told = f"swarm {' '.join(args)}: exit code {result.exit_code}\n{result.stdout}\n{result.stderr}"
        assert result.exit_code == exits, told
        return result

    def json(self, *args: str, exits: int = 0) -> Any:
        """The same with --json: all of stdout, parsed."""
        return json.loads(self.swarm(*args, "--json", exits=exits).stdout)

    def planned(self, *rules: Rule, **tables: dict[str, Any]) -> None:
        """Plays the rules, plans and approves."""
        self.play(*rules, **tables)
        self.swarm("plan", GOAL, exits=3)
        self.swarm("approve")

    def start(self, *args: str, **environ: str) -> subprocess.Popen[str]:
        """A process of its own, in a process group of its own."""
        process = subprocess.Popen(
            [sys.executable, "-m", "swarmgate", *args],
            cwd=self.root,
            env={**os.environ, **environ},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.processes.append(process)
        return process

    # --- looking ---

    def git(self, *args: str) -> str:
        done = subprocess.run(["git", *args], cwd=self.root, check=True, capture_output=True, text=True)
        return done.stdout.rstrip("\n")

    def write(self, path: str, text: str, *, mode: int = 0o644) -> Path:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
        place.chmod(mode)
        return place

    def hook(self, name: str, script: str) -> None:
        """A git hook in sh."""
        self.write(f".git/hooks/{name}", f"#!/bin/sh\n{script}\n", mode=0o755)

    def events(self, kind: Callable[..., E]) -> list[E]:
        """The recorded events of one class, in order."""
        return [entry.event for entry, _ in Ledger.read(self.folder).entries() if isinstance(entry.event, kind)]  # type: ignore[arg-type,misc]  # a class is a callable that makes its instances

    def lines(self) -> list[dict[str, Any]]:
        """The lines of ledger.jsonl, parsed."""
        return [json.loads(line) for line in self.folder.ledger.read_text().splitlines()]

    def trailers(self, commit: str = "HEAD") -> dict[str, str]:
        """The trailers of a commit."""
        text = self.git("show", "--no-patch", "--format=%(trailers:only,unfold)", commit)
        return dict(line.split(": ", 1) for line in text.splitlines() if line)

    def briefs(self, role: str, step: str, **headers: str) -> list[str]:
        """The first user messages of the turns that a role began, in order."""
        wanted = {"ROLE": role, "STEP": step, **{key.upper(): value for key, value in headers.items()}}
        return [
            request.messages[1]["content"]
            for request in self.requests
            if wanted.items() <= request.headers.items()
            and not any(message["role"] == "assistant" for message in request.messages)
        ]

    @property
    def plan_md(self) -> str:
        return self.folder.plan_md.read_text()

    def quarantined(self, name: str = "*") -> list[Path]:
        """Files in the quarantine, by the end of their paths."""
        return [path for path in self.folder.quarantine.rglob(name) if path.is_file()]


def event_lines(stderr: str) -> list[dict[str, Any]]:
    """Progress as `--json` prints it."""
    return [json.loads(line) for line in stderr.splitlines()]


def _make(root: Path, tests: str) -> None:
    (root / "src/calc").mkdir(parents=True)
    (root / "tests").mkdir()
    (root / "src/calc/__init__.py").write_text('"""Sums."""\n')
    (root / "tests/test_calc.py").write_text(tests)
    (root / "AGENTS.md").write_text("HOUSE-RULE: names in English.\n")
    (root / ".gitignore").write_text("__pycache__/\n")
    for args in (
        ("init", "--quiet", "--initial-branch=main"),
        ("config", "user.name", "Ada Tester"),
        ("config", "user.email", "ada@example.test"),
        ("config", "commit.gpgsign", "false"),
        ("add", "--all"),
        ("commit", "--quiet", "--message=Start"),
    ):
        subprocess.run(["git", *args], cwd=root, check=True, capture_output=True)
    for sample in (root / ".git/hooks").glob("*.sample"):
        sample.unlink()  # each copy has half as many files to make


@pytest.fixture(scope="session")
def _template(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Made once for each suite; every test works on a copy."""
    from swarmgate.engine.initialise import initialise

    @cache
    def made(suite: str) -> Path:
        root = tmp_path_factory.mktemp("template") / "project"
        _make(root, SUITES[suite][1])
        initialise(root)
        return root

    return made


@pytest.fixture
def project(
    request: pytest.FixtureRequest,
    _template: Callable[[str], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Project]:
    """A fresh project; its servers and processes end with the test."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # the inner pytest starts five times faster
    root = tmp_path.resolve() / "project"
    marked = request.node.get_closest_marker("suite")
    suite = marked.args[0] if marked else "pytest"
    shutil.copytree(_template(suite), root, symlinks=True)
    made = Project(root, suite)
    yield made
    made.silence()
    for process in made.processes:
        process.kill()
        process.communicate()


@pytest.fixture(scope="session")
def _after(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Where a project lies that was made once and is copied, by its name."""
    return cache(lambda name: tmp_path_factory.mktemp("after") / name)


@pytest.fixture
def once(project: Project, _after: Callable[[str], Path]) -> Callable[[str, Callable[[], None]], None]:
    """`once(name, make)`: the project as `make` leaves it, which does its work in the first test that asks.

    What is not in its folder, such as its model and the requests to it, only that first test has: play it again.
    """

    def made(name: str, make: Callable[[], None]) -> None:
        kept = _after(f"{name}-{project.suite}")
        if kept.exists():
            shutil.rmtree(project.root)
            shutil.copytree(kept, project.root, symlinks=True)
            project.git("update-index", "-q", "--refresh")  # git knows files by their times
        else:
            make()
            shutil.copytree(project.root, kept, symlinks=True)

    return made


def plain(text: str) -> str:
    """White space as single blanks: what a terminal wraps does not matter."""
    return re.sub(r"\s+", " ", text)


def until(condition: Callable[[], object], seconds: float = 120.0) -> None:
    """Waits for something that another process does."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.02)

"""docs/day-two.md is so: its commands are typed in their order, and print what the page says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.project import Project, Rule, call, close_phase, code, rule

PAGE = (Path(__file__).parents[2] / "docs/day-two.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
EXITS = re.compile(r"\s+# exit code (\d+)$")

_PASSING = (
    (r"\b[0-9a-f]{12,64}\b", "ID"),
    (r"\$[\d.]+", "USD"),
    (r"\b[\d.]+ (?:s|min)\b", "TIME"),
    (r"\b\d{1,3}(?:,\d{3})+(?= (?:tokens|bytes))|(?<= )\d{1,3},\d{3}(?= +0 )", "COUNT"),
    (r"\b\d+(?= (?:lines|anchors)\b)|(?<=line )\d+", "COUNT"),
    (r"\b\d{4}-\d\d-\d\d\b", "DAY"),
    (r" +", " "),
)
"""What another run says otherwise: commits, money, time, tokens, lines of the ledger, and the width of columns."""

ASK = call(
    "ask_user",
    question="Is a ton 1,000 kg, or a US short ton of 907.18474 kg?",
    options=["1,000 kg", "a US short ton"],
    why="Every result in tons hangs on it.",
    assumption="1,000 kg",
)


class Typed(NamedTuple):
    """Commands that stand together, and the text below them; empty where none does."""

    commands: str
    says: str


TYPED = [
    Typed(text, below[1] if below[0] == "text" else "")
    for (kind, text), below in pairwise([*BLOCKS, ("", "")])
    if kind == "console"
]


def unit(name: str, table: str, base: str) -> str:
    return (
        f'"""{name} in {base}."""\n\nUNITS = {table}\n\n\n'
        f'def convert(value: float, unit: str) -> float:\n    """{name} in {base}; KeyError for an unknown unit."""\n'
        "    return value * UNITS[unit]\n"
    )


def planned(title: str, *tons: str) -> dict[str, Any]:
    """The call that saves the plan; `title` is that of the last task, `tons` what the second one promises besides."""
    tasks = {
        "1.1": ("Lengths", "lengths", "1 km is 1000 m"),
        "1.2": ("Weights", "weights", "1000 g are 1 kg"),
        "2.1": (title, "temperatures", "0 degrees Celsius are 273.15 kelvin"),
    }
    found = {
        task: {
            "id": task,
            "title": name,
            "acceptance": [criterion, *(tons if task == "1.2" else ())],
            "files": [f"src/calc/{file}.py"],
            "complexity": "SMALL",
        }
        for task, (name, file, criterion) in tasks.items()
    }
    phases = [
        {"name": "Foundation", "tasks": [found["1.1"], found["1.2"]]},
        {"name": "More units", "tasks": [found["2.1"]]},
    ]
    return call("save_plan", title="Unit converter", phases=phases)


WEIGHTS = "src/calc/weights.py"
TONS = unit("Weights", '{"kg": 1.0, "g": 0.001, "t": 1000.0}', "kilograms")
RULES: tuple[Rule, ...] = (
    rule("architect", "plan", [planned("Temperatures")]),
    rule("architect", "revise", [planned("Temperatures in kelvin", "tons can be converted")]),
    code({"src/calc/lengths.py": unit("Lengths", '{"m": 1.0, "km": 1000.0}', "metres")}, task="1.1"),
    code({WEIGHTS: unit("Weights", '{"kg": 1.0, "g": 0.001}', "kilograms")}, task="1.2", attempt="1"),
    rule(
        "coder",
        "code",
        [ASK],
        [call("write_file", path=WEIGHTS, content=TONS), call("finish", summary="Tons are 1,000 kg.")],
        task="1.2",
        attempt="2",
    ),
    code({"src/calc/temperatures.py": unit("Temperatures", '{"K": 1.0}', "kelvin")}, task="2.1"),
    close_phase("Lengths and weights can be converted.", phase="1"),
    close_phase("Temperatures can be converted.", phase="2"),
)


def yesterday(project: Project) -> None:
    """The first day: a repository with a remote, and a goal whose first phase is done."""
    (settings,) = (text for kind, text in BLOCKS if kind == "toml")
    project.play(*RULES, **tomllib.loads(settings))
    project.git("add", "--all")
    project.git("commit", "--quiet", "--message=swarm init")
    remote = project.root.parent / "units.git"
    subprocess.run(["git", "init", "--quiet", "--bare", "--initial-branch=main", str(remote)], check=True)
    project.git("remote", "add", "origin", str(remote))
    project.git("push", "--quiet", "origin", "main")
    project.swarm("plan", "Convert units", exits=3)
    project.swarm("approve")
    project.swarm("run", exits=3)


def printed(project: Project, commands: str) -> str:
    """What the lines of a block print; each ends with the exit code that it says."""
    out = ""
    for line in commands.splitlines():
        exits = EXITS.search(line)
        done = subprocess.run(
            ["/bin/sh", "-c", EXITS.sub("", line)],
            cwd=project.root,
            env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "COLUMNS": "140"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == (int(exits[1]) if exits else 0), f"{line}\n{done.stdout}\n{done.stderr}"
        out += done.stdout
    return out


def alike(text: str) -> str:
    """The text without what is another one in each run."""
    for pattern, word in _PASSING:
        text = re.sub(pattern, word, text)
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def expected(text: str) -> str:
    """The pattern of a text of the page; a line of three dots stands for any lines."""
    parts = re.split(r"^\.\.\.$", alike(text), flags=re.MULTILINE)
    return r".*?".join(re.escape(part.strip("\n")) for part in parts)


@pytest.mark.slow
@pytest.mark.suite("unittest")
def test_the_walk_of_the_second_day(project: Project) -> None:
    yesterday(project)
    for typed in TYPED:
        said = printed(project, typed.commands)
        if typed.says:
            told = alike(said)
            assert re.fullmatch(expected(typed.says), told, re.DOTALL), f"{typed.commands}\nprints\n{told}"
    pushed = project.git("ls-remote", "origin", "refs/heads/swarm/unit-converter").split()[0]
    assert pushed == project.git("rev-parse", "HEAD")
    assert "tons can be converted" in project.plan_md
    assert (project.folder.path / "report.html").read_text("utf-8").startswith("<!doctype html>")


def test_the_walk_has_every_verb_that_the_day_asks_for() -> None:
    verbs = set(re.findall(r"^swarm (\w+)", "".join(typed.commands for typed in TYPED), re.MULTILINE))
    assert verbs >= {"status", "cost", "report", "undo", "sync", "run", "answer", "revise", "approve", "pr", "verify"}

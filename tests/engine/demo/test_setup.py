"""`swarm demo`: the whole main job from the command line, with real git, gates and pytest."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.project import BARE_PYTEST
from typer.testing import CliRunner

from swarmgate.cli.app import app


def demo(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "swarmgate", "demo", *args],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **BARE_PYTEST},
    )


@pytest.mark.slow
def test_the_whole_demo(tmp_path: Path) -> None:
    place = tmp_path / "demo"
    done = demo("--yes", "--json", "--dir", str(place))
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["waiting"], told["project"]) == ("nothing", str(place.resolve()))
    plan = (place / ".swarm/plan.md").read_text()
    assert "Attempt 1: REJECTED (gates: placeholder_scan)" in plan
    assert "Attempt 1: REJECTED (reviewer)" in plan
    assert "Attempt 2: REJECTED (tests)" in plan
    assert "Attempt 3: ESCALATED - Architect implementing directly" in plan
    readme = (Path(__file__).parents[3] / "README.md").read_text("utf-8")
    told_there = [line for line in readme.splitlines() if line.startswith("  - Attempt ")]
    assert told_there == [line for line in plan.splitlines() if line.startswith("  - Attempt ")]
    log = subprocess.run(["git", "log", "--format=%s"], cwd=place, capture_output=True, text=True, check=True).stdout
    assert len(log.splitlines()) == 4
    tests = subprocess.run([sys.executable, "-m", "pytest", "-q"], cwd=place, capture_output=True, check=False)
    assert tests.returncode == 0
    assert CliRunner().invoke(app, ["verify", "--repo", str(place)]).exit_code == 0


@pytest.mark.slow
def test_without_yes_and_without_a_terminal_it_waits(tmp_path: Path) -> None:
    done = demo("--dir", str(tmp_path / "demo"))
    assert done.returncode == 3, done.stderr
    assert "The plan was not approved" in done.stdout
    assert "# Short codes" in done.stderr


def test_a_folder_in_use_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    done = CliRunner().invoke(app, ["demo", "--dir", str(tmp_path)])
    assert done.exit_code == 2
    assert "is not empty" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]

"""Tests that `swarm gates run` repeats its answer over the same state and judges again after any change."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from swarmgate.gates.cache.store import Cache

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

BAD = "def x(:\n"
ONLY = ("--only", "syntax_check")


@pytest.fixture(autouse=True)
def settled(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search path where nothing is installed meanwhile: what appears there is a reason to judge again."""
    tools = tmp_path_factory.mktemp("tools")
    for name in ("git", "sh", "echo"):
        (tools / name).symlink_to(shutil.which(name) or name)
    monkeypatch.setenv("PATH", str(tools))


def swarm(folder: Path, *options: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "swarmgate", "gates", "run", *options]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, env={**os.environ, **variables}
    )


def verdict(folder: Path, *options: str, **variables: str) -> tuple[str, bool]:
    """Status of the syntax gate, and whether the answer was a repeated one (whose every number of seconds is 0)."""
    done = swarm(folder, *ONLY, "--json", *options, **variables)
    document = json.loads(done.stdout)
    (result,) = [each for each in document["results"] if each["gate"] == "syntax_check"]
    assert done.returncode == (result["status"] == "FAIL"), done.stderr
    if document["seconds"] == 0:
        assert result["cached"]
    return result["status"], document["seconds"] == 0


def test_what_answers_again_starts_without_the_models_and_the_command_line() -> None:
    heavy = {"pydantic", "typer", "asyncio"}
    code = f"import sys, swarmgate.gates.verbs.answer_cache; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.slow
def test_the_same_command_is_answered_again_and_says_so(repo: Path) -> None:
    (repo / "new.py").write_text(BAD)
    first, second = swarm(repo, *ONLY), swarm(repo, *ONLY)
    assert (first.returncode, second.returncode) == (1, 1)
    assert "cached" not in first.stdout
    assert "cached" in second.stdout
    untimed = [line for line in second.stdout.replace("  cached", "").splitlines() if " ms" not in line]
    assert untimed == [line for line in first.stdout.splitlines() if " ms" not in line]
    assert verdict(repo) == ("FAIL", False)  # another form is another command
    assert verdict(repo) == ("FAIL", True)


@pytest.mark.slow
def test_an_edit_is_judged_and_its_undoing_is_repeated(repo: Path) -> None:
    (repo / "new.py").write_text(BAD)
    assert verdict(repo) == ("FAIL", False)
    (repo / "new.py").write_text("x = 1\n")
    assert verdict(repo) == ("PASS", False)
    (repo / "new.py").write_text(BAD)
    assert verdict(repo) == ("FAIL", True)


def _commit(repo: Path, git: Callable[..., str]) -> None:
    git(repo, "commit", "--quiet", "--allow-empty", "--message=more")


def _gate(repo: Path, _: Callable[..., str]) -> None:
    (repo / ".swarm" / "gates").mkdir(parents=True)
    (repo / ".swarm" / "gates" / "syntax_check.toml").write_text('title = "Another"\n')


def _installed(repo: Path, _: Callable[..., str]) -> None:
    (repo / "node_modules").mkdir()
    (repo / ".git" / "info" / "exclude").write_text("node_modules\n")


def _configured(_: Path, __: Callable[..., str]) -> None:
    from platformdirs import user_config_path

    place = user_config_path("swarmgate") / "config.toml"
    place.parent.mkdir(parents=True)
    place.write_text("[gates]\ntimeout_s = 50\n")


@pytest.mark.slow
@pytest.mark.parametrize("happen", [_commit, _gate, _installed, _configured])
def test_what_else_it_depends_on_makes_it_judge_again(
    repo: Path, git: Callable[..., str], happen: Callable[[Path, Callable[..., str]], None]
) -> None:
    (repo / "new.py").write_text(BAD)
    verdict(repo)
    happen(repo, git)
    assert verdict(repo) == ("FAIL", False)


def test_a_variable_that_is_a_setting_makes_it_judge_again(repo: Path) -> None:
    (repo / "new.py").write_text(BAD)
    verdict(repo)
    assert verdict(repo, SWARM_GATES__TIMEOUT_S="50") == ("FAIL", False)


@pytest.mark.slow
def test_no_cache_reads_and_writes_nothing(repo: Path) -> None:
    (repo / "new.py").write_text(BAD)
    for _ in range(2):
        assert verdict(repo, "--no-cache") == ("FAIL", False)
    assert not Cache().folder.exists()
    verdict(repo)
    assert "cached" not in swarm(repo, *ONLY, "--no-cache").stdout


@pytest.mark.slow
def test_a_damaged_answer_is_judged_again(repo: Path) -> None:
    (repo / "new.py").write_text(BAD)
    verdict(repo)
    for place in Cache().folder.glob("*.json"):
        place.write_bytes(place.read_bytes()[:-2])
    assert verdict(repo) == ("FAIL", False)
    assert verdict(repo) == ("FAIL", True)


@pytest.mark.slow
def test_a_base_that_moved_is_judged_again(repo: Path, git: Callable[..., str]) -> None:
    git(repo, "branch", "start")
    (repo / "new.py").write_text(BAD)
    git(repo, "add", "--all")
    git(repo, "commit", "--quiet", "--message=Broken")
    assert [verdict(repo, "--base", "start") for _ in range(2)] == [("FAIL", False), ("FAIL", True)]
    git(repo, "branch", "--force", "start", "HEAD")
    assert "Nothing differs" in swarm(repo, *ONLY, "--base", "start").stdout
    assert swarm(repo, "--base", "nope").returncode == 2


@pytest.mark.slow
def test_options_that_it_does_not_know_are_the_command_lines_business(repo: Path, tmp_path: Path) -> None:
    (repo / "new.py").write_text(BAD)
    report = tmp_path / "report.json"
    for _ in range(2):
        swarm(repo, *ONLY, "--output", str(report))
        report.unlink()  # written each time
    assert swarm(repo, "--nonsense").returncode == 2
    assert swarm(tmp_path).returncode == 2

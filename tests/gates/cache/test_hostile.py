"""Tests that input made to hang, exhaust or crash a gate ends at once in a result that says what is wrong."""

from __future__ import annotations

import hashlib
import os
import time
from typing import TYPE_CHECKING

import pytest

from swarmgate.errors import ConfigError, SwarmError, WorkspaceError
from swarmgate.gates import baseline, tool_environment
from swarmgate.gates.adapters import parsers
from swarmgate.gates.cache import environment
from swarmgate.gates.cache.store import Cache, key_of
from swarmgate.gates.definition import GateDefinition, load
from swarmgate.gates.lint import ruff
from swarmgate.gates.lint.linters import LINTERS
from swarmgate.gates.sbom import formats
from swarmgate.gates.sbom.model import Malformed
from swarmgate.gates.sbom.readers import machine_yaml
from swarmgate.gates.syntax import documents
from swarmgate.gates.tools.run import OUTPUT_LIMIT, Broken
from swarmgate.gates.verbs import answer_cache
from swarmgate.workspace.git import driver
from swarmgate.workspace.git.repository import Repository

if TYPE_CHECKING:
    from pathlib import Path

DEEP = ".".join("a" * 2000) + " = 1\n"


def test_a_deep_toml_is_a_problem_for_the_syntax_gate() -> None:
    result = documents.check("toml", "a.toml", f"x = 1\n{DEEP}".encode())
    assert not isinstance(result, str)
    (problem,) = result
    assert (problem.line, "nested too deeply" in problem.message) == (2, True)


@pytest.mark.parametrize("name", ["pyproject.toml", "Cargo.toml", "Cargo.lock", "poetry.lock", "uv.lock", "Pipfile"])
def test_a_deep_manifest_cannot_be_read_and_says_why(name: str) -> None:
    kind = formats.of(name)
    assert kind is not None
    read = formats.read(name, DEEP.encode(), kind, lambda _: DEEP.encode())
    assert isinstance(read, formats.Unreadable), read
    assert "nested too deeply" in read.message


def test_a_deep_yaml_lock_and_one_of_aliases_are_refused() -> None:
    started = time.process_time()
    bomb = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 40))
    for text in ("a: " + "[" * 5000, bomb):
        with pytest.raises(Malformed):
            machine_yaml.loads(text)
    assert time.process_time() - started < 1


def test_a_pattern_that_backtracks_takes_no_time(tmp_path: Path) -> None:
    started = time.process_time()
    pattern = "(?P<path>a):(?P<line>1):(?P<message>(a+)+$)b"
    assert parsers.regex("a:1:" + "a" * 5000, tmp_path, "mine", pattern) == []
    assert time.process_time() - started < 1


@pytest.mark.parametrize("pattern", [r"(?=a)(?P<path>a):(?P<message>.*)", r"(?P<path>.)(?P=path)(?P<message>.*)"])
def test_a_pattern_that_needs_backtracking_is_refused_when_it_is_read(pattern: str) -> None:
    keys = {"id": "mine", "title": "Mine", "command": ["true"], "parser": "regex", "pattern": pattern}
    with pytest.raises(ValueError, match="no lookarounds, no backreferences"):
        GateDefinition.model_validate(keys)


@pytest.mark.parametrize("name", ["ruff.toml", ".editorconfig", "tsconfig.json", "pyproject.toml"])
def test_a_pipe_among_the_configurations_does_not_stop_the_key(repo: Path, name: str) -> None:
    os.mkfifo(repo / name)
    assert environment.digest(repo) == environment.digest(repo)


def test_a_pipe_where_a_setting_stands_is_named(repo: Path) -> None:
    (repo / ".swarm" / "gates").mkdir(parents=True)
    for name, ask in (("baseline.json", lambda: baseline.on_disk(repo)), ("f.toml", lambda: load(repo))):
        os.mkfifo(repo / ".swarm" / "gates" / name)
        with pytest.raises(ConfigError, match=rf"{name}.*not a regular file"):
            ask()
        (repo / ".swarm" / "gates" / name).unlink()
    os.mkfifo(repo / "pyproject.toml")
    with pytest.raises(SwarmError, match=r"pyproject\.toml is a pipe"):
        ruff.by_config(repo, ["a.py"])


def test_a_pipe_that_git_waits_for_is_named(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "_PATIENCE_S", 0.1)
    (repo / "sub").mkdir(exist_ok=True)
    (repo / "sub" / "a").write_text("x")
    os.mkfifo(repo / "sub" / ".gitignore")
    with pytest.raises(WorkspaceError, match=r"sub/\.gitignore is a pipe"):
        driver.call(repo, "status", "--porcelain")


def test_a_slow_git_command_is_waited_for(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "_PATIENCE_S", 0.05)
    result = driver.call(repo, "-c", "alias.slow=!sleep 0.3; cat", "slow", stdin=b"x" * 200_000)
    assert result[:2] == (0, b"x" * 200_000)


@pytest.mark.parametrize("body", [b"", b"\xff\xfe", b"[" * 100_000, b"{", b"9" * 5000])
def test_a_strange_entry_with_a_right_checksum_is_a_miss(tmp_path: Path, body: bytes) -> None:
    key = key_of(("a",))
    place = tmp_path / f"{key}.json"
    place.write_bytes(hashlib.sha256(key.encode() + body).hexdigest().encode() + b"\n" + body)
    assert Cache(tmp_path).get(key) is None
    place.unlink()
    os.mkfifo(place)
    assert Cache(tmp_path).get(key) is None


def test_a_deep_baseline_is_no_baseline() -> None:
    for content in (b"[" * 100_000, b"[]", b"NaN", b'{"version": 1, "accepted": 3}'):
        with pytest.raises(ConfigError, match=r"baseline\.json is not a baseline"):
            baseline.parse(content)


def test_an_output_too_long_to_read_is_called_so(tmp_path: Path) -> None:
    result = ruff.parse("[" + " " * OUTPUT_LIMIT, tmp_path)
    assert isinstance(result, Broken)
    assert "printed more than 8,000,000 characters" in result.reason


def test_an_environment_of_tools_that_appears_changes_the_key(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tool_environment, "folder", lambda: tmp_path / "tools")
    before = environment.digest(repo)
    (tmp_path / "tools" / "bin").mkdir(parents=True)
    assert environment.digest(repo) != before


def test_settings_of_linters_in_the_home_do_not_count() -> None:
    (shellcheck,) = [each for each in LINTERS if each.name == "shellcheck"]
    assert {shellcheck.env["HOME"], shellcheck.env["XDG_CONFIG_HOME"]} == {os.devnull}


@pytest.mark.parametrize("entry", [[], {"surroundings": 1}, float("nan"), {"surroundings": "a", "paths": [1]}])
def test_a_strange_answer_is_judged_again(repo: Path, entry: object) -> None:
    Cache().put("a", entry)
    asked = answer_cache.Question("a", "", Repository.discover(repo), repo)
    assert answer_cache._answer(asked) is None

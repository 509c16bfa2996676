"""Tests gate definitions: built-in ones, a project's additions and overrides, and error messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from swarmgate.domain.review.finding import Severity
from swarmgate.errors import ConfigError
from swarmgate.gates.definition import Stage, load

if TYPE_CHECKING:
    from pathlib import Path

    from swarmgate.gates.definition import GateDefinition


def own(root: Path, name: str, text: str) -> dict[str, GateDefinition]:
    folder = root / ".swarm" / "gates"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.toml").write_text(text)
    return {gate.id: gate for gate in load(root)}


def test_built_ins_in_order() -> None:
    gates = load()
    assert [gate.id for gate in gates] == [
        "lint_fix", "diff", "syntax_check", "imports", "lint_check", "placeholder_scan", "test_integrity",
        "secret_scan", "sast_scan", "sbom_generate", "build_check", "quality_budget",
    ]  # fmt: skip
    assert all(gate.enabled for gate in gates)
    assert [gate.stage for gate in gates].count(Stage.FIX) == 1
    assert all(gate.required and not gate.weakened for gate in gates)


def test_a_new_id_adds(tmp_path: Path) -> None:
    gate = own(tmp_path, "types", 'title = "Types"\ncommand = ["mypy", "{files}"]\nfiles.languages = ["python"]')[
        "types"
    ]
    assert gate.command == ("mypy", "{files}")
    assert gate.weakened == ()


def test_tightening_keeps_the_rest_and_is_no_weakening(tmp_path: Path) -> None:
    gate = own(tmp_path, "lint_check", 'severity = "low"\ntimeout_s = 5')["lint_check"]
    assert (gate.severity, gate.timeout_s, gate.adapter) == (Severity.LOW, 5, "lint_check")
    assert "python" in gate.files.languages
    assert gate.weakened == ()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("required = false", "no longer required"),
        ("enabled = false", "disabled"),
        ('severity = "critical"', "blocks from critical on instead of medium"),
        ('files.exclude = ["legacy/**"]', "looks at fewer files (exclude)"),
        ('files.include = ["src/**"]', "looks at fewer files (include)"),
        ('files.skip = ["vendored", "test"]', "looks at fewer files (skip)"),
        ('command = ["true"]', "its scanner is replaced"),
        ('stage = "fix"', "runs as fix instead of check"),
    ],
)
def test_weakening_is_marked(tmp_path: Path, text: str, told: str) -> None:
    assert told in own(tmp_path, "secret_scan", text)["secret_scan"].weakened


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sevrity = 'low'", r"\.swarm/gates/mine\.toml: unknown key 'sevrity' \(did you mean 'severity'\?\)"),
        ("files.includ = ['*']", r"unknown key 'files.includ' \(did you mean 'include'\?\)"),
        ("weakened = []", "unknown key 'weakened'"),
        ("timeout_s = -1", "key 'timeout_s'"),
        ("severity = 'awful'", "key 'severity'"),
        ("id = 'other'", "'other' is not the name of the file"),
        ("adapter = 'diff'", "either an `adapter` or a `command`"),
        ("parser = 'regex'", "`pattern` belongs to"),
        ("parser = 'regex'\npattern = '('", "not a regular expression"),
        ("parser = 'regex'\npattern = 'x'", "named groups"),
        ("= 1", "cannot be read"),
    ],
)
def test_mistakes_name_file_and_key(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        own(tmp_path, "mine", f'title = "Mine"\ncommand = ["true"]\n{text}')


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('adapter = "secretz"', r"unknown adapter 'secretz' \(did you mean 'secrets'\?\)"),
        ('command = ["x", "--in={files}"]', "an argument of its own"),
        ('command = ["{files}"]', "begin with a program"),
        ("", "either an `adapter` or a `command`"),
    ],
)
def test_what_a_gate_runs_is_checked(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        own(tmp_path, "mine", f'title = "Mine"\n{text}')


def test_a_title_is_needed(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="key 'title' is missing"):
        own(tmp_path, "mine", 'command = ["true"]')

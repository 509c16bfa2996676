"""`swarm eval`: the gates on labelled data."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from typer.testing import CliRunner

from swarmgate.cli.app import app

if TYPE_CHECKING:
    from pathlib import Path


def test_a_labelled_set_is_printed_as_a_table_and_as_json(tmp_path: Path) -> None:
    place = tmp_path / "set.jsonl"
    place.write_text('{"gate": "syntax_check", "expected": true, "path": "a.json", "content": "{"}\n')
    done = CliRunner().invoke(app, ["eval", "gates", f"labels={place}"])
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[0].startswith("labels ")
    found = json.loads(CliRunner().invoke(app, ["eval", "gates", f"labels={place}", "--json"]).stdout)
    assert found["sets"][0]["total"]["recall"] == 1.0


def test_wrong_use_is_told(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["eval", "gates", "nope"])
    assert done.exit_code == 2
    assert "swarm eval list" in done.stderr
    done = CliRunner().invoke(app, ["eval", "gates", "--gate", "nosuch"])
    assert done.exit_code == 2
    assert "'nosuch'" in done.stderr
    assert "secret_scan" in done.stderr


def test_the_sets_are_listed() -> None:
    assert "owasp=PATH" in CliRunner().invoke(app, ["eval", "list"]).stdout

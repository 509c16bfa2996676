"""`swarm docs`: pages by their names, sections by their headings; nothing else is read."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from swarmgate.cli.app import app

FOLDER = Path(__file__).parents[3] / "docs"


def told(*words: str) -> str:
    done = CliRunner().invoke(app, ["docs", *words])
    assert (done.exit_code, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize(
    ("named", "file"),
    [
        ("hooks", "hooks.md"),
        ("hooks.md", "hooks.md"),
        ("docs/hooks.md", "hooks.md"),
        ("gates/diff", "gates/diff.md"),
        ("docs/gates/diff.md", "gates/diff.md"),
        ("sast_scan", "gates/sast_scan.md"),
        ("README", "README.md"),
        ("examples/chat.toml", "../examples/chat.toml"),
        ("chat.toml", "../examples/chat.toml"),
    ],
)
def test_a_page_is_its_file(named: str, file: str) -> None:
    assert told(named) == (FOLDER / file).read_text("utf-8")


def test_without_a_name_it_is_the_index() -> None:
    assert told() == (FOLDER / "README.md").read_text("utf-8")


def test_a_section_ends_where_the_next_of_its_level_begins() -> None:
    guards = told("guards#review")
    assert guards.startswith("## Review\n")
    assert "\n### Review by debate\n" in guards
    assert "\n## " not in guards
    below = told("guards#Review-by-debate")
    assert below.startswith("### Review by debate\n")
    assert below in guards
    assert "\n### " not in below.removeprefix("### ")
    last = told("commands#swarm-demo")
    assert last.startswith("## `swarm demo`\n")
    assert (FOLDER / "commands.md").read_text("utf-8").endswith(last)


def test_a_comment_in_a_block_is_no_heading() -> None:
    text = (FOLDER / "configuration.md").read_text("utf-8")
    assert "\n# .swarm/config.toml\n" in text  # the case is there
    refused = CliRunner().invoke(app, ["docs", "configuration#swarmconfigtoml"])
    assert refused.exit_code == 2


def test_as_json_it_says_where_the_page_lies_and_which_there_are() -> None:
    page = json.loads(told("gates/diff", "--json"))
    assert (page["page"], page["file"]) == ("gates/diff", str(FOLDER / "gates/diff.md"))
    assert page["text"] == (FOLDER / "gates/diff.md").read_text("utf-8")
    assert page["pages"][0] == "README"
    pages = [path.relative_to(FOLDER).with_suffix("").as_posix() for path in FOLDER.rglob("*.md")]
    examples = [f"examples/{path.name}" for path in (FOLDER.parent / "examples").iterdir() if path.is_file()]
    assert sorted(page["pages"]) == sorted(pages + examples)


@pytest.mark.parametrize(
    ("named", "hint"),
    [
        ("confguration", "did you mean `swarm docs configuration`?"),
        ("zzzzzz", "the list of all: swarm docs"),
        ("../README", "swarm docs"),
        ("/etc/passwd", "swarm docs"),
        ("", "swarm docs"),
        ("hooks#nowhere", "it has: hooks, "),
    ],
)
def test_what_is_not_there_is_told(named: str, hint: str) -> None:
    done = CliRunner().invoke(app, ["docs", named])
    assert (done.exit_code, done.stdout) == (2, "")
    assert hint in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("no_color", ["", "1"])
def test_on_a_terminal_it_is_laid_out_for_its_width(tmp_path: Path, no_color: str) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "swarmgate", "docs", "commands#swarm-docs"]
    environ = {**os.environ, "COLUMNS": "60", "TERM": "xterm-256color", "NO_COLOR": no_color}
    process = subprocess.Popen(command, cwd=tmp_path, env=environ, stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown = b""
    try:
        while part := os.read(ours, 65536):
            shown += part
    except OSError:  # the other end is closed: all was read
        pass
    os.close(ours)
    assert process.wait() == 0
    assert (b"\x1b[" in shown) is not bool(no_color)
    lines = shown.decode().splitlines()
    assert "swarm commands" not in lines
    assert all(len(line) <= 60 for line in lines) or not no_color
    assert any("swarm docs" in line for line in lines)
    assert "## `swarm docs`" not in lines

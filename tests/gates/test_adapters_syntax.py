"""Syntax: what does not parse is found with its place, what has no parser is not counted as looked at."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import pytest

from swarmgate.domain.finding import GateStatus
from swarmgate.gates.adapters import syntax
from swarmgate.gates.files import Source, language_of

if TYPE_CHECKING:
    Project = Any

OURS, THEIRS = "<" * 7 + " HEAD\n", ">" * 7 + " theirs\n"


def look(path: str, content: str | bytes) -> Any:
    raw = content.encode() if isinstance(content, str) else content
    return syntax.look(Source(path, language_of(path), content=raw))


@pytest.mark.parametrize(
    ("path", "content", "line"),
    [
        ("a.py", "x = 1\ndef f(:\n", 2),
        ("a.py", "return 1\n", 1),
        ("a.py", "'caf\xe9'".encode("latin-1"), 1),
        ("a.py", "x = 1\0", 0),
        ("a.py", "(" * 500 + ")" * 500, 1),
        ("a.json", '{"a": 1,\n}', 2),
        ("a.json", "[" * 100_000, 0),
        ("a.jsonl", '{}\n{"a"\n', 2),
        ("a.toml", "a = 1\nb = \n", 2),
        ("a.yaml", "a: [1,\nb: 2\n", 3),
        ("a.yaml", "a: 1\n---\n\t- x\n", 3),
        ("a.yaml", "a: *nowhere\n", 1),
    ],
)
def test_broken(path: str, content: str | bytes, line: int) -> None:
    (finding,) = look(path, content)
    assert finding.line == line
    assert finding.rule == f"{language_of(path)}-syntax"


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("a.py", "x = '\\d'\nassert (1, 2)\n"),
        ("a.py", "# -*- coding: latin-1 -*-\n'caf\xe9'\n".encode("latin-1")),
        ("a.py", b"\xef\xbb\xbfx = 1\n"),
        ("a.py", ""),
        ("a.json", b"\xef\xbb\xbf{}"),
        ("a.toml", "a = 1\n"),
        ("a.yaml", "Ref: !Sub x\n---\nb: &a 1\nc: *a\n"),
        ("notes.md", "=======\n"),
    ],
)
def test_sound(path: str, content: str | bytes) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert look(path, content) in ([], "markdown")


@pytest.mark.parametrize("path", ["a.py", "a.go", "notes.md", "no_suffix", "a.json"])
def test_conflict_markers_in_any_text(path: str) -> None:
    (finding,) = look(path, f"a\n{OURS}b\n=======\nc\n{THEIRS}")
    assert (finding.rule, finding.line) == ("conflict-marker", 2)


def test_markers_that_never_close_are_read_in_linear_time() -> None:
    assert look("a.md", OURS * 100_000) == "markdown"


def test_a_template_is_not_yaml() -> None:
    assert look("chart/templates/x.yaml", "{{- if .Values.on }}\na: b\n{{- end }}\n") == "yaml template"


def test_python_is_compiled_and_never_run(project: Project) -> None:
    project.write("a.py", "open('ran', 'w').write('x')\n")
    assert project.gate("syntax_check").status is GateStatus.PASS
    assert not (project.root / "ran").exists()


def test_languages_without_a_parser_are_named(project: Project) -> None:
    project.write("a.go", "package (((\n")
    project.write("b.unknown", "?\n")
    result = project.gate("syntax_check")
    assert (result.status, result.files) == (GateStatus.SKIP, 0)
    assert result.reason == "no parser for the changed files: go (1), unknown (1)"
    project.write("c.py", "x = 1\n")
    result = project.gate("syntax_check")
    assert (result.status, result.files) == (GateStatus.PASS, 1)
    assert "not looked at: go (1), unknown (1)" in result.reason


def test_what_was_broken_before_does_not_block(project: Project) -> None:
    project.commit_files({"a.json": '{"a": 1,}\n'})
    project.write("a.json", '\n{"a": 1,}\n')
    result = project.gate("syntax_check")
    assert (result.status, [finding.new for finding in result.findings]) == (GateStatus.PASS, [False])

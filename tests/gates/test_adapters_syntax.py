"""Tests the syntax gate: errors with their place, and files without a parser."""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING, Any

import pytest

from swarmgate.domain.review.finding import GateStatus, Severity
from swarmgate.gates.adapters import syntax
from swarmgate.gates.project.files import language_of
from swarmgate.gates.source import grammar_tree
from swarmgate.gates.source.file import SourceFile

if TYPE_CHECKING:
    Project = Any

OURS, BASE, THEIRS = "<" * 7 + " HEAD\n", "|" * 7 + " 0123456\n", ">" * 7 + " theirs\n"


def look(path: str, content: str | bytes) -> Any:
    raw = content.encode() if isinstance(content, str) else content
    return syntax.scan_file(SourceFile.of(path, language_of(path), content=raw))


@pytest.mark.parametrize(
    ("path", "content", "line"),
    [
        ("a.py", "x = 1\ndef f(:\n", 2),
        ("a.py", "return 1\n", 1),
        ("a.py", "'caf\xe9'".encode("latin-1"), 1),
        ("a.py", "x = 1\0", 0),
        ("a.py", "(" * 500 + ")" * 500, 1),
        ("a.json", '{"a": 1,\n}', 1 if sys.version_info >= (3, 13) else 2),  # the comma, or what stands behind it
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


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (f"{OURS}a\n{BASE}b\n=======\nc\n{THEIRS}", [1]),
        (f"{OURS}a\n=======\nc\n{THEIRS}x\n{OURS}d\n=======\n{THEIRS}", [1, 7]),
        (f"{OURS}a\n=======\nc\n{THEIRS}".replace("\n", "\r\n"), [1]),
        (f"{OURS.strip()[:7]}\na\n=======\n{THEIRS.strip()[:7]}\n", [1]),
        ("Title\n=======\n\ntext\n", []),
        (f"Title\n=======\n{THEIRS}", []),
        (f"{OURS}a\n=======\n", []),
        (f"  {OURS}  =======\n  {THEIRS}", []),
        (f"{OURS}a\n{THEIRS}", []),
        ("<<<<<<<<<< a\n==========\n>>>>>>>>>> b\n", []),
    ],
)
def test_a_conflict_is_its_markers_in_their_order(text: str, lines: list[int]) -> None:
    problems = look("a.rst", text)
    assert ([] if isinstance(problems, str) else [each.line for each in problems]) == lines


def test_markers_that_never_close_are_read_in_linear_time() -> None:
    assert look("a.md", OURS * 60_000) == "markdown"


@pytest.mark.parametrize(
    ("path", "content", "word"),
    [
        ("chart/templates/x.yaml", "{{- if .Values.on }}\na: b\n{{- end }}\n", "yaml template"),
        ("a.json", '{"a": {{ value }}}', "json template"),
        ("a.html", "<ul>{% for x in y %}<li>{% endfor %}", "html template"),
        ("a.html", "---\nlayout: x\n---\n</div>", "html template"),
        ("a.html", "@if (x) {\n<a>\n}\n", "html template"),
        ("a.sql", "select * from {{ ref('a') }} where (", "sql template"),
        ("a.py", "{% if x %}\nimport a\n{% endif %}\nx = {{ cookiecutter.x }}\n", "python template"),
        ("a.go", "package {{ name }}\n", "go template"),
        ("a.zsh", "x=${(k)y}\n", "zsh"),
        ("a.sh", "#!/usr/bin/env python3\nimport a\n", "python"),
        ("a.rb", "#!/bin/sh\necho x\n", "sh"),
        ("a.js", "// @flow\nfunction f(a: ?number): %checks { return !!a }\n", "javascript with Flow types"),
        ("a.pl", "if (", "perl: its grammar flags too much valid code and is slow"),
        ("a.go", "package a\0\n", "go with NUL bytes"),
        ("a.f90", "end\n", "unknown"),
        ("a.md", "[(\n", "markdown"),
    ],
)
def test_what_cannot_be_judged_is_named(path: str, content: str, word: str) -> None:
    assert look(path, content) == word


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("a.py", "x = '{% if a %}'\ny = (\n"),
        ("a.go", 'package a\nvar x = "{{ .Name }}"\nfunc f( {}\n'),
        ("a.js", "const x = `{{ a }}`;\nf(;\n"),
    ],
)
def test_a_broken_file_that_speaks_of_templates_is_broken(path: str, content: str) -> None:
    (finding,) = look(path, content)
    assert finding.severity is Severity.CRITICAL


def test_a_language_that_is_off_can_be_switched_on(project: Project) -> None:
    project.write("a.pl", "my $x = (1, 2;\n")
    result = project.gate("syntax_check")
    assert (result.status, "perl: its grammar flags too much valid code" in result.reason) == (GateStatus.SKIP, True)
    project.write(".swarm/gates/syntax_check.toml", 'extra_languages = ["perl"]\n')
    result = project.gate("syntax_check")
    assert (result.status, [each.line for each in result.findings if each.path == "a.pl"]) == (GateStatus.FAIL, [1])


def test_python_is_compiled_and_never_run(project: Project) -> None:
    project.write("a.py", "open('ran', 'w').write('x')\n")
    assert project.gate("syntax_check").status is GateStatus.PASS
    assert not (project.root / "ran").exists()


def test_languages_without_a_parser_are_named(project: Project) -> None:
    project.write("a.f90", "end\n")
    project.write("b.zsh", "?\n")
    result = project.gate("syntax_check")
    assert (result.status, result.files) == (GateStatus.SKIP, 0)
    assert result.reason == "no parser for the changed files: unknown (1), zsh (1)"
    project.write("c.py", "x = 1\n")
    result = project.gate("syntax_check")
    assert (result.status, result.files) == (GateStatus.PASS, 1)
    assert "not looked at: unknown (1), zsh (1)" in result.reason


def test_the_tool_names_what_judged(project: Project) -> None:
    project.write("a.go", "package a\n")
    project.write("a.yaml", "a: 1\n")
    project.write("a.py", "x = 1\n")
    tool = project.gate("syntax_check").tool
    assert tool.startswith("Python 3.")
    assert "tree-sitter-language-pack 0." in tool
    assert "PyYAML" in tool


def test_a_grammar_that_is_too_slow_is_told(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grammar_tree, "TIME_LIMIT_S", 0.0)
    project.write("a.go", "package a\n" + "var x = 1\n" * 20_000)
    result = project.gate("syntax_check")
    assert (result.status, "go (grammar too slow) (1)" in result.reason) == (GateStatus.SKIP, True)


def test_what_was_broken_before_does_not_block(project: Project) -> None:
    project.commit_files({"a.json": '{"a": 1,}\n', "a.go": "package a\nfunc f( {\n}\n"})
    project.write("a.json", '\n{"a": 1,}\n')
    project.write("a.go", "package a\n\n\nfunc f( {\n}\n")
    result = project.gate("syntax_check")
    assert (result.status, [finding.new for finding in result.findings]) == (GateStatus.PASS, [False, False])


def test_newer_syntax_than_the_project_allows_is_found(project: Project) -> None:
    project.write("setup.cfg", "[options]\npython_requires = >=3.8\n")
    project.write("lib/a.py", "match x:\n    case 1: pass\n")
    project.write("lib/test_py310.py", "match x:\n    case 1: pass\n")
    result = project.gate("syntax_check")
    assert [(each.path, each.line) for each in result.findings] == [("lib/a.py", 1)]
    assert "Python 3.8" in result.findings[0].message
    assert "ruff" in result.tool
    project.commit_files({"x.txt": ""})
    project.write("lib/a.py", "y = 1\nmatch x:\n    case 1: pass\n")
    result = project.gate("syntax_check")
    assert (result.status, [each.new for each in result.findings]) == (GateStatus.PASS, [False])


def test_syntax_of_a_later_python_is_told_and_no_error(project: Project) -> None:
    project.write("a.py", f"type X = int\nx = 3.{sys.version_info.minor}\n")
    result = project.gate("syntax_check")
    newer = sys.version_info < (3, 12)
    assert result.status is (GateStatus.SKIP if newer else GateStatus.PASS)
    assert ("Python newer than" in result.reason) == newer
    project.write("pyproject.toml", '[project]\nname = "a"\nrequires-python = ">=3.11"\n')
    result = project.gate("syntax_check")
    assert (result.status, [each.path for each in result.findings]) == (GateStatus.FAIL, ["a.py"])


def test_ten_files_of_several_languages_cost_little(project: Project) -> None:
    for number in range(10):
        project.write(f"a{number}.py", "def f(a, b):\n    return [a, b]\n" * 200)
        look(f"a{number}.go", "package a\n" + "func f() int { return (1) }\n" * 200)
    assert project.gate("syntax_check").seconds < 2.0  # the benchmark measures; this only catches a blunder

"""Tests changes that keep scanners from reading files: no gate may pass over them in silence."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from swarmgate.domain.review.finding import GateStatus, Severity
from swarmgate.gates.adapters import ruff_fix
from swarmgate.gates.project.files import language_of
from swarmgate.gates.quality import functions
from swarmgate.gates.sast import semgrep
from swarmgate.gates.source import content_traits, encodings, loading
from swarmgate.gates.source.file import SourceFile

if TYPE_CHECKING:
    from pathlib import Path

    Project = Any


@pytest.mark.parametrize("name", ["raw_unicode_escape", "utf-7", "unicode_escape", "cp037", "hz", "utf-16"])
def test_an_encoding_that_hides_code_is_found(project: Project, name: str) -> None:
    project.write("a.py", f"# coding: {name}\nx = 1\n")
    result = project.gate("syntax_check")
    assert result.status is GateStatus.FAIL
    assert [(each.rule, each.severity) for each in result.findings] == [("hidden-by-encoding", Severity.HIGH)]


@pytest.mark.parametrize(
    "name", ["utf-8", "utf-8-unix", "latin-1", "iso-8859-15", "cp1252", "shift_jis", "gbk", "koi8-r"]
)
def test_an_ordinary_encoding_is_none(name: str) -> None:
    assert encodings.hidden(f"#!/usr/bin/python\n# -*- coding: {name} -*-\n".encode()) == ""


def test_other_encodings_are_read_as_utf8() -> None:
    content = "# coding: shift_jis\nx = 'ソ'\n"
    assert encodings.in_utf8("python", content.encode("shift_jis")) == content.replace("shift_jis", "utf-8").encode()


def test_a_latin_1_file_is_linted(project: Project) -> None:
    project.write("a.py", "# coding: latin-1\nx = 'é'\nprint(gone)\n".encode("latin-1"))
    assert [(each.rule, each.line) for each in project.gate("lint_check").findings] == [("F821", 3)]


def test_what_ruff_cannot_read_is_told(project: Project) -> None:
    project.write("a.py", b"x = '\xe9'\n")
    result = project.gate("lint_check")
    assert (result.status, "cannot read a.py" in result.reason) == (GateStatus.ERROR, True)


def test_one_long_line_does_not_make_a_file_minified() -> None:
    long = b"f(" * 2500 + b")" * 2500
    assert not content_traits.traits("javascript", long + b";\neval(x);\n")
    assert content_traits.traits("javascript", long + b";\n")


def test_files_beyond_the_limit_are_an_error(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "RUN_BYTES", 10_000)
    project.write("a/a.bin", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)) * 200)
    project.write("z.py", "x = 1\n")
    assert project.gate("secret_scan", fix=False).status is GateStatus.PASS
    project.write("b.py", "y = 1\n" * 5_000)
    result = project.gate("secret_scan", fix=False)
    assert (result.status, result.files, "not read: b.py" in result.reason) == (GateStatus.ERROR, 1, True)


@pytest.mark.parametrize(
    ("path", "first", "language"),
    [
        ("deploy", b"#!/usr/bin/env -S python3 -u\n", "python"), ("run", b"#!/bin/sh\n", "bash"),
        ("x", b"#!/usr/bin/env node\n", "javascript"), ("x", b"text\n", ""), ("Dockerfile.prod", b"", "dockerfile"),
        ("api.dockerfile", b"", "dockerfile"), ("Containerfile.x", b"", "dockerfile"), ("dockerfile.py", b"", "python"),
        ("Dockerfile.md", b"", "markdown"),
    ],
)  # fmt: skip
def test_languages_of_files_without_a_suffix(path: str, first: bytes, language: str) -> None:
    assert language_of(path, first) == language


def test_a_script_without_a_suffix_is_judged(project: Project) -> None:
    project.write("deploy", "#!/usr/bin/env python3\nprint(gone)\n")
    assert [each.rule for each in project.gate("lint_check").findings] == ["F821"]


def test_a_notebook_is_linted_at_its_lines(project: Project) -> None:
    cell = '{"cell_type": "code", "metadata": {}, "outputs": [], "source": [\n"x = 1\\n",\n"gone"]}'
    project.write("n.ipynb", f'{{"cells": [\n{cell}], "metadata": {{}}, "nbformat": 4, "nbformat_minor": 5}}\n')
    assert [(each.rule, each.line) for each in project.gate("lint_check").findings] == [("F821", 4)]


def test_code_too_large_to_be_judged(project: Project) -> None:
    project.write("a.py", "x = 1\n" + "#\n" * 600_000)
    assert [each.rule for each in project.gate("syntax_check").findings] == ["too-large"]


def test_an_undeclared_submodule(project: Project, git: Any) -> None:
    inner = project.root / "inner"
    inner.mkdir()
    git(inner, "init", "--quiet")
    git(inner, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--allow-empty", "--message=x")
    result = project.gate("diff")
    assert (result.status, [each.rule for each in result.findings]) == (GateStatus.FAIL, ["undeclared-submodule"])


@pytest.mark.slow
def test_lizard_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    assert functions.measure("a.ts", "(a,b)=>(" * 20_000).broken
    assert capfd.readouterr().err == ""


def test_a_timeout_in_what_nobody_writes_is_contrived() -> None:
    assert semgrep._contrived(SourceFile.of("a.js", "javascript", content=b"[" * 30_000))
    assert not semgrep._contrived(SourceFile.of("a.js", "javascript", content=b"call(a, b);\n" * 5_000))


def test_a_fix_keeps_the_byte_order_mark(tmp_path: Path) -> None:
    before, fixed = b"\xef\xbb\xbfimport os\r\nx = 1\r\n", b"x = 1\r\n"
    (tmp_path / "a.py").write_bytes(fixed)
    job: Any = SimpleNamespace(
        sources=(SourceFile.of("a.py", "python", content=before),), repository=SimpleNamespace(root=tmp_path)
    )
    ruff_fix._restore_marks(job)
    assert (tmp_path / "a.py").read_bytes() == b"\xef\xbb\xbf" + fixed

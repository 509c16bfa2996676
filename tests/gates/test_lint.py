"""Tests the linters and formatters of languages other than Python, real ones where installed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.gates.lint_samples import BIOME, ESLINT

from swarmgate.domain.review.finding import GateStatus, Severity

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.gates.conftest import Project

    from swarmgate.domain.review.finding import GateResult


def _found(result: GateResult, *, new: bool = True) -> list[tuple[str, str, int]]:
    return [(each.rule, each.path, each.line) for each in result.findings if each.new is new]


def _install(project: Project, name: str, script: str, folder: str = "") -> None:
    place = project.write(f"{folder}node_modules/.bin/{name}", script)
    place.chmod(0o755)
    project.write(".gitignore", "node_modules/\n")


@pytest.fixture
def path_without(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., None]:
    """`path_without(name)`: PATH has git and a shell, and not that program."""

    def hide(name: str) -> None:
        folder = tmp_path / "bin"
        folder.mkdir()
        for wanted in ("git", "sh", "cat", "printf"):
            found = shutil.which(wanted)
            if found and wanted != name:
                (folder / wanted).symlink_to(found)
        monkeypatch.setenv("PATH", str(folder))

    return hide


def test_eslint_speaks_for_a_project_that_configures_it(project: Project) -> None:
    _install(project, "eslint", ESLINT)
    project.commit_files({"eslint.config.js": "", "a.js": "old\nlines\n"})
    project.write("a.js", "old\nanother line\n")
    result = project.gate("lint_check")
    assert result.status is GateStatus.FAIL
    assert _found(result) == [("eslint:syntax", "a.js", 2), ("eslint:no-undef", "a.js", 2)] or _found(result) == [
        ("eslint:no-undef", "a.js", 2),
        ("eslint:syntax", "a.js", 2),
    ]
    assert _found(result, new=False) == [("eslint:no-unused-vars", "a.js", 1)]
    assert {each.severity for each in result.new_findings} == {Severity.MEDIUM, Severity.HIGH}
    assert "eslint" in result.tool


def test_a_linter_that_nobody_configured_is_not_asked(project: Project) -> None:
    _install(project, "eslint", ESLINT)
    project.write("a.js", "x\n")
    result = project.gate("lint_check")
    assert (result.status, result.reason) == (GateStatus.SKIP, "no linter for the changed files")


def test_a_configured_linter_that_is_not_installed_is_a_skip_that_names_it(
    project: Project, path_without: Callable[..., None]
) -> None:
    path_without("eslint")
    project.commit_files({"eslint.config.js": ""})
    project.write("a.js", "x\n")
    result = project.gate("lint_check")
    assert (result.status, result.reason) == (GateStatus.SKIP, "eslint is not installed")


def test_a_linter_runs_where_its_configuration_is(project: Project) -> None:
    _install(project, "biome", BIOME, folder="web/")
    project.commit_files({"web/biome.json": "{}"})
    project.write("web/a.js", "let x = 1\nfunction f() { debugger }\n")
    result = project.gate("lint_check")
    assert result.status is GateStatus.FAIL
    severities = {each.rule: each.severity for each in result.findings if each.path == "web/a.js"}
    assert severities == {
        "biome:lint/style/useConst": Severity.LOW,
        "biome:lint/suspicious/noDebugger": Severity.MEDIUM,
        "biome:format": Severity.LOW,
    }
    assert result.findings[0].message == "This let is assigned\nonce."


def test_a_linter_that_prints_something_else_is_an_error(project: Project) -> None:
    _install(project, "eslint", "#!/bin/sh\necho 'Oops! Something went wrong'\nexit 1\n")
    project.commit_files({"eslint.config.js": ""})
    project.write("a.js", "x\n")
    result = project.gate("lint_check")
    assert result.status is GateStatus.ERROR
    assert "eslint's output is not understood" in result.reason


def test_a_linter_that_crashes_is_an_error_and_the_others_still_speak(project: Project) -> None:
    _install(project, "eslint", "#!/bin/sh\necho 'no config' >&2\nexit 2\n")
    project.commit_files({"eslint.config.js": ""})
    project.write("a.js", "x\n")
    project.write("a.py", "import os\n")
    result = project.gate("lint_check")
    assert result.status is GateStatus.ERROR
    assert "no config" in result.reason
    assert [each.rule for each in result.findings] == ["F401"]


def test_fixes_are_written_and_told(project: Project) -> None:
    _install(project, "biome", BIOME)
    project.commit_files({"biome.json": "{}"})
    project.write("a.js", "let x = 1\n")
    result = project.gate("lint_fix")
    assert result.status is GateStatus.PASS
    assert result.fixed == ("a.js",)
    assert (project.root / "a.js").read_text() == "fixed = 1;\n"


@pytest.mark.skipif(not shutil.which("shellcheck"), reason="shellcheck is not installed")
def test_shellcheck_tells_new_from_old(project: Project) -> None:
    project.commit_files({"run.sh": "#!/bin/sh\ncd $1\n", ".shellcheckrc": ""})
    project.write("run.sh", "#!/bin/sh\ncd $1\nrm -rf $FOO/*\n")
    result = project.gate("lint_check")
    assert ("shellcheck:SC2115", "run.sh", 3) in _found(result)
    assert ("shellcheck:SC2164", "run.sh", 2) in _found(result, new=False)
    assert result.status is GateStatus.FAIL


@pytest.mark.parametrize(
    ("settings", "level", "blocks"),
    [("", "style", False), ("", "error", True), (".shellcheckrc", "style", True)],
)
def test_warnings_of_shellcheck_block_where_the_project_took_it_up(
    project: Project, settings: str, level: str, *, blocks: bool
) -> None:
    place = {"file": "run.sh", "line": 2, "column": 1, "code": 2164, "message": "cd may fail"}
    said = json.dumps({"comments": [{**place, "level": "warning"}, {**place, "level": level}]})
    _install(project, "shellcheck", f"#!/bin/sh\ncat <<'END'\n{said}\nEND\nexit 1\n")
    project.commit_files({settings or "other": "", "run.sh": "#!/bin/sh\n"})
    project.write("run.sh", "#!/bin/sh\ncd $1\n")
    result = project.gate("lint_check")
    assert len(result.findings) == 2, result
    assert (result.status is GateStatus.FAIL) is blocks


@pytest.fixture
def rustfmt(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rustfmt that works in a home of our own, or the test is skipped."""
    import os
    import pwd

    home = Path(pwd.getpwuid(os.getuid()).pw_dir)
    if not shutil.which("rustfmt"):
        pytest.skip("rustfmt is not installed")
    for name, folder in (("RUSTUP_HOME", ".rustup"), ("CARGO_HOME", ".cargo")):
        if name not in os.environ and (home / folder).is_dir():
            monkeypatch.setenv(name, str(home / folder))


@pytest.mark.slow
@pytest.mark.usefixtures("rustfmt")
def test_a_formatted_rust_file_stays_formatted_and_an_unformatted_one_is_left_alone(project: Project) -> None:
    project.commit_files(
        {"kept.rs": "fn a() {}\n", "wild.rs": "fn  b(){}\n", "Cargo.toml": '[package]\nedition = "2024"\n'}
    )
    project.write("kept.rs", "fn a() {}\nfn  c(){}\n")
    project.write("wild.rs", "fn  b(){}\nfn  d(){}\n")
    checked = project.gate("lint_check")
    assert (_found(checked), _found(checked, new=False)) == ([("rustfmt", "kept.rs", 0)], [("rustfmt", "wild.rs", 0)])
    assert checked.status is GateStatus.PASS, "formatting informs"
    fixed = project.gate("lint_fix")
    assert fixed.fixed == ("kept.rs",)
    assert (project.root / "kept.rs").read_text() == "fn a() {}\nfn c() {}\n"


@pytest.mark.usefixtures("rustfmt")
def test_a_rust_file_that_does_not_parse_or_is_not_text_is_left_alone(project: Project) -> None:
    project.write("broken.rs", "fn a( {\n")
    project.write("latin.rs", b"// caf\xe9\nfn  a(){}\n")
    result = project.gate("lint_fix")
    assert not result.fixed
    assert result.status is GateStatus.PASS

"""Detection of languages, test commands and test paths."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from swarmgate.workspace.detect import Detection, detect, is_test_path

if TYPE_CHECKING:
    from pathlib import Path


def look(root: Path, files: dict[str, str]) -> Detection:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return detect(root, tuple(files))


@pytest.mark.parametrize(
    ("files", "runner", "command"),
    [
        ({"a.py": "", "tests/test_a.py": ""}, "pytest", "python3 -m pytest -q"),
        ({"a.py": "", "pyproject.toml": "[tool.pytest.ini_options]\n"}, "pytest", "python3 -m pytest -q"),
        ({"a.py": "", "pyproject.toml": "[project]\n"}, "", ""),
        ({"a.js": "", "package.json": '{"scripts": {"test": "jest --ci"}}'}, "jest", "npm test"),
        ({"a.js": "", "package.json": '{"scripts": {"test": "node --test"}}'}, "node", "npm test"),
        ({"a.ts": "", "package.json": '{"scripts": {"test": "vitest"}}', "pnpm-lock.yaml": ""}, "vitest", "pnpm test"),
        ({"a.ts": "", "package.json": '{"scripts": {"test": "tsx run.ts"}}', "yarn.lock": ""}, "yarn", "yarn test"),
        (
            {"a.js": "", "package.json": '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}'},
            "",
            "",
        ),
        ({"a.js": "", "package.json": "{broken"}, "", ""),
        ({"a.js": "", "package.json": "[1]"}, "", ""),
        ({"src/lib.rs": "", "Cargo.toml": "[package]"}, "cargo", "cargo test"),
        ({"a.go": "", "go.mod": "module x"}, "go", "go test ./..."),
        ({"src/main/java/A.java": "", "pom.xml": "<project/>"}, "maven", "mvn -q test"),
        ({"A.kt": "", "build.gradle.kts": "", "gradlew": ""}, "gradle", "./gradlew cleanTest test"),
        ({"a.rb": "", "spec/a_spec.rb": "", "Gemfile": ""}, "rspec", "bundle exec rspec"),
        ({"a.php": "", "phpunit.xml.dist": ""}, "phpunit", "vendor/bin/phpunit"),
        ({"a.php": "", "composer.json": '{"scripts": {"test": "phpunit"}}'}, "phpunit", "composer test"),
        ({"A.cs": "", "App/App.csproj": ""}, "dotnet", "dotnet test"),
        ({"a.c": "", "Makefile": "all: x\n\ntest: all\n\t./run\n"}, "make", "make test"),
        ({"a.c": "", "Makefile": "test := 1\nall:\n"}, "", ""),
        ({}, "", ""),
    ],
)
def test_the_test_command(tmp_path: Path, files: dict[str, str], runner: str, command: str) -> None:
    found = look(tmp_path, files)
    assert (found.test_runner, found.test_command) == (runner, command)


def test_the_dominant_language_decides(tmp_path: Path) -> None:
    files = {"a.py": "", "test_a.py": "", "package.json": '{"scripts": {"test": "jest"}}', "package-lock.json": ""}
    assert look(tmp_path, files).test_command == "python3 -m pytest -q"
    found = look(tmp_path, {**files, "a.js": "", "b.js": "", "c.ts": "", "d.js": ""})
    assert found.test_command == "npm test"
    assert found.languages == ("javascript", "python", "typescript")
    assert found.package_managers == ("npm",)


def test_a_virtual_environment_of_the_repository_is_used(tmp_path: Path) -> None:
    (tmp_path / ".venv/bin").mkdir(parents=True)
    (tmp_path / ".venv/bin/python").write_text("")
    assert look(tmp_path, {"test_a.py": ""}).test_command == ".venv/bin/python -m pytest -q"


def test_a_lock_file_counts_when_its_tool_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools, root = tmp_path / "bin", tmp_path / "repo"
    for folder in (tools, root):
        folder.mkdir()
    monkeypatch.setenv("PATH", str(tools))
    files = {"test_a.py": "", "uv.lock": ""}
    for name in ("python3", "uv"):
        (tools / name).write_text("#!/bin/sh\n")
    (tools / "python3").chmod(0o755)
    assert look(root, files).test_command == "python3 -m pytest -q"
    (tools / "uv").chmod(0o755)
    found = look(root, files)
    assert (found.test_command, found.package_managers) == ("uv run pytest -q", ("uv",))


def test_no_module_and_no_program_of_the_repository_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fired = tmp_path / "fired"
    root = tmp_path / "repo"
    (root / ".git").mkdir(parents=True)
    (root / "bin").mkdir()
    (root / "bin/python3").write_text(f"#!/bin/sh\ntouch {fired}\n")
    (root / "bin/python3").chmod(0o755)
    for name in ("contextlib", "importlib", "os"):
        (root / f"{name}.py").write_text(f"open({str(fired)!r}, 'w')\n")
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "python3").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')  # a path that was never asked before
    (tools / "python3").chmod(0o755)
    monkeypatch.setenv("PATH", f"{root}/bin:bin::{tools}")
    monkeypatch.chdir(root)
    assert look(root, {"test_a.py": ""}).test_command == "python3 -m pytest -q"
    assert not fired.exists()


def test_test_paths(tmp_path: Path) -> None:
    found = look(tmp_path, {"a.py": "", "a.ts": "", "a.go": "", "A.java": ""})
    for path in (
        "tests/x/data.json", "test/a.js", "pkg/tests/test_a.py", "test_a.py", "src/b_test.py", "src/conftest.py",
        "src/a.test.ts", "a.spec.js", "pkg/a_test.go", "src/test/java/A.java", "app/src/test/X.java",
    ):  # fmt: skip
        assert is_test_path(path, found.test_globs), path
    for path in ("src/app.py", "src/testing.py", "latest/x.py", "contest.py", "src/attest.ts", "a_test.go.txt"):
        assert not is_test_path(path, found.test_globs), path


def test_a_manifest_nested_without_end_is_no_manifest(tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text('{"a":' + "[" * 50_000 + "]" * 50_000 + "}")
    assert detect(tmp_path, ["package.json", "a.js"]).test_command == ""

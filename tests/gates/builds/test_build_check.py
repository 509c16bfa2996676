"""Tests the build gate on real changes, with real tools where installed and fake programs elsewhere."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from swarmgate.domain.review.finding import GateStatus
from swarmgate.gates.builds import mypy_version

if TYPE_CHECKING:
    from collections.abc import Callable

    from swarmgate.domain.review.finding import GateResult

    Project = Any


def _found(result: GateResult, *, new: bool = True) -> list[tuple[str, str, int]]:
    return [(each.rule, each.path, each.line) for each in result.findings if each.new is new]


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Puts a shell program on PATH, before all others."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")

    def make(name: str, script: str) -> None:
        place = folder / name
        place.write_text(f"#!/bin/sh\n{script}\n")
        place.chmod(0o755)

    return make


@pytest.fixture
def mypy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")


def test_python_compiles_or_blocks(project: Project) -> None:
    project.write("a.py", "x = 1\nreturn x\n")
    result = project.gate("build_check")
    assert (result.status, _found(result)) == (GateStatus.FAIL, [("python-compile", "a.py", 2)])
    project.write("a.py", "x = 1\n")
    result = project.gate("build_check")
    assert (result.status, result.files, result.tool) == (GateStatus.PASS, 1, "compile (Python as installed)")
    assert not list(project.root.rglob("__pycache__"))


def test_the_target_version_of_the_project_counts(project: Project) -> None:
    project.commit_files({"pyproject.toml": '[project]\nname = "a"\nrequires-python = ">=3.9"\n'})
    project.write("a.py", "match 1:\n    case 1:\n        pass\n")
    result = project.gate("build_check")
    assert result.status is GateStatus.FAIL
    assert "Python 3.9, which requires-python allows" in result.findings[0].message
    project.write("pyproject.toml", '[project]\nname = "a"\nrequires-python = ">=3.10"\n')
    assert project.gate("build_check").status is GateStatus.PASS


def test_nothing_to_build_is_a_skip(project: Project) -> None:
    project.write("a.md", "words\n")
    result = project.gate("build_check")
    assert (result.status, result.reason) == (GateStatus.SKIP, "no build or type check is known for the changed files")


@pytest.mark.slow
@pytest.mark.usefixtures("mypy")
def test_mypy_blocks_what_the_change_broke_elsewhere(project: Project) -> None:
    project.commit_files(
        {
            "mypy.ini": "[mypy]\nfiles = .\n",
            "lib.py": "def f(a: int) -> int:\n    return a\n",
            "use.py": 'from lib import f\n\nf(1)\nold: int = "x"\n',
        }
    )
    project.write("lib.py", "def f(a: str) -> str:\n    return a\n")
    result = project.gate("build_check")
    assert result.status is GateStatus.FAIL
    assert _found(result) == [("mypy:arg-type", "use.py", 3)]
    assert _found(result, new=False) == [("mypy:assignment", "use.py", 4)]
    assert not (project.root / ".mypy_cache").exists()


@pytest.mark.slow
@pytest.mark.usefixtures("mypy")
def test_a_warm_cache_never_answers_for_another_content_of_the_same_size_and_second(project: Project) -> None:
    project.commit_files({"mypy.ini": "[mypy]\nfiles = .\n", "lib.py": 'a: int = 1\nb: str = "b"\n'})
    for content, status in (('a: int = 2\nb: int = "b"\n', "FAIL"), ('a: int = 2\nb: str = "c"\n', "PASS")) * 2:
        project.write("lib.py", content)
        assert project.gate("build_check").status == status, content


@pytest.mark.slow
@pytest.mark.usefixtures("mypy")
def test_mypy_without_files_looks_at_the_changed_ones(project: Project) -> None:
    project.commit_files({"pyproject.toml": "[tool.mypy]\nstrict = true\n", "other.py": 'x: int = "x"\n'})
    project.write("a.py", "x = 1\n")
    result = project.gate("build_check")
    assert result.status is GateStatus.PASS
    assert "looked at the changed files only" in result.reason


@pytest.mark.slow
@pytest.mark.usefixtures("mypy")
def test_a_module_and_its_stub_are_checked_by_the_stub(project: Project) -> None:
    project.commit_files({"pyproject.toml": "[tool.mypy]\nstrict = true\n"})
    project.write("lib.py", "def f(a):\n    return a\n")
    project.write("lib.pyi", "def f(a: int) -> int: ...\n")
    assert project.gate("build_check").status is GateStatus.PASS
    project.write("lib.pyi", "def f(a: Gone) -> int: ...\n")
    assert _found(project.gate("build_check")) == [("mypy:name-defined", "lib.pyi", 1)]


@pytest.fixture
def cargo(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cargo that finds its toolchains, although HOME is another one here."""
    if shutil.which("cargo") is None:
        pytest.skip("cargo is not installed")
    toolchains = Path(os.environ.get("RUSTUP_HOME") or Path(pwd.getpwuid(os.getuid()).pw_dir) / ".rustup")
    if toolchains.is_dir():
        monkeypatch.setenv("RUSTUP_HOME", str(toolchains))


@pytest.mark.slow
@pytest.mark.usefixtures("cargo")
@pytest.mark.skipif(shutil.which("cargo-clippy") is None, reason="clippy is not installed")
def test_clippy_speaks_where_the_project_configures_it(project: Project) -> None:
    manifest = '[package]\nname = "a"\nversion = "0.1.0"\nedition = "2021"\n'
    code = "pub fn f(a: bool) -> bool {\n    a == true\n}\n"
    project.commit_files({"Cargo.toml": manifest, "src/lib.rs": "pub fn f(a: bool) -> bool {\n    a\n}\n"})
    project.write("src/lib.rs", code)
    assert project.gate("build_check").status is GateStatus.PASS, "nobody asked for clippy"
    project.write("Cargo.toml", manifest + '[lints.clippy]\nbool_comparison = "deny"\n')
    result = project.gate("build_check")
    assert _found(result) == [("cargo:clippy::bool_comparison", "src/lib.rs", 2)]


@pytest.mark.slow
@pytest.mark.usefixtures("cargo")
def test_cargo_check_names_the_place_and_leaves_nothing(project: Project) -> None:
    project.commit_files(
        {
            "Cargo.toml": '[package]\nname = "a"\nversion = "0.1.0"\nedition = "2021"\n',
            "src/lib.rs": "pub fn f() -> i32 {\n    1\n}\n",
        }
    )
    project.write("src/lib.rs", 'pub fn f() -> i32 {\n    "one"\n}\n')
    result = project.gate("build_check")
    assert result.status is GateStatus.FAIL, result.reason
    assert _found(result) == [("cargo:E0308", "src/lib.rs", 2)]
    assert not (project.root / "target").exists()
    assert not (project.root / "Cargo.lock").exists()
    project.write("src/lib.rs", "pub fn f() -> i32 {\n    2\n}\n")
    assert project.gate("build_check").status is GateStatus.PASS


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_a_makefile_that_cannot_be_read(project: Project) -> None:
    project.commit_files({"Makefile": "all:\n\techo 1\n"})
    project.write("Makefile", "all:\n    echo 1\n")
    result = project.gate("build_check")
    assert _found(result) == [("make", "Makefile", 2)]
    project.write("Makefile", "all: gone.c\n\techo 1\n")
    assert "No rule to make target" in project.gate("build_check").findings[0].message
    project.write("Makefile", "all:\n\ttouch ran\n")
    assert project.gate("build_check").status is GateStatus.PASS
    assert not (project.root / "ran").exists()


def test_tsc_reads_solution_files_and_compares_with_the_base(
    project: Project, fake: Callable[[str, str], None]
) -> None:
    record = project.root / "record"
    fake("tsc", f'cat errors.txt; (echo "$@" >> {record}) 2>/dev/null; test ! -s errors.txt')
    project.commit_files({".gitignore": "record\n"})
    old = "src/a.ts(1,7): error TS2322: Type 'string' is not assignable to type 'number'.\n"
    project.commit_files(
        {
            "tsconfig.json": '{\n // solution\n "files": [],\n "references": [{"path": "./tsconfig.app.json"}],\n}\n',
            "tsconfig.app.json": "{}", "errors.txt": old, "src/a.ts": 'let a: number = "";\n',
        }
    )  # fmt: skip
    project.write("src/b.ts", "let b = 1;\nlet c: number = '';\n")
    project.write("errors.txt", f"{old}src/b.ts(2,5): error TS2322: Type 'string'.\n")
    result = project.gate("build_check")
    assert result.status is GateStatus.FAIL, result.reason
    assert (_found(result), _found(result, new=False)) == (
        [("tsc:TS2322", "src/b.ts", 2)], [("tsc:TS2322", "src/a.ts", 1)],
    )  # fmt: skip
    assert "-p tsconfig.app.json" in record.read_text()


def test_go_builds_without_a_binary_then_vets(project: Project, fake: Callable[[str, str], None]) -> None:
    fake(
        "go",
        'if [ "$1" = vet ]; then echo "# m" >&2; echo "./a.go:3:2: unreachable code" >&2; exit 1; fi; test "$2" = -o',
    )
    project.commit_files({"sub/go.mod": "module m\n"})
    project.write("sub/a.go", "package m\n\nvar a = 1\n")
    result = project.gate("build_check")
    assert (result.status, _found(result)) == (GateStatus.FAIL, [("go", "sub/a.go", 3)])


@pytest.mark.slow
def test_dotnet_and_pyright_and_ty_and_maven_are_read(project: Project, fake: Callable[[str, str], None]) -> None:
    fake("dotnet", 'echo "$PWD/A.cs(3,5): error CS1002: ; expected [$PWD/App.csproj]"; exit 1')
    row = {"file": str(project.root / "a.py"), "severity": "error", "message": "no\nwhy", "rule": "reportX",
           "range": {"start": {"line": 0, "character": 4}}}  # fmt: skip
    fake("pyright", f"printf %s '{json.dumps({'generalDiagnostics': [row, {**row, 'severity': 'warning'}]})}'; exit 1")
    fake("ty", "echo 'a.py:1:5: error[invalid-assignment] Object is wrong'; exit 1")
    fake("mvn", 'echo "[ERROR] $PWD/src/A.java:[2,9] cannot find symbol"; mkdir target; exit 1')
    project.commit_files(
        {"App.csproj": "<Project/>", "pyproject.toml": "[tool.pyright]\n[tool.ty]\n", "pom.xml": "<project/>"}
    )
    project.write("A.cs", "a\nb\nc\n")
    project.write("a.py", "x = 1\n")
    project.write("src/A.java", "a\nb\n")
    result = project.gate("build_check")
    assert result.status is GateStatus.FAIL, result.reason
    assert sorted(_found(result)) == [
        ("dotnet:CS1002", "A.cs", 3), ("maven", "src/A.java", 2),
        ("pyright:reportX", "a.py", 1), ("ty:invalid-assignment", "a.py", 1),
    ]  # fmt: skip
    assert not (project.root / "target").exists()


def test_a_missing_toolchain_is_a_skip_or_an_error_where_the_project_asks(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = project.root.parent / "bin"
    folder.mkdir()
    (folder / "git").symlink_to(shutil.which("git") or "git")
    monkeypatch.setenv("PATH", str(folder))
    project.commit_files({"go.mod": "module m\n"})
    project.write("a.go", "package m\n")
    result = project.gate("build_check")
    assert (result.status, result.reason) == (GateStatus.SKIP, "go is not installed (go.mod asks for it)")
    project.write(".swarm/gates/build_check.toml", "required = true\n")
    result = project.gate("build_check")
    assert (result.status, result.reason) == (GateStatus.ERROR, "go is not installed (go.mod asks for it)")


def test_dependencies_that_are_not_here_are_a_missing_toolchain(
    project: Project, fake: Callable[[str, str], None]
) -> None:
    fake(
        "mvn",
        "echo '[ERROR] Cannot access central in offline mode and the artifact a:b:1 has not been downloaded'; exit 1",
    )
    project.commit_files({"pom.xml": "<project/>"})
    project.write("A.java", "class A {}\n")
    result = project.gate("build_check")
    assert result.status is GateStatus.SKIP
    assert result.reason == "what mvn needs is not on this machine: a:b:1"


def test_a_crate_that_is_not_here_is_a_skip_at_once(project: Project, fake: Callable[[str, str], None]) -> None:
    said = "\x1b[1merror\x1b[0m: no matching package named `serde` found"
    fake("cargo", f'test "$CARGO_NET_OFFLINE" = true || sleep 90; printf "%s" \'{said}\' >&2; exit 101')
    project.commit_files({"Cargo.toml": "[package]\nname = 'a'\nversion = '0.1.0'\n", "src/lib.rs": ""})
    project.write("src/lib.rs", "pub fn f() {}\n")
    result = project.gate("build_check", timeout_s=60)
    assert (result.status, result.reason) == (GateStatus.SKIP, "what cargo needs is not on this machine: serde")


def test_colours_are_taken_off(project: Project, fake: Callable[[str, str], None]) -> None:
    fake("go", "test $1 = vet || printf '\\033[31ma.go:1:2: wrong\\033[0m\\n'; test $1 = vet")
    project.commit_files({"go.mod": "module m\n"})
    project.write("a.go", "package m\n")
    (finding,) = project.gate("build_check").findings
    assert (finding.path, finding.message) == ("a.go", "wrong")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "said"),
    [("echo surprise >&2; exit 3", "ended with exit code 3: surprise"), ("kill -9 $$", "SIGKILL"),
     ("sleep 30", "did not end")],
)  # fmt: skip
def test_a_build_that_breaks_is_an_error(
    project: Project, fake: Callable[[str, str], None], script: str, said: str
) -> None:
    fake("go", script)
    project.commit_files({"go.mod": "module m\n"})
    project.write("a.go", "package m\n")
    result = project.gate("build_check", timeout_s=1.5 if said == "did not end" else 60)
    assert result.status is GateStatus.ERROR
    assert said in result.reason


def test_a_build_that_writes_into_the_tree_is_told(project: Project, fake: Callable[[str, str], None]) -> None:
    fake("go", "touch surprise.txt")
    project.commit_files({"go.mod": "module m\n"})
    project.write("a.go", "package m\n")
    result = project.gate("build_check")
    assert result.status is GateStatus.ERROR
    assert "surprise.txt" in result.reason


@pytest.mark.slow
def test_what_a_type_checker_finds_in_ignored_packages_is_nobodys_fault(
    project: Project, fake: Callable[[str, str], None]
) -> None:
    project.commit_files({"mypy.ini": "[mypy]\nfiles = .\n", ".gitignore": "lib/\n", "a.py": "x = 1\n"})
    project.write("lib/site-packages/dep.py", "y = 1\n")
    project.write("a.py", "import dep\n")
    lines = "lib/site-packages/dep.py:1:1: error: Bad  [misc]\n/usr/lib/python3/os.pyi:3:1: error: Bad  [misc]"
    fake("mypy", f"printf '{lines}\\n'; exit 1")
    result = project.gate("build_check")
    assert result.status is GateStatus.PASS
    assert len(_found(result, new=False)) == 2
    fake("mypy", f"printf '{lines}\\na.py:1:1: error: No  [import]\\n'; exit 1")
    assert project.gate("build_check").status is GateStatus.FAIL


@pytest.mark.parametrize(
    ("place", "text", "version"),
    [
        ("requirements-dev.txt", "pytest\nmypy==1.4.1\n", "1.4.1"),
        ("requirements/lint.txt", "mypy[d] == 0.991\n", "0.991"),
        ("pyproject.toml", '[dependency-groups]\ndev = ["mypy==1.4.1", "ruff"]\n', "1.4.1"),
        ("uv.lock", '[[package]]\nname = "mypy"\nversion = "1.4.1"\n', "1.4.1"),
        ("pyproject.toml", '[tool.poetry.dependencies]\nmypy = "1.4.1"\n', "1.4.1"),
        (".pre-commit-config.yaml", "- repo: https://github.com/pre-commit/mirrors-mypy\n  rev: v1.4.1\n", "1.4.1"),
        ("requirements.txt", "mypy>=1.4\npytest-mypy==0.10\nmypy-extensions==1.0\n", ""),
    ],
)  # fmt: skip
def test_the_version_that_a_project_pins(tmp_path: Path, place: str, text: str, version: str) -> None:
    (tmp_path / place).parent.mkdir(exist_ok=True)
    (tmp_path / place).write_text(text)
    assert mypy_version.mypy(tmp_path) == version


@pytest.mark.parametrize(("pinned", "blocks"), [("1.4.1", False), ("9.99.0", True), ("9.99.3", True)])
def test_a_type_checker_of_another_version_than_is_pinned_informs(
    project: Project, fake: Callable[[str, str], None], pinned: str, *, blocks: bool
) -> None:
    project.commit_files({"mypy.ini": "[mypy]\nfiles = .\n", "requirements-dev.txt": f"mypy=={pinned}\n"})
    project.write("a.py", "x = 1\n")
    fake("mypy", "test \"$1\" = --version && echo 'mypy 9.99.0 (compiled: yes)' && exit\n"
                 "echo 'a.py:1:1: error: Bad  [misc]'; exit 1")  # fmt: skip
    result = project.gate("build_check")
    assert (result.status is GateStatus.FAIL) is blocks
    assert len(result.findings) == 1
    assert blocks or "mypy 9.99.0 is not 1.4.1, which the project pins: what it finds informs" in result.reason


def test_what_was_not_built_is_no_pass_and_the_last_line_says_so(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = project.root.parent / "bin"
    folder.mkdir()
    (folder / "git").symlink_to(shutil.which("git") or "git")
    monkeypatch.setenv("PATH", str(folder))
    project.commit_files({"mypy.ini": "[mypy]\n", "go.mod": "module m\n"})
    project.write("a.py", "x = 1\n")
    project.write("a.go", "package m\n")
    only = {"only": ("build_check", "syntax_check")}
    report = project.run(**only)
    (result,) = [each for each in report.results if each.gate == "build_check"]
    assert (result.status, result.files) == (GateStatus.SKIP, 1), "the Python file compiles, and that is not all"
    assert report.summary == "passed; not checked: build (go is not installed), types (mypy is not installed)"
    report = project.run(**only, require=("types",))
    (result,) = report.blocking
    assert (result.gate, result.status, result.missing) == ("build_check", GateStatus.ERROR, True)
    assert result.reason == "not checked, and required (gates.require): types: mypy is not installed"
    project.write("a.py", "x = (\n")
    assert project.gate("build_check").status is GateStatus.FAIL


def test_a_build_of_what_is_only_deleted_is_one(project: Project, fake: Callable[[str, str], None]) -> None:
    fake("go", "exit 0")
    project.commit_files({"go.mod": "module m\n", "a.go": "package m\n", "b.go": "package m\n"})
    (project.root / "b.go").unlink()
    assert project.gate("build_check").status is GateStatus.PASS


@pytest.mark.slow
def test_a_rule_that_the_base_breaks_everywhere_informs(project: Project, fake: Callable[[str, str], None]) -> None:
    lines = "".join(f"old.py:{n}:1: error: Bad {n}  [assignment]\n" for n in range(1, 21))
    project.commit_files({"mypy.ini": "[mypy]\nfiles = .\n", "old.py": "x = 1\n" * 20})
    project.write("a.py", "x = 1\n")
    fake("mypy", f"printf '{lines}'; test -e a.py && echo 'a.py:1:1: error: Bad  [assignment]'; exit 1")
    result = project.gate("build_check")
    assert (result.status, len(result.new_findings)) == (GateStatus.PASS, 1)
    assert "the base breaks mypy:assignment everywhere: that informs" in result.reason
    fake("mypy", f"printf '{lines}'; test -e a.py && echo 'a.py:1:1: error: Bad  [arg-type]'; exit 1")
    assert project.gate("build_check").status is GateStatus.FAIL


@pytest.mark.slow
def test_an_unneeded_comment_informs_where_the_file_had_one(project: Project, fake: Callable[[str, str], None]) -> None:
    line = "x = 1  # type: ignore\n"
    project.commit_files({"mypy.ini": "[mypy]\nfiles = .\n", "a.py": line, "b.py": "x = 1\n"})
    fake("mypy", """grep -n ignore a.py b.py | sed 's/:.*//' | uniq -c | while read n f; do for i in $(seq $n); do
        echo "$f:$i:1: error: Unused \\"type: ignore\\" comment  [unused-ignore]"; done; done; exit 1""")  # fmt: skip
    project.write("a.py", line * 2)
    result = project.gate("build_check")
    assert (result.status, len(result.new_findings)) == (GateStatus.PASS, 1)
    project.write("b.py", line)
    assert project.gate("build_check").status is GateStatus.FAIL


@pytest.mark.slow
def test_an_import_that_the_code_expects_to_fail_informs(project: Project, fake: Callable[[str, str], None]) -> None:
    project.commit_files({"mypy.ini": "[mypy]\nfiles = .\n", "a.py": "x = 1\n"})
    project.write("a.py", "try:\n    from types import Union\nexcept ImportError:\n    Union = None\nx = 1\n")
    told = (
        """test -e a.py && grep -q Union a.py && echo 'a.py:%d:5: error: Module "types" has no attribute "Union"%s'"""
    )
    fake("mypy", f"{told % (2, '  [attr-defined]')}; exit 1")
    result = project.gate("build_check")
    assert (result.status, len(result.new_findings)) == (GateStatus.PASS, 1)
    fake("mypy", f"{told % (5, '  [attr-defined]')}; exit 1")
    assert project.gate("build_check").status is GateStatus.FAIL

"""Tests that programs which gates start over agents' code are sandboxed: each attack has no effect."""

from __future__ import annotations

import asyncio
import os
import pwd
import shutil
import socket
import sys
import threading
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from swarmgate.config import Commands
from swarmgate.domain.review.finding import GateStatus
from swarmgate.errors import MissingRequirement
from swarmgate.gates.cache.scan_results import Memory
from swarmgate.gates.confinement import by_hand
from swarmgate.gates.definition import GateDefinition, load
from swarmgate.gates.pipeline.pipeline import GatesOptions, run_pipeline
from swarmgate.workspace.git.repository import Repository
from swarmgate.workspace.sandbox import choice
from swarmgate.workspace.sandbox.command_runner import CommandRunner
from swarmgate.workspace.sandbox.confine import confine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from swarmgate.domain.review.finding import GateResult
    from swarmgate.workspace.sandbox.choice import Kind

    Project = Any

_PYTHON = sys.executable
_ATTACK = """
import os, socket
for place in {places!r}:
    try:
        with open(place, "a") as file:
            file.write("# mine")
    except OSError:
        pass
try:
    socket.create_connection(("127.0.0.1", {port}), 2).close()
except OSError:
    pass
try:
    with open({ran!r}, "w") as file:
        file.write(os.environ.get("MY_API_KEY", "no key") + " in " + os.path.realpath(os.getcwd()))
except OSError:
    pass
"""
_MANIFEST = '[package]\nname = "a"\nversion = "0.1.0"\nedition = "2021"\n'
_BUILD_RS = 'fn main() {{ std::process::Command::new("{python}").arg("tools/attack.py").status().unwrap(); }}\n'


@dataclass
class Attacked:
    """A project whose programs attack, and all that they must not reach."""

    project: Project
    targets: tuple[Path, ...]
    ran: Path
    script: str
    calls: list[str]
    notes: tuple[str, ...] = ()

    def judge(self, gate: GateDefinition | str, commands: CommandRunner | None, **options: Any) -> GateResult:
        repository = Repository.discover(self.project.root)
        wanted = gate if isinstance(gate, GateDefinition) else next(each for each in load() if each.id == gate)
        report = asyncio.run(
            run_pipeline([wanted], repository=repository, base=repository.head_tree(), commands=commands, **options)
        )
        self.notes = report.notes
        return report.results[0]

    def reached(self) -> list[str]:
        """What the attack has come to."""
        return [str(each) for each in self.targets if each.exists() and "# mine" in each.read_text()] + self.calls


@pytest.fixture
def attacked(project: Project, isolated: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Attacked]:
    monkeypatch.setenv("MY_API_KEY", "the-secret-value")
    root, calls = project.root, []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def listen() -> None:
            while True:
                try:
                    listening.accept()[0].close()
                except OSError:
                    return
                calls.append("phoned")

        thread = threading.Thread(target=listen, daemon=True)
        thread.start()
        targets = (root / ".git/hooks/pre-commit", root / ".git/config", root / ".swarm/ledger", isolated / ".profile",
                   root.parent / "beside", isolated / "cache/planted")  # fmt: skip
        for folder in (root / ".swarm", root / "ran", isolated / "cache"):
            folder.mkdir()
        (isolated / ".profile").write_text("")
        script = _ATTACK.format(
            places=list(map(str, targets)), port=listening.getsockname()[1], ran=str(root / "ran/it")
        )
        project.commit_files({".gitignore": "ran/\nnode_modules/\n", "README.md": "A project\n"})
        yield Attacked(project, targets, root / "ran/it", script, calls)
        listening.shutdown(socket.SHUT_RDWR)
        thread.join(2)


def _runner(root: Path, kind: Kind, **bounds: Any) -> CommandRunner:
    try:
        sandbox = choice.choose(kind)
    except MissingRequirement as error:
        pytest.skip(error.message)
    return CommandRunner(sandbox, confine(root, environ=os.environ, **bounds))


@pytest.fixture(params=["bubblewrap", "landlock", "sandbox-exec"])
def commands(request: pytest.FixtureRequest, attacked: Attacked, monkeypatch: pytest.MonkeyPatch) -> CommandRunner:
    toolchains = os.environ.get("RUSTUP_HOME") or Path(pwd.getpwuid(os.getuid()).pw_dir) / ".rustup"
    monkeypatch.setenv("RUSTUP_HOME", str(toolchains))
    return _runner(attacked.project.root, request.param, readable=[str(toolchains)])


def _own(**keys: Any) -> GateDefinition:
    command = [_PYTHON, "tools/attack.py"]
    return GateDefinition.model_validate({"id": "mine", "title": "Mine", "command": command, **keys})


# --- programs that attack, and still say what they should ---


def _command(attacked: Attacked) -> tuple[GateDefinition | str, GateStatus, str]:
    attacked.project.write("tools/attack.py", f"{attacked.script}\nraise SystemExit('tests are missing')\n")
    return _own(), GateStatus.FAIL, "tests are missing"


def _plugin(attacked: Attacked) -> tuple[GateDefinition | str, GateStatus, str]:
    attacked.project.commit_files({"mypy.ini": "[mypy]\nfiles = a.py\nplugins = plugin.py\n", "a.py": "x: int = 1\n"})
    attacked.project.write(
        "plugin.py", f"{attacked.script}\nfrom mypy.plugin import Plugin\nplugin = lambda _: Plugin\n"
    )
    attacked.project.write("a.py", 'x: int = "one"\n')
    return "build_check", GateStatus.FAIL, ""


def _linter(attacked: Attacked) -> tuple[GateDefinition | str, GateStatus, str]:
    linter = attacked.project.write("node_modules/.bin/eslint", f"#!{_PYTHON}\n{attacked.script}\nprint('[]')\n")
    linter.chmod(0o755)
    attacked.project.write("web/eslint.config.js", "")
    attacked.project.write("web/a.js", "let a = 1\n")
    return "lint_check", GateStatus.PASS, ""


def _makefile(attacked: Attacked) -> tuple[GateDefinition | str, GateStatus, str]:
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    attacked.project.write("tools/attack.py", attacked.script)
    attacked.project.write("Makefile", f"X := $(shell {_PYTHON} tools/attack.py)\nall:\n\techo 1\n")
    return "build_check", GateStatus.PASS, ""


def _build_script(attacked: Attacked) -> tuple[GateDefinition | str, GateStatus, str]:
    if shutil.which("cargo") is None:
        pytest.skip("cargo is not installed")
    lock = 'version = 3\n\n[[package]]\nname = "a"\nversion = "0.1.0"\n'
    attacked.project.commit_files({"Cargo.toml": _MANIFEST, "Cargo.lock": lock, "src/lib.rs": "pub fn f() {}\n"})
    attacked.project.write("tools/attack.py", attacked.script)
    attacked.project.write("build.rs", _BUILD_RS.format(python=_PYTHON))
    attacked.project.write("src/lib.rs", 'pub fn f() -> i32 {\n    "one"\n}\n')
    return "build_check", GateStatus.FAIL, ""


@pytest.mark.slow
@pytest.mark.parametrize("way", [_command, _plugin, _linter, _makefile, _build_script])
def test_an_attack_by_a_program_of_a_gate_reaches_nothing(
    attacked: Attacked, commands: CommandRunner, way: Callable[[Attacked], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{Path(_PYTHON).parent}{os.pathsep}{os.environ['PATH']}")
    gate, status, reason = way(attacked)
    result = attacked.judge(gate, commands)
    assert result.status is status, result.reason
    assert reason in result.reason
    assert attacked.ran.read_text().startswith("no key in ")
    assert not attacked.reached()


def test_by_hand_they_are_confined_as_well(attacked: Attacked) -> None:
    gate, status, _ = _command(attacked)
    assert attacked.judge(gate, None).status is status
    assert attacked.ran.read_text().startswith("no key in ")
    assert not attacked.reached()


def test_without_any_sandbox_they_have_the_rights_of_the_user_and_the_report_says_so(attacked: Attacked) -> None:
    """The same attack, which says what the others prove: it would work."""
    gate, status, _ = _command(attacked)
    assert (
        attacked.judge(gate, None, by_hand=partial(by_hand, attacked.project.root, Commands(sandbox="none"))).status
        is status
    )
    assert attacked.ran.read_text().startswith("the-secret-value")
    assert len(attacked.reached()) == len(attacked.targets) + 1
    assert attacked.notes == ("NO SANDBOX: programs of gates ran with your rights, keys included",)


def test_the_base_revision_is_built_confined_too(attacked: Attacked, commands: CommandRunner) -> None:
    """What was accepted before is code of agents as well; only the base says which findings are old."""
    project = attacked.project
    project.write("node_modules/.bin/mypy", f"#!{_PYTHON}\n{attacked.script}\nprint('a.py:1:1: error: old  [misc]')\n")
    (project.root / "node_modules/.bin/mypy").chmod(0o755)
    project.commit_files({"mypy.ini": "[mypy]\nfiles = a.py\n", "a.py": "x = 1\n"})
    project.write("a.py", "x = 1\ny = 2\n")
    result = attacked.judge("build_check", commands)
    assert (result.status, [each.new for each in result.findings]) == (GateStatus.PASS, [False]), result.reason
    assert not attacked.reached()


@pytest.mark.slow
def test_settings_of_ruff_show_nothing_of_the_home(attacked: Attacked, commands: CommandRunner, isolated: Path) -> None:
    """ruff runs no code of the project, but its settings name other files, and what it cannot read there it prints."""
    (isolated / ".netrc").write_text("machine login the-secret-word\n")
    attacked.project.write("ruff.toml", f'extend = "{isolated}/.netrc"\n')
    attacked.project.write("a.py", "x = 1\n")
    by_hand, confined = attacked.judge("lint_check", None), attacked.judge("lint_check", commands)
    assert by_hand.status is confined.status is GateStatus.ERROR
    assert "the-secret-word" in by_hand.reason
    assert ".netrc" in confined.reason
    assert "the-secret-word" not in confined.reason


# --- what cannot be confined, or cannot be seen from within, is no verdict ---


@pytest.mark.slow
def test_a_sandbox_that_does_not_start_is_an_error(attacked: Attacked, tmp_path: Path) -> None:
    attacked.project.write("tools/attack.py", attacked.script)
    (tmp_path / "link").symlink_to(tmp_path)
    (tmp_path / "there").mkdir()
    places: dict[Kind, Path] = {"bubblewrap": tmp_path / "gone", "landlock": tmp_path / "link/there"}
    for kind, place in places.items():
        runner = _runner(attacked.project.root, kind)
        runner = replace(runner, confinement=replace(runner.confinement, writable=(place,)))
        for keys in ({}, {"stage": "fix"}, {"exit_codes": [0, 1, 126, 127]}):
            result = attacked.judge(_own(**keys), runner)
            assert result.status is GateStatus.ERROR
            assert f"the sandbox ({kind}) did not start" in result.reason
        assert not attacked.ran.exists()


@pytest.mark.slow
def test_a_program_that_the_sandbox_does_not_show_is_an_error(attacked: Attacked, isolated: Path) -> None:
    hidden = isolated / "check"
    hidden.write_text("#!/bin/sh\nexit 0\n")
    hidden.chmod(0o755)
    attacked.project.write("a.py", "x = 1\n")
    for kind in ("bubblewrap", "landlock"):
        gate = _own(command=[str(hidden)], exit_codes=list(range(256)), stage="fix")
        result = attacked.judge(gate, _runner(attacked.project.root, kind))
        assert result.status is GateStatus.ERROR
        assert "could not be executed in the sandbox" in result.reason
        assert "[commands] readable" in result.reason
        shown = _runner(attacked.project.root, kind, readable=["~/check"])
        assert attacked.judge(gate, shown).status is GateStatus.PASS


def test_a_program_that_is_nowhere_is_told_as_missing(attacked: Attacked, commands: CommandRunner) -> None:
    attacked.project.write("a.py", "x = 1\n")
    result = attacked.judge(_own(command=["no-such-program"], install_hint="pip install it"), commands)
    assert (result.status, result.missing) == (GateStatus.ERROR, True)
    assert "pip install it" in result.reason


def test_a_formatter_that_breaks_is_an_error_and_no_pass(attacked: Attacked) -> None:
    formatter = attacked.project.write("node_modules/.bin/gofmt", "#!/bin/sh\nkill -9 $$\n")
    formatter.chmod(0o755)
    attacked.project.write("a.go", "package a\n")
    result = attacked.judge("lint_check", None)
    assert result.status is GateStatus.ERROR
    assert "gofmt was ended by SIGKILL, twice" in result.reason


def test_a_fix_is_not_written_through_a_folder_that_became_a_link(attacked: Attacked, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.go").write_text("package theirs\n")
    script = f"#!/bin/sh\nrm -rf src && ln -s {outside} src\necho 'package mine'\n"
    attacked.project.write("node_modules/.bin/gofmt", script).chmod(0o755)
    attacked.project.write("src/a.go", "package a\n")
    result = attacked.judge("lint_fix", None, fix=True)
    assert result.status is GateStatus.ERROR
    assert (outside / "a.go").read_text() == "package theirs\n"


# --- caches ---


def test_what_confined_builds_leave_no_other_build_uses(attacked: Attacked, isolated: Path) -> None:
    """A link in the cache is not followed either: what swarmgate notes of a build stands beside its cache."""
    commands, project = _runner(attacked.project.root, "auto"), attacked.project
    link = f"ln -sfn {isolated}/.profile $2/../last-run"
    spy = f"#!/bin/sh\nmkdir -p $2\necho $2 >> {project.root}/ran/caches\n{link}\n"
    project.write("node_modules/.bin/mypy", spy).chmod(0o755)
    project.commit_files({"mypy.ini": "[mypy]\nfiles = a.py\n", "a.py": "x = 1\n"})
    bare = replace(commands, sandbox=choice.choose("none"))
    for number, runner in enumerate((commands, bare, None)):
        project.write("a.py", f"x = {number + 2}\n")
        assert attacked.judge("build_check", runner).status is GateStatus.PASS
    confined, unconfined, again = (project.root / "ran/caches").read_text().split()
    assert confined == again != unconfined
    assert (isolated / ".profile").read_text() == ""


def test_an_answer_of_a_tool_counts_only_where_it_was_confined_alike(attacked: Attacked) -> None:
    attacked.project.write("tools/attack.py", f"{attacked.script}\n")
    runner, gate = _runner(attacked.project.root, "auto"), _own(cache=True, parser="exit")
    first = attacked.judge(gate, runner, memory=Memory(), config=GatesOptions())
    again = attacked.judge(gate, runner, memory=Memory(), config=GatesOptions())
    by_hand = attacked.judge(gate, None, memory=Memory(), config=GatesOptions())
    assert [each.cached for each in (first, again, by_hand)] == [False, True, False]


def test_by_hand_a_repository_that_nothing_can_guard_is_an_error_and_a_home_is_told(
    attacked: Attacked, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What stands in the tree must be no way to have its programs unconfined."""
    gate, status, _ = _command(attacked)
    (attacked.project.root / "ran/.git").symlink_to("/elsewhere")
    result = attacked.judge(gate, None)
    assert (result.status, attacked.ran.exists()) == (GateStatus.ERROR, False)
    assert "is a symbolic link" in result.reason
    monkeypatch.setenv("HOME", str(attacked.project.root))
    assert attacked.judge(gate, None).status is status
    assert attacked.notes[0].startswith("NO SANDBOX")

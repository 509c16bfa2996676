"""Tests that broken files and misbehaving tools end in a result that says so, in bounded time and memory."""

from __future__ import annotations

import os
import resource
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from swarmgate.domain.review.finding import GateStatus
from swarmgate.gates import adapters
from swarmgate.gates.definition import GateDefinition
from swarmgate.gates.project.scope import Scope
from swarmgate.gates.source import loading
from swarmgate.workspace.git.repository import Repository

if TYPE_CHECKING:
    from swarmgate.domain.review.finding import GateReport, GateResult
    from swarmgate.gates.job import Job
    from swarmgate.gates.outcome import Outcome

    Project = Any


def command(*argv: str, **keys: Any) -> GateDefinition:
    return GateDefinition.model_validate({"id": "mine", "title": "Mine", "command": argv, **keys})


def by_gate(report: GateReport) -> dict[str, GateResult]:
    return {result.gate: result for result in report.results}


@pytest.mark.slow
def test_a_gate_that_prints_without_end_is_ended_in_bounded_memory(project: Project) -> None:
    project.write("a.py", "x = 1\n")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    (result,) = project.run(command("sh", "-c", "yes 'x: 1: much too much'", timeout_s=1.0)).results
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert (result.status, result.reason) == (
        GateStatus.ERROR,
        "did not end within 1 s: raise `timeout_s` in .swarm/gates/mine.toml, or judge fewer files",
    )
    assert grown < 150_000  # kilobytes; `yes` writes gigabytes in a second


@pytest.mark.slow
def test_a_gate_that_ignores_the_wish_to_end_is_killed_with_its_children(project: Project) -> None:
    project.write("a.py", "x = 1\n")
    started = time.monotonic()
    stubborn = "signal.signal(15, signal.SIG_IGN); subprocess.Popen(['sleep', '61']); time.sleep(60)"
    script = f"import signal, subprocess, time; {stubborn}"
    (result,) = project.run(command(sys.executable, "-c", script, timeout_s=0.5)).results
    assert result.status is GateStatus.ERROR
    assert time.monotonic() - started < 40


@pytest.mark.parametrize(
    ("name", "killed", "times"), [("KILL", True, ", twice"), ("ABRT", False, ""), ("TERM", True, ", twice")]
)
def test_a_gate_that_dies_by_signal_says_which(project: Project, name: str, times: str, *, killed: bool) -> None:
    project.write("a.py", "x = 1\n")
    (result,) = project.run(command("sh", "-c", f"kill -{name} $$")).results
    assert (result.status, result.reason) == (GateStatus.ERROR, f"sh was ended by SIG{name}{times}")
    assert (result.missing, result.killed) == (False, killed)


def test_a_file_that_vanishes_while_gates_look_is_judged_by_the_snapshot(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = project.write("a.py", "x = 1  # TODO: later\n")
    scan = adapters.ADAPTERS["placeholders"]

    async def vanish(job: Job) -> Outcome:
        place.unlink()
        return await scan(job)

    monkeypatch.setitem(adapters.ADAPTERS, "placeholders", vanish)
    result = by_gate(project.run(only=("placeholder_scan",), fix=False))["placeholder_scan"]
    assert [each.path for each in result.findings] == ["a.py"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["with space.py", "line\nbreak.py", "-r.py", 'quo"te.py', '"quoted".py', "{files}.py"])
def test_odd_names_in_every_gate(project: Project, name: str) -> None:
    project.write(name, "x = undefined_name  # TODO: later\n")
    results = by_gate(project.run(fix=False))
    assert [result.gate for result in results.values() if result.status is GateStatus.ERROR] == []
    (marker,) = [each for each in results["placeholder_scan"].findings if each.rule == "marker"]
    repository = Repository.discover(project.root)
    assert repository.read(repository.snapshot(), marker.path) == b"x = undefined_name  # TODO: later\n"


@pytest.mark.skipif(os.uname().sysname == "Darwin", reason="macOS refuses names that are not UTF-8")
def test_a_folder_that_is_not_utf8(project: Project) -> None:
    folder = os.fsencode(project.root) + b"/caf\xe9"
    os.mkdir(folder)  # noqa: PTH102 - bytes
    with open(folder + b"/a.py", "wb") as file:  # noqa: PTH123 - bytes
        file.write(b"x = 1  # TODO: later\n")
    results = by_gate(project.run(fix=False))
    assert [result.gate for result in results.values() if result.status is GateStatus.ERROR] == []
    assert [each.path for each in results["placeholder_scan"].findings] == ['"caf\\351/a.py"']


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "text", "named"),
    [("ruff.toml", "lint.selec = []\n", "selec"), ("ruff.toml", "line-length = 'x'\n", "line-length"),
     ("pyproject.toml", "[tool.ruff\n", "pyproject.toml")],
)  # fmt: skip
def test_a_broken_configuration_names_file_and_key(project: Project, path: str, text: str, named: str) -> None:
    project.commit_files({path: text})
    project.write("a.py", "x = 1\n")
    results = by_gate(project.run())
    for gate in ("lint_fix", "lint_check"):
        assert results[gate].status is GateStatus.ERROR
        assert path in results[gate].reason
        assert named in results[gate].reason
    assert results["syntax_check"].status is GateStatus.PASS


def test_more_than_a_run_reads_is_told(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "RUN_BYTES", 1000)
    for name in "abc":
        project.write(f"{name}.py", f"# TODO: {name}\n" + "#" * 600)
    result = project.gate("placeholder_scan", fix=False)
    assert [each.path for each in result.findings] == ["a.py"]
    assert result.status is GateStatus.ERROR, "what was not read is no pass"
    assert result.reason.startswith("not read: b.py, c.py")


@pytest.mark.slow
def test_a_file_of_100_megabytes(project: Project) -> None:
    line = b"just a line of text that goes on for a while, and then ends\n"
    project.write("big.txt", line * (100_000_000 // len(line)))
    project.write("a.py", "x = 1  # TODO: later\n")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.monotonic()
    results = by_gate(project.run(fix=False))
    assert time.monotonic() - started < 60
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 250_000
    assert [result.gate for result in results.values() if result.status is GateStatus.ERROR] == []
    assert "1 not read beyond 4 MB" in results["secret_scan"].reason
    assert [each.path for each in results["placeholder_scan"].findings] == ["a.py"]


@pytest.mark.slow
def test_ten_thousand_changed_files(project: Project) -> None:
    for number in range(10_000):
        project.write(f"pkg{number // 100}/m{number}.py", f"def f{number}() -> int:\n    return {number}\n")
    project.write("pkg7/todo.py", "x = 1  # TODO: later\n")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.monotonic()
    gates = ("diff", "lint_check", "placeholder_scan", "secret_scan", "syntax_check")
    results = by_gate(project.run(fix=False, only=gates))
    print(f"{time.monotonic() - started:.1f} s")  # noqa: T201 - pytest shows it with -rP
    assert time.monotonic() - started < 120
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 400_000
    assert {results[gate].files for gate in gates} == {10_001}
    assert [each.path for each in results["placeholder_scan"].findings] == ["pkg7/todo.py"]


def test_the_scope_of_a_change_is_exact(project: Project) -> None:
    """A folder's name that another begins with; a renamed file belongs to both of its places."""
    project.commit_files({"src/a.py": "x = 1\n" * 9, "srcs/a.py": "y = 1\n"})
    (project.root / "src/a.py").rename(project.root / "moved.py")
    project.write("srcs/a.py", "y = 2\n")
    repository = Repository.discover(project.root)
    change = Scope(paths=("src",)).change(repository, repository.head_tree(), repository.snapshot())
    assert [(file.old_path, file.path) for file in change.files] == [("src/a.py", "moved.py")]

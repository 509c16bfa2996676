"""Tests the gate pipeline on real repositories: order, fixes, time limits, broken tools, all kinds of files."""

from __future__ import annotations

import asyncio
import os
import time
from typing import TYPE_CHECKING, Any

import pytest

from swarmgate.domain.review.finding import GateStatus
from swarmgate.errors import ConfigError
from swarmgate.gates import adapters
from swarmgate.gates.definition import GateDefinition, load
from swarmgate.gates.outcome import Outcome
from swarmgate.gates.pipeline import pipeline
from swarmgate.gates.pipeline.pipeline import GatesOptions, run_pipeline
from swarmgate.gates.project.scope import Scope
from swarmgate.workspace.git import revisions
from swarmgate.workspace.git.repository import Repository

if TYPE_CHECKING:
    from pathlib import Path

    from swarmgate.domain.review.finding import GateResult
    from swarmgate.gates.job import Job

    Project = Any  # tests/gates/conftest.py, which importlib mode cannot import


def command(*argv: str, **keys: Any) -> GateDefinition:
    return GateDefinition.model_validate({"id": "mine", "title": "Mine", "command": argv, **keys})


@pytest.mark.slow
def test_a_clean_change_passes_every_gate(project: Project) -> None:
    project.write("src/app.py", "def one() -> int:\n    return 1\n")
    project.write("settings.toml", "a = 1\n")
    report = project.run()
    assert report.passed
    off = {gate.id for gate in load() if not gate.enabled} | {"sbom_generate"}  # it has no manifest to look at
    assert {result.status for result in report.results if result.gate not in off} == {GateStatus.PASS}
    assert {result.status for result in report.results if result.gate in off} == {GateStatus.SKIP}
    assert all(result.files for result in report.results if result.status is GateStatus.PASS)
    assert next(result.rules for result in report.results if result.gate == "secret_scan") > 50
    assert report.tree == Repository.discover(project.root).snapshot()


def test_results_come_in_order_and_are_told_as_they_come(project: Project) -> None:
    project.write("src/new.py", "x = 1\n")
    reported: list[GateResult] = []
    repository = Repository.discover(project.root)
    report = asyncio.run(
        run_pipeline(load(), repository=repository, base=repository.head_tree(), on_result=reported.append)
    )
    assert [result.gate for result in report.results] == [gate.id for gate in load()]
    assert reported[0].gate == "lint_fix"
    assert sorted(result.gate for result in reported) == sorted(gate.id for gate in load())


def test_fixes_come_first_and_are_part_of_the_tree(project: Project) -> None:
    project.commit_files({"ruff.toml": ""})
    project.write("src/new.py", "x = {  'a':1 }\n")
    report = project.run()
    fixed = report.results[0]
    assert (fixed.gate, fixed.status, fixed.fixed) == ("lint_fix", GateStatus.PASS, ("src/new.py",))
    assert (project.root / "src/new.py").read_text() == 'x = {"a": 1}\n'
    assert "-x = {  'a':1 }\n+x = {\"a\": 1}\n" in fixed.patch
    assert report.passed
    assert report.tree == Repository.discover(project.root).snapshot()


@pytest.mark.slow
def test_without_fixing_nothing_is_written(project: Project) -> None:
    project.commit_files({"ruff.toml": ""})
    place = project.write("src/new.py", "print(f'x')\n")
    report = project.run(fix=False)
    assert place.read_text() == "print(f'x')\n"
    assert report.results[0].reason == "fixing is switched off"
    assert [result.gate for result in report.blocking] == ["lint_check"]


def test_an_empty_change_is_refused(project: Project) -> None:
    report = project.run()
    assert [(result.gate, result.reason) for result in report.blocking] == [("diff", "nothing was changed")]


def test_a_change_that_only_deletes_passes_by_the_diff(project: Project) -> None:
    (project.root / "src/app.py").unlink()
    report = project.run()
    assert report.passed
    by_gate = {result.gate: result for result in report.results}
    assert by_gate["diff"].status is GateStatus.PASS
    assert by_gate["lint_check"].reason == "the change only deletes files"


@pytest.mark.slow
def test_skip_only_and_unknown_names(project: Project) -> None:
    project.write("a.py", "x = 1\n")
    results = {result.gate: result for result in project.run(skip=("lint_check",)).results}
    assert results["lint_check"].reason == "skipped by configuration (gates.skip)"
    results = {result.gate: result for result in project.run(only=("diff",)).results}
    assert [name for name, result in results.items() if result.status is GateStatus.PASS] == ["diff"]
    with pytest.raises(ConfigError, match="lint_chek") as caught:
        project.run(skip=("lint_chek",))
    assert "lint_check" in caught.value.hint


@pytest.mark.slow
def test_a_disabled_gate_says_so(project: Project) -> None:
    project.write("a.py", "TOKEN = 1  # TODO: x\n")
    project.write(".swarm/gates/placeholder_scan.toml", "enabled = false")
    (result,) = [each for each in project.run().results if each.gate == "placeholder_scan"]
    assert result.status is GateStatus.SKIP
    assert "disabled in .swarm/gates/placeholder_scan.toml" in result.reason
    assert "weakened" in result.reason


def test_a_hanging_command_is_ended(project: Project, tmp_path: Path) -> None:
    project.write("a.py", "x = 1\n")
    started = time.monotonic()
    (result,) = project.run(
        command("sh", "-c", "sleep 60; echo late > " + str(tmp_path / "late"), timeout_s=0.3)
    ).results
    assert (result.status, result.reason) == (
        GateStatus.ERROR,
        "did not end within 0.3 s: raise `timeout_s` in .swarm/gates/mine.toml, or judge fewer files",
    )
    assert time.monotonic() - started < 40
    assert result.blocks


def test_a_hanging_scanner_is_an_error(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    async def hang(job: Job) -> Outcome:
        await asyncio.sleep(30)
        return Outcome()

    monkeypatch.setitem(adapters.ADAPTERS, "diff", hang)
    project.write("a.py", "x = 1\n")
    result = {each.gate: each for each in project.run(only=("diff",), timeout_s=0.1).results}["diff"]
    assert (result.status, result.reason) == (
        GateStatus.ERROR,
        "did not end within 0.1 s: raise `gates.timeout_s`, or judge fewer files",
    )


@pytest.mark.slow
def test_a_gate_that_computes_has_its_limit_of_the_processor_and_tells_where_it_was(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def looking(job: Job, work: float) -> None:
        began, job_is_over = time.process_time(), job.stop.is_set
        while time.process_time() - began < work and not job_is_over():
            turn = time.process_time()
            job.at("a.py")
            while time.process_time() - turn < 0.01:
                pass
            time.sleep(0.03)

    def scan(work: float) -> Any:
        async def run(job: Job) -> Outcome:
            await asyncio.to_thread(looking, job, work)
            return Outcome(files=1)

        return run

    project.write("a.py", "x = 1\n")
    monkeypatch.setitem(adapters.ADAPTERS, "diff", scan(0.1))
    (reported,) = [
        each for each in project.run(only=("diff",), timeout_s=0.3, fix=False).results if each.gate == "diff"
    ]
    assert reported.status is GateStatus.PASS
    monkeypatch.setitem(adapters.ADAPTERS, "diff", scan(60))
    (reported,) = [
        each for each in project.run(only=("diff",), timeout_s=0.1, fix=False).results if each.gate == "diff"
    ]
    assert reported.reason.startswith("did not end within 0.1 s; it was at a.py for 0 s: raise")


def test_gates_have_time_by_the_number_of_files(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[float] = []

    async def reported(job: Job) -> Outcome:
        limits.append(job.timeout_s)
        return Outcome(files=1)

    monkeypatch.setitem(adapters.ADAPTERS, "placeholders", reported)
    monkeypatch.setattr(pipeline, "_FILES_IN_TIME", 4)
    for n in range(9):
        project.write(f"m{n}.py", "x = 1\n")
    (gate,) = [gate for gate in load(project.root) if gate.id == "placeholder_scan"]
    for scope, bound in ((Scope(), None), (Scope(whole=True), None), (Scope(whole=True), 5.0)):
        repository = Repository.discover(project.root)
        base = revisions.empty_tree(repository) if scope.whole else repository.head_tree()
        options = GatesOptions(timeout_s=bound)
        asyncio.run(run_pipeline([gate], repository=repository, base=base, config=options, scope=scope))
    files = len(project.git(project.root, "ls-files", "--others", "--cached").splitlines())
    assert limits == [gate.timeout_s * 9 / 4, gate.timeout_s * files / 4, 5.0]


def test_what_looks_in_a_thread_is_told_to_stop_before_its_gate_is_cleaned_up(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped: list[bool] = []

    async def tidy(job: Job) -> Outcome:
        try:
            await asyncio.to_thread(job.stop.wait, 20)
            return Outcome(files=1)
        finally:
            stopped.append(job.stop.is_set())

    monkeypatch.setitem(adapters.ADAPTERS, "diff", tidy)
    project.write("a.py", "x = 1\n")
    result = {each.gate: each for each in project.run(only=("diff",), timeout_s=0.2).results}["diff"]
    assert (result.status, stopped) == (GateStatus.ERROR, [True])


def test_a_scanner_that_raises_is_an_error(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    async def crash(job: Job) -> Outcome:
        raise RuntimeError("boom")

    monkeypatch.setitem(adapters.ADAPTERS, "diff", crash)
    project.write("a.py", "x = 1\n")
    assert project.gate("diff").reason == "RuntimeError: boom"


def test_a_missing_tool_names_the_way_to_it(project: Project) -> None:
    project.write("a.py", "x = 1\n")
    gate = command("no-such-tool-anywhere", install_hint="brew install it")
    (result,) = project.run(gate).results
    assert result.status is GateStatus.ERROR
    assert "no-such-tool-anywhere" in result.reason
    assert result.reason.endswith("brew install it")
    (result,) = project.run(gate.model_copy(update={"required": False})).results
    assert not result.blocks


def test_death_by_signal(project: Project) -> None:
    project.write("a.py", "x = 1\n")
    (result,) = project.run(command("sh", "-c", "kill -SEGV $$")).results
    assert (result.status, result.reason) == (GateStatus.ERROR, "sh was ended by SIGSEGV")


def test_a_check_that_writes_is_an_error(project: Project) -> None:
    project.write("a.py", "x = 1\n")
    (result,) = project.run(command("sh", "-c", "echo y >> a.py")).results
    assert result.status is GateStatus.ERROR
    assert "a check must only read: a.py" in result.reason


def test_a_fix_outside_the_change_is_an_error(project: Project) -> None:
    project.write("a.py", "x = 1\n")
    (result,) = project.run(command("sh", "-c", "echo >> README.md", stage="fix")).results
    assert result.status is GateStatus.ERROR
    assert "no part of the change: README.md" in result.reason


@pytest.mark.slow
def test_a_file_deleted_while_scanned(project: Project) -> None:
    place = project.write("a.py", "import os\n")
    vanish = command("rm", str(place))
    report = project.run(vanish, *load(), fix=False)
    by_gate = {result.gate: result for result in report.results}
    assert by_gate["syntax_check"].status is GateStatus.PASS
    assert by_gate["mine"].status is GateStatus.ERROR
    assert "a check must only read: a.py" in by_gate["lint_check"].reason


@pytest.mark.slow
@pytest.mark.parametrize("name", ["with space.py", "line\nbreak.py", "-r.py", "ümlaut.py", 'quo"te.py', "a[1]*.py"])
def test_odd_names(project: Project, name: str) -> None:
    project.write(name, "print(f'x')\nx = undefined_name  # TODO: later\n")
    report = project.run()
    by_gate = {result.gate: result for result in report.results}
    assert by_gate["lint_fix"].fixed == (name,)
    assert [(finding.path, finding.rule) for finding in by_gate["lint_check"].findings] == [(name, "F821")]
    assert [finding.path for finding in by_gate["placeholder_scan"].findings] == [name]


@pytest.mark.slow
@pytest.mark.skipif(os.uname().sysname == "Darwin", reason="macOS refuses names that are not UTF-8")
def test_a_name_that_is_not_utf8(project: Project) -> None:
    (project.root / os.fsdecode(b"caf\xe9.py")).write_bytes(b"x = undefined_name\n")
    report = project.run()
    (finding,) = next(each for each in report.results if each.gate == "lint_check").findings
    assert finding.new
    assert finding.rule == "F821"


def test_what_is_not_read_is_told(project: Project) -> None:
    project.write("big.py", "x = 1\n" * 200_000)
    project.write("image.py", b"\0\1\2")
    project.write("node_modules/m.py", "x = 1\n")
    (project.root / "link.py").symlink_to("src/app.py")
    result = project.gate("lint_check")
    assert result.status is GateStatus.SKIP
    assert "4 skipped: 1 large, 1 link, 1 nul, 1 vendored" in result.reason


def test_a_result_holds_every_finding_of_a_rule_and_its_line(project: Project) -> None:
    project.write("a.py", "\n".join(f"x{n} = 1  # TODO: {n}" for n in range(80)) + "\n")
    result = project.gate("placeholder_scan")
    assert [finding.line for finding in result.findings] == [*range(1, 81)]
    assert result.findings[7].code == "x7 = 1  # TODO: 7"


def test_what_is_required_and_was_not_checked_is_an_error(project: Project) -> None:
    project.write("a.py", "x = 1\n")
    required = {"require": ("types",)}
    result = project.gate("build_check", **required)
    assert (result.status, result.missing, result.blocks) == (GateStatus.ERROR, True, True)
    assert "types: the project configures no type checker for Python" in result.reason
    assert project.gate("build_check").status is GateStatus.PASS
    (project.root / "a.py").unlink()
    project.write("README.md", "# x\n")
    assert project.gate("build_check", **required).status is GateStatus.SKIP, "there is nothing to check"


@pytest.mark.slow
def test_a_gate_that_is_left_out_is_told_and_where_it_is_required_an_error(project: Project) -> None:
    project.write("a.py", "x = 1\n")
    report = project.run(skip=("secret_scan", "build_check", "lint_fix"))
    assert report.passed
    why = "left out by gates.skip or --skip"
    assert report.summary == f"passed; not checked: secrets, build, types ({why})"
    report = project.run(skip=("secret_scan", "build_check"), require=("types",), only=("build_check",))
    assert [result.gate for result in report.blocking] == ["build_check"]
    assert all(result.missing for result in report.blocking)


def test_an_optional_gate_that_broke_is_told_and_where_it_is_required_it_blocks(project: Project) -> None:
    project.write(".swarm/gates/mine.toml", 'title = "Mine"\ncommand = ["no-such-tool-here"]\nrequired = false\n')
    project.write("a.py", "x = 1\n")
    only = {"only": ("mine", "syntax_check")}
    assert project.run(**only).summary.startswith("passed; not checked: mine (the program `no-such-tool-here` was not")
    (result,) = project.run(**only, require=("mine",)).blocking
    assert (result.gate, result.status, result.missing) == ("mine", GateStatus.ERROR, True)


def test_what_nobody_checks_cannot_be_required(project: Project) -> None:
    with pytest.raises(ConfigError, match=r"gates\.require: no gate checks 'typs'") as refused:
        project.run(require=("typs",))
    assert refused.value.hint == "Did you mean types?"


def test_options_are_closed() -> None:
    with pytest.raises(ValueError, match="skipp"):
        GatesOptions.model_validate({"skipp": ()})


def test_the_slowest_gates_start_first_and_the_report_keeps_its_order(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []

    def noted(name: str) -> Any:
        async def look(job: Job) -> Outcome:
            begun.append(name)
            await asyncio.sleep(0)
            return Outcome(files=1)

        return look

    for name in ("diff", "syntax", "secrets", "sbom", "build"):
        monkeypatch.setitem(adapters.ADAPTERS, name, noted(name))
    project.write("a.py", "x = 1\n")
    names = ("diff", "syntax_check", "secret_scan", "sbom_generate", "build_check")
    gates = [gate.model_copy(update={"enabled": True}) for gate in load() if gate.id in names]
    report = project.run(*gates)
    assert begun == ["build", "diff", "secrets", "syntax", "sbom"]
    assert [result.gate for result in report.results] == [*names]

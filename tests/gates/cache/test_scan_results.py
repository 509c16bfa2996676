"""Tests that a run answered from the cache gives the same report as a run that scans again."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from swarmgate.config import Commands
from swarmgate.config.sections import Quality
from swarmgate.domain.review.finding import GateStatus
from swarmgate.gates import adapters
from swarmgate.gates.cache import environment
from swarmgate.gates.cache.scan_results import Memory
from swarmgate.gates.cache.store import Cache
from swarmgate.gates.confinement import by_hand
from swarmgate.gates.definition import GateDefinition, load
from swarmgate.gates.outcome import Outcome
from swarmgate.gates.pipeline.pipeline import run_pipeline
from swarmgate.workspace.git.repository import Repository

if TYPE_CHECKING:
    from collections.abc import Callable

    from swarmgate.domain.review.finding import GateReport, GateResult
    from swarmgate.gates.job import Job

    Project = Any  # tests/gates/conftest.py, which importlib mode cannot import

QUICK = ("diff", "syntax_check", "placeholder_scan", "secret_scan")
BAD = "def f(:\n# TODO: all of it\n"


@pytest.fixture(autouse=True)
def settled(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search path where nothing is installed meanwhile: what appears there is a reason to judge again."""
    tools = tmp_path_factory.mktemp("tools")
    for name in ("git", "sh", "echo"):
        (tools / name).symlink_to(shutil.which(name) or name)
    monkeypatch.setenv("PATH", str(tools))


def run(root: Path, *gates: GateDefinition, memory: Memory | None, fix: bool = True) -> GateReport:
    repository = Repository.discover(root)
    chosen = gates or tuple(gate for gate in load() if gate.id in QUICK)
    bare = partial(by_hand, root, Commands(sandbox="none"))  # what counts its runs does so outside of the repository
    return asyncio.run(
        run_pipeline(chosen, repository=repository, base=repository.head_tree(), fix=fix, memory=memory, by_hand=bare)
    )


def comparable(report: GateReport) -> list[GateResult]:
    """The results without what a cached one may differ in."""
    return [each.model_copy(update={"seconds": 0.0, "cached": False}) for each in report.results]


def cached(report: GateReport) -> dict[str, bool]:
    return {each.gate: each.cached for each in report.results}


def counting(tmp_path: Path, **keys: Any) -> tuple[GateDefinition, Callable[[], int]]:
    """A gate that counts outside of the repository how often it ran."""
    log = tmp_path / "log"
    argv = ["sh", "-c", f"echo ran >> {log}; exit {keys.pop('exits', 0)}"]
    gate = GateDefinition.model_validate({"id": "mine", "title": "Mine", "command": argv, **keys})
    return gate, lambda: len(log.read_text().splitlines()) if log.exists() else 0


def test_the_second_run_of_the_same_change_is_answered_from_the_cache(project: Project) -> None:
    project.write("src/new.py", BAD)
    first, second = (run(project.root, memory=Memory()) for _ in range(2))
    assert set(cached(first).values()) == {False}
    assert set(cached(second).values()) == {True}
    assert comparable(first) == comparable(second) == comparable(run(project.root, memory=None))
    assert not first.passed
    assert any(finding.suggestion for result in second.results for finding in result.findings)


def test_without_a_memory_nothing_is_read_or_written(project: Project) -> None:
    project.write("src/new.py", BAD)
    run(project.root, memory=None)
    assert not Cache().folder.exists()
    run(project.root, memory=Memory())
    assert set(cached(run(project.root, memory=None)).values()) == {False}


FILES = ("a.py", "b.py", "dir/c.py", "notes.md")
LINES = ("def f(:", "x = 1", "# TODO: this", 'token = "' + "ghp_" + "a1B2" * 9 + '"', "    return 2", "")
EDIT = st.tuples(st.sampled_from(FILES), st.none() | st.lists(st.sampled_from(LINES), max_size=5))
STEP = st.tuples(st.lists(EDIT, min_size=1, max_size=3), st.booleans())


@pytest.mark.slow
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(STEP, min_size=1, max_size=4))
def test_after_any_edits_cached_and_uncached_runs_say_the_same(
    project: Project, steps: list[tuple[list[tuple[str, list[str] | None]], bool]]
) -> None:
    for edits, commit in steps:
        for path, lines in edits:
            if lines is None:
                (project.root / path).unlink(missing_ok=True)
            else:
                project.write(path, "\n".join(lines))
        if commit:
            project.git(project.root, "add", "--all")
            project.git(project.root, "commit", "--quiet", "--allow-empty", "--message=more")
        assert comparable(run(project.root, memory=Memory())) == comparable(run(project.root, memory=None))


MODULES = ("a.py", "b.py", "pack/__init__.py", "pack/c.py")
CODE = (
    "def one(a):\n    return a\n", "def one(a, b):\n    return a\n", "def two():\n    return 2\n",
    "class Box(dict):\n    def put(self, a):\n        return a\n",
    "class Box:\n    def other(self):\n        return 1\n", "from a import one\none(1)\n",
    "from b import *\n", "from pack.c import Box\nBox().put(1)\n",
    "import a\na.two()\n", "import nowhere_at_all\n", "__all__ = ['one']\n",
)  # fmt: skip
CODE_EDIT = st.tuples(st.sampled_from(MODULES), st.none() | st.lists(st.sampled_from(CODE), max_size=4, unique=True))


@pytest.mark.slow
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.tuples(st.lists(CODE_EDIT, min_size=1, max_size=3), st.booleans()), min_size=2, max_size=5))
def test_after_any_edits_of_modules_that_use_each_other_cached_and_uncached_runs_say_the_same(
    project: Project, steps: list[tuple[list[tuple[str, list[str] | None]], bool]]
) -> None:
    gates = [gate for gate in load() if gate.id in {"diff", "imports"}]
    for edits, commit in steps:
        for path, blocks in edits:
            if blocks is None:
                (project.root / path).unlink(missing_ok=True)
            else:
                project.write(path, "".join(blocks))
        if commit:
            project.git(project.root, "add", "--all")
            project.git(project.root, "commit", "--quiet", "--allow-empty", "--message=more")
        once = [run(project.root, *gates, memory=memory) for memory in (Memory(), Memory(), None)]
        assert comparable(once[0]) == comparable(once[1]) == comparable(once[2])


def test_contracts_of_files_that_were_not_edited_again_are_not_read_again(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    from swarmgate.gates.contracts.python import surface

    was, now = "def one(a):\n    return a\n", "def one(a, b=1):\n    return a\n"
    project.commit_files({"a.py": was, "b.py": was, "c.py": was, "user.py": "from c import one\none(1)\n"})
    for name in "abc":
        project.write(f"{name}.py", now)
    seen: list[str] = []
    read = surface.read

    def recording(path: str, content: bytes) -> Any:
        seen.append(path)
        return read(path, content)

    monkeypatch.setattr(surface, "read", recording)
    gates = [gate for gate in load() if gate.id == "diff"]
    run(project.root, *gates, memory=Memory())
    assert set(seen) == {"a.py", "b.py", "c.py"}
    seen.clear()
    project.write("c.py", "def one(a, b):\n    return a\n")
    broken = run(project.root, *gates, memory=Memory())
    assert set(seen) == {"c.py"}
    assert comparable(broken) == comparable(run(project.root, *gates, memory=None))
    assert any(each.path == "user.py" for each in broken.results[0].findings)


def test_what_looks_at_the_edited_files_looks_again(project: Project) -> None:
    project.write("src/one.py", BAD)
    run(project.root, memory=Memory())
    project.write("README.md", "more\n")
    assert cached(run(project.root, memory=Memory())) == {
        "diff": False,
        "syntax_check": False,  # both look at documents too
        "secret_scan": False,
        "placeholder_scan": False,
    }


def test_a_marker_that_moved_is_new_again_once_it_stands_in_both_places(project: Project) -> None:
    marked = "x = 1  # TODO: make this better for all of the users\n"
    project.commit_files({"src/old.py": marked, "src/new.py": "y = 1\n"})
    (project.root / "src/old.py").unlink()
    project.write("src/new.py", f"y = 1\n{marked}")
    gates = [gate for gate in load() if gate.id == "placeholder_scan"]
    moved = run(project.root, *gates, memory=Memory())
    assert [each.new for each in moved.results[0].findings] == [False]
    project.write("src/old.py", marked)
    copied = run(project.root, *gates, memory=Memory())
    assert [each.new for each in copied.results[0].findings] == [True]


@pytest.mark.slow
def test_what_the_base_had_is_not_scanned_again_while_the_change_is_worked_on(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    from swarmgate.gates.adapters import sast

    scanned: list[str] = []
    scan = sast._scan

    async def recorded(job: Job, sources: Any, result: Any, only: Any) -> None:
        scanned.extend(source.content.decode() for source in sources)
        await scan(job, sources, result, only)

    monkeypatch.setattr(sast, "_scan", recorded)
    gates = [gate.model_copy(update={"enabled": True}) for gate in load() if gate.id == "sast_scan"]
    old = "import hashlib\nassert hashlib.md5(b'')\n"
    project.commit_files({"src/app.py": old})
    reports = []
    for number in range(2):
        project.write("src/app.py", f"{old}x = {number}\n")
        reports.append(run(project.root, *gates, memory=Memory()))
        assert comparable(reports[-1]) == comparable(run(project.root, *gates, memory=None))
    assert [text == old for text in scanned] == [False, True, False, True, False, False, True]
    assert {each.new for each in reports[1].results[0].findings} == {False}


def test_of_many_files_only_the_edited_one_is_looked_at_again(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    from swarmgate.gates.adapters import placeholders

    seen: list[str] = []
    scan_file = placeholders.scan_file

    def recorded(source: Any) -> Any:
        seen.append(source.path)
        return scan_file(source)

    monkeypatch.setattr(placeholders, "scan_file", recorded)
    gates = [gate for gate in load() if gate.id == "placeholder_scan"]
    for name in "abc":
        project.write(f"src/{name}.py", "x = 1  # TODO: later\n")
    run(project.root, *gates, memory=Memory())
    assert sorted(seen) == ["src/a.py", "src/b.py", "src/c.py"]
    seen.clear()
    project.write("src/b.py", "# more\nx = 1  # TODO: later\n")
    report = run(project.root, *gates, memory=Memory())
    assert seen == ["src/b.py"]
    assert comparable(report) == comparable(run(project.root, *gates, memory=None))


@pytest.mark.slow
def test_ruff_is_not_asked_again_of_bases_that_it_knows(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    from swarmgate.gates.lint import ruff

    asked: list[str] = []
    run_ruff = ruff.run

    async def recording(job: Job, argv: Any, paths: Any, **comparable: Any) -> Any:
        asked.extend(f"{argv[1]} {path}" for path in paths if "stdin" in comparable)
        return await run_ruff(job, argv, paths, **comparable)

    monkeypatch.setattr(ruff, "run", recording)
    lint, fix = ([gate for gate in load() if gate.id == name] for name in ("lint_check", "lint_fix"))
    old = "import os\nx=1\n"
    project.commit_files({"a.py": old, "b.py": old, "pyproject.toml": "[tool.ruff]\nline-length = 100\n"})

    def edited(path: str, content: str, gates: Any = lint) -> list[str]:
        project.write(path, content)
        asked.clear()
        report = run(project.root, *gates, memory=Memory())
        again = sorted(asked)
        if gates is lint:
            assert comparable(report) == comparable(run(project.root, *gates, memory=None))
        return again

    assert edited("a.py", f"{old}y=2\n") == ["check a.py"]
    assert edited("b.py", f"{old}y=2\n") == ["check b.py"]
    assert edited("a.py", f"{old}y=3\n") == []
    assert edited("c.py", "x = 1\n") == ["check a.py", "check b.py"]  # which modules there are may count
    assert edited("a.py", f"{old}z=2\n", fix) == ["format a.py", "format b.py"]
    assert edited("a.py", f"{old}z=3\n", fix) == []
    assert edited("pyproject.toml", "[tool.ruff]\nline-length = 90\n") == ["check a.py", "check b.py"]
    assert edited("a.py", f"{old}z=4\n", fix) == ["format a.py", "format b.py"]
    project.write("other.toml", "line-length = 80\n")
    for number in range(2):  # the other file may change as well
        edited("pyproject.toml", f'[tool.ruff]\nextend = "other.toml"\nline-length = {80 + number}\n')
        assert edited("a.py", f"{old}w={number}\n") == ["check a.py", "check b.py"]


def test_the_base_counts(project: Project) -> None:
    project.commit_files({"src/app.py": "# TODO: old\ndef one():\n    return 1\n"})
    project.write("src/app.py", "# TODO: old\ndef one():\n    return 2\n")
    old = run(project.root, memory=Memory())
    project.commit_files({"src/app.py": "def one():\n    return 1\n"})
    project.write("src/app.py", "# TODO: old\ndef one():\n    return 2\n")
    new = run(project.root, memory=Memory())
    news = [
        {each.new for result in report.results if result.gate == "placeholder_scan" for each in result.findings}
        for report in (old, new)
    ]
    assert news == [{False}, {True}]


def test_another_definition_or_version_looks_again(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write("src/new.py", BAD)
    run(project.root, memory=Memory())
    gates = [gate.model_copy(update={"title": "Another"}) for gate in load() if gate.id in QUICK]
    assert set(cached(run(project.root, *gates, memory=Memory())).values()) == {False}
    monkeypatch.setattr(environment, "__version__", "99")
    environment._own.cache_clear()
    try:
        assert set(cached(run(project.root, memory=Memory())).values()) == {False}
    finally:
        environment._own.cache_clear()


def test_a_limit_that_is_set_to_what_it_is_by_default_is_another_question(project: Project) -> None:
    branches = "".join(f"    if value == {n}:\n        return {n}\n" for n in range(8))
    project.write("src/new.py", f"def pick(value):\n{branches}    return 0\n")
    budget = next(gate for gate in load() if gate.id == "quality_budget")
    assert run(project.root, budget, memory=Memory()).passed
    limited = budget.model_copy(update={"limits": Quality(max_complexity_delta=5)})
    assert repr(limited.limits) == repr(budget.limits)
    assert not run(project.root, limited, memory=Memory()).passed
    assert cached(run(project.root, budget, memory=Memory())) == {"quality_budget": True}


@pytest.mark.parametrize(("cache", "runs"), [(False, 2), (True, 1)])
def test_a_projects_command_is_repeated_only_when_it_says_so(
    project: Project, tmp_path: Path, *, cache: bool, runs: int
) -> None:
    project.write("src/new.py", "x = 1\n")
    gate, count = counting(tmp_path, cache=cache)
    memories = [Memory(), Memory()]
    results = [run(project.root, gate, memory=memory).results[0] for memory in memories]
    assert count() == runs
    assert [each.status for each in results] == [GateStatus.PASS] * 2
    assert results[1].cached == cache
    assert [memory.complete for memory in memories] == [cache] * 2


@pytest.mark.slow
@pytest.mark.parametrize("outcome", [
    Outcome(error="it broke"), Outcome(skip="no such tool", volatile=True), Outcome(files=1, volatile=True),
    Outcome(error="not there", missing=True),
])  # fmt: skip
def test_errors_missing_tools_and_builds_are_asked_again(
    project: Project, monkeypatch: pytest.MonkeyPatch, outcome: Outcome
) -> None:
    asked = []

    async def say(job: Job) -> Outcome:
        asked.append(job)
        return outcome

    monkeypatch.setitem(adapters.ADAPTERS, "diff", say)
    project.write("src/new.py", "x = 1\n")
    gates = [gate for gate in load() if gate.id == "diff"]
    for _ in range(2):
        memory = Memory()
        assert not run(project.root, *gates, memory=memory).results[0].cached
        assert not memory.complete
    assert len(asked) == 2


def test_a_check_that_changed_the_tree_is_not_kept(project: Project) -> None:
    project.write("src/new.py", "x = 1\n")
    gate = GateDefinition.model_validate(
        {"id": "mine", "title": "Mine", "command": ["sh", "-c", "echo x >> src/new.py"], "cache": True}
    )
    for _ in range(2):
        memory = Memory()
        assert run(project.root, gate, memory=memory).results[0].status is GateStatus.ERROR
        assert not memory.complete


def test_a_fix_that_changed_files_runs_again_and_one_that_did_not_is_kept(project: Project) -> None:
    fixes = [gate for gate in load() if gate.id == "lint_fix"]
    reports = []
    for _ in range(2):
        project.write("src/new.py", 'x = f"plain"\n')
        reports.append(run(project.root, *fixes, memory=Memory()).results[0])
    assert [(each.fixed, each.cached) for each in reports] == [(("src/new.py",), False)] * 2
    settled = [run(project.root, *fixes, memory=Memory()).results[0] for _ in range(2)]
    assert [(each.fixed, each.cached) for each in settled] == [((), False), ((), True)]


def test_a_truncated_entry_is_looked_at_again(project: Project) -> None:
    project.write("src/new.py", BAD)
    first = run(project.root, memory=Memory())
    for place in Cache().folder.glob("*.json"):
        place.write_bytes(place.read_bytes()[:-3])
    again = run(project.root, memory=Memory())
    assert set(cached(again).values()) == {False}
    assert comparable(first) == comparable(again)
    assert set(cached(run(project.root, memory=Memory())).values()) == {True}


def test_a_right_checksum_over_a_strange_value_is_a_miss(project: Project, tmp_path: Path) -> None:
    project.write("src/new.py", BAD)
    run(project.root, memory=Memory())
    cache = Cache()
    for place in list(cache.folder.glob("*.json")):
        value = json.loads(place.read_bytes().partition(b"\n")[2])
        cache.put(place.stem, {**value, "unknown": 1})
    assert set(cached(run(project.root, memory=Memory())).values()) == {False}
    shutil.rmtree(tmp_path, ignore_errors=True)


def test_a_tool_that_is_not_there_is_looked_for_again_where_programs_are_installed(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "programs"
    place.mkdir()
    monkeypatch.setenv("PATH", f"{place}{os.pathsep}{os.environ['PATH']}")
    project.commit_files({"mypy.ini": "[mypy]\n", "src/run.sh": "#!/bin/sh\n"})
    project.write("src/run.sh", "#!/bin/sh\necho $1\n")
    project.write("src/new.py", "x: int = 1\n")
    gates = [gate.model_copy(update={"enabled": True}) for gate in load() if gate.id in {"lint_check", "build_check"}]
    for known in (False, True):
        memory = Memory()
        results = run(project.root, *gates, memory=memory).results
        assert all("not installed" in result.reason for result in results)
        assert ([result.cached for result in results], memory.complete) == ([known, known], True)
    (place / "something").touch()
    assert not any(result.cached for result in run(project.root, *gates, memory=Memory()).results)

"""Tests each preflight check on a real project: passed, failed and skipped."""

from __future__ import annotations

import asyncio
import shutil
import threading
from collections.abc import Mapping
from typing import Any

import pytest
from immutables import Map
from tests.automation.preflight.conftest import Contexts
from tests.domain.story import make_plan, make_task
from tests.project import Project, part

from swarmgate.automation.preflight import dependencies, gates, records, suite_check, work_tree_check
from swarmgate.automation.preflight.context import CheckResult, PreflightContext
from swarmgate.domain.events import event as ev
from swarmgate.domain.plan.plan import Kind, Task
from swarmgate.domain.review.finding import GateResult, GateStatus
from swarmgate.domain.review.stage import Stage
from swarmgate.domain.state.state import Attempt, Outcome, Override, TaskRecord, TaskStatus, replace
from swarmgate.errors import MissingRequirement
from swarmgate.ledger.evidence.evidence import EvidenceStore
from swarmgate.ledger.ledger import Ledger

pytestmark = pytest.mark.suite("unittest")

KEY = "AKIA" + "IOSFODNN7ABCDEFG"


def with_state(context: Contexts, **changes: Any) -> PreflightContext:
    return context(state=replace(context().state, **changes))


# --- repository, branch ---


def test_a_clean_tree_on_a_branch(context: Contexts) -> None:
    found = work_tree_check.inspect(context())
    assert found["repository"] == CheckResult("clean")
    assert found["branch"].problem == ""
    assert found["branch"].detail.startswith("main")


def test_uncommitted_changes_are_named(project: Project, context: Contexts) -> None:
    project.write("notes.txt", "mine\n")
    project.write("src/calc/__init__.py", '"""Other."""\n')
    found = work_tree_check.inspect(context())["repository"]
    assert "notes.txt" in found.problem
    assert "src/calc/__init__.py" in found.problem
    assert "stash" in found.hint


def test_what_a_paused_attempt_left_is_expected_and_nothing_else(project: Project, context: Contexts) -> None:
    project.write("src/calc/part.py", part("1"))
    left = context().repository.snapshot()
    assert work_tree_check.inspect(with_state(context, tree=left, last="1.1"))["repository"] == CheckResult(
        "as task 1.1 left it"
    )
    project.write("src/calc/part.py", part("2"))
    found = work_tree_check.inspect(with_state(context, tree=left))["repository"]
    assert "src/calc/part.py" in found.problem
    assert "quarantine" in found.hint


def test_another_branch_a_detached_head_and_a_merge_stop_the_phase(project: Project, context: Contexts) -> None:
    found = work_tree_check.inspect(with_state(context, branch="swarm/parts"))["branch"]
    assert found.hint == "git switch -c swarm/parts"
    project.git("branch", "swarm/parts")
    assert work_tree_check.inspect(with_state(context, branch="swarm/parts"))["branch"].hint == "git switch swarm/parts"
    project.git("switch", "--quiet", "swarm/parts")
    assert work_tree_check.inspect(with_state(context, branch="swarm/parts"))["branch"] == CheckResult("swarm/parts")
    project.write(".git/MERGE_HEAD", project.git("rev-parse", "HEAD") + "\n")
    assert "merge" in work_tree_check.inspect(context())["branch"].problem
    (project.root / ".git/MERGE_HEAD").unlink()
    project.git("switch", "--quiet", "--detach")
    assert "no branch" in work_tree_check.inspect(context())["branch"].problem


@pytest.mark.slow
@pytest.mark.parametrize("name", ["index.lock", "HEAD.lock"])
def test_a_lock_of_git_that_stays_stops_the_phase(
    project: Project, context: Contexts, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(work_tree_check, "_LOCK_S", 0.2)
    lock = project.root / ".git" / name
    lock.touch()
    found = work_tree_check.inspect(context())["repository"]
    assert str(lock) in found.problem
    assert found.hint.endswith(f"rm '{lock}'")
    assert found.blocks
    closing = threading.Timer(0.1, lock.unlink)
    closing.start()
    assert work_tree_check.inspect(context())["repository"] == CheckResult("clean")  # a command gave it back
    closing.join()


# --- plan, evidence ---


def record(project: Project, *events: ev.Event) -> None:
    with Ledger.write(project.folder) as ledger:
        ledger.append(events, expect=ledger.state.seq)


def plan_on_record(project: Project) -> None:
    record(project, ev.GoalSet(goal="Add parts"), ev.PlanSaved(plan=make_plan([make_task("1.1")])))


def test_a_hand_edit_that_waits_stops_the_phase(project: Project, context: Contexts) -> None:
    plan_on_record(project)
    assert records.inspect_plan(context())["plan"].problem == ""
    text = project.plan_md
    project.folder.plan_md.write_text(text.replace("Part 1.1", "Another part"))
    found = records.inspect_plan(context())["plan"]
    assert "plan.md" in found.problem
    assert found.hint == "Settle it: swarm sync"
    project.folder.plan_md.write_text(text.replace("- [ ] Task 1.1", "- [x] Task 1.1"))
    assert "swarm skip" in records.inspect_plan(context())["plan"].problem


def test_a_missing_plan_file_comes_back_and_stops_nothing(project: Project, context: Contexts) -> None:
    plan_on_record(project)
    project.folder.plan_md.unlink()
    found = records.inspect_plan(context())["plan"]
    assert found.problem == ""
    assert "plan.md will be written again" in found.detail


def test_a_run_has_just_settled_the_plan(project: Project, context: Contexts) -> None:
    plan_on_record(project)
    project.folder.plan_md.write_text("nonsense")
    assert records.inspect_plan(context(ours=True))["plan"].problem == ""


def test_a_chain_that_does_not_hold_stops_the_phase(project: Project, context: Contexts) -> None:
    plan_on_record(project)
    before = context()
    assert records.inspect_evidence(before)["evidence"].problem == ""
    text = project.folder.ledger.read_text()
    project.folder.ledger.write_text(text.replace("Add parts", "Add farts"))
    found = records.inspect_evidence(before)["evidence"]
    assert "line" in found.problem
    assert found.hint == "See all of it: swarm verify"


def test_evidence_that_is_gone_stops_the_phase(project: Project, context: Contexts) -> None:
    plan_on_record(project)
    record(project, ev.PlanReviewed(review=_approving()), ev.PlanApproved(), ev.RunStarted(pid=1, host="here"))
    head = project.git("rev-parse", "HEAD")
    store = EvidenceStore(project.folder)
    digest = store.write("1.1", 1, "change.patch", b"the patch")
    record(
        project,
        ev.WorkStarted(branch="main", base=head),
        ev.TaskDelegated(task="1.1", attempt=1, tree=head, base=head),
        ev.ChangeCaptured(task="1.1", attempt=1, tree=head, evidence=digest),
    )
    assert records.inspect_evidence(context())["evidence"].problem == ""
    store.place("1.1", 1, "change.patch").unlink()
    assert "change.patch" in records.inspect_evidence(context())["evidence"].problem


def _approving() -> Any:
    from swarmgate.domain.review.evidence import Review, Verdict

    return Review(verdict=Verdict.APPROVED, summary="good")


# --- lint, secrets ---


async def test_old_lint_is_told_and_stops_nothing_before_the_work(project: Project, context: Contexts) -> None:
    found = await gates.inspect(context())
    assert found["lint"].problem == found["secrets"].problem == ""
    assert "the whole tree" in found["lint"].detail
    project.write("src/calc/old.py", '"""Old."""\n\nimport os\n')
    found = await gates.inspect(context())
    assert "F401" in found["lint"].problem
    assert not found["lint"].blocks


async def test_lint_of_the_work_stops_the_phase_and_what_was_there_before_does_not(
    project: Project, context: Contexts
) -> None:
    project.write("src/calc/old.py", '"""Old."""\n\nimport os\n')
    project.git("add", "--all")
    project.git("commit", "--quiet", "--message=Old")
    begun = project.git("rev-parse", "HEAD")
    found = (await gates.inspect(with_state(context, base=begun)))["lint"]
    assert found.skipped
    assert "nothing was changed" in found.detail
    project.write("src/calc/new.py", '"""New."""\n\nimport sys\n')
    found = (await gates.inspect(with_state(context, base=begun)))["lint"]
    assert "new.py" in found.problem
    assert "old.py" not in found.problem
    assert found.blocks


async def test_a_secret_anywhere_stops_the_phase_and_is_not_repeated(project: Project, context: Contexts) -> None:
    project.write("deploy.sh", f"#!/bin/sh\nexport AWS_ACCESS_KEY_ID={KEY}\n")
    project.git("add", "--all")
    project.git("commit", "--quiet", "--message=Deploy")
    begun = project.git("rev-parse", "HEAD")
    found = (await gates.inspect(with_state(context, base=begun)))["secrets"]
    assert "deploy.sh:2" in found.problem
    assert KEY not in str(found)
    assert found.blocks
    accept = ("gates", "baseline", "--all", "--only", "secret_scan", "--force", "--reason", "an example")
    await asyncio.to_thread(project.swarm, *accept)
    assert (await gates.inspect(with_state(context, base=begun)))["secrets"].problem == ""


async def test_submodules_are_named_since_nobody_looks_into_them(project: Project, context: Contexts) -> None:
    head = project.git("rev-parse", "HEAD")
    project.git("update-index", "--add", "--cacheinfo", f"160000,{head},vendor/sub")
    project.git("commit", "--quiet", "--message=Sub")
    found = (await gates.inspect(context()))["secrets"]
    assert found.problem == "submodules are not scanned, and changes in them are not seen: vendor/sub"
    assert not found.blocks
    project.write("deploy.sh", f"#!/bin/sh\nexport AWS_ACCESS_KEY_ID={KEY}\n")
    found = (await gates.inspect(context()))["secrets"]
    assert "deploy.sh:2" in found.problem
    assert found.blocks
    assert "vendor/sub" in found.detail


def test_a_gate_that_broke_has_failed() -> None:
    broken = GateResult(gate="secret_scan", status=GateStatus.ERROR, reason="the tool crashed")
    found = gates._found(broken, "the whole tree")
    assert (found.problem, found.skipped, found.blocks) == ("the tool crashed", False, True)


async def test_a_gate_that_is_skipped_is_a_skip_with_its_reason(project: Project, context: Contexts) -> None:
    project.configure(gates={"skip": ["lint_check", "secret_scan"]})
    found = await gates.inspect(context())
    assert found["lint"].skipped
    assert found["secrets"].skipped
    assert "gates.skip" in found["secrets"].detail


# --- tests ---


@pytest.mark.slow
async def test_the_tests_are_run_confined_and_alone_count(project: Project, context: Contexts) -> None:
    found = (await suite_check.inspect(context()))["tests"]
    assert found.problem == ""
    assert found.detail.startswith("1 passed")
    project.write(
        "tests/test_red.py",
        "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        assert 0\n",
    )
    found = (await suite_check.inspect(context()))["tests"]
    assert "1 of 2 tests failed" in found.problem


async def test_without_a_test_command_there_is_nothing_to_run(project: Project, context: Contexts) -> None:
    shutil.rmtree(project.root / "tests")
    project.configure(tests={"command": ""})
    found = (await suite_check.inspect(context()))["tests"]
    assert found.skipped
    assert "no test command" in found.detail


async def test_a_program_that_is_not_there_and_no_sandbox_are_failures(project: Project, context: Contexts) -> None:
    project.configure(tests={"command": "no-such-runner --all"})
    found = (await suite_check.inspect(context()))["tests"]
    assert "no-such-runner" in found.problem
    assert "Install" in found.hint

    def none() -> Any:
        raise MissingRequirement("no sandbox works here")

    with pytest.raises(MissingRequirement):
        await suite_check.inspect(context(commands=none))


@pytest.mark.slow
async def test_tests_that_passed_over_this_very_tree_are_not_run_again(project: Project, context: Contexts) -> None:
    project.configure(tests={"command": "false"})  # would fail
    now = context().repository.snapshot()
    attempt = Attempt(number=1, kind=ev.AttemptKind.CODER, scope=(), instructions="", tree=now, seq=1, started="")
    attempt = replace(attempt, outcome=Outcome.COMPLETE)
    commit = project.git("rev-parse", "HEAD")
    done = TaskRecord(attempts=(attempt,), status=TaskStatus.COMPLETE, commit=commit)
    state = context().state
    proven = replace(state, last="1.1", tasks=state.tasks.set("1.1", done))
    assert (await suite_check.inspect(context(state=proven)))["tests"] == CheckResult(
        "they passed over this very tree, for task 1.1"
    )
    overruled = replace(
        done, overrides=done.overrides.set(Stage("tests"), Override("1.1", Stage("tests"), "flaky", ""))
    )
    for other in (
        replace(proven, known_red=("test_a",)),
        replace(proven, tasks=state.tasks.set("1.1", overruled)),
        replace(proven, tasks=state.tasks.set("1.1", replace(done, commit="0" * 40))),
    ):
        assert (await suite_check.inspect(context(state=other)))["tests"].problem
    project.write("notes.txt", "another tree\n")
    assert (await suite_check.inspect(context(state=proven)))["tests"].problem


@pytest.mark.slow
async def test_red_that_the_user_overruled_stops_nothing(project: Project, context: Contexts) -> None:
    project.write(
        "tests/test_red.py",
        "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        assert 0\n",
    )
    first = (await suite_check.inspect(context()))["tests"]
    failures = first.problem.partition(": ")[2]
    found = (await suite_check.inspect(with_state(context, known_red=(failures,))))["tests"]
    assert found.problem == ""
    assert "overruled" in found.detail


async def test_the_tests_run_in_a_clean_checkout(project: Project, context: Contexts) -> None:
    project.configure(tests={"command": f"{project.test_command} && echo x > left.txt && test ! -e empty"})
    (project.root / "empty").mkdir()
    assert (await suite_check.inspect(context()))["tests"].problem == ""
    assert not (project.root / "left.txt").exists()


# --- buildable, testable ---


def of_tasks(context: Contexts, *tasks: Task) -> Mapping[str, CheckResult]:
    return dependencies.inspect_tasks(with_state(context, plan=make_plan(tasks), tasks=Map()))


@pytest.mark.parametrize("kind", [Kind.REFACTORING, Kind.BREAKING])
def test_what_changes_something_needs_a_file_that_is_there_or_will_be(context: Contexts, kind: Kind) -> None:
    there = make_task("1.1").model_copy(update={"kind": kind, "files": ("src/calc/__init__.py", "src/calc/new.py")})
    assert of_tasks(context, there)["buildable"] == CheckResult(
        "1 open task", hint='Say what is meant: swarm revise "...", or edit .swarm/plan.md'
    )
    lost = make_task("1.2").model_copy(update={"kind": kind, "files": ("src/calc/gone.py",)})
    found = of_tasks(context, there, lost)["buildable"]
    assert found.problem == f"1.2 is {kind}, and none of its files is there: src/calc/gone.py"
    assert found.blocks
    made = make_task("1.1").model_copy(update={"files": ("src/calc/gone.py",)})
    assert of_tasks(context, made, lost)["buildable"].problem == ""
    assert of_tasks(context, lost.model_copy(update={"kind": Kind.FEATURE}))["buildable"].problem == ""


def test_a_criterion_that_only_repeats_the_title_is_told_and_stops_nothing(context: Contexts) -> None:
    vague = make_task("1.1", title="Sort the list").model_copy(update={"acceptance": ("sort the list.",)})
    found = of_tasks(context, vague, make_task("1.2"))["testable"]
    assert found.problem.endswith("whether it is met: 1.1")
    assert not found.blocks
    assert of_tasks(context, make_task("1.2"))["testable"].problem == ""

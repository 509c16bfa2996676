"""Tests the run of all tests over a phase: it is due before the checkpoint, and a failure is traced to its task."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest
from tests.misbehaviour.case import case
from tests.project import Project, Rule, code, implement, part, plan, review, rule, task, until

from swarmgate.domain.events import event as ev
from swarmgate.domain.state.state import Outcome, TaskStatus

pytestmark = pytest.mark.slow
WHOLE = {"tests": {"whole": "phase"}}


def by_engineer(task_id: str) -> Rule:
    """The test engineer's test of one part, which is all that is related to it."""
    name = task_id.replace(".", "_")
    text = f"from calc.part_{name} import VALUE\n\n\ndef test_start() -> None:\n    assert VALUE\n"
    mapped = [{"criterion": "1", "tests": ["test_start"]}]
    done = {"name": "submit_verdict", "arguments": {"verdict": "APPROVED", "summary": "tested", "criteria": mapped}}
    write = {"name": "write_file", "arguments": {"path": f"tests/test_part_{name}.py", "content": text}}
    return rule("test_engineer", "test", [write, done], task=task_id)


def parts(*ids: str) -> list[Rule]:
    tasks = [task(each, files=[f"src/calc/part_{each.replace('.', '_')}.py"]) for each in ids]
    written = [code({f"src/calc/part_{each.replace('.', '_')}.py": part(each)}, task=each) for each in ids]
    return [plan(*tasks), *written, *map(by_engineer, ids)]


@pytest.fixture
def long(project: Project) -> Project:
    """A project whose tests import its package from src."""
    project.write("conftest.py", "import sys\n\nsys.path.insert(0, 'src')\n")
    project.git("add", "--all")
    project.git("commit", "-qm", "Importable")
    return project


def guard(project: Project, condition: str, before: str = "") -> None:
    """A test that is related to nothing, and fails by what stands in the tree."""
    text = (
        f"import pathlib\n\n{before}\ndef test_guard():\n    here = pathlib.Path('src/calc')\n    assert {condition}\n"
    )
    project.write("tests/test_guard.py", text)
    project.git("add", "--all")
    project.git("commit", "-qm", "A guard")


def test_a_task_completes_on_its_related_tests_and_says_so(long: Project) -> None:
    guard(long, "True")
    long.planned(*parts("1.1"), **WHOLE)
    long.swarm("run", exits=3)
    run = long.events(ev.TestsRun)[0].run
    assert run.related
    assert "tests/test_guard.py" not in run.command
    assert long.trailers()["Swarm-Tests"] == "related"
    assert "completed on the tests that are related to its files" in long.plan_md
    assert "related" in long.folder.plan_json.read_text()
    whole = long.events(ev.PhaseReviewed)[0]
    assert (whole.stage, whole.review.approved) == ("tests", True)
    assert whole.run is not None
    assert whole.run.passed == 3
    assert not whole.run.related
    assert "- Tests 1.1: APPROVED - 3 passed" in long.plan_md
    seen = json.loads((long.folder.runtime / "test-coverage.json").read_text())
    assert seen == {"src/calc/part_1_1.py": ["tests/test_part_1_1.py"]}
    long.swarm("approve")
    assert long.state.phase(1).approved


def test_a_failure_is_traced_to_the_task_that_made_it_and_that_is_open_again(long: Project) -> None:
    guard(long, "not (here / 'part_1_2.py').exists() or 'mended' in (here / 'part_1_2.py').read_text()")
    mended = code({"src/calc/part_1_2.py": part("mended")}, task="1.2", attempt="2")
    long.planned(*parts("1.1", "1.2", "1.3"), mended, **WHOLE)
    long.swarm("run", exits=3)
    traced = long.events(ev.PhaseRegressed)
    assert [[each.task for each in event.culprits] for event in traced] == [["1.2"]]
    first = next(each.commit for each in long.events(ev.TaskCompleted) if each.task == "1.2")
    culprit = traced[0].culprits[0]
    assert (culprit.commit, culprit.failures) == (first, ("tests/test_guard.py::test_guard",))
    assert [each.task for each in long.events(ev.TaskCompleted)] == ["1.1", "1.2", "1.3", "1.2"]
    brief = long.briefs("coder", "code", task="1.2", attempt="2")[0]
    assert "tests/test_guard.py::test_guard" in brief
    assert "Attempt 1: REJECTED (tests) - since its commit" in long.plan_md
    assert [each.review.approved for each in long.events(ev.PhaseReviewed)] == [False, True]
    assert long.git("status", "--porcelain", "--", ".", ":!.swarm") == ""
    long.swarm("approve")
    long.swarm("verify")


def test_a_round_of_tests_that_opened_a_task_again_holds_no_unattended_run_up(long: Project) -> None:
    guard(long, "not (here / 'part_1_1.py').exists() or 'mended' in (here / 'part_1_1.py').read_text()")
    mended = code({"src/calc/part_1_1.py": part("mended")}, task="1.1", attempt="2")
    long.planned(*parts("1.1"), mended, **WHOLE)
    ended = long.json("run", "--until", "done")
    assert (ended["waiting"], ended["unseen"]) == ("nothing", [1])
    assert [each.review.approved for each in long.events(ev.PhaseReviewed)] == [False, True]
    record = long.json("report")["record"]
    assert [(each["attempt"], each["outcome"]) for each in record["times"]] == [(1, "REJECTED"), (2, "COMPLETE")]
    assert [(each["attempt"], each["stage"]) for each in record["rejections"]] == [(1, "tests")]
    told = long.swarm("pr", "--print").stdout
    assert "tests: 1 passed" in told
    assert "; completed on the tests that are related to its files" in told
    assert "  - tests 1.1 of 1: REJECTED - since its commit" in told
    assert "## Approved without a person\n\n- phase 1: swarm run --until done\n" in told


def without_guarded(project: Project) -> None:
    """Nothing of task 1.2 is there, that of the others is, and the ledger says the same."""
    assert not (project.root / "src/calc/part_1_2.py").exists()
    assert (project.root / "src/calc/part_1_3.py").exists()
    assert project.git("status", "--porcelain", "--", ".", ":!.swarm") == ""
    assert project.state.task("1.2").status is TaskStatus.PENDING
    project.swarm("verify")


def test_a_task_that_was_opened_again_is_undone_with_all_of_its_commits(long: Project) -> None:
    guard(long, "not (here / 'part_1_2.py').exists() or 'mended' in (here / 'part_1_2.py').read_text()")
    down = rule("coder", "code", {"fault": {"kind": "403"}}, task="1.2", attempt="2")
    rules = parts("1.1", "1.2", "1.3")
    long.planned(*rules, down, **WHOLE)
    long.swarm("run", exits=5)
    told = long.json("undo", "1.2", "--reason", "not like this")["undone"]
    first = long.events(ev.TaskCompleted)[1].commit
    assert [each["commit"] for each in told] == ["", first]
    assert [each.outcome for each in long.state.task("1.2").attempts] == [Outcome.UNDONE, Outcome.INTERRUPTED]
    without_guarded(long)
    mended = code({"src/calc/part_1_2.py": part("mended")}, task="1.2")
    broken = code({"src/calc/part_1_2.py": part("1.2")}, task="1.2", attempt="3")
    long.play(*rules, mended, broken, **WHOLE)
    long.swarm("run", exits=3)
    made = [each.commit for each in long.events(ev.TaskCompleted) if each.task == "1.2"]
    assert [each.culprits[0].commit for each in long.events(ev.PhaseRegressed)] == made[:2]
    long.swarm("undo", "1.2")
    assert [each.commit for each in long.events(ev.TaskUndone)] == ["", first, made[2], made[1]]
    without_guarded(long)
    long.swarm("run", exits=3)
    long.swarm("approve")
    long.swarm("verify")


def test_killed_between_two_reverts_of_one_task_the_same_command_goes_on(long: Project) -> None:
    guard(long, "not (here / 'part_1_2.py').exists() or 'mended' in (here / 'part_1_2.py').read_text()")
    mended = code({"src/calc/part_1_2.py": part("mended")}, task="1.2", attempt="2")
    long.planned(*parts("1.1", "1.2", "1.3"), mended, **WHOLE)
    long.swarm("run", exits=3)
    long.hook("post-commit", "kill -9 $(ps -o ppid= -p $PPID)")
    for _ in range(2):
        killed = long.start("undo", "1.2")
        _, told = killed.communicate(timeout=60)
        assert killed.returncode == -9, told
    long.hook("post-commit", "exit 0")
    long.swarm("undo", "1.2")
    assert [event.by_hand for event in long.events(ev.TaskUndone)] == [False, False]
    assert long.git("log", "--format=%s", "-2").splitlines() == ['Revert "Part 1.2"'] * 2
    without_guarded(long)


@pytest.mark.parametrize("how", ["rebase", "revert", "drop"])
def test_what_the_user_makes_of_a_commit_that_was_opened_again_is_no_gap_in_the_record(long: Project, how: str) -> None:
    guard(long, "not (here / 'part_1_2.py').exists() or 'mended' in (here / 'part_1_2.py').read_text()")
    long.git("rm", "-rq", "--cached", ".swarm")
    long.git("commit", "-qm", "The record is no part of it")
    long.write(".git/info/exclude", ".swarm/\n")
    down = rule("coder", "code", {"fault": {"kind": "403"}}, task="1.2", attempt="2")
    rules = parts("1.1", "1.2")
    long.planned(*rules, down, **WHOLE)
    long.swarm("run", exits=5)
    first = long.events(ev.TaskCompleted)[1].commit
    if how == "rebase":
        long.git("switch", "-q", "main")
        long.git("commit", "-qm", "Note", "--allow-empty")
        long.git("switch", "-q", "-")
        long.git("rebase", "-q", "main")
    else:
        long.git(*(("revert", "--no-edit", first) if how == "revert" else ("reset", "-q", "--hard", f"{first}^")))
    long.play(*rules, code({"src/calc/part_1_2.py": part("mended")}, task="1.2"), **WHOLE)
    long.swarm("run", exits=3)
    long.swarm("verify")
    long.swarm("undo", "1.2")
    assert not (long.root / "src/calc/part_1_2.py").exists()
    told = {each.commit: (bool(each.revert), each.by_hand) for each in long.events(ev.TaskUndone)}
    assert told[first] == {"rebase": (True, False), "revert": (True, True), "drop": (False, False)}[how]
    long.swarm("verify")


def test_bisection_passes_over_what_was_undone_and_finds_what_fails_since(long: Project) -> None:
    """The guard fails from 1.1 on, passes once that was undone, and fails again since 1.2."""
    broken, fine = part("broken"), part("fine")
    guard(long, "not any('broken' in each.read_text() for each in here.glob('part_*.py'))")
    first = code({"src/calc/part_1_1.py": broken}, task="1.1", attempt="1")
    down = rule("coder", "code", {"fault": {"kind": "403"}}, task="1.2")
    later = [code({"src/calc/part_1_1.py": fine}, task="1.1"), code({"src/calc/part_1_2.py": broken}, task="1.2")]
    rules = parts("1.1", "1.2")
    long.planned(*rules, first, down, **WHOLE)
    long.swarm("run", exits=5)
    for number in range(4):  # so that the middle lies where the guard fails by what was undone
        long.git("commit", "-qm", f"Note {number}", "--allow-empty")
    long.swarm("undo", "1.2")
    long.swarm("undo", "1.1")
    long.play(*rules, *later, implement({"src/calc/part_1_2.py": fine}, task="1.2"), **WHOLE)
    long.swarm("run", exits=3)
    assert {each.task for event in long.events(ev.PhaseRegressed) for each in event.culprits} == {"1.2"}
    long.swarm("verify")


def test_a_failure_older_than_the_phase_is_the_persons_to_decide(long: Project) -> None:
    guard(long, "False")
    long.planned(*parts("1.1"), **WHOLE)
    told = long.swarm("run", exits=1).stdout
    assert "failed before the phase, too, and belong to no task: tests/test_guard.py::test_guard" in told
    assert long.events(ev.PhaseRegressed) == []
    long.swarm("approve", exits=2)
    long.swarm("override", "1", "--reason", "known for years")
    ended = long.swarm("run", "--until", "done", exits=3).stdout
    assert "It waits for you: its reviewers rejected it." in ended
    long.swarm("approve")
    assert long.state.phase(1).overruled["tests"] == "known for years"


def test_a_test_that_passes_on_a_second_run_opens_no_task_and_is_called_flaky(long: Project, tmp_path: Any) -> None:
    seen = tmp_path / "seen"
    seen.mkdir()
    guard(long, f"(pathlib.Path({str(seen)!r}) / 'ran').exists() or (pathlib.Path({str(seen)!r}) / 'ran').touch()")
    commands = {"writable": [str(seen)]}
    long.planned(*parts("1.1"), **WHOLE, commands=commands)
    long.swarm("run", exits=3)
    verdict = long.events(ev.PhaseReviewed)[0].review
    assert verdict.approved
    assert verdict.summary == "all passed, tests/test_guard.py::test_guard only on a second run: flaky"


def test_a_commit_of_the_users_that_breaks_a_test_opens_no_task(long: Project) -> None:
    long.planned(*parts("1.1", "1.2"), rule("coder", "code", {"fault": {"kind": "403"}}, task="1.2"), **WHOLE)
    long.swarm("run", exits=5)
    guard(long, "False")
    long.play(*parts("1.1", "1.2"), **WHOLE)
    told = long.swarm("run", exits=1).stdout
    assert "which is no task's, fail: tests/test_guard.py::test_guard" in told
    assert long.state.task("1.1").status is TaskStatus.COMPLETE


@case(
    "order",
    "have a phase approved though its tests ran over another tree than the branch holds now",
    "refused: the tests of the phase are due again, over what the branch holds",
)
def test_what_the_branch_got_since_is_tested_before_the_phase_is_approved(long: Project) -> None:
    long.planned(*parts("1.1"), **WHOLE)
    long.swarm("run", exits=3)
    guard(long, "False")
    assert "the branch has moved on" in long.swarm("approve", exits=2).stderr
    assert "which is no task's, fail" in long.swarm("run", exits=1).stdout


def test_a_reopened_task_that_the_user_overrides_lets_its_tests_be_red(long: Project) -> None:
    guard(long, "not (here / 'part_1_1.py').exists()")
    escalated = implement({"src/calc/part_1_1.py": part("1.1")}, task="1.1")
    refused = review("REJECTED", "not so", attempt="1")
    long.planned(*parts("1.1"), escalated, refused, **WHOLE, loop={"max_rejections": 1})
    long.swarm("run", exits=1)
    assert long.state.task("1.1").status is TaskStatus.BLOCKED
    assert "since its commit" in long.state.task("1.1").reason
    long.swarm("override", "1.1", "--reason", "the guard is wrong")
    assert long.state.task("1.1").status is TaskStatus.COMPLETE
    long.swarm("run", exits=3)
    assert long.events(ev.PhaseReviewed)[-1].review.summary == "only tests fail that you let pass"
    long.swarm("verify")


def test_a_task_that_does_not_mend_it_is_opened_again_until_it_is_blocked(long: Project) -> None:
    guard(long, "not (here / 'part_1_1.py').exists()")
    other = code({"src/calc/part_1_1.py": part("another")}, task="1.1", attempt="2")
    third = implement({"src/calc/part_1_1.py": part("a third")}, task="1.1")
    long.planned(*parts("1.1"), other, third, **WHOLE)
    told = long.swarm("run", exits=1).stdout
    assert [each.attempt for each in long.events(ev.TaskCompleted)] == [1, 2, 3]
    newest = [each.culprits[0].commit for each in long.events(ev.PhaseRegressed)]
    assert newest == [each.commit for each in long.events(ev.TaskCompleted)]
    assert "Task 1.1 is blocked: (tests) since its commit" in told
    long.swarm("skip", "1.1", "--reason", "the guard is right")
    told = long.swarm("run", exits=3).stdout
    long.swarm("verify")


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_dies_while_the_phase_is_tested_tests_it_again(
    long: Project, tmp_path: Path, ending: signal.Signals
) -> None:
    seen = tmp_path / "seen"
    seen.mkdir()
    wait = f"import time\nfolder = pathlib.Path({str(seen)!r})\nfirst = not (folder / 'ran').exists()\n"
    guard(long, "True", f"{wait}(folder / 'ran').touch()\ntime.sleep(600 if first else 0)\n")
    long.planned(*parts("1.1"), **WHOLE, commands={"writable": [str(seen)]})
    process = long.start("run")
    until((seen / "ran").exists)
    process.send_signal(ending)
    assert process.stderr is not None
    if ending is signal.SIGINT:
        while "safe point" not in process.stderr.readline():
            pass
        process.send_signal(ending)
    process.communicate(timeout=60)
    assert long.events(ev.PhaseReviewed) == []
    long.swarm("run", exits=3)
    assert [each.review.approved for each in long.events(ev.PhaseReviewed)] == [True]
    assert long.git("status", "--porcelain", "--", ".", ":!.swarm") == ""
    long.swarm("verify")


def test_the_culprit_is_found_past_a_merge_and_a_commit_of_the_users(long: Project) -> None:
    guard(long, "not (here / 'part_1_2.py').exists()")
    long.planned(*parts("1.1", "1.2"), rule("coder", "code", {"fault": {"kind": "403"}}, task="1.2"), **WHOLE)
    long.swarm("run", exits=5)
    work = long.git("branch", "--show-current")
    long.git("switch", "-qc", "side", "main")
    long.write("notes.txt", "of the side\n")
    long.git("add", "notes.txt")
    long.git("commit", "-qm", "Notes")
    long.git("switch", "-q", work)
    long.git("merge", "-q", "--no-edit", "--no-ff", "side")
    long.play(*parts("1.1", "1.2"), **WHOLE, loop={"max_rejections": 1})
    long.swarm("run", exits=1)
    first = long.events(ev.PhaseRegressed)[0]
    assert [each.task for each in first.culprits] == ["1.2"]


@pytest.mark.suite("unittest")
def test_the_first_tests_of_a_project_are_older_than_no_phase(project: Project) -> None:
    """Before the phase there was no test, which is no failure: the task that brought a red one is the culprit."""
    project.git("rm", "-q", "-r", "tests")
    project.write("lib/one.py", '"""One."""\n')
    project.git("add", "--all")
    project.git("commit", "-qm", "No tests")
    suite = {"name": "lib", "paths": ["lib"], "folder": "lib", "command": project.test_command}
    web = {"name": "src", "paths": ["src"], "command": project.test_command.replace("tests", "lib/tests")}
    body = "    def test_start(self):\n        assert not os.path.exists('../src/calc/part_1.2.py')\n"
    red = f"import os\nimport unittest\n\n\nclass T(unittest.TestCase):\n{body}"
    first = {"lib/part_1.py": part("1"), "lib/tests/test_one.py": red}
    project.planned(
        plan(task("1.1", files=list(first)), task("1.2")),
        code(first, task="1.1"),
        tests={"suite": [suite, web], "command": None, "must_fail": "off", "vanished": "off"},
        loop={"max_rejections": 1},
    )
    told = project.swarm("run", exits=1).stderr
    assert project.events(ev.PhaseRegressed), told
    assert [each.task for each in project.events(ev.PhaseRegressed)[0].culprits] == ["1.2"]

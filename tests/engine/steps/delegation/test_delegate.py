"""Delegation: one task at a time, on the branch of the work, from a clean tree."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.project import GOAL, Project, call, delegate, plan, rule

from swarmgate.domain.events import event as ev
from swarmgate.domain.state.state import TaskStatus
from swarmgate.engine import Swarm

pytestmark = pytest.mark.suite("unittest")


@pytest.mark.slow
def test_a_delegation_that_names_another_open_task_is_refused(project: Project) -> None:
    good = [call("delegate", instructions="Write the part.")]
    project.planned(
        plan("1.1", "1.2"),
        rule("architect", "delegate", [call("delegate", instructions="Do it, and task 1.2 too.")], good, task="1.1"),
    )
    project.swarm("run", exits=3)
    told = [r.messages[-1]["content"] for r in project.requests if r.headers["STEP"] == "delegate"][1]
    assert "name 1.2, the id of another open task" in told


@pytest.mark.slow
def test_a_scope_with_a_file_of_another_open_task_is_refused(project: Project) -> None:
    greedy = [call("declare_scope", files=["src/calc/part_1.1.py", "src/calc/part_1.2.py"])]
    project.planned(plan("1.1", "1.2"), rule("architect", "delegate", greedy, [call("delegate", instructions="Go.")]))
    project.swarm("run", exits=1)
    assert project.state.task("1.1").status is TaskStatus.BLOCKED


@pytest.mark.slow
def test_an_architect_that_never_delegates_well_blocks_the_task(project: Project) -> None:
    project.planned(plan("1.1", "1.2"), delegate("Do 1.2 as well.", task="1.1"))
    assert "(breaker: replies) architect (delegate)" in project.swarm("run", exits=1).stdout
    shown = project.swarm("show", "1.1").stdout
    assert "swarm retry 1.1" in shown
    assert "swarm override" not in shown
    assert not project.events(ev.TaskDelegated)
    project.play(plan("1.1", "1.2"))
    project.swarm("retry", "1.1")
    project.swarm("run", exits=3)


@pytest.mark.slow
def test_a_scope_that_leads_out_of_the_repository_is_refused(project: Project) -> None:
    (project.root / "out").symlink_to("/etc")
    project.git("add", "--all")
    project.git("commit", "--quiet", "--message=Link")
    project.planned(delegate(scope=("out/passwd",)))
    project.swarm("run", exits=1)
    told = [r.messages[-1]["content"] for r in project.requests if r.headers["STEP"] == "delegate"][1]
    assert "leads out of the repository" in told


def test_a_dirty_tree_is_refused_with_the_list(project: Project) -> None:
    project.planned()
    project.write("mine.txt", "mine\n")
    project.write("AGENTS.md", "changed\n")
    told = project.swarm("run", exits=2).stderr
    assert "mine.txt" in told
    assert "AGENTS.md" in told
    assert "--stash" in told
    assert project.git("branch", "--show-current") == "main"
    assert (project.root / "mine.txt").read_text() == "mine\n"


@pytest.mark.slow
def test_stash_puts_the_changes_aside_and_pop_brings_them_back(project: Project) -> None:
    project.planned()
    project.write("mine.txt", "mine\n")
    project.swarm("run", "--stash", exits=3)
    assert not (project.root / "mine.txt").exists()
    project.git("stash", "pop")
    assert (project.root / "mine.txt").read_text() == "mine\n"


@pytest.mark.slow
def test_changes_of_the_user_between_two_tasks_are_refused_too(project: Project) -> None:
    project.planned(plan("1.1", "2.1"))
    project.swarm("run", exits=3)
    project.swarm("approve")
    project.write("mine.txt", "mine\n")
    assert "mine.txt" in project.swarm("run", exits=2).stderr
    project.swarm("run", "--stash", exits=3)
    assert "mine.txt" not in project.git("show", "--name-only", "--format=")


@pytest.mark.slow
def test_another_branch_is_refused_with_the_way_back(project: Project) -> None:
    project.planned(plan("1.1", "2.1"))
    project.swarm("run", exits=3)
    project.swarm("approve")
    project.git("switch", "--quiet", "main")
    told = project.swarm("run", exits=2).stderr
    assert "The work is on branch swarm/parts, and main is checked out." in told
    assert "git switch swarm/parts" in told
    project.git("switch", "--quiet", "swarm/parts")
    project.swarm("run", exits=3)


@pytest.mark.slow
def test_a_taken_branch_name_gets_a_number(project: Project) -> None:
    project.git("branch", "swarm/parts")
    project.planned()
    project.swarm("run", exits=3)
    assert project.git("branch", "--show-current") == "swarm/parts-2"


def test_an_unfinished_merge_is_refused(project: Project) -> None:
    project.planned()
    (project.root / ".git/MERGE_HEAD").write_text(project.git("rev-parse", "HEAD") + "\n")
    assert "a merge is in progress" in project.swarm("run", exits=2).stderr


@pytest.mark.slow
def test_any_subfolder_will_do(project: Project) -> None:
    project.play()
    below = project.root / "src/calc"
    done = subprocess.run(
        [sys.executable, "-m", "swarmgate", "plan", GOAL], cwd=below, capture_output=True, text=True, check=False
    )
    assert done.returncode == 3, done.stderr
    assert Swarm(below).state.plan is not None


@pytest.mark.slow
def test_a_worktree_works_by_itself(project: Project, tmp_path: Path) -> None:
    project.git("worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"))
    side = Project(tmp_path / "side")
    side.swarm("init")
    side.planned()
    side.swarm("run", exits=3)
    side.silence()
    assert project.git("log", "-1", "--format=%s", "swarm/parts") == "Part 1.1"
    assert project.git("branch", "--show-current") == "main"
    assert side.json("verify")["passed"]


def test_staged_work_of_the_user_is_dirty(project: Project) -> None:
    project.planned()
    project.write("staged.txt", "x\n")
    project.git("add", "staged.txt")
    assert "staged.txt" in project.swarm("run", exits=2).stderr
    assert project.git("diff", "--cached", "--name-only") == "staged.txt"
    assert os.path.lexists(project.root / "staged.txt")

"""The pass of plan sync in its project: an edit of the task that a paused run left open ends that attempt."""

from __future__ import annotations

import pytest
from tests.project import Project, plan

from swarmgate.automation.plan_sync.report import sync
from swarmgate.domain.events import event as ev
from swarmgate.engine.swarm import Swarm
from swarmgate.ledger.ledger import Ledger

pytestmark = pytest.mark.suite("unittest")


@pytest.fixture
def paused(project: Project) -> Project:
    """A run was paused in the middle of task 1.1; what the coder wrote so far lies in the work tree."""
    project.planned(plan("1.1", "1.2"))
    tree = project.git("rev-parse", "HEAD^{tree}")
    delegated = ev.TaskDelegated(
        task="1.1", attempt=1, kind=ev.AttemptKind.CODER, scope=("a.py",), instructions="Write it.", tree=tree
    )
    with Ledger.write(project.folder) as ledger:
        events: list[ev.Event] = [
            ev.RunStarted(pid=1, host="here"),
            ev.WorkStarted(branch="main", base=project.git("rev-parse", "HEAD")),
            delegated,
            ev.RunPaused(reason=ev.PauseReason.STOPPED, detail="asked", between_steps=True),
        ]
        ledger.append(events, expect=ledger.state.seq)
    project.write("half.py", "written = 'by the coder'\n")
    return project


def _edit(project: Project, old: str, new: str) -> None:
    text = project.plan_md
    assert old in text
    project.folder.plan_md.write_text(text.replace(old, new, 1))


def test_an_edit_of_the_open_task_ends_its_attempt_in_one_append(paused: Project) -> None:
    _edit(paused, "Task 1.1: Part 1.1", "Task 1.1: Something else")
    report = sync(Swarm(paused.root).project)
    assert (report.amended, report.interrupted, report.refused) == (("plan.md",), "1.1", ())
    kinds = [line["event"]["type"] for line in paused.lines()][-3:]
    assert kinds == ["tree_restored", "attempt_interrupted", "plan_amended"]
    assert paused.state.open == ""
    assert paused.state.plan is not None
    assert paused.state.plan.tasks["1.1"].title == "Something else"
    assert not (paused.root / "half.py").exists()
    assert [path.read_text() for path in paused.quarantined("*half.py")] == ["written = 'by the coder'\n"]
    assert paused.json("verify")["passed"]


def test_an_edit_of_another_task_leaves_the_attempt_alone(paused: Project) -> None:
    _edit(paused, "Task 1.2: Part 1.2", "Task 1.2: Something else")
    report = sync(Swarm(paused.root).project)
    assert (report.amended, report.interrupted) == (("plan.md",), "")
    assert paused.state.open == "1.1"
    assert (paused.root / "half.py").exists()


def test_a_look_says_what_a_pass_would_do_and_changes_nothing(paused: Project) -> None:
    _edit(paused, "Task 1.1: Part 1.1", "Task 1.1: Something else")
    before = paused.state.seq
    assert sync(Swarm(paused.root).project, check=True).amended == ("plan.md",)
    assert (paused.state.seq, paused.state.open) == (before, "1.1")
    assert (paused.root / "half.py").exists()


def test_every_command_that_writes_takes_such_an_edit_in(paused: Project) -> None:
    _edit(paused, "Task 1.1: Part 1.1", "Task 1.1: Something else")
    told = paused.swarm("skip", "1.2", "--reason", "no need").stderr
    assert "the attempt at task 1.1 ended: you changed the definition of its task" in told
    assert paused.state.open == ""

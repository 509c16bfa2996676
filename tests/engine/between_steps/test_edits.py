"""Hand edits while a run is at work: those of other tasks, those that cannot stand, and those that have to wait."""

from __future__ import annotations

import re

import pytest
from tests.engine.between_steps.edited_run import HALF, HANGS, MARKS, QUICK, Run, edit, kinds
from tests.project import Project, call, part, plan, rule

from swarmgate.domain.events import event as ev
from swarmgate.domain.state.state import TaskStatus

pytestmark = MARKS


@pytest.mark.slow
def test_an_edit_of_another_task_waits_and_disturbs_nobody(project: Project) -> None:
    project.planned(plan("1.1", "1.2"), automation=QUICK)
    assert project.server is not None
    project.server.latency_s = 0.4
    run = Run(project)
    run.until(lambda: project.briefs("coder", "code"))
    edit(project, "part 1.2 has a value", "part 1.2 has ANOTHER value")
    run.until(lambda: project.events(ev.PlanAmended))
    project.server.latency_s = 0
    run.outcome()
    assert not project.events(ev.AttemptInterrupted)
    order = kinds(project)
    assert order.index("task_delegated") < order.index("plan_amended") < order.index("task_completed")
    assert "ANOTHER value" in project.briefs("coder", "code", task="1.2")[0]
    assert project.json("verify")["passed"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("- [ ] Task 1.2", "- [x] Task 1.2", "task 1.2 is pending, and the edit says complete"),
        ("- [ ] Task 1.2", "? Task 1.2", r"plan\.md line \d+"),
    ],
)
def test_a_refused_edit_is_told_and_kept_and_the_run_goes_on(project: Project, old: str, new: str, why: str) -> None:
    project.planned(plan("1.1", "1.2"), rule("coder", "code", HALF, HANGS, attempt="1", task="1.2"), automation=QUICK)
    assert project.server is not None
    project.server.latency_s = 0.3
    run = Run(project)
    run.until(lambda: project.briefs("coder", "code"))
    mine = edit(project, old, new)
    run.until(lambda: "is as the ledger says again" in run.notices)
    project.server.latency_s = 0
    (refused,) = project.events(ev.EditRefused)
    assert re.search(why, refused.problems[0])
    assert re.search(why, run.notices)
    assert refused.kept in run.notices
    assert (project.root / refused.kept).read_text() == mine
    assert mine != project.plan_md  # it is as the ledger says again
    run.until(lambda: project.briefs("coder", "code", task="1.2"))
    edit(project, "Part 1.2", "The other part")  # and a good one after it is taken
    run.outcome()
    assert [event.task for event in project.events(ev.TaskCompleted)] == ["1.1", "1.2"]
    assert project.json("verify")["passed"]


@pytest.mark.slow
def test_removing_the_running_task_is_refused_and_disturbs_nobody(project: Project) -> None:
    project.planned(plan("1.1", "1.2"), automation=QUICK)
    assert project.server is not None
    project.server.latency_s = 0.4
    run = Run(project)
    run.until(lambda: project.briefs("coder", "code"))
    text = project.plan_md
    start, end = text.index("- [ ] Task 1.1"), text.index("- [ ] Task 1.2")
    project.folder.plan_md.write_text(text[:start] + text[end:])
    run.until(lambda: project.events(ev.EditRefused))
    project.server.latency_s = 0
    run.outcome()
    assert "swarm skip 1.1" in project.events(ev.EditRefused)[0].problems[0]
    assert not project.events(ev.AttemptInterrupted)
    assert [event.task for event in project.events(ev.TaskCompleted)] == ["1.1", "1.2"]


@pytest.mark.slow
def test_without_plan_sync_an_edit_waits_for_the_next_command(project: Project) -> None:
    project.planned(plan("1.1", "1.2"), automation__capabilities={"plan_sync": False})
    assert project.server is not None
    project.server.latency_s = 0.2
    run = Run(project)
    run.until(lambda: project.briefs("coder", "code"))
    edit(project, "Part 1.2", "The other part")
    project.server.latency_s = 0
    run.outcome()
    assert not project.events(ev.PlanAmended)
    assert "The other part" in project.plan_md  # nobody wrote over it
    project.swarm("approve", exits=2)  # task 1.2 is complete by now, so the edit cannot stand
    assert project.events(ev.EditRefused)


@pytest.mark.slow
def test_where_nothing_confines_agents_an_edit_waits_for_the_user(project: Project) -> None:
    """It may be the coder's own: easier criteria for its task."""
    ease = (
        "from pathlib import Path\n"
        "plan = Path('.swarm/plan.md')\n"
        "plan.write_text(plan.read_text().replace('part 1.1 has a value', 'nothing'))\n"
        "Path('ease.py').unlink()\n"
    )
    work = [
        call("write_file", path="src/calc/part_1.1.py", content=part("1.1")),
        call("write_file", path="ease.py", content=ease),
        call("run_command", command="python3 ease.py"),
        call("finish", summary="x"),
    ]
    project.planned(rule("coder", "code", work), commands={"sandbox": "none"}, automation=QUICK)
    run = Run(project)
    run.outcome()
    assert run.notices.count("waits for your next command") == 1
    assert not project.events(ev.PlanAmended)
    assert not project.events(ev.AttemptInterrupted)
    assert "part 1.1 has a value" in project.briefs("reviewer", "review")[0]
    project.swarm("approve", exits=2)  # the task is complete by now
    (refused,) = project.events(ev.EditRefused)
    assert "nothing" in (project.root / refused.kept).read_text()


@pytest.mark.slow
def test_what_cannot_be_read_is_moved_away_and_the_run_goes_on(project: Project) -> None:
    project.planned(plan("1.1", "1.2"), automation=QUICK)
    assert project.server is not None
    project.server.latency_s = 0.1
    run = Run(project)
    run.until(lambda: project.briefs("coder", "code"))
    project.folder.plan_json.unlink()
    project.folder.plan_json.mkdir()
    run.outcome()
    assert run.notices.count("plan.json is a folder") == 1
    assert project.state.task("1.2").status is TaskStatus.COMPLETE
    assert project.json("verify")["passed"]

"""Hand edits of the very task that a run works at: its step ends early, and a new attempt begins."""

from __future__ import annotations

import asyncio
import time

import pytest
from tests.engine.between_steps.edited_run import HALF, HANGS, MARKS, QUICK, Run, edit, kinds
from tests.project import Project, call, engineer, part, plan, rule

from swarmgate.domain.events import event as ev
from swarmgate.domain.progress import Progress
from swarmgate.domain.state.state import Outcome, TaskStatus
from swarmgate.errors import Stopped

pytestmark = MARKS


@pytest.mark.slow
def test_a_change_of_the_running_task_interrupts_the_coder_and_a_new_attempt_begins(project: Project) -> None:
    project.planned(rule("coder", "code", HALF, HANGS, attempt="1"), plan("1.1"), automation=QUICK)
    run = Run(project)
    run.until((project.root / "src/calc/part_1.1.py").exists)
    edit(project, "Part 1.1", "The first part")
    run.outcome()
    (ended,) = project.events(ev.AttemptInterrupted)
    assert ended.reason == "the definition of its task was changed by hand"
    assert "task 1.1 was changed in plan.md: its attempt ends here" in run.notices
    assert "your edit of plan.md was taken into the plan" in run.notices
    record = project.state.task("1.1")
    assert [attempt.outcome for attempt in record.attempts] == [Outcome.INTERRUPTED, Outcome.COMPLETE]
    assert not project.events(ev.AttemptRejected)
    assert "The first part" in project.briefs("coder", "code", attempt="2")[0]
    assert project.git("log", "-1", "--format=%s") == "The first part"
    assert [path.read_text() for path in project.quarantined("part_1.1.py")] == ["half\n"]
    assert (project.root / "src/calc/part_1.1.py").read_text() == part("1.1")
    order = kinds(project)
    before = order[: order.index("attempt_interrupted")]
    assert "usage_recorded" in before[before.index("task_delegated") :]  # what the cut turn used is on record
    assert order[order.index("attempt_interrupted") + 1] == "plan_amended"
    assert project.json("verify")["passed"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("role", "step"), [("reviewer", "review"), ("test_engineer", "test"), ("architect", "implement")]
)
def test_every_turn_at_the_running_task_is_interrupted(project: Project, role: str, step: str) -> None:
    rejected = [rule("reviewer", "review", [call("submit_verdict", verdict="REJECTED", summary="no", findings=[])])]
    # The first attempt that reaches the turn hangs in it.
    first = "2" if step == "implement" else "1"
    more = [rejected[0]] if step == "implement" else []
    again = [{**each, "match": {**each["match"], "attempt": "1"}} for each in more]
    project.planned(rule(role, step, HANGS, attempt=first), *again, automation=QUICK, loop={"max_rejections": 1})
    run = Run(project)
    run.until(lambda: project.briefs(role, step))
    edit(project, "part 1.1 has a value", "part 1.1 has a good value")
    run.outcome()
    record = project.state.task("1.1")
    assert [attempt.outcome for attempt in record.attempts][-2:] == [Outcome.INTERRUPTED, Outcome.COMPLETE]
    assert record.attempts[-1].kind is ev.AttemptKind.CODER  # it starts afresh
    assert "a good value" in project.briefs("coder", "code")[-1]
    assert project.json("verify")["passed"]


@pytest.mark.slow
def test_the_tests_are_interrupted_too(project: Project) -> None:
    test = (
        "import time\nimport unittest\nfrom pathlib import Path\n\n\nclass TestSlow(unittest.TestCase):\n"
        "    def test_slow(self) -> None:\n        time.sleep({})\n"
        "        self.assertTrue(Path('src/calc/part_1.1.py').exists())\n"
    )
    slow = engineer({"tests/test_slow.py": test.format(60)}, attempt="1")
    project.planned(slow, engineer({"tests/test_slow.py": test.format(0)}, attempt="2"), automation=QUICK)
    run = Run(project)
    run.until(lambda: run.at("run_tests"))
    edit(project, "Part 1.1", "The first part")
    run.outcome()
    assert [a.outcome for a in project.state.task("1.1").attempts] == [Outcome.INTERRUPTED, Outcome.COMPLETE]
    assert project.state.task("1.1").status is TaskStatus.COMPLETE


@pytest.mark.slow
def test_a_commit_is_never_cut_and_the_edit_comes_too_late(project: Project) -> None:
    project.planned(automation=QUICK)
    project.hook("pre-commit", "touch .git/committing; sleep 1")
    run = Run(project)
    run.until((project.root / ".git/committing").exists)
    edit(project, "Part 1.1", "The first part")
    run.outcome()
    assert project.state.task("1.1").status is TaskStatus.COMPLETE
    (refused,) = project.events(ev.EditRefused)
    assert "Task 1.1 is complete" in refused.problems[0]
    assert "Put what has to change into a new task" in refused.problems[0]
    assert "The first part" in (project.root / refused.kept).read_text()


@pytest.mark.slow
def test_an_edit_during_the_delegation_opens_the_next_attempt_on_the_new_definition(project: Project) -> None:
    project.planned(automation=QUICK)
    assert project.server is not None
    project.server.latency_s = 0.5
    run = Run(project)
    run.until(lambda: project.briefs("architect", "delegate"))
    edit(project, "Part 1.1", "The first part")
    run.until(lambda: project.events(ev.PlanAmended))
    project.server.latency_s = 0
    run.outcome()
    assert [a.outcome for a in project.state.task("1.1").attempts] == [Outcome.INTERRUPTED, Outcome.COMPLETE]
    assert all("The first part" in brief for brief in project.briefs("coder", "code"))


@pytest.mark.slow
def test_an_edit_that_is_taken_back_in_time_costs_the_turn_and_not_the_attempt(project: Project) -> None:
    whole = [call("write_file", path="src/calc/part_1.1.py", content=part("1")), call("finish", summary="done")]
    once = {"fault": {"kind": "hang", "times": 1}}
    project.planned(rule("coder", "code", HALF, once, whole), automation=QUICK)
    run = Run(project)
    run.until((project.root / "src/calc/part_1.1.py").exists)
    before = project.plan_md

    def undo(progress: Progress) -> None:
        if "its attempt ends here" in progress.text:
            project.folder.plan_md.write_text(before)

    run.on_told = undo
    edit(project, "Part 1.1", "The first part")
    run.outcome()
    assert not project.events(ev.PlanAmended)
    assert not project.events(ev.AttemptInterrupted)
    assert [a.outcome for a in project.state.task("1.1").attempts] == [Outcome.COMPLETE]
    assert project.quarantined("part_1.1.py")  # the half turn is no part of what was judged
    assert project.json("verify")["passed"]


@pytest.mark.slow
def test_a_file_that_an_editor_is_still_writing_is_not_read(project: Project) -> None:
    project.planned(rule("coder", "code", HALF, HANGS, attempt="1"), automation={"debounce_s": 0.3})
    run = Run(project)
    run.until(lambda: project.briefs("coder", "code"))
    text = project.plan_md.replace("Part 1.1", "The first part")
    for length in range(0, len(text), len(text) // 8):
        project.folder.plan_md.write_text(text[:length])
        time.sleep(0.1)
    project.folder.plan_md.write_text(text)
    run.outcome()
    assert not project.events(ev.EditRefused)
    assert len(project.events(ev.AttemptInterrupted)) == 1
    assert project.git("log", "-1", "--format=%s") == "The first part"


def test_stopping_at_once_is_as_ever_while_edits_are_watched(project: Project) -> None:
    project.planned(rule("coder", "code", HALF, HANGS), automation=QUICK)
    run = Run(project)
    run.until((project.root / "src/calc/part_1.1.py").exists)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        run.outcome()
    (ended,) = project.events(ev.AttemptInterrupted)
    assert ended.reason == "stopped at once by the user"
    assert project.events(ev.RunPaused)[-1].reason is ev.PauseReason.INTERRUPTED
    assert not (project.root / "src/calc/part_1.1.py").exists()


@pytest.mark.slow
def test_an_interruption_by_an_edit_is_a_safe_point_to_stop_at(project: Project) -> None:
    project.planned(rule("coder", "code", HALF, HANGS), automation=QUICK)
    run = Run(project)
    run.until((project.root / "src/calc/part_1.1.py").exists)
    run.swarm.interrupt()
    edit(project, "Part 1.1", "The first part")
    with pytest.raises(Stopped):
        run.outcome()
    assert project.events(ev.RunPaused)[-1].between_steps
    assert project.events(ev.PlanAmended)
    assert not project.state.open

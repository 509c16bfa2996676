"""Hand edits of the plan files while a run is at work."""

from __future__ import annotations

import asyncio
import contextlib
import re
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future

import pytest
from tests.confined import SANDBOX
from tests.project import Project, call, engineer, part, plan, rule, until

from swarmgate.domain import events as ev
from swarmgate.domain.state import Outcome, TaskStatus
from swarmgate.engine import Swarm
from swarmgate.engine.outcome import RunOutcome
from swarmgate.engine.progress import Progress
from swarmgate.errors import Stopped

pytestmark = [
    pytest.mark.suite("unittest"),
    pytest.mark.skipif(SANDBOX == "none", reason="without a sandbox edits wait for the next command"),
]

HANGS = {"fault": {"kind": "hang"}}
HALF = [call("write_file", path="src/calc/part_1.1.py", content="half\n")]
QUICK = {"debounce_s": 0.1}


class Run:
    """A run in a thread of this process, while somebody edits files."""

    def __init__(self, project: Project) -> None:
        self.told: list[Progress] = []
        self.on_told: Callable[[Progress], None] = lambda _: None
        self.swarm = Swarm(project.root, listener=self._listen)
        self.ended: Future[RunOutcome] = Future()
        self.loop = asyncio.new_event_loop()
        self.task = self.loop.create_task(self.swarm.run())
        self.thread = threading.Thread(target=self._work, daemon=True)
        self.thread.start()

    def _work(self) -> None:
        with contextlib.closing(self.loop):
            try:
                self.ended.set_result(self.loop.run_until_complete(self.task))
            except BaseException as error:  # noqa: BLE001 - raised again by `outcome`
                self.ended.set_exception(error)
            self.loop.run_until_complete(self.loop.shutdown_default_executor())

    def _listen(self, progress: Progress) -> None:
        self.told.append(progress)
        self.on_told(progress)

    def cancel(self) -> None:
        self.loop.call_soon_threadsafe(self.task.cancel)

    def until(self, condition: Callable[[], object]) -> None:
        def come_true() -> object:
            if self.ended.done():
                self.ended.result()
            return condition()

        until(come_true)

    def outcome(self) -> RunOutcome:
        found = self.ended.result(40)
        self.thread.join(10)
        return found

    @property
    def notices(self) -> str:
        return "\n".join(each.text for each in self.told if each.kind == "notice")

    def at(self, step: str) -> bool:
        return any(each.kind == "step" and each.step == step for each in self.told)


def edit(project: Project, old: str, new: str) -> str:
    """Replaces a text in plan.md; the whole text that is there now."""
    text = project.plan_md
    assert old in text
    project.folder.plan_md.write_text(text.replace(old, new, 1))
    return text.replace(old, new, 1)


def kinds(project: Project) -> list[str]:
    return [line["event"]["type"] for line in project.lines()]


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

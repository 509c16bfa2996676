from __future__ import annotations

import asyncio
import os
import signal
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.project import GOAL, Project, call, part, plan, rule, save, task
from tests.server.runs.conftest import ADA, BO, Served, until

from swarmgate.domain.events import event as ev
from swarmgate.errors import IllegalMove, LedgerLocked, LedgerWriteFailed, NotFound, UsageError
from swarmgate.journal.lock import live_owner
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.server.runs.goals import now
from swarmgate.server.runs.model import Goal, Verb, Wanted

FINISH = call("finish", summary="done")
pytestmark = [pytest.mark.slow, pytest.mark.suite("unittest")]

WRITES = {"tool_calls": [call("write_file", path="src/calc/part_{{task}}.py", content=part("{{task}}")), FINISH]}
SLOW = rule("coder", "code", [call("run_command", command="sleep 2")], WRITES)
"""A coder that takes two seconds."""
HANGS = {"fault": {"kind": "hang", "times": 1}}
"""The first time that a role is asked, it never answers."""


def types(served: Served, subject: str) -> list[str]:
    return [each.type for each in served.changes if each.subject == subject]


def said(served: Served, goal: Goal) -> list[tuple[str, str]]:
    """What people decided, as the ledger has it."""
    entries = [entry for entry, _ in served.swarm(goal).project.ledger().entries()]
    return [(entry.event.type, entry.actor) for entry in entries if entry.actor.startswith("user:")]


def recorded(served: Served, goal: Goal, kind: type[ev.Event]) -> list[ev.Event]:
    entries = [entry for entry, _ in served.swarm(goal).project.ledger().entries()]
    return [entry.event for entry in entries if isinstance(entry.event, kind)]


async def approved(served: Served) -> Goal:
    """A goal whose plan was approved."""
    goal = await served.created()
    served.swarm(goal).approve()
    return goal


async def at_work(served: Served, goal: Goal, step: str = "code") -> None:
    """Returns when a role of the goal was asked for a step."""
    await until(lambda: any(each.headers.get("STEP") == step for each in served.project.requests))
    await until(lambda: bool(live_owner(SwarmFolder(Path(goal.path)).lock)))


async def typed(terminal: Project, *args: str, exits: int = 0) -> None:
    """Runs a command as somebody at a terminal in the project would."""
    process = terminal.start(*args)
    out, err = await asyncio.to_thread(process.communicate)
    assert process.returncode == exits, f"{args}: {process.returncode}\n{out}{err}"


async def test_a_goal_is_planned_approved_by_name_and_run_to_its_end_in_a_clone(served: Served) -> None:
    served.project.play(plan("1.1"))
    await served.runs.start()
    goal = await served.created()
    assert goal.ended
    assert (goal.ended.exit_code, goal.ended.message) == (3, "")
    assert served.swarm(goal).approve() == ("the plan",)
    await served.runs.want(goal.id, Verb.RUN, by=ADA)
    assert (await served.ended(goal.id)).exit_code == 3
    assert served.swarm(goal, BO).approve() == ("phase 1",)
    assert said(served, goal) == [("goal_set", ADA), ("plan_approved", ADA), ("phase_approved", BO)]
    assert served.swarm(goal).state.finished
    assert served.swarm(goal).state.branch == f"swarm/{goal.id}/parts"
    assert served.project.git("branch", "--format=%(refname:short)") == "main"
    assert not served.project.events(ev.GoalSet)
    assert types(served, goal.id) == [
        "goal_created",
        *("run_queued", "run_started", "run_ended"),
        *("run_queued", "run_started", "run_ended"),
    ]
    report = served.swarm(goal).status()
    assert (report.plan_approver, report.phases[0].approver) == ("ada", "bo")


async def test_goals_wait_for_their_turn_in_the_order_in_which_they_were_asked_for(served: Served) -> None:
    served.project.play()
    served.again(concurrency=1)
    goals = [served.goals.create(served.repo, f"Goal {at}", owner="a-1", by=ADA) for at in range(3)]
    for each in goals:
        served.runs.created(each)
    assert served.runs.queued() == tuple(each.id for each in goals)
    await served.runs.start()
    most = 0
    while any(served.goals.get(each.id).wanted for each in goals):
        most = max(most, len(served.runs.working()))
        await asyncio.sleep(0.01)
    assert most == 1
    started = [each.subject for each in served.changes if each.type == "run_started"]
    assert started == [each.id for each in goals]


async def test_what_is_wanted_twice_is_refused_and_what_is_unknown_is_told(served: Served) -> None:
    goal = served.goals.create(served.repo, "Add parts", owner="a-1", by=ADA)
    with pytest.raises(IllegalMove, match="The plan is under way"):
        await served.runs.want(goal.id, Verb.RUN, by=ADA)
    with pytest.raises(NotFound):
        await served.runs.want("g-000000000000", Verb.RUN, by=ADA)
    with pytest.raises(UsageError, match="takes no force"):
        await served.runs.want(goal.id, Verb.RUN, by=ADA, force=True)
    with pytest.raises(UsageError, match="no end of a run"):
        await served.runs.want(goal.id, Verb.RUN, by=ADA, until="never")
    with pytest.raises(UsageError, match="what should be different"):
        await served.runs.want(goal.id, Verb.REVISE, by=ADA, text=" ")
    for act in (served.runs.stop, served.runs.pause, served.runs.resume):
        with pytest.raises(NotFound):
            await act("g-000000000000", by=ADA)


async def test_a_run_that_is_stopped_ends_at_a_safe_point_and_is_not_taken_up_by_itself(served: Served) -> None:
    served.project.play(SLOW)
    await served.runs.start()
    goal = await approved(served)
    await served.runs.want(goal.id, Verb.RUN, by=ADA)
    await at_work(served, goal)
    assert (await served.runs.stop(goal.id, by=BO)).startswith("pid ")
    ended = await served.ended(goal.id)
    assert (ended.exit_code, ended.code) == (130, "STOPPED")
    assert ("run_stopped", BO) in [(each.type, each.actor) for each in served.changes]
    await asyncio.sleep(1.2)
    assert not served.runs.working()
    assert await served.runs.stop(goal.id, by=BO) == ""


async def test_a_run_that_is_paused_goes_on_when_it_is_resumed(served: Served) -> None:
    served.project.play(SLOW)
    await served.runs.start()
    goal = await approved(served)
    await served.runs.want(goal.id, Verb.RUN, by=ADA)
    await at_work(served, goal)
    await served.runs.pause(goal.id, by=ADA)
    await until(lambda: not served.runs.working())
    wanted = served.goals.get(goal.id).wanted
    assert wanted is not None
    assert wanted.paused
    assert served.runs.queued() == ()
    await served.runs.resume(goal.id, by=ADA)
    assert (await served.ended(goal.id)).exit_code == 3
    with pytest.raises(IllegalMove):
        await served.runs.resume(goal.id, by=ADA)


async def test_a_server_that_ends_leaves_what_is_wanted_to_the_next_one(served: Served) -> None:
    served.project.play(SLOW)
    await served.runs.start()
    goal = await approved(served)
    await served.runs.want(goal.id, Verb.RUN, by=ADA)
    await at_work(served, goal)
    await served.runs.close(grace_s=20)
    assert not live_owner(served.goals.records.lock(goal.id))
    assert served.goals.get(goal.id).wanted
    await served.again().start()
    assert (await served.ended(goal.id)).exit_code == 3
    assert len(recorded(served, goal, ev.TaskCompleted)) == 1


async def test_a_worker_that_is_killed_is_begun_again_and_nothing_is_done_twice(served: Served) -> None:
    served.project.play(rule("coder", "code", {**HANGS, "then": WRITES}), plan("1.1", "1.2"))
    await served.runs.start()
    goal = await approved(served)
    await served.runs.want(goal.id, Verb.RUN, by=ADA)
    await at_work(served, goal)
    os.kill(served.runs.working()[0].pid, signal.SIGKILL)
    assert (await served.ended(goal.id)).exit_code == 3
    done = [each.task for each in recorded(served, goal, ev.TaskCompleted)]  # type: ignore[union-attr]  # of that kind
    assert done == ["1.1", "1.2"]
    assert len(recorded(served, goal, ev.GoalSet)) == 1


async def test_a_worker_that_outlives_its_server_is_found_and_no_second_one_begun(served: Served) -> None:
    served.project.play(SLOW)
    await served.runs.start()
    goal = await approved(served)
    await served.runs.want(goal.id, Verb.RUN, by=ADA)
    await at_work(served, goal)
    (before,) = served.runs.working()
    left = served.runs._scheduler
    left._round.cancel()  # type: ignore[union-attr]  # a server that is gone without a word
    left._at_work.clear()
    await served.again().start()
    (after,) = served.runs.working()
    assert after.pid == before.pid
    await asyncio.sleep(1.2)
    assert [each.pid for each in served.runs.working()] == [before.pid]
    await served.runs.stop(goal.id, by=ADA)
    assert (await served.ended(goal.id)).code == "STOPPED"


async def test_a_limit_that_names_its_end_is_resumed_by_itself(served: Served) -> None:
    limit = {"fault": {"kind": "429", "times": 1, "headers": {"retry-after-ms": "3000"}}, "then": WRITES}
    served.project.play(rule("coder", "code", limit), loop={"wait_limit": 0}, providers__local={"max_retries": 0})
    await served.runs.start()
    goal = await approved(served)
    await served.runs.want(goal.id, Verb.RUN, by=ADA)
    await until(lambda: bool((now := served.goals.get(goal.id)).ended and now.ended.verb == "run"))
    waiting = served.goals.get(goal.id)
    assert waiting.ended
    assert waiting.wanted
    assert (waiting.ended.exit_code, waiting.ended.code) == (4, "LIMIT")
    assert waiting.wanted.not_before == waiting.ended.until
    assert datetime.fromisoformat(waiting.ended.until) > datetime.fromisoformat(waiting.ended.time)
    assert (await served.ended(goal.id)).exit_code == 3
    assert datetime.now(UTC) > datetime.fromisoformat(waiting.ended.until)


async def test_an_error_of_the_endpoint_is_told_with_its_hint_and_nothing_goes_on_by_itself(served: Served) -> None:
    served.project.play()
    await served.runs.start()
    goal = await approved(served)
    served.project.silence()
    await served.runs.want(goal.id, Verb.RUN, by=ADA)
    ended = await served.ended(goal.id)
    assert (ended.exit_code, ended.code) == (5, "ENDPOINT_FAILED")
    assert ended.message


async def test_settings_of_a_server_in_a_project_are_told(served: Served) -> None:
    served.project.play()
    config = served.project.folder.config
    config.write_text(f"{config.read_text()}\n[server]\nport = 1\n")
    await served.runs.start()
    goal = await served.created()
    assert goal.ended
    assert goal.ended.code == "CONFIG"
    assert "server" in goal.ended.message


async def test_a_repository_that_is_gone_is_told(served: Served) -> None:
    await served.runs.start()
    goal = served.goals.create(served.repo, "Add parts", owner="a-1", by=ADA)
    served.project.root.rename(served.project.root.parent / "moved")
    served.runs.created(goal)
    ended = await served.ended(goal.id)
    assert ended.exit_code == 2
    assert "project" in ended.message


async def test_questions_are_answered_by_name_and_planning_goes_on(served: Served) -> None:
    served.project.play(
        rule("architect", "plan", [call("ask_user", questions=["Which unit?"])]), plan("1.1", contains="IN-METRES")
    )
    await served.runs.start()
    goal = await served.created()
    assert served.swarm(goal).status().waiting == "answers"
    await served.runs.want(goal.id, Verb.PLAN, by=BO, answers={1: "IN-METRES"})
    assert (await served.ended(goal.id)).exit_code == 3
    assert said(served, goal) == [("goal_set", ADA), ("question_answered", BO)]
    (asked,) = served.swarm(goal).state.questions
    assert asked.in_words.endswith("IN-METRES (bo)")


async def test_an_answer_of_the_facade_is_gone_on_from(served: Served) -> None:
    served.project.play(
        rule("architect", "plan", [call("ask_user", questions=["Which unit?"])]), plan("1.1", contains="IN-METRES")
    )
    await served.runs.start()
    goal = await served.created()
    async with served.runs.following(goal.id, Verb.PLAN, by=BO):
        served.swarm(goal, BO).answer(1, "IN-METRES")
    assert (await served.ended(goal.id)).exit_code == 3
    assert said(served, goal) == [("goal_set", ADA), ("question_answered", BO)]
    assert served.swarm(goal).status().waiting == "plan_approval"


async def test_an_approval_that_its_server_did_not_outlive_is_gone_on_from_by_the_next(served: Served) -> None:
    served.project.play()
    await served.runs.start()
    goal = await served.created()
    with pytest.raises(IllegalMove):
        async with served.runs.following(goal.id, Verb.RUN, by=ADA):
            raise IllegalMove("it was decided otherwise")
    assert served.goals.get(goal.id).wanted is None
    deciding = served.runs.following(goal.id, Verb.RUN, by=ADA)
    await deciding.__aenter__()
    served.swarm(goal).approve()
    assert not served.runs.working()
    await served.runs.close()
    await served.again().start()
    assert (await served.ended(goal.id)).exit_code == 3
    assert len(recorded(served, goal, ev.TaskCompleted)) == 1


async def test_an_approval_that_comes_before_the_worker_is_gone_is_gone_on_from(served: Served) -> None:
    served.project.play()
    await served.runs.start()
    goal = await served.created()
    planned = served.goals.records.change(
        goal.id, lambda each: each.model_copy(update={"wanted": Wanted(verb=Verb.PLAN, by=ADA, asked=now())})
    )[1]
    assert planned.wanted

    async def ends() -> None:
        await asyncio.sleep(0.2)
        served.goals.records.change(goal.id, lambda each: each.model_copy(update={"wanted": None}))

    ending = asyncio.create_task(ends())
    async with served.runs.following(goal.id, Verb.RUN, by=ADA):
        served.swarm(goal).approve()
    await ending
    assert (await served.ended(goal.id)).exit_code == 3
    assert len(recorded(served, goal, ev.TaskCompleted)) == 1


async def test_a_plan_that_was_approved_before_its_worker_died_is_done(served: Served) -> None:
    served.project.play()
    await served.runs.start()
    goal = await served.created()
    served.swarm(goal).approve()
    await served.runs.close()
    wanted = Wanted(verb=Verb.PLAN, by=ADA, asked=now())
    served.goals.records.change(goal.id, lambda each: each.model_copy(update={"wanted": wanted}))
    await served.again().start()
    ended = await served.ended(goal.id)
    assert (ended.verb, ended.exit_code, ended.code) == (Verb.PLAN, 0, "")
    assert not recorded(served, goal, ev.TaskCompleted)


async def test_a_plan_is_revised_once_however_often_its_worker_dies(served: Served) -> None:
    served.project.play(
        rule("architect", "revise", {**HANGS, "then": {"tool_calls": [save(task("1.1"), task("1.2"))]}})
    )
    await served.runs.start()
    goal = await served.created()
    await served.runs.want(goal.id, Verb.REVISE, by=BO, text="Two parts")
    await at_work(served, goal, "revise")
    os.kill(served.runs.working()[0].pid, signal.SIGKILL)
    assert (await served.ended(goal.id)).exit_code == 3
    assert said(served, goal) == [("goal_set", ADA), ("revision_requested", BO)]
    state = served.swarm(goal).state
    assert state.plan
    assert list(state.plan.tasks) == ["1.1", "1.2"]


async def test_what_the_server_began_the_command_line_goes_on_with_and_the_other_way_round(served: Served) -> None:
    served.project.play(plan("1.1", "2.1"))
    await served.runs.start()
    goal = await served.created()
    terminal = Project(Path(goal.path), served.project.suite)
    await typed(terminal, "approve")
    await typed(terminal, "run", exits=3)
    await typed(terminal, "approve")
    await served.runs.want(goal.id, Verb.RUN, by=ADA)
    assert (await served.ended(goal.id)).exit_code == 3
    await typed(terminal, "approve")
    await typed(terminal, "verify")
    assert served.swarm(goal).state.finished
    assert len(recorded(served, goal, ev.TaskCompleted)) == 2


async def test_the_server_waits_until_somebody_at_a_terminal_is_done(served: Served) -> None:
    served.project.play(SLOW)
    await served.runs.start()
    goal = await approved(served)
    terminal = Project(Path(goal.path), served.project.suite)
    process = terminal.start("run")
    try:
        await at_work(served, goal)
        await served.runs.want(goal.id, Verb.RUN, by=ADA)
        await asyncio.sleep(1.5)
        assert not served.runs.working()
        assert served.runs.queued() == (goal.id,)
        assert await served.runs.stop(goal.id, by=ADA)
        assert await asyncio.to_thread(process.wait, 30) == 130
    finally:
        process.kill()
        process.communicate()
    await served.runs.want(goal.id, Verb.RUN, by=ADA)
    assert (await served.ended(goal.id)).exit_code == 3


async def test_a_checkout_is_run_where_somebody_asks_for_it(served: Served) -> None:
    project = served.project
    project.play()
    await typed(project, "plan", GOAL, exits=3)
    await typed(project, "approve")
    (goal,) = served.goals.list()
    await served.runs.start()
    assert await served.runs.stop(goal.id, by=ADA) == ""
    await served.runs.want(goal.id, Verb.RUN, by=ADA)
    assert (await served.ended(goal.id)).exit_code == 3
    assert project.state.branch == "swarm/parts"
    assert len(project.events(ev.TaskCompleted)) == 1


async def test_a_disk_that_is_full_refuses_what_is_wanted_and_loses_nothing(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    served.project.play()
    await served.runs.start()
    goal = await approved(served)

    def full(*_: object, **__: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr(os, "open", full)
        with pytest.raises((LedgerWriteFailed, LedgerLocked, OSError)):
            await served.runs.want(goal.id, Verb.RUN, by=ADA)
    assert served.goals.get(goal.id).wanted is None
    await served.runs.want(goal.id, Verb.RUN, by=ADA)
    assert (await served.ended(goal.id)).exit_code == 3

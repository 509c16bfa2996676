"""Breakers in a run: what a tripped one means at each step, and what `swarm status` shows meanwhile."""

from __future__ import annotations

import json

import pytest
from tests.misbehaviour.case import case
from tests.project import GOAL, Project, call, code, implement, part, rule, until

from swarmgate.domain.events import event as ev
from swarmgate.domain.guard import Effect
from swarmgate.domain.state.state import Outcome, Planning, TaskStatus

pytestmark = pytest.mark.suite("unittest")

TALK = {"text": "I would rather talk."}
PART = "src/calc/part_1.1.py"


@pytest.mark.slow
@case(
    "loops",
    "a coder that loops in a run",
    "the attempt is `REJECTED (breaker: repeats)`, and the next brief says what it did last",
)
def test_a_repeating_coder_is_rejected_and_told_what_it_did(project: Project) -> None:
    looking = rule("coder", "code", [call("write_file", path=PART, content=part("1.1"))], [call("list_files")])
    looking["match"]["attempt"] = "1"
    project.planned(looking, code({PART: part("again")}, attempt="2"))
    project.swarm("run", exits=3)
    first, second = project.state.task("1.1").attempts
    assert (first.stage, second.outcome) == ("breaker: repeats", Outcome.COMPLETE)
    assert "- Attempt 1: REJECTED (breaker: repeats) - coder (code), model local/junior: made the" in project.plan_md
    assert first.files == (PART,)  # what it had written is on record, and the next attempt opens on it
    assert project.events(ev.TaskDelegated)[1].tree == first.tree
    brief = project.briefs("coder", "code")[1]
    assert "What the role did last:" in brief
    assert "list_files {} -> " in brief
    notes = [event.note for event in project.events(ev.GuardActed) if event.note.rule == "breaker"]
    assert [note.effect for note in notes] == [Effect.WARNED, Effect.REJECTED]
    (group,) = project.json("failures")
    assert group["stage"] == "breaker: repeats"


@pytest.mark.slow
def test_outside_of_an_attempt_nothing_is_tried_again_without_the_user(project: Project) -> None:
    project.play(rule("architect", "plan", TALK))
    assert "3 replies in a row without a tool call" in project.swarm("plan", GOAL, exits=1).stdout
    assert project.state.planning is Planning.FAILED
    project.planned(rule("architect", "delegate", TALK), loop={"replies": 9})
    told = project.swarm("run", exits=1).stdout
    assert "(breaker: idle) architect (delegate)" in told
    assert project.state.task("1.1").status is TaskStatus.BLOCKED
    assert not project.state.task("1.1").attempts
    project.play(rule("architect", "close_phase", TALK))
    project.swarm("retry", "1.1")
    assert "architect (close_phase)" in project.swarm("run", exits=5).stderr
    assert "paused: error: architect (close_phase)" in project.swarm("status").stdout
    project.play()
    assert "waits for your approval" in project.swarm("run", exits=3).stdout


@pytest.mark.slow
def test_status_shows_the_counts_of_a_run_in_another_process(project: Project) -> None:
    project.planned(rule("coder", "code", [call("list_files"), call("run_command", command="sleep 20")]))
    run = project.start("run")
    until(lambda: (project.json("status")["breakers"] or {}).get("role") == "coder")
    until(lambda: project.json("status")["breakers"]["breakers"][0]["count"] == 2)
    shown = project.swarm("status").stdout
    assert "  turn: coder (code): tool calls 2/200, wall time " in shown
    run.kill()
    run.communicate()
    assert project.folder.breakers.exists()  # it had no time to clear up
    assert project.json("status")["breakers"] is None
    assert "turn:" not in project.swarm("status").stdout


@pytest.mark.slow
def test_the_bounds_are_the_users_and_each_trace_names_the_size_of_its_brief(project: Project) -> None:
    project.planned(
        rule("coder", "code", [call("list_files")]),
        implement({PART: part("by the architect")}),
        breakers__roles__coder={"repeats": 2},
        loop={"max_rejections": 1},
        roles__architect={"model": "local/senior", "context_tokens": 1000},
    )
    project.swarm("run", exits=3)
    (first, second) = project.state.task("1.1").attempts
    assert first.reason.startswith("coder (code), model local/junior: made the same call 2 times")
    traces = [json.loads(path.read_text()) for path in sorted(project.folder.traces.glob("*-coder-code.json"))]
    assert len(traces) == 2
    (turn,) = [event.turn for event in project.events(ev.TurnEnded) if event.turn.role == "coder"]
    assert {trace["purpose"]["brief_tokens"] for trace in traces} == {str(turn.brief_tokens)}
    assert second.outcome is Outcome.COMPLETE

"""Patterns across attempts, end to end: advice, the architect's warning, the stop, and the way out."""

from __future__ import annotations

import pytest
from tests.misbehaviour.case import case
from tests.project import Project, code, part, plain, review

from swarmgate.domain.events.event import GuardActed, TaskBlocked
from swarmgate.domain.guard import Effect

pytestmark = pytest.mark.suite("unittest")

SHOW = "What the attempts so far show"
WARN = "STOP AND THINK"


def notes(project: Project) -> list[tuple[str, Effect, int]]:
    acted = [event for event in project.events(GuardActed) if event.note.rule == "trajectory"]
    return [(event.task, event.note.effect, event.note.attempt) for event in acted]


@pytest.mark.slow
@case(
    "loops",
    "repetition loop: the same work is handed in again after each rejection",
    "advice, then the architect, then the stop: `trajectory: repetition loop`",
)
def test_a_coder_that_hands_in_the_same_again_is_advised_told_on_and_stopped(project: Project) -> None:
    project.planned(
        code({"src/calc/part_1.1.py": part("stubborn")}),
        review("REJECTED", "objection {{attempt}}"),
        loop={"max_rejections": 5},
    )
    told = project.swarm("run", exits=1).stdout
    assert "Task 1.1 is blocked: (trajectory: repetition loop)" in told
    assert "seen 3 times" in told
    assert notes(project) == [("1.1", Effect.NOTED, 2), ("1.1", Effect.WARNED, 3), ("1.1", Effect.STOPPED, 4)]
    (blocked,) = project.events(TaskBlocked)
    assert blocked.stage == "trajectory: repetition loop"
    coder, architect = project.briefs("coder", "code"), project.briefs("architect", "delegate")
    assert [SHOW in brief for brief in coder] == [False, False, True, True]
    assert "attempt 2 left the very files of attempt 1" in coder[2]
    assert [WARN in brief for brief in architect] == [False, False, False, True]
    assert architect[3].index(WARN) < architect[3].index("The task to delegate")
    shown = plain(project.swarm("show", "1.1").stdout)
    assert "trajectory" in shown
    assert "attempt 4 left the very files of attempt 3" in shown
    assert "swarm retry 1.1" in shown
    assert "(trajectory: repetition loop)" in project.plan_md


@pytest.mark.slow
def test_after_a_retry_the_work_goes_on_and_can_end_well(project: Project) -> None:
    stubborn = code({"src/calc/part_1.1.py": part("stubborn")})
    project.planned(stubborn, review("REJECTED", "objection {{attempt}}"), loop={"max_rejections": 5})
    project.swarm("run", exits=1)
    project.swarm("retry", "1.1", "--note", "say what it is")
    project.play(review())
    project.swarm("run", exits=3)
    assert WARN in project.briefs("architect", "delegate")[-1]
    told = [("1.1", Effect.NOTED, 2), ("1.1", Effect.WARNED, 3), ("1.1", Effect.STOPPED, 4)]
    assert notes(project) == told  # what stands in the ledger of an attempt is not told again after the retry
    assert project.swarm("show", "1.1").stdout.startswith("Task 1.1: Part 1.1 [SMALL] - complete")


@pytest.mark.slow
def test_an_escalated_architect_reads_it_too(project: Project) -> None:
    stubborn = code({"src/calc/part_1.1.py": part("stubborn")})
    project.planned(stubborn, review("REJECTED", "objection {{attempt}}"))
    project.swarm("run", exits=1)
    (brief,) = project.briefs("architect", "implement")
    assert SHOW in brief
    assert "attempt 2 left the very files of attempt 1" in brief

"""A pipe that an agent gives the name of a file that git opens ends no run."""

from __future__ import annotations

import os

import pytest
from tests.engine.test_replayed_turns import hanging, killed_at
from tests.misbehaviour.case import case
from tests.project import Project, call, part, rule

from swarmgate.domain.events import event as ev

pytestmark = pytest.mark.suite("unittest")

PART = call("write_file", path="src/calc/part_1.1.py", content=part("1.1"))
FINISH = call("finish", summary="x")


@pytest.mark.slow
@case(
    "commands",
    "a command makes `.gitattributes` a pipe and a tracked file a socket, so that git waits or fails",
    "taken away after the command, on record, and the work goes on",
)
@pytest.mark.parametrize("then", [[], [call("run_gates")], [call("list_files")]], ids=["end", "gates", "list"])
def test_a_pipe_in_the_place_of_gits_own_file(project: Project, then: list[dict[str, object]]) -> None:
    trap = call(
        "run_command", command="mkfifo .gitattributes src/.gitignore; rm AGENTS.md; mkfifo AGENTS.md; mkdir -p d"
    )
    back = call("write_file", path="AGENTS.md", content=(project.root / "AGENTS.md").read_text())
    project.planned(rule("coder", "code", [PART, trap, *then], [back, FINISH]))
    project.swarm("run", exits=3)
    assert project.state.task("1.1").status.value == "complete"
    told = [each.messages[-1 - len(then)]["content"] for each in project.requests if each.headers["ROLE"] == "coder"]
    assert any("Taken away" in text and "src/.gitignore" in text for text in told)
    notes = [event.note.detail for event in project.events(ev.GuardActed) if event.note.rule == "authority"]
    assert "3 taken back into .swarm/quarantine/" in notes[0]


@pytest.mark.slow
def test_a_pipe_that_a_killed_run_left_is_taken_away_by_the_next(project: Project) -> None:
    project.planned(rule("coder", "code", *hanging([[PART], [FINISH]], 1)))
    killed_at(project, ("run",), "coder", "code", 1)
    os.mkfifo(project.root / ".gitattributes")
    project.swarm("run", exits=3)
    assert project.state.task("1.1").status.value == "complete"
    assert not (project.root / ".gitattributes").exists()

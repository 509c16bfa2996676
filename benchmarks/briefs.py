"""Measures whether briefs grow with the project: a run of 50 tasks, each role's brief at the first and last task.

    python benchmarks/briefs.py [TASKS]

The team is scripted (`swarmgate.testing`); everything else is a real run: phases of ten tasks, each closed with
decisions and lessons that the next ones are told, real gates and tests. The sizes are those that the ledger holds of
each turn, at a token per 4 characters. Target: the last brief is at most 10% larger than the first. It takes some
minutes.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from workload import MODULE, TEST, make_project

from swarmgate.domain.events.event import TurnEnded
from swarmgate.domain.next_step import Waiting
from swarmgate.engine import Swarm
from swarmgate.ledger.ledger import Ledger
from swarmgate.workspace.process.background import serving

TASKS, PHASE = 50, 10
TARGET = 1.10
GUIDE = """# Conventions

- Python 3.11, types everywhere, docstrings that say what is returned and what is raised.
- A function does one thing. Input is checked where it comes in, with ValueError.
- Tests with pytest, one behaviour a test, named by what they show.
- No new dependencies. No prints. Errors carry the value that was wrong.
"""


def number_of(task: int) -> str:
    """The id of the n-th task, from 0."""
    return f"{task // PHASE + 1}.{task % PHASE + 1}"


def planned(task: int) -> dict[str, Any]:
    n = f"{task + 1:02d}"
    return {
        "id": number_of(task),
        "title": f"Part {n}: scaled values",
        "description": f"The module part_{n} offers scaled_{n}(values, factor): every value times the factor.",
        "acceptance": [
            "every value of the list is multiplied by the factor",
            "a negative factor raises ValueError, and its message names the factor",
            "the list that was passed in is not changed",
        ],
        "files": [f"src/pkg/part_{n}.py", f"tests/test_part_{n}.py"],
        "depends": [number_of(task - 1)] if task % PHASE else [],
        "complexity": "SMALL",
    }


def plan(tasks: int) -> dict[str, Any]:
    """The arguments of `save_plan`: phases of ten tasks."""
    phases = [
        {
            "name": f"Parts, series {start // PHASE + 1}",
            "tasks": [planned(n) for n in range(start, min(start + PHASE, tasks))],
        }
        for start in range(0, tasks, PHASE)
    ]
    return {"title": "Fifty parts", "phases": phases}


def team(tasks: int) -> list[dict[str, Any]]:
    """The rules of a team that does each task at the first attempt."""
    approve = {"verdict": "APPROVED", "summary": "Does what it should.", "findings": []}
    closing = {
        "summary": "The series stands.",
        "decisions": [
            f"In phase {{{{phase}}}} it was decided that scaled values of kind {n} stay lists" for n in range(12)
        ],
        "lessons": [f"Phase {{{{phase}}}} taught that a factor of kind {n} has to be checked first" for n in range(12)],
    }
    rules = [
        rule("architect", "plan", ("save_plan", plan(tasks))),
        rule("critic", "review_plan", ("submit_verdict", approve)),
        rule("reviewer", "review", ("submit_verdict", approve)),
        rule("architect", "close_phase", ("close_phase", closing)),
        rule(
            "architect",
            "delegate",
            ("delegate", {"instructions": "Write the module and its tests as the criteria say."}),
        ),
    ]
    for task in range(tasks):
        n = f"{task + 1:02d}"
        module = {"path": f"src/pkg/part_{n}.py", "content": MODULE.format(n=n)}
        tests = {
            "path": f"tests/test_part_{n}.py",
            "content": TEST.replace(", {n})", ", 3)").replace("{n}, 2 * {n}", "3, 6").format(n=n),
        }
        names = ["test_every_value_is_scaled", "test_negative_factors_are_refused", "test_every_value_is_scaled"]
        criteria = [{"criterion": str(at), "tests": [name]} for at, name in enumerate(names, start=1)]
        rules += [
            rule("coder", "code", ("write_file", module), ("finish", {"summary": "Written."}), task=number_of(task)),
            rule(
                "test_engineer",
                "test",
                ("write_file", tests),
                ("submit_verdict", {**approve, "criteria": criteria}),
                task=number_of(task),
            ),
        ]
    return rules


def rule(role: str, step: str, *calls: tuple[str, dict[str, Any]], **match: str) -> dict[str, Any]:
    replies = [{"tool_calls": [{"name": name, "arguments": arguments}]} for name, arguments in calls]
    return {"match": {"role": role, "step": step, **match}, "replies": replies}


async def work(folder: Path) -> None:
    """Plans, and runs phase after phase until nothing is left to do."""
    swarm = Swarm(folder)
    await swarm.plan("Fifty parts that scale values")
    swarm.approve()
    while (outcome := await swarm.run()).waiting is Waiting.PHASE_APPROVAL:
        print(f"phase {outcome.phase} done", file=sys.stderr)
        swarm.approve()
    assert outcome.waiting is Waiting.NOTHING, outcome


def briefs(folder: Path, task: str) -> dict[str, int]:
    """The tokens of the first brief of each role for a task."""
    found: dict[str, int] = {}
    for entry, _ in Ledger.read(Swarm(folder).folder).entries():
        event = entry.event
        if isinstance(event, TurnEnded) and event.task == task:
            found.setdefault(f"{event.turn.role} ({event.turn.step})", event.turn.brief_tokens)
    return found


def main() -> None:
    tasks = int(sys.argv[1]) if len(sys.argv) > 1 else TASKS
    with tempfile.TemporaryDirectory() as name:
        script, project = Path(name) / "script.json", Path(name) / "project"
        script.write_text(json.dumps({"rules": team(tasks)}))
        with serving([sys.executable, "-m", "swarmgate.testing", str(script), "--until-stdin-closes"]) as base_url:
            make_project(project, base_url)
            (project / "AGENTS.md").write_text(GUIDE)
            for arguments in (("add", "AGENTS.md"), ("commit", "--quiet", "-m", "Conventions")):
                subprocess.run(["git", *arguments], cwd=project, check=True)
            asyncio.run(work(project))
        first, last = briefs(project, number_of(0)), briefs(project, number_of(tasks - 1))
    print(f"{tasks} tasks; tokens of the brief")
    print(f"{'':<26}{'task 1':>8}{f'task {tasks}':>10}{'ratio':>8}")
    for role, size in first.items():
        print(f"{role:<26}{size:>8}{last[role]:>10}{last[role] / size:>8.2f}")
    print(f"target: at most {TARGET:.2f}")
    if any(last[role] > size * TARGET for role, size in first.items()):
        sys.exit(1)


if __name__ == "__main__":
    main()

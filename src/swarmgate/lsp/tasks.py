"""The tasks of plan.md as lines above them: where each stands, and what a person can do about it with a click."""

from __future__ import annotations

import re
from pathlib import Path

from lsprotocol import types

from swarmgate.domain.state.state import State, TaskStatus
from swarmgate.engine.swarm import Swarm

SHOW, RETRY, STATUS = "swarmgate.show", "swarmgate.retry", "swarmgate.status"
COMMANDS = (SHOW, RETRY, STATUS)

_TITLE = re.compile(r"# ")
_TASK = re.compile(r"- \[.\] Task (?P<task>[^:\s]+):")


def lenses(text: str, state: State) -> list[types.CodeLens]:
    """The lines above the title and the tasks of a plan.

    Args:
        text: of plan.md, as the editor has it.
        state: of the project; tasks that it does not know get no line.
    """
    found = []
    for number, line in enumerate(text.splitlines()):
        if number == 0 and _TITLE.match(line):
            found.append(_lens(number, "swarm status", STATUS))
        task = match["task"] if (match := _TASK.match(line)) else ""
        if state.plan is None or task not in state.plan.tasks:
            continue
        record = state.task(task)
        attempts = f", attempt {len(record.attempts)}" if record.attempts else ""
        found.append(_lens(number, f"{record.status.value.replace('_', ' ')}{attempts}: show", SHOW, task))
        if record.status is TaskStatus.BLOCKED:
            found.append(_lens(number, "retry", RETRY, task))
    return found


def told(start: Path, command: str, task: str) -> str:
    """Does what a line offers, and says what came of it.

    Raises:
        SwarmError: it cannot be done, as the facade says.
    """
    swarm = Swarm(start)
    if command == RETRY:
        swarm.retry(task)
        return f"Task {task} is tried again by the next: swarm run"
    if command == STATUS:
        report = swarm.status()
        return "\n".join(
            [f"{report.title or report.goal or 'No goal yet'}: {report.waiting or report.step}", *report.actions]
        )
    shown = swarm.show(task)
    tries = [f"attempt {each.number}: {each.outcome} {each.reason}".strip() for each in shown.attempts]
    return "\n".join([f"Task {task}: {shown.task.title} ({shown.status})", *filter(None, [shown.reason]), *tries])


def _lens(line: int, title: str, command: str, *arguments: str) -> types.CodeLens:
    place = types.Position(line, 0)
    called = types.Command(title=title, command=command, arguments=list(arguments))
    return types.CodeLens(range=types.Range(start=place, end=place), command=called)

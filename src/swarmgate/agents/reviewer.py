"""The reviewer: judges a change by the diff and the gates' results, never by what its author says. Reads only."""

from __future__ import annotations

from collections.abc import Sequence

from swarmgate.agents.brief import Brief, Section, bullets, task_text
from swarmgate.agents.desk import Desk
from swarmgate.agents.toolbox import Toolbox
from swarmgate.agents.turn import take_turn
from swarmgate.agents.verdict import review_of, signed
from swarmgate.domain.evidence import Review
from swarmgate.domain.plan import Task


async def review(
    desk: Desk,
    *,
    task: Task,
    attempt: int,
    scope: Sequence[str],
    patch: str,
    gates: str,
    test_command: str,
    outside: Sequence[str],
) -> Review:
    """Judge the change.

    Args:
        desk: the reviewer's surroundings.
        task: the task that the change is for.
        attempt: its number, from 1.
        scope: the files that were declared for it.
        patch: the whole change against the task's base, as a diff.
        gates: the results of the gates over it.
        test_command: how the project's tests are run.
        outside: changed files outside of the scope.

    Raises:
        NoUsableReply: no verdict within the bound; otherwise as `take_turn`.
    """
    sections = (
        Section("The task", task_text(task)),
        Section("Declared scope", bullets(scope)),
        Section("Changed files outside of the scope", bullets(outside)),
        Section("Results of the gates", gates),
        Section("Test command", test_command),
        Section("The change", patch),
    )
    brief = Brief("reviewer", "review", task=task.id, attempt=attempt, files=tuple(scope), sections=sections)
    return signed(await take_turn(desk, brief, work=Toolbox(desk).handlers, endings={"submit_verdict": review_of}))

"""`swarm failures`: shows which rejections recur."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swarmgate.terminal.options import Json, Repo
from swarmgate.terminal.terminal import boundary

if TYPE_CHECKING:
    from swarmgate.engine.reports.failures import FailureGroup

_TEXTS = 5
"""As many texts of a group are shown; --json has all."""


def command(repo: Repo = None, json: Json = False) -> None:
    """Show every rejection, grouped by who rejected and why. It covers all goals and runs.

    A failure that three tasks share is told with what it points at: a gate, a prompt, the plan, a model.

    Example: swarm failures
    """
    with boundary(json) as terminal:
        from swarmgate.engine.swarm import Swarm

        groups = Swarm(repo).failures()
        lines = [line for group in groups for line in _lines(group)]
        terminal.result([group.model_dump(mode="json") for group in groups], lines or ["Nothing was rejected."])


def _lines(group: FailureGroup) -> list[str]:
    who = f"{group.stage}, {group.rule}" if group.rule else group.stage
    more = len(group.texts) - _TEXTS
    return [
        f"{group.count} x ({who}) in {', '.join(group.tasks)}",
        *(f"    {text}" for text in group.texts[:_TEXTS]),
        *([f"    and {more} more like it (--json shows all)"] if more > 0 else []),
        *([f"  -> {group.advice}"] if group.advice else []),
        *(f"     {source}" for source in group.sources),
    ]

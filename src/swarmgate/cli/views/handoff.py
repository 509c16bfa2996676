"""`swarm handoff`: writes one page with which a person or another architect can continue."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from swarmgate.terminal.options import Json, Repo, filled
from swarmgate.terminal.terminal import boundary


def command(
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", callback=filled, help="Write it there; .swarm/handoff.md by default."),
    ] = None,
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Write one page on where the work stands, for somebody else.

    It has goal, decisions, failures, next step, how to run, risks.

    Keys stand in it by the names of their variables only. An older page is replaced, no other file is. The ledger is
    not changed.

    Example: swarm handoff --out HANDOFF.md
    """
    with boundary(json) as terminal:
        from swarmgate.engine.swarm import Swarm

        handoff = Swarm(repo).automation.handoff(out=out)
        terminal.result(handoff, handoff.page.splitlines())
        terminal.note(f"Written to {handoff.path}")

"""`swarm report`: writes one self-contained HTML page with plots about the goal, or about one phase of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from swarmgate.terminal.options import Json, Repo, filled
from swarmgate.terminal.terminal import boundary


def command(
    phase: Annotated[
        int | None, typer.Option("--phase", metavar="N", min=1, help="Only this phase; the whole goal by default.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", callback=filled, help="Write it there; .swarm/report.html by default."),
    ] = None,
    open_it: Annotated[
        bool, typer.Option("--open", help="Open it in the browser ($BROWSER, else the system's).")
    ] = False,
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Write one HTML page about the goal, with plots and changes.

    Timeline, cost, rejections, criteria and tests, changes, evidence.
    It needs no network and no script, fits a phone, and can be printed. Keys are masked in it. An older page is
    replaced, no other file is. The ledger is not changed.

    Example: swarm report --phase 2 --open
    """
    with boundary(json) as terminal:
        from swarmgate.engine.swarm import Swarm

        swarm = Swarm(repo)
        report = swarm.report(phase=phase or 0, out=out)
        opened = not open_it or swarm.open_page(report.path)
        terminal.result(report, [f"{report.path}: {report.size:,} bytes"])
        if not opened:
            terminal.note("Nothing on this machine opens pages: open the file in a browser yourself.")

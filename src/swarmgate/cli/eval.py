"""`swarm eval`: measures swarmgate itself on labelled data."""

from __future__ import annotations

from typing import Annotated

import typer

from swarmgate.cli.options import Json
from swarmgate.cli.terminal import boundary

app = typer.Typer(
    help="Measure how often the gates are right, on labelled data.",
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
)


@app.command("gates")
def gates(
    sets: Annotated[list[str] | None, typer.Argument(metavar="SET[=PATH]", help="Labelled sets; see `list`.")] = None,
    gate: Annotated[list[str] | None, typer.Option("--gate", metavar="GATE", help="Only cases of this gate.")] = None,
    sample: Annotated[
        int | None, typer.Option("--sample", metavar="N", min=1, help="At most N cases of a set, chosen at random.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Of the random choice.")] = 0,
    json: Json = False,
) -> None:
    """Print hits, false alarms and misses of the gates on labelled sets; without a set, on those made on the spot.

    Example: swarm eval gates stubs owasp=../BenchmarkPython
    """
    with boundary(json) as terminal:
        from swarmgate.evaluation.gates import evaluate
        from swarmgate.evaluation.report import lines

        report = evaluate(tuple(sets or ()), gates=tuple(gate or ()), sample=sample, seed=seed)
        terminal.result(report, lines(report))


@app.command("list")
def listing(json: Json = False) -> None:
    """List the labelled sets: what each measures, and what data it needs.

    Example: swarm eval list
    """
    with boundary(json) as terminal:
        from swarmgate.evaluation.gates import known

        sets = known()
        width = max(map(len, sets))
        terminal.result(dict(sets), [f"{name:<{width}}  {about}" for name, about in sets.items()])

"""The `swarm` command: every verb, in the order in which a project needs them."""

from __future__ import annotations

from typing import Annotated

import typer

from swarmgate import __version__
from swarmgate.cli import (
    approve,
    demo,
    doctor,
    failures,
    gates,
    history,
    init,
    override,
    plan,
    retry,
    revise,
    run,
    show,
    skip,
    status,
    stop,
    verify,
)

app = typer.Typer(
    help="Drive a coding project phase by phase with a team of model-backed agents, and prove every step with gates.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_VERBS = (init, plan, approve, run, revise, stop, status, show, history, failures, verify)
_DECISIONS = (retry, skip, override)

for _verb in (*_VERBS, *_DECISIONS):
    app.command(_verb.__name__.rpartition(".")[2])(_verb.command)
app.add_typer(gates.app, name="gates")
for _verb in (doctor, demo):
    app.command(_verb.__name__.rpartition(".")[2])(_verb.command)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"swarmgate {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    del version

"""The `swarm` command: every verb, in the order in which a project needs them. Each is loaded when it is used."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from swarmgate import __version__

VERBS = (
    "init",
    "plan",
    "approve",
    "run",
    "revise",
    "stop",
    "status",
    "show",
    "history",
    "failures",
    "verify",
    "retry",
    "skip",
    "override",
    "gates",
    "doctor",
    "demo",
)
"""Each is a file beside this one, with a `command`, or with an `app` of its own where it has verbs below it."""

_LOOK: dict[str, Any] = {"rich_markup_mode": None, "add_completion": False, "pretty_exceptions_enable": False}


class Verbs(TyperGroup):
    """The group of all verbs."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names, in our order."""
        del ctx
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The verb of that name, from its file; None where there is none."""
        del ctx
        if cmd_name not in VERBS:
            return None
        verb = import_module(f"swarmgate.cli.{cmd_name}")
        if hasattr(verb, "app"):
            return typer.main.get_command(verb.app)
        single = typer.Typer(**_LOOK)
        single.command(cmd_name)(verb.command)
        return typer.main.get_command(single)


app = typer.Typer(
    cls=Verbs,
    help="Drive a coding project phase by phase with a team of model-backed agents, and prove every step with gates.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    **_LOOK,
)


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

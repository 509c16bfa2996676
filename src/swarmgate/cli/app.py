"""The `swarm` command: every verb, in the order in which a project needs them. Each is loaded when it is used."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from swarmgate import __version__
from swarmgate.cli.terminal import report
from swarmgate.errors import UsageError

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
    "guard",
    "dispatch",
    "debate",
    "chat",
    "discuss",
    "decide",
    "critique",
    "orchestrate",
    "metrics",
    "sync",
    "watch",
    "automation",
    "events",
    "hooks",
    "preflight",
    "evidence",
    "drift",
    "handoff",
    "eval",
    "doctor",
    "agents",
    "demo",
)
"""Each is a file beside this one, with a `command`, or with an `app` of its own where it has verbs below it."""

_LOOK: dict[str, Any] = {"rich_markup_mode": None, "add_completion": False, "pretty_exceptions_enable": False}


class Verbs(TyperGroup):
    """The group of all verbs."""

    def main(self, *args: Any, **extra: Any) -> Any:
        """Runs the command line; with `--json` wrong usage is told as JSON too."""
        given = extra.get("args")
        if "--json" not in (sys.argv[1:] if given is None else given):
            return super().main(*args, **extra)
        try:
            code = super().main(*args, **{**extra, "standalone_mode": False})
        except Exception as error:
            if not hasattr(error, "format_message"):  # not typer's own: whether that is click's differs by version
                raise
            context = getattr(error, "ctx", None)
            command = f"{context.command_path} {context.help_option_names[0]}" if context else "swarm --help"
            report(UsageError(error.format_message(), hint=f"Try '{command}' for help."), as_json=True)
            code = UsageError.exit_code
        sys.exit(code if isinstance(code, int) else 0)

    def list_commands(self, ctx: Any) -> list[str]:
        """The names, in our order."""
        del ctx
        from swarmgate.cli import council

        return [*VERBS, *(each for each in council.verbs() if each not in VERBS)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The verb of that name, from its file; None where there is none."""
        del ctx
        if cmd_name not in VERBS:
            from swarmgate.cli import council

            known = cmd_name in council.verbs()
            return typer.main.get_command(council.app_of(cmd_name)) if known else None
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

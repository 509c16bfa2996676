"""The `swarm` command: loads the module of a verb when the verb is used."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from swarmgate.cli.verbs import VERBS, WIDEST
from swarmgate.council.patterns import PATTERNS
from swarmgate.errors import UsageError
from swarmgate.terminal.terminal import report
from swarmgate.version import __version__

_COMPLETE = "_SWARM_COMPLETE"
"""The variable by which a shell asks for completions: the one that typer's scripts for shells set."""

_SHELLS = ("bash", "zsh", "fish")

_LOOK: dict[str, Any] = {"rich_markup_mode": None, "add_completion": False, "pretty_exceptions_enable": False}


class Verbs(TyperGroup):
    """The group of all verbs."""

    def main(self, *args: Any, **extra: Any) -> Any:
        """Runs the command line, or completes one for a shell; with `--json` wrong usage is told as JSON too."""
        if _COMPLETE in os.environ:
            from typer._completion_classes import completion_init

            completion_init()
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

    def invoke(self, ctx: Any) -> Any:
        """Runs the verb; wrong usage loses the words of the library that noticed it."""
        try:
            return super().invoke(ctx)
        except Exception as error:
            if hasattr(error, "format_message") and hasattr(error, "message"):
                error.message = error.message.removeprefix("Value error, ")
            raise

    def list_commands(self, ctx: Any) -> list[str]:
        """The names, in our order."""
        del ctx
        return [*VERBS, *(each.verb for each in PATTERNS.values() if each.verb not in VERBS)]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Writes the verbs under the headings of their groups, each with its whole line."""
        lines = self._lines(ctx)
        widest = max(map(len, lines))
        for group in dict.fromkeys(verb.group for verb in VERBS.values()):
            with formatter.section(group):
                named = (name for name in lines if (VERBS[name].group if name in VERBS else "Council") == group)
                formatter.write_dl([(name.ljust(widest), lines[name]) for name in named])

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """The verbs that begin like this, none of them loaded; after a dash the options."""
        if incomplete.startswith("-"):
            return super().shell_complete(ctx, incomplete)
        lines = self._lines(ctx).items()
        verbs = TyperGroup(commands={name: TyperCommand(name, short_help=line) for name, line in lines})
        return verbs.shell_complete(type(ctx)(verbs), incomplete)

    def _lines(self, ctx: Any) -> dict[str, str]:
        """The line of every verb, in our order; a verb is only loaded where it is not in the table."""
        return {
            name: VERBS[name].line if name in VERBS else self.get_command(ctx, name).get_short_help_str(WIDEST)
            for name in self.list_commands(ctx)
        }

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The verb of that name, from its file; None where there is none."""
        if cmd_name not in VERBS:
            if cmd_name not in self.list_commands(ctx):
                return None
            from swarmgate.cli.council import verbs

            return typer.main.get_command(verbs.app_of(cmd_name))
        verb = import_module(VERBS[cmd_name].module(cmd_name))
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


def _print_completion(shell: str) -> None:
    if shell:
        from typer._completion_shared import get_completion_script

        if shell not in _SHELLS:
            raise typer.BadParameter(f"there is none for {shell!r}, but for {', '.join(_SHELLS)}")
        typer.echo(get_completion_script(prog_name="swarm", complete_var=_COMPLETE, shell=shell))
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    completion: Annotated[
        str,
        typer.Option(
            "--show-completion",
            metavar="SHELL",
            callback=_print_completion,
            is_eager=True,
            help="Print the completion script: bash, zsh or fish.",
        ),
    ] = "",
) -> None:
    del version, completion

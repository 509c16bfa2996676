"""The `swarm` command: every verb, in the order in which a project needs them. Each is loaded when it is used."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from swarmgate import __version__
from swarmgate.cli.terminal import report
from swarmgate.council.patterns import PATTERNS
from swarmgate.errors import UsageError

VERBS = {
    "init": "Make .swarm/ in this repository: settings, gates and prompts to override, the ledger.",
    "plan": "Have the architect plan a goal and the critic review the plan.",
    "approve": "Approve what waits for you: the plan, or the checkpoint of a phase.",
    "run": "Work task by task until it is your turn: a phase checkpoint, a blocked task, a question.",
    "revise": "Have the architect change the plan as you say; the critic reviews it, then it waits for your approval.",
    "stop": "Ask the running `swarm run` to stop at its next safe point.",
    "status": "Show where the work stands: phases, the running task, tokens and cost, and what you can do next.",
    "show": "Show one task: its criteria, every attempt with who rejected it and why, and what you may do.",
    "history": "Show what happened, in order: every recorded event in words.",
    "failures": "Show every rejection of all goals and runs, grouped by who rejected and by what the messages have "
    "in common.",
    "verify": "Walk the ledger's chain and compare it with the plan files, the evidence and git.",
    "retry": "Have a blocked or rejected task tried again, on the tree as it stands.",
    "skip": "Give a task up.",
    "override": "Overrule the last rejection of a task.",
    "gates": "Run the quality gates by hand, list and explain them, accept findings, look for their tools.",
    "guard": "Ask the guards what they would do.",
    "dispatch": "Have voices that only read work on tasks: swarm dispatch --mode MODE TASKS.toml (see: swarm "
    "dispatch hold --help).",
    "debate": 'Hold a debate: swarm debate "QUESTION", or swarm debate FILE.toml (see: swarm debate hold --help).',
    "chat": "Hold a swarm chat: swarm chat FILE.toml (see: swarm chat hold --help).",
    "discuss": 'Hold a discussion: swarm discuss "TOPIC" (see: swarm discuss hold --help).',
    "decide": 'Have several decide: swarm decide "QUESTION", or swarm decide FILE.toml (see: swarm decide hold '
    "--help).",
    "critique": 'Make something and improve it: swarm critique "TASK", or swarm critique FILE.toml (see: swarm '
    "critique hold --help).",
    "orchestrate": "Do the steps of a file one after the other: swarm orchestrate FILE (see: swarm orchestrate hold "
    "--help).",
    "metrics": "Print, pattern by pattern: executions, convergence rate, mean rounds, scores, duration, tokens and "
    "cost.",
    "sync": "Take hand edits of plan.md and plan.json into the plan, and bring both files up to date.",
    "watch": "Take hand edits of the plan in, and do what `[automation]` and `[hooks]` switch on.",
    "automation": "Show what happens beside the loop, and switch it on or off in .swarm/config.toml.",
    "events": "Show the events of the ledger and of automation in order of time: when, which file, who, the type, "
    "in words.",
    "hooks": "List your commands on events ([hooks] in .swarm/config.toml), or try one.",
    "preflight": "Look whether a phase can begin: tree, branch, plan, evidence, tools, models, budget, disk, lint, "
    "secrets, tests.",
    "evidence": "Show how complete the evidence of every attempt is: swarm evidence [TASK] (see: swarm evidence show "
    "--help).",
    "drift": "Compare the decisions on record with what came after them.",
    "handoff": "Write and print one page on where the work stands: goal, decisions, failures, next step, how to "
    "run, risks.",
    "eval": "Measure how often the gates are right, and whether debates are worth their cost, on labelled data.",
    "doctor": "Check git, settings, models, endpoints, guards, gates' tools, tests, .swarm/ and the ledger.",
    "agents": "Coding agents of the command line as roles: which are known, and whether one works here.",
    "demo": "Show the main job: plan, approve, run, a rejected and an escalated attempt, a checkpoint.",
}
"""Each is a file beside this one, with a `command`, or with an `app` of its own where it has verbs below it.

The line is the first of its help: `swarm --help` prints it without loading the verb. A test holds both to be the same.
"""

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
        return [*VERBS, *(each.verb for each in PATTERNS.values() if each.verb not in VERBS)]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Writes the verbs with their lines; a verb is only loaded where it has none."""
        lines = {name: TyperCommand(name, help=line) for name, line in VERBS.items()}
        commands = {name: lines.get(name) or self.get_command(ctx, name) for name in self.list_commands(ctx)}
        TyperGroup(commands=commands).format_commands(ctx, formatter)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The verb of that name, from its file; None where there is none."""
        if cmd_name not in VERBS:
            if cmd_name not in self.list_commands(ctx):
                return None
            from swarmgate.cli import council

            return typer.main.get_command(council.app_of(cmd_name))
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

"""`swarm agents`: lists the agents of the settings, and lists and tries agent programs that play roles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from swarmgate.terminal.options import Json, Repo, filled
from swarmgate.terminal.terminal import Terminal, boundary
from swarmgate.terminal.verb_group import VerbGroup

if TYPE_CHECKING:
    from pathlib import Path

    from swarmgate.evaluation.agent_trials import Known, Trial

app = typer.Typer(
    cls=VerbGroup,
    help="List coding agents that can be roles, and test one here.",
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
)

_Strings = list[str] | None


@app.callback()
def _group() -> None:
    """List coding agents that can be roles, and test one here."""


@app.command("list")
def listed(repo: Repo = None, json: Json = False) -> None:
    """List the agents of the settings (`[agents.NAME]`), and the agent programs that are known.

    Of a program: whether it is here, how it speaks, and a table for the settings. Works in any folder, where there are
    no agents of settings. Each program that is here is asked for its version, without a network.

    Example: swarm agents list
    """
    with boundary(json) as terminal:
        from swarmgate.evaluation import agent_trials

        found, own = agent_trials.known(), _registered(repo, terminal)
        data = {each.name: each.model_dump(mode="json") for each in found}
        lines = [line for each in found for line in _lines(each)]
        terminal.result(
            {**data, **({"registry": own} if own else {})},
            [*(f"{name}: {_told(each)}" for name, each in own.items()), *([""] if own else []), *lines],
        )


@app.command("test")
def tried(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A role of your settings, or a known program; not with --model.")
    ] = "",
    model: Annotated[
        str | None,
        typer.Option("--model", metavar="MODEL", callback=filled, help="As in [roles.ROLE]: acp:... or command:..."),
    ] = None,
    way: Annotated[
        str | None,
        typer.Option("--way", metavar="WAY", callback=filled, help="Of a known program: acp, events or plain."),
    ] = None,
    env: Annotated[
        _Strings, typer.Option("--env", metavar="NAME", callback=filled, help="A variable that it gets; repeatable.")
    ] = None,
    writable: Annotated[
        _Strings,
        typer.Option("--writable", metavar="PATH", callback=filled, help="What it may read and write; repeatable."),
    ] = None,
    timeout: Annotated[
        float, typer.Option("--timeout", metavar="S", min=1, help="Its time.", show_default=True)
    ] = 180.0,
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Have an agent program do a tiny task in the sandbox, in a temporary repository, and say what is wrong by name.

    Its model is asked, and paid for. Exit code 6: something is missing; 1: it did not do the task;
    5: it failed.

    Example: swarm agents test opencode --env OPENCODE_CONFIG_CONTENT
    """
    with boundary(json) as terminal:
        from swarmgate.errors import UsageError
        from swarmgate.evaluation import agent_trials

        if bool(name) == bool(model):
            raise UsageError("name a role or a program, or give --model", hint="see: swarm agents list")
        found = agent_trials.trial(
            repo,
            name,
            model=model or "",
            way=way or "",
            env=tuple(env or ()),
            writable=tuple(writable or ()),
            timeout_s=timeout,
            on_use=terminal.note,
        )
        terminal.result({**found.model_dump(mode="json"), "exit_code": found.exit_code}, _lines_of_trial(found))
        raise typer.Exit(found.exit_code)


def _registered(repo: Path | None, terminal: Terminal) -> dict[str, dict[str, Any]]:
    """The agents of the project's settings, with the model that each has; none outside of a project."""
    from swarmgate.engine.swarm import Swarm
    from swarmgate.errors import ConfigError, NotAProject

    try:
        return Swarm(repo).council.agents()
    except NotAProject:
        return {}
    except ConfigError as error:  # its programs are what may mend them
        terminal.note(f"The agents of the settings are not listed: {error.message}")
        return {}


def _told(agent: dict[str, Any]) -> str:
    words = [agent["role"], agent["model"] or "the model of participants", f"weight {agent['weight']:g}"]
    words += [f"in {agent['folder']}"] if agent["folder"] else []
    return ", ".join(filter(None, [*words, agent["problem"]]))


def _lines(each: Known) -> list[str]:
    here = any(way.found for way in each.ways.values())
    lines = [
        f"{each.name}: {each.title}, {f'{each.version} found' if each.version else 'found' if here else 'not found'}"
    ]
    for name, way in each.ways.items():
        lines.append(f"  {name:<7}{'' if way.found else '(not found) '}{way.model}")
    keys = [f"{name} ({'set' if there else 'not set'})" for name, there in each.env.items()]
    lines += [f"  key    {' or '.join(keys)}"] if keys else []
    lines += [f"  local  {each.local}"] if each.local else []
    lines += [f"  note   {each.note}"] if each.note else []
    lines += [f"  get it {each.install}"] if not here else []
    best = next((way for way in each.ways.values() if way.found), next(iter(each.ways.values())))
    return [*lines, *(f"  {line}" for line in ["", *best.table.splitlines(), ""])]


def _lines_of_trial(found: Trial) -> list[str]:
    cost = f", ${found.usage.usd:.4f}" if found.usage.usd else ""
    measured = f"{found.seconds:.0f} s, {found.usage.tokens:,} tokens{cost}"
    who = f"{found.name} (version {found.version})" if found.version else found.name
    if not found.problem:
        return [f"{who} did the task in the sandbox ({measured}).", f"  model = {found.model}"]
    return [f"{who}: {found.problem}: {found.told}", f"  -> {found.hint}", f"  model = {found.model}"]

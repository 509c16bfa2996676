"""`swarm pr`: pushes the goal's branch and opens a pull request with a description of what was done and proven."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from swarmgate.terminal.options import Json, Repo, filled
from swarmgate.terminal.terminal import boundary

if TYPE_CHECKING:
    from swarmgate.engine.pull_request.opening import PullRequest


def command(
    title: Annotated[
        str | None,
        typer.Option("--title", metavar="TEXT", callback=filled, help="Its title; that of the plan by default."),
    ] = None,
    base: Annotated[
        str | None,
        typer.Option(
            "--base", metavar="BRANCH", callback=filled, help="Merge into it; where the work began by default."
        ),
    ] = None,
    remote: Annotated[
        str | None,
        typer.Option("--remote", metavar="NAME", callback=filled, help="Push there; git's own choice by default."),
    ] = None,
    draft: Annotated[bool, typer.Option("--draft", help="A draft, which an unfinished goal may have as well.")] = False,
    cost: Annotated[bool, typer.Option("--cost", help="Tell tokens, money and time in the description.")] = False,
    print_only: Annotated[bool, typer.Option("--print", help="Only print the description; push nothing.")] = False,
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Push the goal's branch and open a pull request for it.

    Its description says what was done and what proves it.
    It is opened with `gh` or `glab` where that is installed and the remote is theirs; else the description is printed,
    with the address at which you open it. Nothing is ever forced, and a pull request that is open stays as it is.

    Example: swarm pr --draft --base main
    """
    with boundary(json) as terminal:
        from swarmgate.engine.swarm import Swarm

        swarm = Swarm(repo)
        if print_only:
            found = swarm.describe(title=title or "", cost=cost)
        else:
            found = swarm.pull_request(title=title or "", base=base or "", remote=remote or "", draft=draft, cost=cost)
        terminal.result(found, [found.url] if found.url else found.description.splitlines())
        for line in _notes(found):
            terminal.note(line)


def _notes(found: PullRequest) -> list[str]:
    """What was done beside the description."""
    if not found.remote:
        return []
    moved = "Pushed" if found.pushed else "Up to date"
    lines = [f"{moved}: {found.branch} at {found.commit[:12]}, {found.remote}"]
    if found.attested:
        lines.append(f"Pushed: the statements about its commits, {found.remote}")
    if found.unattested:
        lines.append(f"The statements about its commits are not there: {found.unattested}")
    if found.known:
        lines.append(
            "That pull request was open already; its description is as it was: swarm pr --print has the new one."
        )
    if found.problem:
        lines.append(f"No pull request was opened: {found.problem}")
    if found.page:
        lines.append(f"Open it here: {found.page}")
    return lines

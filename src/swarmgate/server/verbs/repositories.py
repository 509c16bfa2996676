"""`swarm server repositories`: what goals are worked on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from swarmgate.server.verbs.operator import BY, Home, Operator, operating
from swarmgate.terminal.options import Json, filled
from swarmgate.terminal.verb_group import VerbGroup

if TYPE_CHECKING:
    from swarmgate.server.repositories.repositories import Repositories

app = typer.Typer(
    cls=VerbGroup,
    help="Register repositories, and forget them.\n\nExample: swarm server repositories list",
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
)


@app.command("list")
def show(home: Home = None, json: Json = False) -> None:
    """List the registered repositories.

    Example: swarm server repositories list
    """
    with operating(home, json=json) as operator:
        found = _opened(operator).list()
        lines = [f"{each.id}: {each.source}" for each in found] or ["None yet: swarm server repositories add ."]
        operator.terminal.result([each.model_dump(mode="json") for each in found], lines)


@app.command("add")
def add(
    source: Annotated[str, typer.Argument(metavar="SOURCE", callback=filled, help="A folder, or a git URL.")],
    name: Annotated[str, typer.Option("--name", metavar="NAME", help="What people call it.")] = "",
    base: Annotated[str, typer.Option("--base", metavar="BRANCH", help="The branch that goals begin on.")] = "",
    home: Home = None,
    json: Json = False,
) -> None:
    """Register a repository: a folder of this machine, or what git clones from a URL.

    Example: swarm server repositories add ~/src/shop
    """
    with operating(home, json=json) as operator:
        from pathlib import Path

        folder = Path(source).expanduser()
        made = _opened(operator).register(folder.resolve() if folder.is_dir() else source, name=name, base=base, by=BY)
        operator.accounts.log.add(BY, "repository_added", made.id, detail=made.source)
        operator.terminal.result(made, [f"{made.id}: {made.source}"])


@app.command("remove")
def remove(
    repository: Annotated[
        str, typer.Argument(metavar="REPOSITORY", callback=filled, help="Its id, as `list` prints it.")
    ],
    home: Home = None,
    json: Json = False,
) -> None:
    """Forget a repository; nothing of it is deleted, and neither are its goals.

    Example: swarm server repositories remove shop
    """
    with operating(home, json=json) as operator:
        gone = _opened(operator).remove(repository)
        operator.accounts.log.add(BY, "repository_removed", gone.id)
        operator.terminal.result(gone, [f"Removed: {gone.id}"])


def _opened(operator: Operator) -> Repositories:
    from swarmgate.server.repositories.repositories import Repositories

    return Repositories(operator.home, private_hosts=operator.settings.server.private_hosts)

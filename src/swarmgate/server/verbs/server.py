"""`swarm server`: what who operates the server does at its machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from swarmgate.server.verbs import accounts, keys, repositories
from swarmgate.server.verbs.operator import Home, Operator, operating
from swarmgate.terminal.options import Json, filled
from swarmgate.terminal.terminal import boundary
from swarmgate.terminal.verb_group import VerbGroup

app = typer.Typer(
    cls=VerbGroup,
    help="Operate the team server: accounts, keys, repositories, backups.\n\nExample: swarm server status",
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
)
for noun in (accounts, keys, repositories):
    app.add_typer(noun.app, name=noun.__name__.rpartition(".")[2])


@app.command("status")
def status(home: Home = None, json: Json = False) -> None:
    """Show whether a server is at work, where it keeps what it knows, and what that is.

    Example: swarm server status
    """
    with operating(home, json=json) as operator:
        found = _status(operator)
        owner = found["serving"]
        lines = [
            f"serving: at {found['url']}, pid {owner['pid']}" if owner else "serving: no; begin with: swarm serve",
            f"home: {found['home']}",
            f"accounts: {found['accounts']}, repositories: {found['repositories']}, goals: {found['goals']}",
            f"store: {found['store']}",
        ]
        operator.terminal.result(found, lines)


@app.command("backup")
def backup(
    target: Annotated[Path, typer.Argument(metavar="DIR", callback=filled, help="A new folder for the copy.")],
    home: Home = None,
    json: Json = False,
) -> None:
    """Copy what cannot be dropped into a new folder, also while the server is at work.

    Example: swarm server backup /backups/swarmgate-2026-11-24
    """
    with operating(home, json=json) as operator:
        from swarmgate.server.serving.backup import back_up

        made = back_up(operator.home, target.expanduser().absolute())
        words = f"{target}: accounts, keys, {made.goals} goals, {made.councils} councils, {made.files:,} files"
        operator.terminal.result(made, [words])


@app.command("restore")
def restore(
    source: Annotated[Path, typer.Argument(metavar="DIR", callback=filled, help="The folder of a backup.")],
    home: Home = None,
    json: Json = False,
) -> None:
    """Bring a backup back as the home of a server; nothing that is there is overwritten.

    Example: swarm server restore /backups/swarmgate-2026-11-24 --home /srv/swarmgate
    """
    with boundary(json) as terminal:
        from swarmgate.server.verbs.extra import require_server_extra

        require_server_extra()
        from swarmgate.config import load
        from swarmgate.server.serving import backup
        from swarmgate.server.serving import home as homes

        place = homes.place(load(), home)
        made = backup.restore(source.expanduser().absolute(), place)
        terminal.result(made, [f"{place} is as it was at {made.created}. Go on with: swarm serve --home {place}"])


def _status(operator: Operator) -> dict[str, Any]:
    from swarmgate.server.repositories.repositories import Repositories
    from swarmgate.server.serving.home import GOALS, serving_at

    settings = operator.settings.server
    folder = operator.home / GOALS
    return {
        "home": str(operator.home),
        "serving": serving_at(operator.home),
        "url": operator.url(),
        "accounts": len(operator.accounts.list()),
        "repositories": len(Repositories(operator.home, private_hosts=settings.private_hosts).list()),
        "goals": len([*folder.iterdir()]) if folder.is_dir() else 0,
        "store": settings.store,
    }

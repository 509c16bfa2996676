"""`swarm server keys`: the keys by which programs use the server in the name of an account."""

from __future__ import annotations

from typing import Annotated

import typer

from swarmgate.server.verbs.operator import BY, AccountName, Home, operating
from swarmgate.terminal.options import Json, filled
from swarmgate.terminal.verb_group import VerbGroup

app = typer.Typer(
    cls=VerbGroup,
    help="Make and revoke keys for programs.\n\nExample: swarm server keys list ada",
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
)


@app.command("list")
def show(name: AccountName, home: Home = None, json: Json = False) -> None:
    """List the keys of an account, without what makes them keys.

    Example: swarm server keys list ada
    """
    with operating(home, json=json) as operator:
        found = operator.accounts.keys.of(operator.account(name).id)
        lines = [f"{each.id}  {each.created:%Y-%m-%d}  {each.name}" for each in found] or [f"{name} has no keys."]
        operator.terminal.result([each.model_dump(mode="json") for each in found], lines)


@app.command("add")
def add(
    name: AccountName,
    purpose: Annotated[str, typer.Argument(metavar="PURPOSE", callback=filled, help="What it is for.")],
    days: Annotated[
        int | None, typer.Option("--days", metavar="N", min=1, help="How long it lives; else for ever.")
    ] = None,
    home: Home = None,
    json: Json = False,
) -> None:
    """Make a key for a program, and print it; it cannot be printed again.

    Example: swarm server keys add ada "nightly report" --days 90
    """
    with operating(home, json=json) as operator:
        from datetime import UTC, datetime, timedelta

        account = operator.account(name)
        until = datetime.now(UTC) + timedelta(days=days) if days else None
        made = operator.accounts.keys.create(account.id, purpose, expires=until)
        operator.accounts.log.add(BY, "key_created", account.name, detail=made.id)
        operator.terminal.result(made, [made.secret])


@app.command("revoke")
def revoke(
    name: AccountName,
    key: Annotated[str, typer.Argument(metavar="KEY", callback=filled, help="The id of a key, as `list` prints it.")],
    home: Home = None,
    json: Json = False,
) -> None:
    """Take a key away: nobody gets in by it any more.

    Example: swarm server keys revoke ada 0123456789ab
    """
    with operating(home, json=json) as operator:
        account = operator.account(name)
        operator.accounts.keys.delete(account.id, key)
        operator.accounts.log.add(BY, "key_deleted", account.name, detail=key)
        operator.terminal.result({"account": account.name, "key": key}, [f"Revoked: {key}"])

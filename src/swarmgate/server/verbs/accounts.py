"""`swarm server accounts`: who may use the server, and as what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from swarmgate.server.verbs.operator import BY, AccountName, Home, Operator, operating
from swarmgate.terminal.options import Json
from swarmgate.terminal.verb_group import VerbGroup

if TYPE_CHECKING:
    from swarmgate.server.accounts.model import Account, Role

app = typer.Typer(
    cls=VerbGroup,
    help="Make accounts, change them, and give them links and passwords.\n\nExample: swarm server accounts list",
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
)

Roles = Annotated[
    list[str] | None,
    typer.Option(
        "--role",
        metavar="ROLE[=REPO]",
        help="viewer, approver, operator or admin; in one repository, or in all. Repeatable.",
    ),
]
_LEAST = "A role is viewer, approver, operator or admin."


@app.command("list")
def show(home: Home = None, json: Json = False) -> None:
    """List the accounts with their roles.

    Example: swarm server accounts list
    """
    with operating(home, json=json) as operator:
        found = operator.accounts.list()
        lines = [_line(each) for each in found] or ["No account yet: swarm serve makes the first one."]
        operator.terminal.result([each.model_dump(mode="json") for each in found], lines)


@app.command("add")
def add(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What it logs in by, such as ada.")],
    role: Roles = None,
    password: Annotated[bool, typer.Option("--password", help="Ask for a password; else print a login link.")] = False,
    home: Home = None,
    json: Json = False,
) -> None:
    """Make an account, and print the link by which it logs in once.

    Example: swarm server accounts add ada --role approver
    """
    with operating(home, json=json) as operator:
        chosen = typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True) if password else ""
        account = operator.accounts.create(name, roles=_roles(role or ["viewer"]), password=chosen)
        operator.accounts.log.add(BY, "account_created", account.name)
        _tell(operator, account, link=not chosen)


@app.command("change")
def change(
    name: AccountName,
    role: Roles = None,
    disable: Annotated[
        bool | None, typer.Option("--disable/--enable", help="Log it out everywhere and keep it out, or let it in.")
    ] = None,
    home: Home = None,
    json: Json = False,
) -> None:
    """Change what an account may do; --role replaces all roles that it has.

    Example: swarm server accounts change ada --role operator --role viewer=shop
    """
    with operating(home, json=json) as operator:
        roles = _roles(role) if role else None
        account = operator.accounts.update(operator.account(name).id, roles=roles, disabled=disable)
        operator.accounts.log.add(BY, "account_changed", account.name)
        operator.terminal.result(account, [_line(account)])


@app.command("delete")
def delete(name: AccountName, home: Home = None, json: Json = False) -> None:
    """Delete an account with its sessions and keys; ledgers keep its name.

    Example: swarm server accounts delete ada
    """
    with operating(home, json=json) as operator:
        account = operator.account(name)
        operator.accounts.delete(account.id)
        operator.accounts.log.add(BY, "account_deleted", account.name)
        operator.terminal.result(account, [f"Deleted: {account.name}"])


@app.command("link")
def link(name: AccountName, home: Home = None, json: Json = False) -> None:
    """Print a link by which an account logs in once, within 15 minutes.

    Example: swarm server accounts link ada
    """
    with operating(home, json=json) as operator:
        _tell(operator, operator.account(name), link=True)


@app.command("password")
def password(name: AccountName, home: Home = None, json: Json = False) -> None:
    """Ask for a new password of an account; it is logged out everywhere.

    Example: swarm server accounts password ada
    """
    with operating(home, json=json) as operator:
        account = operator.account(name)
        chosen = typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
        operator.accounts.set_password(account.id, chosen)
        operator.accounts.log.add(BY, "password_set", account.name)
        operator.terminal.result(operator.accounts.get(account.id), [f"{account.name} has a new password."])


def _roles(given: list[str]) -> dict[str, Role]:
    """The roles by repository.

    Raises:
        UsageError: one is none.
    """
    from swarmgate.errors import UsageError
    from swarmgate.server.accounts.model import EVERY_REPOSITORY, Role

    found = {}
    for each in given:
        role, _, repo = each.partition("=")
        if role not in set(Role):
            raise UsageError(f"{role!r} is no role.", hint=_LEAST)
        found[repo or EVERY_REPOSITORY] = Role(role)
    return found


def _tell(operator: Operator, account: Account, *, link: bool) -> None:
    """Prints an account, and a link for it."""
    if not link:
        operator.terminal.result(account, [_line(account)])
        return
    made = operator.accounts.login_link(account.id)
    operator.accounts.log.add(BY, "login_link", account.name)
    url = f"{operator.url()}{made.path}"
    data = {**account.model_dump(mode="json"), "link": url, "expires": made.expires.isoformat(timespec="seconds")}
    operator.terminal.result(data, [_line(account), f"Logs in once, until {made.expires:%H:%M} UTC: {url}"])


def _line(account: Account) -> str:
    from swarmgate.server.accounts.model import EVERY_REPOSITORY

    roles = [role if repo == EVERY_REPOSITORY else f"{role} in {repo}" for repo, role in account.roles.items()]
    notes = [", ".join(roles) or "no role", *(["disabled"] if account.disabled else [])]
    return f"{account.name}: {'; '.join(notes)}"

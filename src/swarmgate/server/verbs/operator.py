"""What the verbs of an operator work on: the home of a server, its settings and accounts, opened for one command."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from swarmgate.terminal.options import filled
from swarmgate.terminal.terminal import Terminal, boundary

if TYPE_CHECKING:
    from swarmgate.config import Config
    from swarmgate.server.accounts.accounts import Accounts
    from swarmgate.server.accounts.model import Account

Home = Annotated[
    Path | None,
    typer.Option(
        "--home", metavar="DIR", callback=filled, help="Folder of what the server keeps; see `home` in [server]."
    ),
]
AccountName = Annotated[str, typer.Argument(metavar="ACCOUNT", callback=filled, help="The name of an account.")]

BY = "server"
"""Who did what is done at the terminal of the server's machine, in the audit log."""


@dataclass(frozen=True)
class Operator:
    """A command at the home of a server, which may be at work meanwhile."""

    terminal: Terminal
    settings: Config
    home: Path
    accounts: Accounts

    def account(self, name: str) -> Account:
        """The account of that name.

        Raises:
            UsageError: there is none.
        """
        from swarmgate.errors import NotFound, UsageError

        try:
            return self.accounts.named(name)
        except NotFound:
            names = ", ".join(each.name for each in self.accounts.list())
            raise UsageError(
                f"There is no account {name}.", hint=f"There are: {names}" if names else "swarm server accounts add"
            ) from None

    def url(self) -> str:
        """Where people open the server: of the one at work, else as the settings say."""
        from swarmgate.server.serving.home import serving_at

        public = self.settings.server.public_url
        configured = f"http://{self.settings.server.host}:{self.settings.server.port}"
        return public or str(serving_at(self.home).get("place") or configured)


@contextmanager
def operating(home: Path | None, *, json: bool) -> Iterator[Operator]:
    """Opens a home for one command; what is raised becomes a message and an exit code."""
    with boundary(json) as terminal:
        from swarmgate.server.verbs.extra import require_server_extra

        require_server_extra()
        from swarmgate.config import load
        from swarmgate.server.accounts.accounts import Accounts
        from swarmgate.server.serving.home import place, prepared

        settings = load()
        folder = prepared(place(settings, home))
        accounts = Accounts(folder, settings.server)
        try:
            yield Operator(terminal, settings, folder, accounts)
        finally:
            accounts.close()

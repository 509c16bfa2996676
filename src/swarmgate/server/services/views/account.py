"""Who asks, and repositories as they see them. Accounts, keys and tokens are those of the room of accounts."""

from __future__ import annotations

from typing import Literal

from swarmgate.server.accounts.model import Account, Role
from swarmgate.server.services.views.view import View


class MeView(View):
    """Who asks, and by what that is proven."""

    account: Account
    via: Literal["session", "token", "key", "link"]


class LinkView(View):
    """A link with which somebody logs in, once and soon."""

    path: str
    """Path and query on this server."""
    expires: str
    """UTC, ISO 8601."""


class RepositoryView(View):
    """A registered repository."""

    id: str
    name: str
    kind: Literal["path", "url"]
    source: str
    """Folder on the server's machine, or address, without credentials; empty: only admins are told."""
    base: str
    """The branch that goals begin on; empty: the one that is checked out there."""
    added: str
    """UTC, ISO 8601."""
    role: Role
    """What who asks may do with it."""

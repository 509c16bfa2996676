"""Who may do what: accounts, keys and repositories, without anything that proves who somebody is."""

from __future__ import annotations

from typing import Literal

from swarmgate.server.services.views.view import View


class AccountView(View):
    """An account."""

    id: str
    name: str
    roles: dict[str, str]
    """By repository id; `*` is all of them."""
    disabled: bool
    created: str


class MeView(View):
    """Who asks, and by what that is proven."""

    account: AccountView
    via: str
    """`session`, `token`, `key` or `link`."""


class KeyView(View):
    """An API key; the key itself is told once, when it is made."""

    id: str
    name: str
    created: str
    last_used: str = ""
    expires: str = ""


class NewKey(KeyView):
    """A key that was just made."""

    key: str
    """Stands here and nowhere else: the server keeps its hash."""


class TokensView(View):
    """Tokens of a session."""

    access_token: str
    token_type: Literal["Bearer"] = "Bearer"  # noqa: S105 - the name of the scheme
    expires_in: int
    """Seconds."""
    refresh_token: str


class LinkView(View):
    """A link with which somebody logs in, once and soon."""

    url: str
    expires: str


class RepositoryView(View):
    """A registered repository."""

    id: str
    name: str
    source: str
    """Path on the server's machine or URL, without credentials."""
    kind: Literal["path", "url"]
    created: str
    role: str
    """What who asks may do with it."""
    goals: int = 0

"""The words for who asks: role, account, principal, and what proves somebody."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from swarmgate.domain.base import Frozen, Line

EVERY_REPOSITORY = "*"
"""The key of a role that holds in all repositories."""

AccountName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._@+-]{0,99}$")]
"""The name that an account logs in by, and that stands in ledgers; the case of letters does not tell accounts apart."""


class Role(StrEnum):
    """What an account may do in a repository; each role may all that the one before it may.

    A viewer looks. An approver approves, answers, revises. An operator also starts, stops, retries, skips, overrides,
    undoes and starts councils. An admin also keeps accounts, repositories and settings.
    """

    VIEWER = "viewer"
    APPROVER = "approver"
    OPERATOR = "operator"
    ADMIN = "admin"

    def includes(self, other: Role) -> bool:
        """Whether this role may all that the other one may."""
        order = tuple(Role)
        return order.index(self) >= order.index(other)


class Account(Frozen):
    """Somebody who may ask the server for something.

    Attributes:
        id: `a-` and twelve hexadecimal digits; it stays when the name changes.
        name: what it logs in by.
        roles: by the id of a repository; `*` stands for all.
        disabled: it may not log in, and nothing proves it any more.
        created: aware.
        has_password: whether it can log in by a password.
    """

    id: str
    name: AccountName
    roles: Mapping[str, Role] = {}
    disabled: bool = False
    created: datetime
    has_password: bool = False

    def role(self, repo: str) -> Role | None:
        """The highest role that holds in a repository; None: it may not even see it. `*`: what holds in all."""
        held = [self.roles[each] for each in (repo, EVERY_REPOSITORY) if each in self.roles]
        return max(held, key=tuple(Role).index, default=None)


class Principal(Frozen):
    """Who asks: an account, and what proved it.

    Attributes:
        account: as it was when the request came.
        via: `session` a cookie, `token` an access token, `key` an API key, `link` a login link.
        key_id: the API key; empty for the others.
        session: the login that the cookie or token belongs to; empty for keys and links.
    """

    account: Account
    via: Literal["session", "token", "key", "link"]
    key_id: str = ""
    session: str = ""

    def role(self, repo: str) -> Role | None:
        """The role that holds in a repository; None: it may not even see it."""
        return self.account.role(repo)

    def may(self, role: Role, repo: str = EVERY_REPOSITORY) -> bool:
        """Whether it may in this repository what that role may; without a repository: in all of them."""
        held = self.role(repo)
        return held is not None and held.includes(role)

    @property
    def repositories(self) -> frozenset[str] | None:
        """The ids of the repositories that it may see; None: all of them."""
        return None if EVERY_REPOSITORY in self.account.roles else frozenset(self.account.roles)

    @property
    def actor(self) -> str:
        """What stands in ledgers for who did it."""
        return f"user:{self.account.name}"


class Tokens(Frozen):
    """What a login is given: an access token for requests, and a refresh token for the next pair, once.

    `expires_in` counts seconds, of the access token.
    """

    access_token: str = Field(repr=False)
    refresh_token: str = Field(repr=False)
    token_type: Literal["Bearer"] = "Bearer"  # noqa: S105 - its kind, by RFC 6750
    expires_in: int


class LoginLink(Frozen):
    """A link that logs somebody in once: `token` is told to its account alone; `expires` is aware."""

    account: str
    token: str = Field(repr=False)
    expires: datetime

    @property
    def path(self) -> str:
        """The path and query on the server that it opens."""
        return f"/login?token={self.token}"


class ApiKey(Frozen):
    """A key of an account for a program, without the key itself, of which only a hash is kept.

    Attributes:
        id: twelve hexadecimal digits, which the key begins with after `swk_`.
        account: the id of whose it is.
        name: what it is for.
        expires: aware; None: never.
    """

    id: str
    account: str
    name: Line
    created: datetime
    expires: datetime | None = None


class NewApiKey(ApiKey):
    """A key that was just made: `secret` is told once, and never again."""

    secret: str = Field(repr=False)


class AuditEntry(Frozen):
    """A line of the audit log: who did what to which thing, and from where.

    Attributes:
        seq: from 1.
        time: aware.
        actor: `user:ada`, or `server`.
        action: such as `login`, `login_refused`, `account_created`.
        subject: the id or the name of what it was done to.
        detail: more in words; never a secret.
        address: of the client; empty where it was none.
        request: the id of the request; empty where it was none.
    """

    seq: int
    time: datetime
    actor: str
    action: str
    subject: str = ""
    detail: str = ""
    address: str = ""
    request: str = ""

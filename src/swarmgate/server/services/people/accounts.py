"""Accounts and keys as the faces ask for them: admins keep them, everybody has their own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from swarmgate.errors import NotAllowed, NotFound, Unauthenticated
from swarmgate.server.accounts.accounts import Accounts as Known
from swarmgate.server.accounts.model import Account, ApiKey, AuditEntry, NewApiKey, Principal, Role
from swarmgate.server.services.reading.access import require, unknown
from swarmgate.server.services.reading.paging import number, page
from swarmgate.server.services.views.account import LinkView, MeView
from swarmgate.server.services.views.view import Page

T = TypeVar("T")
_SERVER = "*"


@dataclass(frozen=True)
class Accounts:
    """The accounts of a server.

    Attributes:
        known: the accounts themselves.
    """

    known: Known

    # --- everybody ---

    async def me(self, who: Principal) -> MeView:
        """Who asks."""
        return MeView(account=who.account, via=who.via)

    async def set_password(self, who: Principal, password: str, *, current: str) -> None:
        """Gives who asks another password; their other sessions end.

        Args:
            who: asks, by a login: a key has to be no more than its account made it for.
            password: the new one.
            current: the one that the account has; empty: it has none yet.

        Raises:
            NotAllowed: a key asks, or `current` is another one: a session that is not theirs keeps nobody out.
            UsageError: the new one is too short.
        """
        _require_login(who)

        def changed() -> None:
            if self.known.get(who.account.id).has_password:
                try:
                    self.known.check_password(who.account.name, current)
                except Unauthenticated:
                    self.known.log.add(who.actor, "password_change_refused", who.account.id)
                    raise NotAllowed(
                        "That is not the present password.", hint="an admin can make a login link or set another one"
                    ) from None
            self.known.set_password(who.account.id, password, session=who.session)

        await self._done(who, "password_changed", who.account.id, changed)

    async def keys(self, who: Principal) -> Page[ApiKey]:
        """The API keys of who asks, without the keys themselves."""
        return Page[ApiKey](items=await asyncio.to_thread(self.known.keys.of, who.account.id))

    async def new_key(self, who: Principal, *, name: str, expires: datetime | None = None) -> NewApiKey:
        """Makes an API key for who asks; what it is stands in the answer and nowhere else.

        Raises:
            NotAllowed: a key asks: it would outlive itself.
        """
        _require_login(who)
        return await self._done(
            who, "key_created", who.account.id, lambda: self.known.keys.create(who.account.id, name, expires=expires)
        )

    async def revoke_key(self, who: Principal, key: str) -> None:
        """Takes back an API key of who asks.

        Raises:
            NotFound: they have none of that id.
        """
        await self._done(who, "key_revoked", key, lambda: self.known.keys.delete(who.account.id, key))

    # --- admins ---

    async def list(self, who: Principal, *, after: str = "", limit: int = 100) -> Page[Account]:
        """All accounts, by name."""
        require(who, Role.ADMIN, _SERVER)
        found = await asyncio.to_thread(self.known.list)
        return page(found, after=after, limit=limit, key=lambda account: account.id)

    async def get(self, who: Principal, account: str) -> Account:
        """One account; everybody may see their own.

        Raises:
            NotFound: there is none.
        """
        if account != who.account.id:
            require(who, Role.ADMIN, _SERVER)
        return await self._found(lambda: self.known.get(account))

    async def create(
        self, who: Principal, *, name: str, roles: Mapping[str, Role] | None = None, password: str = ""
    ) -> Account:
        """Makes an account; without a password it logs in by links.

        Raises:
            NotAllowed: a key asks, whatever its account may: who it makes would outlive it.
            UsageError: the name is taken or is none, or the password is too short.
        """
        _require_keeper(who)
        return await self._done(
            who, "account_created", name, lambda: self.known.create(name, roles=roles, password=password)
        )

    async def update(
        self,
        who: Principal,
        account: str,
        *,
        name: str | None = None,
        roles: Mapping[str, Role] | None = None,
        disabled: bool | None = None,
    ) -> Account:
        """Changes what is given; a disabled account is logged out everywhere.

        Raises:
            NotAllowed: a key asks, whatever its account may.
            NotFound: there is none.
            UsageError: the name is taken, or is none.
            IllegalMove: nobody would be left who may keep accounts.
        """
        _require_keeper(who)
        return await self._done(
            who,
            "account_changed",
            account,
            lambda: self.known.update(account, name=name, roles=roles, disabled=disabled),
        )

    async def delete(self, who: Principal, account: str) -> None:
        """Deletes an account with its sessions, links and keys; ledgers keep its name.

        Raises:
            NotAllowed: a key asks, whatever its account may.
            NotFound: there is none.
            IllegalMove: nobody would be left who may keep accounts.
        """
        _require_keeper(who)
        await self._done(who, "account_deleted", account, lambda: self.known.delete(account))

    async def login_link(self, who: Principal, account: str) -> LinkView:
        """A link with which somebody logs in, once and soon.

        Raises:
            NotAllowed: a key asks: it would outlive itself.
            NotFound: there is no such account.
        """
        _require_keeper(who)
        made = await self._done(who, "login_link_made", account, lambda: self.known.login_link(account))
        return LinkView(path=made.path, expires=made.expires.isoformat(timespec="seconds"))

    async def audit(self, who: Principal, *, after: str = "", limit: int = 100) -> Page[AuditEntry]:
        """The audit log, oldest first; `after` is a `seq`."""
        require(who, Role.ADMIN, _SERVER)
        begins = number(after)
        found = await asyncio.to_thread(self.known.log.page, begins, limit)
        return Page[AuditEntry](items=found, next=str(found[-1].seq) if len(found) == limit else "")

    # --- inside ---

    async def _done(self, who: Principal, action: str, subject: str, do: Callable[[], T]) -> T:
        """Does what somebody asked for, and writes down that they did."""

        def done() -> T:
            made = do()
            self.known.log.add(who.actor, action, subject)
            return made

        return await self._found(done)

    async def _found(self, do: Callable[[], T]) -> T:
        try:
            return await asyncio.to_thread(do)
        except NotFound as error:
            raise unknown("account" if "account" in error.message else "key") from error


def _require_keeper(who: Principal) -> None:
    """Insists on an admin of the whole server who is logged in."""
    require(who, Role.ADMIN, _SERVER)
    _require_login(who)


def _require_login(who: Principal) -> None:
    """Insists on a login: who has a key may do with it what it is for, and make nothing that outlives it."""
    if who.via == "key":
        raise NotAllowed(
            "A key changes no accounts, passwords or keys, its own included.", hint="log in: POST /v1/session"
        )

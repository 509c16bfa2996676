"""Registered repositories as the faces ask for them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from swarmgate.server.accounts.model import Principal, Role
from swarmgate.server.repositories.model import Repository
from swarmgate.server.repositories.repositories import Repositories as Known
from swarmgate.server.services.reading.access import Access, require
from swarmgate.server.services.reading.paging import page
from swarmgate.server.services.views.account import RepositoryView
from swarmgate.server.services.views.view import Page


@dataclass(frozen=True)
class Repositories:
    """The repositories of a server.

    Attributes:
        access: who may see what.
        known: the repositories themselves.
    """

    access: Access
    known: Known

    async def list(self, who: Principal, *, after: str = "", limit: int = 100) -> Page[RepositoryView]:
        """The repositories that may be seen, by id."""
        found = await asyncio.to_thread(self.known.list)
        seen = [_view(who, each) for each in found if who.may(Role.VIEWER, each.id)]
        return page(seen, after=after, limit=limit, key=lambda row: row.id)

    async def get(self, who: Principal, repo: str) -> RepositoryView:
        """One repository."""
        return _view(who, self.access.repository(who, repo))

    async def register(
        self,
        who: Principal,
        *,
        source: str,
        name: str = "",
        id: str = "",  # noqa: A002 - the field's name
        base: str = "",
    ) -> RepositoryView:
        """Registers a folder of the server's machine, or an address.

        Args:
            who: asks; an admin of the whole server.
            source: an absolute path, or an address (https, ssh, file).
            name: as people call it; empty: as its folder is called.
            id: a slug; empty: made of the name.
            base: the branch that goals begin on; empty: the one that is checked out there.

        Raises:
            UsageError: it is no repository, its address may not be cloned from, or the id is taken.
        """
        require(who, Role.ADMIN, "*")
        made = await asyncio.to_thread(lambda: self.known.register(source, name=name, id=id, base=base, by=who.actor))
        return _view(who, made)

    async def update(
        self, who: Principal, repo: str, *, name: str | None = None, base: str | None = None
    ) -> RepositoryView:
        """Changes what is given."""
        self.access.repository(who, repo, Role.ADMIN)
        return _view(who, await asyncio.to_thread(lambda: self.known.change(repo, name=name, base=base)))

    async def remove(self, who: Principal, repo: str) -> None:
        """Forgets a repository; nothing of it is deleted, and neither are its goals."""
        self.access.repository(who, repo, Role.ADMIN)
        await asyncio.to_thread(self.known.remove, repo)


def _view(who: Principal, found: Repository) -> RepositoryView:
    """A repository as somebody sees it; where it lies only admins are told."""
    admin = who.may(Role.ADMIN, found.id)
    return RepositoryView(
        id=found.id,
        name=found.name,
        kind=found.kind,
        source=found.source if admin or found.kind == "url" else "",
        base=found.base,
        added=found.added,
        role=who.role(found.id) or Role.VIEWER,
    )

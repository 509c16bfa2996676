"""The browsers that tell somebody when something needs them, as the faces ask for them: everybody has their own."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from swarmgate.errors import NotAllowed
from swarmgate.server.accounts.model import Principal
from swarmgate.server.notices.subscriptions import Subscription, Subscriptions


@dataclass(frozen=True)
class Browsers:
    """The browsers that asked to be told.

    Attributes:
        known: the subscriptions themselves.
        key: the public key of the server, which a browser wants before it subscribes.
    """

    known: Subscriptions
    key: str

    async def of(self, who: Principal) -> tuple[Subscription, ...]:
        """Those of who asks."""
        return await asyncio.to_thread(self.known.of, who.account.id)

    async def add(self, who: Principal, browser: Subscription) -> None:
        """Has a browser of who asks told from now on.

        Raises:
            NotAllowed: it is said to be somebody else's.
            UsageError: its address is no address of a push service.
        """
        if browser.account != who.account.id:
            raise NotAllowed("A browser is told of what needs the account that is signed in there.")
        await asyncio.to_thread(self.known.add, browser)

    async def remove(self, who: Principal, endpoint: str) -> None:
        """Has a browser of who asks not be told any more."""
        await asyncio.to_thread(lambda: self.known.remove(endpoint, account=who.account.id))

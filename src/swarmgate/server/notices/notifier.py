"""Tells people when something needs somebody: watches the feed, looks what waits now, and sends what nobody was told.

What needs somebody is not decided here: `waiting` says it, asked whenever something happened. So a question that an
agent asks in a run at somebody's terminal is told like one of a run of the server, and a restart tells nothing twice.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial

import httpx

from swarmgate.config.server import Notify, Server
from swarmgate.errors import SwarmError
from swarmgate.server.accounts.model import Account, Principal, Role
from swarmgate.server.events.feed import Feed
from swarmgate.server.events.model import Filter
from swarmgate.server.notices import messages
from swarmgate.server.notices.delivery import DELAYS_S, Delivered, deliver
from swarmgate.server.notices.guarded_client import guarded_client
from swarmgate.server.notices.model import Notice
from swarmgate.server.notices.push import push
from swarmgate.server.notices.subscriptions import Subscription, Subscriptions
from swarmgate.server.notices.vapid import VapidKeys

Waiting = Callable[[], Awaitable[Sequence[Notice]]]
"""Gives everything that needs somebody now, in all repositories."""

_QUIET_S = 1.0
"""Seconds after an event before it is looked what waits: many come at once."""
_AT_ONCE = 20
"""Messages on their way at the same time; further ones wait for these."""

_log = logging.getLogger(__name__)


class Notifier:
    """The notices of one server.

    Args:
        settings: `[server]`: who is told, and which private hosts may be.
        environ: where addresses and secrets are looked up that settings only name.
        url: of this server, as people open it.
        feed: says when something happened.
        waiting: says what needs somebody.
        accounts: gives all accounts, to know whose browsers may be told of a repository.
        subscriptions: the browsers, and what was told.
        keys: by which push services know this server.
        delays: seconds before each further attempt to deliver.
        quiet_s: seconds after an event before it is looked what waits.
    """

    def __init__(
        self,
        settings: Server,
        environ: Mapping[str, str] = os.environ,
        *,
        url: str,
        feed: Feed,
        waiting: Waiting,
        accounts: Callable[[], Sequence[Account]],
        subscriptions: Subscriptions,
        keys: VapidKeys,
        delays: tuple[float, ...] = DELAYS_S,
        quiet_s: float = _QUIET_S,
    ) -> None:
        self._settings, self._environ, self._url = settings, environ, url.rstrip("/")
        self._feed, self._waiting, self._accounts = feed, waiting, accounts
        self._subscriptions, self._keys = subscriptions, keys
        self._delays, self._quiet_s = delays, quiet_s
        self._client: httpx.AsyncClient | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._room = asyncio.Semaphore(_AT_ONCE)
        self._watch: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Begins to watch; what waits already and was never told is told now."""
        self._client = guarded_client(self._settings.private_hosts)
        self._watch = asyncio.create_task(self._watching(), name="notices")

    async def close(self) -> None:
        """Ends; what was not delivered yet is given up."""
        tasks = [*self._tasks, *([self._watch] if self._watch else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._client is not None:
            await self._client.aclose()
        await asyncio.to_thread(self._subscriptions.close)

    async def _watching(self) -> None:
        await self._look()
        while True:
            try:
                async for frames in self._feed.subscribe(after=None, wanted=Filter()):
                    if frames:
                        await asyncio.sleep(self._quiet_s)
                        await self._look()
            except SwarmError as error:  # the store is away, or events came faster than they were looked at
                _log.info("notices look at the feed anew: %s", error.message)
            await asyncio.sleep(self._quiet_s)
            await self._look()

    async def _look(self) -> None:
        """Sends what waits and nobody was told of."""
        try:
            for notice in await self._waiting():
                if await asyncio.to_thread(self._subscriptions.first_time, notice.id):
                    await self._tell(notice)
        except SwarmError as error:
            _log.warning("it cannot be looked what needs somebody: %s", error.message)
        except Exception:  # noqa: BLE001 - the boundary: a bug in one look must not end all notices
            _log.exception("it cannot be looked what needs somebody")

    async def _tell(self, notice: Notice) -> None:
        for setting in self._settings.notify:
            if not setting.repos or notice.repo in setting.repos:
                self._begin(self._posted(setting, notice))
        for account in await asyncio.to_thread(self._accounts):
            if account.disabled or not Principal(account=account, via="session").may(Role.APPROVER, notice.repo):
                continue
            for browser in await asyncio.to_thread(self._subscriptions.of, account.id):
                self._begin(self._pushed(browser, notice))

    def _begin(self, work: Awaitable[None]) -> None:
        async def within_room() -> None:
            async with self._room:
                with contextlib.suppress(asyncio.CancelledError):
                    await work

        task = asyncio.create_task(within_room())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _posted(self, setting: Notify, notice: Notice) -> None:
        address = setting.url or self._environ.get(setting.url_env, "")
        if not address:
            _log.warning("the variable %s, which names where notices go, is not set", setting.url_env)
            return
        page = f"{self._url}{notice.path}"
        if setting.kind == "slack":
            body = messages.slack_body(notice, page)
            await self._delivered(setting.kind, address, body, lambda: {"content-type": "application/json"})
            return
        secret = self._environ.get(setting.secret_env, "") if setting.secret_env else ""
        if setting.secret_env and not secret:
            _log.warning("the variable %s, by which notices are signed, is not set: none is sent", setting.secret_env)
            return
        body = messages.webhook_body(notice, page)
        headers = partial(messages.webhook_headers, notice, body, secret)
        await self._delivered(setting.kind, address, body, lambda: headers(int(time.time())))

    async def _delivered(self, kind: str, address: str, body: bytes, headers: Callable[[], Mapping[str, str]]) -> None:
        if self._client is not None:
            self._count(kind, await deliver(self._client, address, body, headers, delays=self._delays))

    async def _pushed(self, browser: Subscription, notice: Notice) -> None:
        if self._client is None:
            return
        found = await push(self._client, self._keys, browser, notice, delays=self._delays)
        self._count("push", found)
        if found is Delivered.GONE:
            await asyncio.to_thread(partial(self._subscriptions.remove, browser.endpoint))

    def _count(self, kind: str, outcome: Delivered) -> None:
        self._feed.metrics.notices.labels(kind, outcome.name.lower()).inc()

"""The rooms of one server, made once and handed to each other; their work begins and ends together."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Self

from swarmgate.config import Config
from swarmgate.server.accounts.accounts import Accounts
from swarmgate.server.events.feed import Feed
from swarmgate.server.http.limits.rates import RateLimits
from swarmgate.server.notices.notifier import Notifier
from swarmgate.server.notices.subscriptions import Subscriptions
from swarmgate.server.notices.vapid import VapidKeys
from swarmgate.server.repositories.repositories import Repositories
from swarmgate.server.runs.fleet import bound
from swarmgate.server.runs.goals import Goals
from swarmgate.server.runs.jobs import Jobs
from swarmgate.server.runs.runs import Runs
from swarmgate.server.services.people.browsers import Browsers
from swarmgate.server.services.services import Services
from swarmgate.server.serving.changes import Changes
from swarmgate.server.serving.waiting import waiting
from swarmgate.server.store.model import Store
from swarmgate.server.store.opening import open_store
from swarmgate.server.telemetry.metrics import Metrics


@dataclass(frozen=True)
class Rooms:
    """What the application is made of.

    Attributes:
        url: where people open the server, without a slash at its end.
    """

    settings: Config
    home: Path
    url: str
    environ: Mapping[str, str]
    metrics: Metrics
    accounts: Accounts
    limits: RateLimits
    store: Store
    feed: Feed
    repositories: Repositories
    goals: Goals
    jobs: Jobs
    runs: Runs
    services: Services
    changes: Changes
    notifier: Notifier

    @classmethod
    def of(cls, settings: Config, *, home: Path, environ: Mapping[str, str], url: str) -> Self:
        """Makes them; none of them works yet.

        Raises:
            SwarmError: the home cannot be used as it is.
        """
        server = settings.server
        accounts = Accounts(home, server)
        store = open_store(server, home, environ)
        metrics = Metrics()
        feed = Feed(store, home, metrics, secrets=settings.keys(environ))
        repositories = Repositories(home, private_hosts=server.private_hosts, trusted_sources=server.trusted_sources)
        withheld = server.variables.difference(settings.key_variables)
        goals = Goals(home, repositories, environ, withheld=withheld, fleet=bound(settings, environ))
        jobs = Jobs(home, goals)
        changes = Changes(feed, goals, jobs)
        runs = Runs(
            goals,
            jobs,
            concurrency=server.concurrency,
            private_hosts=server.private_hosts,
            trusted_sources=server.trusted_sources,
            telemetry=server.telemetry,
            settings=settings if settings.fleet.repositories else None,
            on_change=changes.tell,
        )
        metrics.measure(
            "work",
            "Goals and councils that a worker is at, or that wait for one",
            "state",
            lambda: {"working": len(runs.working()), "waiting": len(runs.queued())},
        )
        told = Subscriptions(home)
        keys = VapidKeys(home, url if url.startswith("https:") else "mailto:swarmgate@localhost")
        services = Services.of(
            accounts,
            repositories,
            goals,
            jobs,
            runs,
            store=store,
            feed=feed,
            browsers=Browsers(told, keys.public),
            settings=settings,
            environ=goals.environ,
        )
        notifier = Notifier(
            server,
            environ,
            url=url,
            feed=feed,
            waiting=partial(waiting, services.needs),
            accounts=accounts.list,
            subscriptions=told,
            keys=keys,
        )
        return cls(
            settings=settings,
            home=home,
            url=url,
            environ=environ,
            metrics=metrics,
            accounts=accounts,
            limits=RateLimits(server.limits, server.store_address(environ), home),
            store=store,
            feed=feed,
            repositories=repositories,
            goals=goals,
            jobs=jobs,
            runs=runs,
            services=services,
            changes=changes,
            notifier=notifier,
        )

    @asynccontextmanager
    async def working(self) -> AsyncIterator[None]:
        """Works for the length of the block: what collects begins before what works, and ends after it."""
        async with AsyncExitStack() as stack:
            stack.callback(self.accounts.close)
            stack.callback(self.repositories.close)
            stack.push_async_callback(self.limits.aclose)
            stack.push_async_callback(self.store.close)
            self.feed.follow_all(self.changes.followed)
            await self.feed.start()
            stack.push_async_callback(self.feed.close)
            await self.notifier.start()
            stack.push_async_callback(self.notifier.close)
            await self.runs.start()
            stack.push_async_callback(self.runs.close)
            stack.push_async_callback(self.services.operations.close)
            yield

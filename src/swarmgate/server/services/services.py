"""All services of a server in one record, made from the rooms below.

services = Services.of(accounts, repositories, goals, jobs, runs, store=store, feed=feed, browsers=browsers, ...)
page = await services.needs.list(who)
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from swarmgate.config import Config
from swarmgate.errors import NotFound
from swarmgate.server.accounts.accounts import Accounts as KnownAccounts
from swarmgate.server.events.feed import Feed
from swarmgate.server.repositories.repositories import Repositories as KnownRepositories
from swarmgate.server.runs.goals import Goals as KnownGoals
from swarmgate.server.runs.jobs import Jobs
from swarmgate.server.runs.runs import Runs as Queue
from swarmgate.server.services.councils.councils import Councils
from swarmgate.server.services.decisions.approvals import Approvals
from swarmgate.server.services.decisions.needs import Needs
from swarmgate.server.services.decisions.questions import Questions
from swarmgate.server.services.goals.acting import Acting
from swarmgate.server.services.goals.goals import Goals
from swarmgate.server.services.goals.runs import Runs
from swarmgate.server.services.goals.tasks import Tasks
from swarmgate.server.services.operations.operations import Operations
from swarmgate.server.services.people.accounts import Accounts
from swarmgate.server.services.people.browsers import Browsers
from swarmgate.server.services.people.repositories import Repositories
from swarmgate.server.services.reading.access import Access
from swarmgate.server.services.reading.readings import Readings
from swarmgate.server.services.records.agents import Agents
from swarmgate.server.services.records.checks import Checks
from swarmgate.server.services.records.cost import Cost
from swarmgate.server.services.records.events import Events
from swarmgate.server.services.records.evidence import Evidence
from swarmgate.server.services.records.gates import Gates
from swarmgate.server.services.records.ledger import Ledgers
from swarmgate.server.store.model import Store


@dataclass(frozen=True)
class Services:
    """What the faces of a server ask for, each method with who asks as its first argument.

    Attributes:
        settings: of the server; what a face may tell of them is its matter.
    """

    accounts: Accounts
    repositories: Repositories
    goals: Goals
    tasks: Tasks
    runs: Runs
    approvals: Approvals
    questions: Questions
    needs: Needs
    councils: Councils
    ledger: Ledgers
    evidence: Evidence
    cost: Cost
    gates: Gates
    agents: Agents
    checks: Checks
    operations: Operations
    browsers: Browsers
    events: Events
    settings: Config

    @classmethod
    def of(
        cls,
        accounts: KnownAccounts,
        repositories: KnownRepositories,
        goals: KnownGoals,
        jobs: Jobs,
        queue: Queue,
        *,
        store: Store,
        browsers: Browsers,
        feed: Feed,
        settings: Config,
        environ: Mapping[str, str],
    ) -> Services:
        """The services over the rooms below.

        Args:
            accounts: who may ask.
            repositories: what is registered.
            goals: what is worked on.
            jobs: the councils.
            queue: of what is wanted.
            store: of what can be made anew: results of councils.
            browsers: that are told when something needs somebody.
            feed: of what happens.
            settings: of the server.
            environ: where keys and settings of projects are looked up.
        """
        access, readings, acting = Access(repositories, goals, jobs), Readings(goals), Acting(goals)
        owner = _names(accounts)
        runs = Runs(access, readings, queue)
        operations = Operations(access, store, asyncio.Semaphore(settings.server.concurrency))
        known = Goals(access, readings, acting, runs, operations, owner)
        approvals = Approvals(access, readings, acting, runs)
        questions = Questions(access, readings, acting, runs)
        return cls(
            accounts=Accounts(accounts),
            repositories=Repositories(access, repositories),
            goals=known,
            tasks=Tasks(access, readings, acting),
            runs=runs,
            approvals=approvals,
            questions=questions,
            needs=Needs(access, known, approvals, questions),
            councils=Councils(access, queue, store, environ, owner),
            ledger=Ledgers(access, readings),
            evidence=Evidence(access, readings),
            cost=Cost(access, readings),
            gates=Gates(access, operations, goals.environ),
            agents=Agents(access, readings),
            checks=Checks(access, readings, acting, operations),
            operations=operations,
            browsers=browsers,
            events=Events(access, feed),
            settings=settings,
        )


def _names(accounts: KnownAccounts) -> Callable[[str], str]:
    """The name of an account by its id; its id where it is gone."""

    def name(account: str) -> str:
        try:
            return accounts.get(account).name
        except NotFound:
            return account

    return name

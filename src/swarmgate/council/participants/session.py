"""Opens the session of a council outside of a run: agent contexts, budget, and usage recorded in the ledger."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial

from swarmgate.agents.briefs.house_rules import everywhere, uncommitted
from swarmgate.agents.context_factory import AgentContexts, memory_of
from swarmgate.config import Config
from swarmgate.domain.progress import Listener, Progress
from swarmgate.domain.spending.budget import PROJECT, Account
from swarmgate.domain.usage import Allowance, Usage
from swarmgate.errors import BudgetExhausted, LedgerError, Owner, UsageError
from swarmgate.llm.budget import Budget
from swarmgate.llm.events import ModelEvent
from swarmgate.llm.limits.account import AccountLimits
from swarmgate.project import Project


@dataclass
class SharedBudget:
    """One budget that all sessions of an orchestration share, concurrent ones too.

    Args:
        record: the id of the orchestration: the records of the sessions are parts of it.
        owner: of the bound: its session.
        limits: their total.
        used: by those that are over.
        budget: of the first of them: the calls of the others wait for its calls too where both would not fit.
    """

    record: str
    owner: Owner
    limits: Allowance
    used: Usage
    budget: Budget | None = None
    _going_on: list[Callable[[], Usage]] = field(default_factory=list)

    @property
    def accounts(self) -> tuple[Account, ...]:
        """What was used of it a moment ago; none where nothing is limited."""
        used = sum((each() for each in self._going_on), self.used)
        return (Account(self.owner, self.limits, used),) if self.limits.limited else ()

    @contextmanager
    def joined(self, used: Callable[[], Usage]) -> Iterator[None]:
        """Counts the usage of a session."""
        self._going_on.append(used)
        try:
            yield
        finally:
            self._going_on.remove(used)
            self.used += used()


SHARED_BUDGET: ContextVar[SharedBudget | None] = ContextVar("SHARED_BUDGET", default=None)
"""The budget that sessions which begin from here on share, beside their own."""


@asynccontextmanager
async def open_session(
    project: Project, name: str, *, allowance: Allowance | None = None, resume: str
) -> AsyncIterator[AgentContexts]:
    """The participants of one debate, dispatch or chat; at the end, however it ends, its use goes on record.

    Args:
        project: where it is held.
        name: what it is and its id: `debate-20261121-224500-3f2a`.
        allowance: what it may use, with what it used before it was interrupted; None: as `[council]` says.
        resume: the command line with which it goes on after its budget was raised.

    Raises:
        CouncilRefused: it goes on in another process.
        BudgetExhausted: its budget, or the project's, is used up; the hint says how it goes on.
        LedgerCorrupt: the ledger is damaged.
    """
    session, config, shared = project.session(name), project.config, SHARED_BUDGET.get()
    limits = allowance or Allowance(usd=config.council.usd, tokens=config.council.total_tokens)
    tell = partial(_tell, project.listener)
    locked = False
    try:
        with session.held():
            locked = True
            beside, before = project.unsettled_usage(own=name), session.used()
            due = session.due(project.ledger())
            uncounted = due.usage if due else Usage()
            budget = Budget(
                lambda: (
                    *_accounts(
                        config, name, limits, spent=lambda: beside.whole + uncounted, before=before, now=_used(contexts)
                    ),
                    *(shared.accounts if shared else ()),
                ),
                on_event=tell,
                sharing=shared.budget if shared else None,
            )
            if shared and not shared.budget:
                shared.budget = budget
            contexts = AgentContexts(
                project=project,
                config=config,
                environ=dict(project.environ),
                repository=project.repository(),
                budget=budget,
                recorder=session,
                memory=memory_of(project),
                house_rules=everywhere(*uncommitted(project.folder.root)),
                guidance=project.guidance,
                limits=AccountLimits(longest_s=config.loop.wait_limit, on_event=tell),
                on_event=tell,
            )
            with shared.joined(partial(_used, contexts)) if shared else nullcontext():
                try:
                    yield contexts
                finally:
                    await contexts.aclose()
    except BudgetExhausted as error:
        hint = f"nothing of the whole rounds is lost: {error.remedy}, then: {resume}" if resume else error.hint
        raise error.with_hint(hint) from error
    finally:
        if locked:
            settle(project)


def _accounts(
    config: Config, name: str, limits: Allowance, *, spent: Callable[[], Usage], before: Usage, now: Usage
) -> tuple[Account, ...]:
    """The budgets that hold: the project's and its own. Others use up the project's at the same time."""
    whole = Allowance(usd=config.budget.usd, tokens=config.budget.tokens, seconds=config.budget.seconds)
    own = (Account(Owner("session", name), limits, before + now),) if limits.limited else ()
    return (Account(PROJECT, whole, spent() + now), *own) if whole.limited else own


def _used(contexts: AgentContexts) -> Usage:
    """What these participants have used since they were made."""
    return sum((meter.total for meter in contexts.meters.values()), Usage())


def settle(project: Project) -> None:
    """Records what was used; where another process is writing the ledger, the next one that writes it does that."""
    try:
        project.writing().close()
    except (LedgerError, UsageError) as error:
        project.notice(
            f"what the council used goes on record with the next command that writes the ledger: {error.message}"
        )


def _tell(listener: Listener, event: ModelEvent) -> None:
    listener(Progress(kind=event.kind, text=event.text, until=event.ends))

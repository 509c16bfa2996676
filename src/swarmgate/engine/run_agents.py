"""Creates the agent contexts of a run, with the guards that the loop sets for roles that change the tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cached_property

from swarmgate.agents.ask_expert import Expert
from swarmgate.agents.context import AgentContext, ToolUse
from swarmgate.agents.context_factory import AgentContexts, without_history
from swarmgate.agents.prompts import Prompts
from swarmgate.config import Role, is_program
from swarmgate.domain.guard import Turn
from swarmgate.domain.spending.budget import Account
from swarmgate.engine.context import Context
from swarmgate.engine.expert_answers import expert, standing_guidance
from swarmgate.engine.steps.agent_turn import sweep
from swarmgate.engine.steps.coding.coder import scope_violation
from swarmgate.ledger.files.live_breakers import LiveCounts
from swarmgate.ledger.files.traces import TraceStore
from swarmgate.llm.budget import Budget
from swarmgate.llm.endpoint.model_memory import ModelMemory
from swarmgate.llm.events import Answering, ModelEvent
from swarmgate.llm.limits.account import AccountLimits
from swarmgate.llm.model import Model
from swarmgate.llm.wrappers.replay import Finished, Replayed
from swarmgate.project import Project

_WRITING_STEP = {"coder": "code", "architect": "implement", "test_engineer": "test"}
"""Where a role is offered tools that write: what it may write then, its agent context knows."""


class RunAgents:
    """The agent contexts of one run by role.

    Attributes:
        context: what the agent contexts are part of, and take the rest from; set as soon as it is made.

    Args:
        project: that is worked on.
        memory: what is known of models, and takes in what calls find out.
        prompts: of all roles.
    """

    context: Context

    def __init__(self, project: Project, *, memory: ModelMemory, prompts: Prompts) -> None:
        self._project = project
        self._memory = memory
        self._prompts = prompts

    def of(self, role: str, model: str = "") -> AgentContext:
        """The agent context of a role, its model with it (`model`: another one than the role's); made on first use.

        Raises:
            ConfigError: the role has no model.
            MissingRequirement: the variable with a key is not set.
        """
        return self._contexts.of(role, model)

    def debate_contexts(self, tokens: int, debate_accounts: Callable[[], Iterable[Account]]) -> AgentContexts:
        """The voices of one debate; what they use counts to the running step, as that of every role does.

        Args:
            tokens: what one voice may use in one round.
            debate_accounts: the budgets that hold for this debate alone, as they stand now.
        """
        ctx = self.context
        council = ctx.config.council.model_copy(update={"tokens": tokens})
        return replace(
            self._contexts,
            config=ctx.config.model_copy(update={"council": council}),
            budget=Budget(
                lambda: (*ctx.budgets(), *debate_accounts()), on_event=self._report_model, reserve=ctx.reserve
            ),
            on_turn=ctx.reports.append,
        )

    @cached_property
    def _contexts(self) -> AgentContexts:
        ctx = self.context
        return AgentContexts(
            project=self._project,
            config=ctx.config,
            environ=ctx.environ,
            repository=ctx.repository,
            budget=Budget(ctx.budgets, on_event=self._report_model, reserve=ctx.reserve),
            recorder=self._traces,
            memory=self._memory,
            house_rules=ctx.house_rules,
            meters=ctx.meters,
            limits=self._limits,
            prompts=self._prompts,
            commands=ctx.commands if ctx.config.commands.history else without_history(ctx.commands),
            equipped=self._equipped,
            on_event=self._report_model,
            on_tool=self._report_tool,
            on_words=lambda role, words: ctx.notify("words", role, detail=words),
            on_guard=ctx.reports.append,
            on_turn=self._ended,
        )

    def _equipped(self, role: str, settings: Role, agent: AgentContext) -> AgentContext:
        """The agent context with the guards of the loop."""
        ctx, ledger = self.context, self.context.ledger
        return replace(
            agent,
            model=self._replayed(settings, agent.model),
            on_count=self._live.show,
            expert=self._expert,
            authority=ctx.authority(role, _WRITING_STEP.get(role, "")),
            self_coding=lambda: ledger.state.self_coding,
            opening=lambda brief: (
                *(scope_violation(ledger.state) if role == "architect" else ()),
                *standing_guidance(ledger, brief),
            ),
            spare=ctx.ignored.spare,
            ignored_by=ctx.ignored.rule_against,
            uncollected=ctx.uncollected,
            sweep=lambda: sweep(ctx, role),
        )

    def _ended(self, turn: Turn) -> None:
        """A turn is over: before git looks at the files, what an agent program or a late command left is taken away."""
        sweep(self.context, turn.role)
        self.context.reports.append(turn)

    def _replayed(self, settings: Role, model: Model) -> Model:
        """The model of a role before the record; a program's work is not in its answer, and it is asked again."""
        if any(is_program(name) for name in (settings.model, *settings.fallback)):
            return model
        return Replayed(model, self._finished, settings=settings.model_dump_json())

    @cached_property
    def _traces(self) -> TraceStore:
        ledger = self.context.ledger
        return TraceStore(ledger.folder, lambda: ledger.state.seq)

    @cached_property
    def _finished(self) -> Finished:
        ledger = self.context.ledger
        return Finished(
            lambda: self._traces.finished(ledger.state.step_seq, ledger.state.step_deaths),
            lambda: ledger.state.step_seq,
        )

    @cached_property
    def _live(self) -> LiveCounts:
        return LiveCounts(self.context.folder.breakers)

    @cached_property
    def _expert(self) -> Expert:
        return expert(self.context.config, self.context.ledger, self.of, self.context.reports.append)

    @cached_property
    def _limits(self) -> AccountLimits:
        """The limits that models of this run have reached, and the waits for their ends."""
        ctx = self.context
        return AccountLimits(
            longest_s=None if ctx.waits else ctx.config.loop.wait_limit,
            on_event=self._report_wait,
            stop=lambda: ctx.stop.requested,
        )

    def _report_wait(self, event: ModelEvent) -> None:
        self._live.wait(event.model, event.text if event.ends else "", event.ends)
        self._report_model(event)

    def _report_model(self, event: ModelEvent) -> None:
        words = event.words if isinstance(event, Answering) else ""
        self.context.notify(event.kind, event.text, until=event.ends, detail=words)

    def _report_tool(self, use: ToolUse) -> None:
        outcome = f"({use.outcome})" if use.outcome else ""
        text = " ".join(filter(None, (f"{use.role}: {use.tool}", use.summary, outcome, use.problem)))
        self.context.notify("tool", text, detail=use.detail, failed=use.failed)

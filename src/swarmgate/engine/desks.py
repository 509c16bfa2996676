"""The desks of a run: each role's model with all that it works with, put together when the role is first needed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property

from swarmgate.agents.desk import DEFAULT_WINDOW, Desk, Limits, ToolUse
from swarmgate.agents.expert import Expert
from swarmgate.agents.permissions import permit
from swarmgate.agents.prompts import Prompts
from swarmgate.automation.agent_rules import JUDGING
from swarmgate.config import Config, is_program
from swarmgate.council.voices import Voices
from swarmgate.domain.budget import Account
from swarmgate.domain.guard import Turn
from swarmgate.engine.context import Context
from swarmgate.engine.experts import expert
from swarmgate.engine.programs import AgentProgram
from swarmgate.engine.steps.scope import violation
from swarmgate.engine.steps.sweeping import sweep
from swarmgate.ledger.ledger import Ledger
from swarmgate.ledger.live import LiveCounts
from swarmgate.ledger.traces import TraceStore
from swarmgate.llm.budget import Budget, Metered
from swarmgate.llm.connect import connect
from swarmgate.llm.endpoint.model_memory import ModelMemory
from swarmgate.llm.events import ModelEvent
from swarmgate.llm.limits.account import AccountLimits
from swarmgate.llm.model import Model
from swarmgate.llm.replay import Finished, Replayed
from swarmgate.workspace.files import FileTree

_WRITING_STEP = {"coder": "code", "architect": "implement", "test_engineer": "test"}
"""Where a role is offered tools that write: what it may write then, its desk knows."""


class Desks:
    """The desks of one run by role.

    Attributes:
        context: what the desks are part of, and take the rest from; set as soon as it is made.

    Args:
        ledger: of the project.
        environ: where keys are looked up.
        memory: what is known of models, and takes in what calls find out.
        prompts: of all roles.
    """

    context: Context

    def __init__(
        self,
        ledger: Ledger,
        *,
        environ: Mapping[str, str],
        memory: ModelMemory,
        prompts: Prompts,
    ) -> None:
        self._ledger = ledger
        self._environ = environ
        self._memory = memory
        self._prompts = prompts
        self._made: dict[str, Desk] = {}
        self._budget = Budget(lambda: self.context.budgets(), on_event=self._tell_model)  # noqa: PLW0108 - set later
        self._sitting: Callable[[], Iterable[Account]] = tuple
        self._voices_budget = Budget(lambda: (*self.context.budgets(), *self._sitting()), on_event=self._tell_model)
        self._traces = TraceStore(ledger.folder, lambda: ledger.state.seq)
        self._finished = Finished(
            lambda: self._traces.finished(ledger.state.step_seq, ledger.state.step_deaths),
            lambda: ledger.state.step_seq,
        )
        self._live = LiveCounts(ledger.folder.breakers)

    def of(self, role: str) -> Desk:
        """The desk of a role, its model with it; made on first use.

        Raises:
            ConfigError: the role has no model.
            MissingRequirement: the variable with a key is not set.
        """
        if role not in self._made:
            self.context.meters[role] = self._model(role)
            self._made[role] = self._desk(role, self.context.meters[role])
        return self._made[role]

    def voices(self, tokens: int, sitting: Callable[[], Iterable[Account]]) -> Voices:
        """The voices of one debate; what they use counts to the running step, as that of every role does.

        Args:
            tokens: what one voice may use in one round.
            sitting: the budgets that hold for this debate alone, as they stand now.
        """
        from swarmgate.engine.voices import EngineVoices  # noqa: PLC0415 - late: it builds on `build`, which makes this

        self._sitting = sitting
        ctx, ledger = self.context, self._ledger
        council = ctx.config.council.model_copy(update={"tokens": tokens})
        return EngineVoices(
            config=ctx.config.model_copy(update={"council": council}),
            folder=ledger.folder,
            repository=ctx.repository,
            environ=self._environ,
            budget=self._voices_budget,
            recorder=self._traces,
            house_rules=ctx.house_rules,
            memory=self._memory,
            meters=ctx.meters,
            limits=self._limits,
            on_event=self._tell_model,
            on_tool=self._tell_tool,
            on_guard=ctx.reports.append,
            on_turn=ctx.reports.append,
        )

    def _model(self, role: str) -> Metered:
        ctx = self.context
        return connect(
            role,
            ctx.config,
            environ=self._environ,
            recorder=self._traces,
            budget=self._budget,
            on_event=self._tell_model,
            memory=self._memory,
            program=lambda settings: AgentProgram(
                ctx.commands,
                settings,
                self._environ,
                judges=role in JUDGING,
                permits=lambda asked, folder, writes: permit(
                    self._made[role], asked, folder=folder, writes=writes, network=settings.network
                ),
            ),
            limits=self._limits,
        )

    def _desk(self, role: str, model: Metered) -> Desk:
        ctx, ledger = self.context, self._ledger
        return Desk(
            model=self._replayed(role, model),
            files=FileTree(ctx.repository.root, guarded=ctx.commands.confinement.guarded),
            prompts=self._prompts,
            commands=ctx.commands,
            allow_commands=ctx.config.commands.allow,
            house_rules=ctx.house_rules,
            limits=_limits(ctx.config, role),
            on_tool=self._tell_tool,
            on_guard=ctx.reports.append,
            on_turn=self._ended,
            on_count=self._live.show,
            expert=self._expert,
            authority=ctx.authority(role, _WRITING_STEP.get(role, "")),
            self_coding=lambda: ledger.state.self_coding,
            opening=lambda: violation(ledger.state) if role == "architect" else (),
            spare=ctx.ignored.spare,
            ignored_by=ctx.ignored.rule_against,
            uncollected=ctx.uncollected,
            sweep=lambda: sweep(ctx, role),
            end_turn=model.end_turn,
        )

    def _ended(self, turn: Turn) -> None:
        """A turn is over: before git looks at the files, what an agent program or a late command left is taken away."""
        sweep(self.context, turn.role)
        self.context.reports.append(turn)

    def _replayed(self, role: str, model: Metered) -> Model:
        """The model of a role before the record; a program's work is not in its answer, and it is asked again."""
        settings = self.context.config.role(role)
        if any(is_program(name) for name in (settings.model, *settings.fallback)):
            return model
        return Replayed(model, self._finished, settings=settings.model_dump_json())

    @cached_property
    def _expert(self) -> Expert:
        return expert(self.context.config, self._ledger, self.of, self.context.reports.append)

    @cached_property
    def _limits(self) -> AccountLimits:
        """The limits that models of this run have reached, and the waits for their ends."""
        ctx = self.context
        return AccountLimits(
            longest_s=None if ctx.waits else ctx.config.loop.wait_limit,
            on_event=self._tell_wait,
            stop=lambda: ctx.stop.requested,
        )

    def _tell_wait(self, event: ModelEvent) -> None:
        self._live.wait(event.model, event.text if event.ends else "", event.ends)
        self._tell_model(event)

    def _tell_model(self, event: ModelEvent) -> None:
        self.context.tell(event.kind, event.text, until=event.ends)

    def _tell_tool(self, use: ToolUse) -> None:
        self.context.tell("tool", " ".join(filter(None, (f"{use.role}: {use.tool}", use.summary, use.problem))))


def _limits(config: Config, role: str) -> Limits:
    """The bounds of a turn of the role."""
    return Limits(
        replies=config.loop.replies,
        max_turns=config.loop.max_turns,
        command_timeout_s=config.commands.timeout_s,
        bounds=config.breakers.of(role),
        context_tokens=config.role(role).context_tokens or DEFAULT_WINDOW,
    )

"""The composition root: the one place where the rooms are put together into what the steps work with."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from swarmgate.agents.desk import DEFAULT_WINDOW, Desk, Limits, ToolUse
from swarmgate.agents.prompts import Prompts
from swarmgate.automation.agent_files import survey
from swarmgate.automation.agent_rules import JUDGING
from swarmgate.config import Config
from swarmgate.domain.events import GuidanceGiven
from swarmgate.domain.finding import GateReport, GateResult
from swarmgate.domain.guard import GuardNote, Turn
from swarmgate.engine.context import Context, StopFlag
from swarmgate.engine.experts import expert
from swarmgate.engine.programs import AgentProgram
from swarmgate.engine.progress import Listener
from swarmgate.engine.steps.attempts import announced
from swarmgate.engine.steps.scope import violation
from swarmgate.gates import own_tools
from swarmgate.gates.definition import load
from swarmgate.gates.memory import Memory
from swarmgate.gates.pipeline import GatesOptions, run_pipeline
from swarmgate.gates.sensitivity import definition as sensitivity
from swarmgate.ledger import probes
from swarmgate.ledger.evidence import EvidenceStore
from swarmgate.ledger.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger
from swarmgate.ledger.live import LiveCounts
from swarmgate.ledger.traces import TraceStore
from swarmgate.llm.budget import Budget, Metered
from swarmgate.llm.connect import connect
from swarmgate.llm.events import CostUnknown, FellBack, ModelEvent
from swarmgate.llm.steering import compact_roles, current, steered
from swarmgate.workspace import trusted
from swarmgate.workspace.files import FileTree
from swarmgate.workspace.repository import Repository
from swarmgate.workspace.sandbox.choice import choose
from swarmgate.workspace.sandbox.confinement import Confinement
from swarmgate.workspace.sandbox.confinement import Limits as CommandLimits
from swarmgate.workspace.sandbox.running import CommandRunner
from swarmgate.workspace.sandbox.surroundings import confine

ROLES = ("architect", "critic", "coder", "reviewer", "test_engineer")
"""The roles that the loop cannot do without."""
SPEAKING = (*ROLES, "sme")
"""Every role that a model may speak as."""
_WRITING_STEP = {"coder": "code", "architect": "implement", "test_engineer": "test"}
"""Where a role is offered tools that write: what it may write then, its desk knows."""
_GUIDANCE = "AGENTS.md"
_GUIDANCE_LIMIT = 20_000
"""Characters of AGENTS.md that go into every brief; about 5,000 tokens."""


def build(
    *,
    config: Config,
    folder: SwarmFolder,
    repository: Repository,
    ledger: Ledger,
    environ: Mapping[str, str],
    listener: Listener,
    stash: bool = False,
) -> Context:
    """The surroundings of one run. No model is connected before its role is first needed."""
    probed = current(config, probes.load(folder))
    config = steered(config, probed)
    meters: dict[str, Metered] = {}
    desks: dict[str, Desk] = {}
    reports: list[GuardNote | Turn | GuidanceGiven] = []
    tell = _Teller()
    agent_files = survey(config, repository.root, SPEAKING, lambda: repository.list_tree(repository.snapshot()))
    commands = _commands(config, folder, repository, agent_files.guarded)
    # What judges go by is read before any agent is at work: what one writes into .swarm/ changes no judge of this run.
    definitions, guidance = load(folder.root), _guidance(repository)
    prompts = Prompts(folder.prompts, compact=compact_roles(config, SPEAKING))
    prompts.load(SPEAKING)
    sensitive_code = sensitivity.load(folder.root)
    budget = Budget(lambda: context.budgets(), on_event=tell.model)  # noqa: PLW0108 - the context is made below
    traces, live = TraceStore(folder, lambda: ledger.state.seq), LiveCounts(folder.breakers)

    def desk(role: str) -> Desk:
        if role not in desks:
            meters[role] = connect(
                role,
                config,
                environ=environ,
                recorder=traces,
                budget=budget,
                on_event=tell.model,
                probed=probed,
                program=lambda settings: AgentProgram(commands, settings, environ, judges=role in JUDGING),
            )
            desks[role] = Desk(
                model=meters[role],
                files=FileTree(repository.root, guarded=commands.confinement.guarded),
                prompts=prompts,
                commands=commands,
                allow_commands=config.commands.allow,
                guidance=guidance,
                limits=_limits(config, role),
                on_tool=tell.tool,
                on_guard=reports.append,
                on_turn=reports.append,
                on_count=live.show,
                expert=adviser,
                authority=context.authority(role, _WRITING_STEP.get(role, "")),
                self_coding=lambda: ledger.state.self_coding,
                opening=lambda: violation(ledger.state) if role == "architect" else (),
                spare=lambda place: context.ignored.spare(place),  # noqa: PLW0108 - the context is made below
            )
        return desks[role]

    adviser = expert(config, ledger, desk, reports.append)

    async def judge(*, fix: bool, base: str = "", tested: bool = False) -> GateReport:
        return await run_pipeline(
            definitions,
            repository=repository,
            base=repository.tree_of(base or "HEAD"),
            config=_options(config, ledger, tested=tested),
            fix=fix,
            on_result=tell.gate,
            memory=Memory(),
            commands=commands,
        )

    context = Context(
        config=config,
        folder=folder,
        repository=repository,
        ledger=ledger,
        evidence=EvidenceStore(folder),
        desk=desk,
        commands=commands,
        meters=meters,
        reports=reports,
        judge=judge,
        sensitivity=sensitive_code,
        agent_files=agent_files,
        stop=StopFlag(folder.stop_request),
        listener=listener,
        stash=stash,
    )
    tell.context = context
    return context


def _commands(
    config: Config, folder: SwarmFolder, repository: Repository, guarded: tuple[Path, ...] = ()
) -> CommandRunner:
    """What runs the commands of agents, the tests, and the programs that gates start; `guarded` stays as it is.

    Raises:
        MissingRequirement: there is no such sandbox here.
        WorkspaceError: the repository lies so that nothing can guard it.
    """
    settings = config.commands
    sandbox, bounds = choose(settings.sandbox), Confinement(root=repository.root, home=repository.root)
    if sandbox.name != "none":
        bounds = confine(
            repository.root,
            environ=os.environ,
            readable=(*settings.readable, str(own_tools.folder())),
            writable=settings.writable,
            guarded=(folder.path, *guarded),
            network=settings.network,
            limits=CommandLimits(settings.memory_mb << 20, settings.processes, settings.file_mb << 20),
        )
        trusted.forget_modules(repository.root, bounds.guarded)
    return CommandRunner(sandbox, bounds, inherit=settings.env, output_chars=settings.output_chars)


def _limits(config: Config, role: str) -> Limits:
    """The bounds of a turn of the role."""
    return Limits(
        replies=config.loop.replies,
        max_turns=config.loop.max_turns,
        command_timeout_s=config.commands.timeout_s,
        bounds=config.breakers.of(role),
        context_tokens=config.role(role).context_tokens or DEFAULT_WINDOW,
    )


def _options(config: Config, ledger: Ledger, *, tested: bool) -> GatesOptions:
    """What the settings and the running task say about a judgement."""
    return GatesOptions(
        skip=config.gates.skip,
        timeout_s=config.gates.timeout_s,
        quality=config.gates.quality,
        tested=tested,
        announced=announced(ledger.state),
    )


class _Teller:
    """Turns what the rooms below report into progress, once the context exists that knows where the work stands."""

    context: Context | None = None

    def model(self, event: ModelEvent) -> None:
        match event:
            case FellBack():
                text = f"{event.model} failed for good ({event.reason}); asking {event.to}"
            case CostUnknown():
                text = (
                    f"the price of {event.model} is unknown: [budget] usd holds known costs only "
                    f'(set [prices."{event.model}"])'
                )
            case _:
                text = f"{event.reason}; try {event.attempt} of {event.attempts} in {event.seconds:.0f} s"
        self._tell("model", text)

    def tool(self, use: ToolUse) -> None:
        self._tell("tool", " ".join(filter(None, (f"{use.role}: {use.tool}", use.summary, use.problem))))

    def gate(self, result: GateResult) -> None:
        self._tell("gate", f"{result.gate}: {result.status}{' - ' + result.reason if result.reason else ''}")

    def _tell(self, kind: str, text: str) -> None:
        if self.context is not None:
            self.context.tell(kind, text)


def _guidance(repository: Repository) -> str:
    path = repository.root / _GUIDANCE
    if path.is_symlink() or not path.is_file():
        return ""
    return path.read_text(encoding="utf-8", errors="replace")[:_GUIDANCE_LIMIT]

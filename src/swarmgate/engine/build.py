"""The composition root: the one place where the rooms are put together into what the steps work with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from swarmgate.agents.prompts import Prompts
from swarmgate.automation.agent_files import survey
from swarmgate.config import Config
from swarmgate.domain.finding import GateReport, GateResult
from swarmgate.engine import debaters
from swarmgate.engine.context import Context, StopFlag
from swarmgate.engine.desks import Desks
from swarmgate.engine.progress import Listener
from swarmgate.engine.steps.attempts import announced
from swarmgate.gates import confining
from swarmgate.gates.definition import GateDefinition, load
from swarmgate.gates.memory import Memory
from swarmgate.gates.pipeline import GatesOptions, run_pipeline
from swarmgate.gates.sensitivity import definition as sensitivity
from swarmgate.ledger import debate_worth, probes
from swarmgate.ledger.debates import DebateFiles
from swarmgate.ledger.evidence import EvidenceStore
from swarmgate.ledger.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger
from swarmgate.llm.capabilities.steering import compact_roles, current, steered
from swarmgate.llm.endpoint.model_memory import ModelMemory
from swarmgate.llm.redact import redact
from swarmgate.workspace import shadowing
from swarmgate.workspace.repository import Repository
from swarmgate.workspace.sandbox.running import CommandRunner

ROLES = ("architect", "critic", "coder", "reviewer", "test_engineer")
"""The roles that the loop cannot do without."""
SPEAKING = (*ROLES, "sme")
"""Every role that a model may speak as."""


def build(
    *,
    config: Config,
    folder: SwarmFolder,
    repository: Repository,
    ledger: Ledger,
    environ: Mapping[str, str],
    listener: Listener,
    stash: bool = False,
    waits: bool = False,
) -> Context:
    """The surroundings of one run. No model is connected before its role is first needed.

    Raises:
        ConfigError: what was measured of debates has to be known, and cannot be read.
    """
    memory = ModelMemory(current(config, probes.load(folder)), keep=partial(probes.remember, folder))
    config = steered(config, memory.known)
    agent_files = survey(config, repository.root, SPEAKING, lambda: repository.list_tree(repository.snapshot()))
    commands = command_runner(config, folder, repository, agent_files.guarded)
    # What judges go by is read before any agent is at work: what one writes into .swarm/ changes no judge of this run.
    definitions, sensitive_code = load(folder.root), sensitivity.load(folder.root)
    prompts = Prompts(folder.prompts, compact=compact_roles(config, SPEAKING))
    prompts.load(SPEAKING)
    desks = Desks(ledger, environ=environ, memory=memory, prompts=prompts)

    async def judge(*, fix: bool, base: str = "", tested: bool = False) -> GateReport:
        return await _judged(context, definitions, fix=fix, base=base, tested=tested)

    context = Context(
        config=config,
        folder=folder,
        repository=repository,
        ledger=ledger,
        evidence=EvidenceStore(folder),
        desk=desks.of,
        commands=commands,
        meters={},
        reports=[],
        judge=judge,
        sensitivity=sensitive_code,
        agent_files=agent_files,
        start_up=shadowing.survey(repository.root),
        voices=desks.voices,
        debates=DebateFiles(folder, redact=partial(redact, secrets=_keys(config, environ))),
        worth=debate_worth.read(folder) if "auto" in debaters.modes(config) else None,
        stop=StopFlag(folder.stop_request),
        listener=listener,
        stash=stash,
        waits=waits,
        environ=environ,
    )
    desks.context = context
    return context


def _keys(config: Config, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The keys of all providers: what is kept of debates holds none of them."""
    return tuple(filter(None, (environ.get(each.api_key_env, "").strip() for each in config.providers.values())))


def command_runner(
    config: Config, folder: SwarmFolder, repository: Repository, guarded: tuple[Path, ...] = ()
) -> CommandRunner:
    """What runs the commands of agents, the tests, and the programs that gates start; `guarded` stays as it is.

    Raises:
        MissingRequirement: there is no such sandbox here.
        WorkspaceError: the repository lies so that nothing can guard it.
    """
    return confining.confined(repository.root, config.commands, guarded=(folder.path, *guarded))


async def _judged(
    ctx: Context, definitions: Sequence[GateDefinition], *, fix: bool, base: str, tested: bool
) -> GateReport:
    """What the gates say of the work tree, as the settings and the running task want them run."""
    gates = ctx.config.gates

    def told(result: GateResult) -> None:
        ctx.tell("gate", f"{result.gate}: {result.status}{' - ' + result.reason if result.reason else ''}")

    return await run_pipeline(
        definitions,
        repository=ctx.repository,
        base=ctx.repository.tree_of(base or "HEAD"),
        config=GatesOptions(
            skip=gates.skip,
            timeout_s=gates.timeout_s,
            quality=gates.quality,
            size=gates.size,
            tested=tested,
            announced=announced(ctx.ledger.state),
        ),
        fix=fix,
        on_result=told,
        memory=Memory(),
        commands=ctx.commands,
    )

"""The composition root: creates the context of the steps from the rooms below."""

from __future__ import annotations

from collections.abc import Sequence

from swarmgate.agents.context_factory import memory_of
from swarmgate.agents.prompts import Prompts
from swarmgate.config import SPEAKING
from swarmgate.council.shared import Shared
from swarmgate.domain.review.finding import GateReport, GateResult, GateStatus
from swarmgate.domain.state.state import State
from swarmgate.domain.state.unattended import ATTENDED, Unattended
from swarmgate.engine import debaters
from swarmgate.engine.context import Context, StopFlag
from swarmgate.engine.run_agents import RunAgents
from swarmgate.gates.cache.scan_results import Memory
from swarmgate.gates.definition import GateDefinition, load
from swarmgate.gates.formats.text import row
from swarmgate.gates.pipeline.pipeline import GatesOptions, run_pipeline
from swarmgate.gates.sensitivity import definition as sensitivity
from swarmgate.ledger.councils import debate_worth
from swarmgate.ledger.evidence.evidence import EvidenceStore
from swarmgate.ledger.files.live_progress import LiveProgress
from swarmgate.ledger.ledger import Ledger
from swarmgate.llm.capabilities.settings import compact_roles, steered
from swarmgate.project import Project
from swarmgate.workspace.agent_programs.files import survey
from swarmgate.workspace.git.repository import Repository
from swarmgate.workspace.programs import shadowing


def build(
    project: Project,
    *,
    repository: Repository,
    ledger: Ledger,
    stash: bool = False,
    waits: bool = False,
    attended: bool = False,
    unattended: Unattended = ATTENDED,
) -> Context:
    """Creates the context of one run. No model is connected before its role is first needed.

    Raises:
        ConfigError: what was measured of debates has to be known, and cannot be read.
    """
    folder, memory = project.folder, memory_of(project)
    config = steered(project.config, memory.known)
    agent_files = survey(config, repository.root, SPEAKING, lambda: repository.list_tree(repository.snapshot()))
    commands = project.command_runner(config, agent_files.guarded, root=repository.root)
    # What judges go by is read before any agent is at work: what one writes into .swarm/ changes no judge of this run.
    definitions, sensitive_code = load(folder.root), sensitivity.load(folder.root)
    prompts = Prompts(
        folder.prompts, compact=compact_roles(config, SPEAKING), asking=filter(config.ask.allowed, SPEAKING)
    )
    prompts.load(SPEAKING)
    agents = RunAgents(project, memory=memory, prompts=prompts)

    async def judge(*, fix: bool, base: str = "", tested: bool = False) -> GateReport:
        return await _judged(context, definitions, fix=fix, base=base, tested=tested)

    context = Context(
        config=config,
        folder=folder,
        repository=repository,
        ledger=ledger,
        evidence=EvidenceStore(folder),
        agent=agents.of,
        commands=commands,
        meters={},
        reports=[],
        judge=judge,
        sensitivity=sensitive_code,
        agent_files=agent_files,
        start_up=shadowing.survey(repository.root),
        debate_contexts=agents.debate_contexts,
        records=Shared(project).records,
        worth=debate_worth.read(folder) if "auto" in debaters.modes(config) else None,
        stop=StopFlag(folder.stop_request),
        listener=LiveProgress(folder.progress, project.listener),
        stash=stash,
        waits=waits,
        attended=attended,
        unattended=unattended,
        environ=dict(project.environ),
    )
    agents.context = context
    return context


async def _judged(
    ctx: Context, definitions: Sequence[GateDefinition], *, fix: bool, base: str, tested: bool
) -> GateReport:
    """What the gates say of the work tree, as the settings and the running task want them run."""
    gates = ctx.config.gates

    def report(result: GateResult) -> None:
        failed = result.status in (GateStatus.FAIL, GateStatus.ERROR)
        ctx.notify("gate", row(result).text.rstrip(), failed=failed)

    return await run_pipeline(
        definitions,
        repository=ctx.repository,
        base=ctx.repository.tree_of(base or "HEAD"),
        config=GatesOptions(
            skip=gates.skip,
            require=gates.require,
            timeout_s=gates.timeout_s,
            quality=gates.quality,
            size=gates.size,
            tested=tested,
            announced=announced(ctx.ledger.state),
        ),
        fix=fix,
        on_result=report,
        memory=Memory(),
        commands=ctx.commands,
    )


def announced(state: State) -> str | None:
    """The stated purpose and kind of the running attempt's task; None where no task is open."""
    if not state.open or state.plan is None:
        return None
    task, attempt = state.plan.tasks[state.open], state.task(state.open).running
    lines = [state.goal, task.title, task.description, *task.acceptance, attempt.instructions if attempt else ""]
    lines.append(f"Kind: {task.kind}")
    return "\n".join(lines)

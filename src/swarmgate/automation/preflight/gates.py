"""The preflight check that runs gates: lint over the files that the work changed, secrets over the whole tree.

Old lint stops nobody: gates hold a change to account, never what was there before. Where no work has begun, the whole
tree is looked at and told, and a finding stops nothing. A secret stops the phase wherever it stands, since agents read
every file; one that is none is accepted with `swarm gates baseline`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import replace

from swarmgate.automation.preflight.context import CheckResult, PreflightContext, few
from swarmgate.domain.review.finding import GateResult, GateStatus
from swarmgate.gates import baseline
from swarmgate.gates.cache.scan_results import Memory
from swarmgate.gates.definition import load
from swarmgate.gates.pipeline.pipeline import GatesOptions, run_pipeline
from swarmgate.gates.project.scope import Scope
from swarmgate.workspace.git import revisions

LINT, SECRETS = "lint_check", "secret_scan"
"""The gates that are run."""


async def inspect(context: PreflightContext) -> Mapping[str, CheckResult]:
    """`lint` and `secrets`."""
    begun = bool(context.state.base)
    lint, secrets = await asyncio.gather(_gate(context, LINT, whole=not begun), _gate(context, SECRETS, whole=True))
    return {
        "lint": replace(_found(lint, "what the work changed" if begun else "the whole tree"), blocks=begun),
        "secrets": await asyncio.to_thread(_with_submodules, context, _found(secrets, "the whole tree")),
    }


def _with_submodules(context: PreflightContext, found: CheckResult) -> CheckResult:
    """Adds a note on submodules that are not scanned: git would have to run there, by the settings there."""
    repository = context.fresh()
    inner = revisions.submodules(repository, repository.head_tree())
    if not inner or found.skipped:
        return found
    message = f"submodules are not scanned, and changes in them are not seen: {few(inner)}"
    if found.problem:
        return replace(found, detail=f"{found.detail}; {message}")
    hint = f"Look there yourself: swarm gates run --all --repo {inner[0]}"
    return replace(found, problem=message, hint=hint, blocks=False)


async def _gate(context: PreflightContext, gate: str, *, whole: bool) -> GateResult:
    """One gate over the tree, or over what differs from the commit that the work began at; its time is all of it."""
    started = time.monotonic()
    repository, gates = context.fresh(), context.config.gates
    base = revisions.empty_tree(repository) if whole else repository.tree_of(context.state.base)
    report = await run_pipeline(
        [each for each in load(repository.root) if each.id == gate],
        repository=repository,
        base=base,
        config=GatesOptions(
            skip=tuple(name for name in gates.skip if name == gate), timeout_s=gates.timeout_s, quality=gates.quality
        ),
        fix=False,
        scope=Scope(whole=whole, reference=repository.head_tree() if whole else ""),
        accepted=baseline.on_disk(repository.root),
        memory=Memory(),
        commands=context.commands(),
    )
    return report.results[0].model_copy(update={"seconds": time.monotonic() - started})


def _found(result: GateResult, where: str) -> CheckResult:
    """A gate's result: one that looked at nothing is a skip, one that broke a failure."""
    match result.status:
        case GateStatus.PASS:
            files = "1 file" if result.files == 1 else f"{result.files} files"
            return CheckResult(f"{files}: {where}", seconds=result.seconds)
        case GateStatus.SKIP:
            return CheckResult(f"{where}: {result.reason}", skipped=True, seconds=result.seconds)
        case GateStatus.ERROR:
            return CheckResult(where, result.reason, "See: swarm gates doctor", seconds=result.seconds)
    places = [f"{each.place} {each.rule}: {each.message}" for each in result.blocking_findings]
    hint = f"See all: swarm gates run --all --only {result.gate}"
    if result.gate == SECRETS:
        hint += f'; what is none: swarm gates baseline --all --only {SECRETS} --force --reason "..."'
    return CheckResult(where, few(places, 3) or result.reason, hint, seconds=result.seconds)

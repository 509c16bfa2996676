"""Runs the gates of a change: what fixes files first and alone, then all that only reads, at once; and judges.

Every gate ends in a `GateResult`. A scanner that raises, hangs or is not installed is an ERROR, never an exception.
"""

from __future__ import annotations

import asyncio
import difflib
import time
from collections import Counter
from typing import TYPE_CHECKING

from swarmgate.domain.base import Frozen
from swarmgate.domain.finding import Finding, GateReport, GateResult, GateStatus
from swarmgate.errors import ConfigError, MissingRequirement, SwarmError
from swarmgate.gates import command, loading
from swarmgate.gates.adapters import ADAPTERS
from swarmgate.gates.definition import Stage
from swarmgate.gates.job import Job, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from swarmgate.domain.change import ChangeSet
    from swarmgate.gates.definition import GateDefinition
    from swarmgate.gates.files import Source
    from swarmgate.workspace.repository import Repository

    OnResult = Callable[[GateResult], None]

FINDINGS_PER_RULE = 50
"""More of one kind tells a reader nothing new."""

_GRACE_S = 1.0
"""A command ends its own processes at the time limit; what does not is cancelled from outside, this much later."""

_WHOLE_CHANGE = frozenset({"build", "diff", "sbom"})
"""The adapters that judge the change as a whole: they run even where no file is left to look at (a deleted lock)."""


class GatesOptions(Frozen):
    """What a run leaves out. `only` empty means every gate; `timeout_s` is an upper bound for each gate's own limit.

    `findings_per_rule`: of one rule, so many findings are listed, new ones first; the count of the others is told.
    """

    skip: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    timeout_s: float | None = None
    findings_per_rule: int = FINDINGS_PER_RULE


async def run_pipeline(
    definitions: Sequence[GateDefinition],
    *,
    repository: Repository,
    base: str,
    config: GatesOptions | None = None,
    fix: bool = True,
    on_result: OnResult | None = None,
) -> GateReport:
    """Run the gates over what differs between the tree `base` and the working tree.

    Args:
        definitions: the gates, in the order of the report.
        repository: the user's repository.
        base: the tree id that the change starts from.
        config: gates to leave out and the longest time of one.
        fix: whether gates that change files may run.
        on_result: called with each result as soon as it is there.

    Returns:
        The report; its `tree` is the tree after the fixes, which every verdict is about.

    Raises:
        ConfigError: `config` names a gate that does not exist.
        WorkspaceError: git cannot take a snapshot.
    """
    run = _Run(repository, base, config or GatesOptions(), on_result)
    check_names(definitions, run.options)
    started = time.monotonic()
    results: dict[str, GateResult] = {}
    change = await run.change()
    for gate in (gate for gate in definitions if gate.stage is Stage.FIX):
        results[gate.id], change = await run.fix(gate, change, allowed=fix)
        run.tell(results[gate.id])
    checks = [gate for gate in definitions if gate.stage is Stage.CHECK]
    results |= {result.gate: result for result in await run.check(checks, change)}
    ordered = tuple(results[gate.id] for gate in definitions)
    return GateReport(tree=change.tree, results=ordered, seconds=time.monotonic() - started)


class _Run:
    """One run of the pipeline: what its gates share."""

    def __init__(self, repository: Repository, base: str, options: GatesOptions, on_result: OnResult | None) -> None:
        self.repository = repository
        self.base = base
        self.options = options
        self._on_result = on_result

    def tell(self, result: GateResult) -> None:
        if self._on_result:
            self._on_result(result)

    async def change(self) -> ChangeSet:
        return await asyncio.to_thread(lambda: self.repository.changes(self.base, self.repository.snapshot()))

    async def fix(self, gate: GateDefinition, change: ChangeSet, *, allowed: bool) -> tuple[GateResult, ChangeSet]:
        """Run a gate that changes files; what it changed is read from git, and must be part of the change."""
        if not allowed and gate.enabled:
            return judge(gate, Outcome(skip="fixing is switched off"), seconds=0.0), change
        sources = await asyncio.to_thread(loading.load, self.repository, change)
        result = await self._run(gate, change, sources)
        if result.status is GateStatus.SKIP:
            return result, change
        after = await self.change()
        if after.tree == change.tree:
            return result, after
        fixed = await asyncio.to_thread(lambda: self.repository.changes(change.tree, after.tree).paths)
        result = result.model_copy(update={"fixed": fixed})
        beyond = sorted(set(fixed) - set(change.paths))
        if beyond:
            reason = f"it changed files that are no part of the change: {_few(beyond)}"
            result = result.model_copy(update={"status": GateStatus.ERROR, "reason": reason})
        return result, after

    async def check(self, gates: Sequence[GateDefinition], change: ChangeSet) -> list[GateResult]:
        """Run the gates that only read, at once. Those that ran a tool on the files must not have changed them."""
        sources = await asyncio.to_thread(loading.load, self.repository, change)

        async def told(gate: GateDefinition) -> GateResult:
            result = await self._run(gate, change, sources)
            if not _reads_files(gate):
                self.tell(result)
            return result

        results = list(await asyncio.gather(*map(told, gates)))
        suspects = [n for n, gate in enumerate(gates) if _reads_files(gate)]
        ran = any(results[n].status is not GateStatus.SKIP for n in suspects)
        written = await self._written(change) if ran else ()
        for n in suspects:
            if written and results[n].status is not GateStatus.SKIP:
                reason = f"the working tree changed while it ran, and a check must only read: {_few(written)}"
                results[n] = results[n].model_copy(update={"status": GateStatus.ERROR, "reason": reason})
            self.tell(results[n])
        return results

    async def _written(self, change: ChangeSet) -> tuple[str, ...]:
        def differing() -> tuple[str, ...]:
            tree = self.repository.snapshot()
            return () if tree == change.tree else self.repository.changes(change.tree, tree).paths

        return await asyncio.to_thread(differing)

    async def _run(self, gate: GateDefinition, change: ChangeSet, sources: tuple[Source, ...]) -> GateResult:
        started = time.monotonic()
        left_out = self._left_out(gate)
        if left_out:
            return judge(gate, Outcome(skip=left_out), seconds=0.0)
        selection = gate.files.select(sources)
        if not selection.sources and gate.adapter not in _WHOLE_CHANGE:
            return judge(gate, Outcome(skip=_nothing(change, selection.note)), seconds=0.0)
        limit = min(gate.timeout_s, self.options.timeout_s or gate.timeout_s)
        job = Job(gate, self.repository, change, selection.sources, limit)
        outcome = await _outcome(gate, job)
        note = "" if gate.adapter in _WHOLE_CHANGE else selection.note
        seconds = time.monotonic() - started
        return judge(gate, outcome, note=note, seconds=seconds, cap=self.options.findings_per_rule)

    def _left_out(self, gate: GateDefinition) -> str:
        if not gate.enabled:
            return f"disabled in {gate.source}"
        if gate.id in self.options.skip:
            return "skipped by configuration (gates.skip)"
        return "not selected" if self.options.only and gate.id not in self.options.only else ""


async def _outcome(gate: GateDefinition, job: Job) -> Outcome:
    """Let the gate's scanner run within its time; whatever goes wrong becomes an outcome."""
    adapter = ADAPTERS[gate.adapter] if gate.adapter else command.run
    own_limit = 0.0 if gate.adapter and not _reads_files(gate) else _GRACE_S
    limit = asyncio.timeout(job.timeout_s + own_limit)
    try:
        async with limit:
            return await adapter(job)
    except MissingRequirement as error:
        return Outcome(error=". ".join(filter(None, (error.message, gate.install_hint or error.hint))))
    except SwarmError as error:
        return Outcome(error=error.message)
    except Exception as error:  # noqa: BLE001 - a broken scanner is a value: the run goes on and says so
        if isinstance(error, TimeoutError) and limit.expired():
            return Outcome(error=f"did not end within {job.timeout_s:g} s")
        return Outcome(error=f"{type(error).__name__}: {error}")
    finally:
        job.stop.set()


def judge(
    gate: GateDefinition, outcome: Outcome, *, note: str = "", seconds: float, cap: int = FINDINGS_PER_RULE
) -> GateResult:
    """The result of a gate from what its scanner said, with at most `cap` findings of a rule."""
    ordered = sorted(outcome.findings, key=lambda each: (each.path, each.line, each.rule, each.column))
    blocking = [each for each in ordered if each.new and each.severity.rank >= gate.severity.rank]
    shown, more = _cap(ordered, cap)
    status, reason = _verdict(gate, outcome, ordered, blocking)
    weakened = f"weakened by {gate.source}: {', '.join(gate.weakened)}" if gate.weakened else ""
    return GateResult(
        gate=gate.id,
        status=status,
        required=gate.required,
        reason="; ".join(filter(None, (reason, *outcome.notes, note, more, weakened))),
        findings=shown,
        files=outcome.files,
        seconds=seconds,
        tool=outcome.tool,
    )


def _verdict(
    gate: GateDefinition, outcome: Outcome, findings: Sequence[Finding], blocking: Sequence[Finding]
) -> tuple[GateStatus, str]:
    if outcome.error:
        return GateStatus.ERROR, outcome.error
    if outcome.failure:
        return GateStatus.FAIL, outcome.failure
    if blocking:
        old = sum(not each.new for each in findings)
        before = f", {old} stood there before" if old else ""
        return GateStatus.FAIL, f"{len(blocking)} new at or above {gate.severity}{before}"
    if outcome.skip:
        return GateStatus.SKIP, outcome.skip
    return GateStatus.PASS, ""


def _cap(findings: Sequence[Finding], most: int) -> tuple[tuple[Finding, ...], str]:
    """At most so many findings a rule, new and severe ones first, in the given order; and what is left out."""
    ranked = sorted(range(len(findings)), key=lambda n: (not findings[n].new, -findings[n].severity.rank, n))
    seen: Counter[str] = Counter()
    kept = set()
    for n in ranked:
        seen[findings[n].rule] += 1
        if seen[findings[n].rule] <= most:
            kept.add(n)
    more = [f"{rule}: {count - most} more not listed" for rule, count in sorted(seen.items()) if count > most]
    return tuple(findings[n] for n in sorted(kept)), "; ".join(more)


def _nothing(change: ChangeSet, skipped: str) -> str:
    if not change:
        return "nothing was changed"
    if not change.present:
        return "the change only deletes files"
    return f"no file to look at ({skipped})" if skipped else "no file of its kind was changed"


def _reads_files(gate: GateDefinition) -> bool:
    """Whether the gate runs a tool on the working tree, and not only on the snapshot's content."""
    return bool(gate.command) or gate.adapter.startswith(("build", "ruff"))


def check_names(definitions: Sequence[GateDefinition], options: GatesOptions) -> None:
    """Whether the options name gates that there are.

    Raises:
        ConfigError: one is not there; the hint names the nearest.
    """
    known = [gate.id for gate in definitions]
    for name in (*options.skip, *options.only):
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"Did you mean {near[0]}?" if near else f"There are: {', '.join(known)}."
            raise ConfigError(f"there is no gate {name!r} to skip or select", hint=hint)


def _few(paths: Sequence[str], limit: int = 5) -> str:
    more = f" and {len(paths) - limit} more" if len(paths) > limit else ""
    return ", ".join(paths[:limit]) + more

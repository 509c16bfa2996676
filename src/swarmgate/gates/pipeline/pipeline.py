"""Runs all gates over a change: fixing gates first and in order, read-only gates concurrently.

Every gate ends in a `GateResult`. A scanner that raises, hangs or is not installed is an ERROR, never an exception.
"""

from __future__ import annotations

import asyncio
import difflib
import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from swarmgate.config import Quality, Size
from swarmgate.domain.base import Frozen
from swarmgate.domain.review.finding import NOT_SELECTED, GateReport, GateResult, GateStatus, Unchecked
from swarmgate.errors import ConfigError
from swarmgate.gates import baseline as acceptances
from swarmgate.gates import confinement
from swarmgate.gates.adapters import prepare
from swarmgate.gates.definition import Stage
from swarmgate.gates.job import Job
from swarmgate.gates.outcome import Outcome
from swarmgate.gates.pipeline import quoted_lines, scanner_run, settings_changes
from swarmgate.gates.pipeline.cache_key import cache_key
from swarmgate.gates.pipeline.merge import merge
from swarmgate.gates.pipeline.verdict import judge
from swarmgate.gates.project.files import Trait
from swarmgate.gates.project.scope import Scope
from swarmgate.gates.scanners import Dependence
from swarmgate.gates.secret_scan import redaction
from swarmgate.gates.source import loading

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from swarmgate.domain.review.change import ChangeSet
    from swarmgate.gates.baseline import Accepted
    from swarmgate.gates.cache.scan_results import Memory
    from swarmgate.gates.definition import GateDefinition
    from swarmgate.gates.project.index import Project
    from swarmgate.gates.source.file import SourceFile
    from swarmgate.workspace.git.repository import Repository
    from swarmgate.workspace.sandbox.command_runner import CommandRunner

    OnResult = Callable[[GateResult], None]

_FILES_IN_TIME = 500
"""So many files are what a gate's time limit is for; more have more time."""

_PATCH_CHARACTERS = 40_000
"""Of what was fixed, so much is kept as a patch."""

_HEAVY_BYTES = 500_000
"""Where a file is larger, gates run one after the other: at once, they took 1.6 GB for 900 KB of Python."""


class GatesOptions(Frozen):
    """The options of a run. `only` empty means every gate; `timeout_s` is an upper bound for each gate's limit.

    `require`: what has to be checked, by the definitions' `checks`; where it was not, that is an ERROR.
    `merged`: what several gates found is told by one of them. `quality` are the limits of the quality budget as the
    user set them, `size` those of a change's size. `tested`: the tests for the change are written, so whether there are
    enough of them is judged and not only told. `announced`: the words of the task that the change is for, None where it
    is for none.
    """

    skip: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    timeout_s: float | None = None
    quality: Quality = Quality()
    size: Size = Size()
    tested: bool = False
    announced: str | None = None
    require: tuple[str, ...] = ()
    merged: bool = True


async def run_pipeline(
    definitions: Sequence[GateDefinition],
    *,
    repository: Repository,
    base: str,
    config: GatesOptions | None = None,
    fix: bool = True,
    on_result: OnResult | None = None,
    scope: Scope | None = None,
    accepted: Sequence[Accepted] | None = None,
    memory: Memory | None = None,
    change: ChangeSet | None = None,
    commands: CommandRunner | None = None,
    by_hand: Callable[[], CommandRunner] | None = None,
) -> GateReport:
    """Run the gates over what differs between the tree `base` and the working tree.

    Args:
        definitions: the gates, in the order of the report.
        repository: the user's repository.
        base: the tree id that the change starts from.
        config: gates to leave out and the longest time of one.
        fix: whether gates that change files may run.
        on_result: called with each result as soon as it is there.
        scope: what is judged; by default the whole change, and no file's own word about itself.
        accepted: findings that the project lives with; by default those that the base revision accepts.
        memory: what gates said before; by default every gate runs, and nothing is kept.
        change: what there is to judge, for who has just looked; by default it is asked here.
        commands: confines the programs of gates in a run, over the code of agents.
        by_hand: gives what confines them where there is no run, once one is to be started; by default the strongest
            sandbox of the machine (`confining.by_hand`).

    Returns:
        The report; its `tree` is the tree after the fixes, which every verdict is about.

    Raises:
        ConfigError: `config` names a gate that does not exist, or the file of accepted findings cannot be read.
        WorkspaceError: git cannot take a snapshot.
    """
    run = _Run(repository, base, config or GatesOptions(), on_result, scope or Scope(), accepted, memory, commands)
    run.by_hand = by_hand or run.by_hand
    check_names(definitions, run.options)
    started = time.monotonic()
    results: dict[str, GateResult] = {}
    run.definitions = definitions
    checks = run.checks = [gate for gate in definitions if gate.stage is Stage.CHECK]
    change = change or await run.change()
    for gate in (gate for gate in definitions if gate.stage is Stage.FIX):
        results[gate.id], change = await run.fix(gate, change, allowed=fix)
        run.tell(results[gate.id])
    checked, edits = await asyncio.gather(run.check(checks, change), asyncio.to_thread(run.edits, change))
    results |= {result.gate: result for result in checked}
    listed = [results[gate.id] for gate in definitions]
    ordered = merge(listed) if run.options.merged else tuple(listed)
    ordered = await asyncio.to_thread(quoted_lines.quoted, ordered, run.sources, repository, change.tree)
    notes = (*edits, *run.notes(), *_unjudged(change, ordered))
    return GateReport(tree=change.tree, results=ordered, seconds=time.monotonic() - started, notes=notes)


class _Run:
    """One run of the pipeline: what its gates share."""

    def __init__(
        self,
        repository: Repository,
        base: str,
        options: GatesOptions,
        on_result: OnResult | None,
        scope: Scope,
        accepted: Sequence[Accepted] | None,
        memory: Memory | None,
        commands: CommandRunner | None,
    ) -> None:
        self.repository = repository
        self.base = base
        self.options = options
        self.scope = scope
        self._on_result = on_result
        self._memory = memory
        self._commands, self._in_run = commands, commands is not None
        self.by_hand: Callable[[], CommandRunner] = partial(confinement.by_hand, repository.root)
        self._scanned: dict[str, tuple[str, Outcome]] = {}
        self.definitions: Sequence[GateDefinition] = ()
        self.checks: list[GateDefinition] = []
        entries = acceptances.in_tree(repository, scope.reference or base) if accepted is None else accepted
        self._accepted = {entry.fingerprint: entry for entry in entries}
        self._expired = 0
        self._loaded: tuple[ChangeSet, tuple[SourceFile, ...]] | None = None
        self._project: tuple[ChangeSet, Project] | None = None

    def tell(self, result: GateResult) -> None:
        if self._on_result:
            self._on_result(result)

    async def change(self) -> ChangeSet:
        def difference() -> ChangeSet:
            return self.scope.change(self.repository, self.base, self.repository.snapshot())

        return await asyncio.to_thread(difference)

    def edits(self, change: ChangeSet) -> tuple[str, ...]:
        """What the change edits in the configuration of the gates."""
        return () if self.scope.whole else settings_changes.edits(self.repository, change, by_hand=self.scope.by_hand)

    def notes(self) -> tuple[str, ...]:
        """Notes on the whole run: no sandbox, expired baseline entries, files that were left out."""
        off = [gate.id for gate in self.definitions if gate.required and gate.id in self.options.skip]
        skipped = [f"required, and skipped (gates.skip or --skip): {', '.join(off)}"] if off else []
        expired = [f"{self._expired} accepted findings have expired: they count again"] if self._expired else []
        bare = () if self._in_run else confinement.unconfined_note(self._commands)
        return (*bare, *skipped, *expired, *not_followed(self.repository))

    @property
    def sources(self) -> tuple[SourceFile, ...]:
        """The files of the change that were read last."""
        return self._loaded[1] if self._loaded else ()

    async def _sources(self, change: ChangeSet) -> tuple[SourceFile, ...]:
        if self._loaded is None or self._loaded[0] is not change:
            self._loaded = change, await asyncio.to_thread(loading.load, self.repository, change, self.scope)
            if self._memory:
                self._memory.enter(self.repository, change)
        return self._loaded[1]

    def _project_of(self, change: ChangeSet, sources: tuple[SourceFile, ...]) -> Project:
        if self._project is None or self._project[0] is not change:
            self._project = change, loading.project_of(self.repository, change, sources, self.scope)
        return self._project[1]

    async def fix(self, gate: GateDefinition, change: ChangeSet, *, allowed: bool) -> tuple[GateResult, ChangeSet]:
        """Run a gate that changes files; its edits are read from git and must lie inside the change."""
        if not allowed and gate.enabled:
            skip = self._left_out(gate) or "fixing is switched off"
            return judge(gate, Outcome(skip=skip), seconds=0.0), change
        fixable = await asyncio.to_thread(self.scope.change_to_fix, self.repository, change)
        result = await self._run(gate, fixable, await self._sources(fixable))
        if result.status is GateStatus.SKIP or result.cached:
            self._keep(gate)
            return result, change
        if await asyncio.to_thread(self.repository.snapshot) == change.tree:
            self._keep(gate)
            return result, change
        after = await self.change()
        fixed, patch = await asyncio.to_thread(self._fixed, change.tree, after.tree)
        result = result.model_copy(update={"fixed": fixed, "patch": patch})
        beyond = sorted(set(fixed) - set(change.paths))
        if beyond:
            reason = f"it changed files that are no part of the change: {_few(beyond)}"
            result = result.model_copy(update={"status": GateStatus.ERROR, "reason": reason})
        return result, after

    async def check(self, gates: Sequence[GateDefinition], change: ChangeSet) -> list[GateResult]:
        """Run the read-only gates concurrently, and fail those whose tool changed files."""
        sources = await self._sources(change)

        # Syntax trees take some hundred times their file's bytes, and several gates make their own of each file.
        heavy = any(len(each.content) > _HEAVY_BYTES and Trait.LOCK not in each.traits for each in sources)
        turn = asyncio.Semaphore(1 if heavy else len(gates) or 1)

        async def run_gate(gate: GateDefinition) -> GateResult:
            async with turn:
                result = await self._run(gate, change, sources)
            if not gate.reads_files:
                self.tell(result)
            return result

        started = {gate.id: asyncio.create_task(run_gate(gate)) for gate in sorted(gates, key=_cost)}
        try:
            await asyncio.gather(*started.values())
        finally:
            for task in started.values():
                task.cancel()
        results = [started[gate.id].result() for gate in gates]
        suspects = [n for n, gate in enumerate(gates) if gate.reads_files]
        ran = any(results[n].status is not GateStatus.SKIP and not results[n].cached for n in suspects)
        written = await self._written(change) if ran else ()
        for n in suspects:
            if written and results[n].status is not GateStatus.SKIP:
                reason = f"the working tree changed while it ran, and a check must only read: {_few(written)}"
                results[n] = results[n].model_copy(update={"status": GateStatus.ERROR, "reason": reason})
            self.tell(results[n])
        for gate in gates:
            self._keep(gate, certain=not (written and gate.reads_files))
        return results

    def _fixed(self, before: str, after: str) -> tuple[tuple[str, ...], str]:
        whole = self.repository.patch(before, after).decode("utf-8", "replace")
        # Looked at beyond what is kept: a secret that is cut in two would not be seen.
        patch = redaction.patch(whole[: 2 * _PATCH_CHARACTERS])
        rest = max(len(patch) - _PATCH_CHARACTERS, 0) + max(len(whole) - 2 * _PATCH_CHARACTERS, 0)
        bounded = f"{patch[:_PATCH_CHARACTERS]}\n[... {rest} characters left out ...]\n" if rest else patch
        return self.repository.changes(before, after).paths, bounded

    async def _written(self, change: ChangeSet) -> tuple[str, ...]:
        def differing() -> tuple[str, ...]:
            tree = self.repository.snapshot()
            return () if tree == change.tree else self.repository.changes(change.tree, tree).paths

        return await asyncio.to_thread(differing)

    async def _run(self, gate: GateDefinition, change: ChangeSet, sources: tuple[SourceFile, ...]) -> GateResult:
        started = time.monotonic()
        left_out = self._left_out(gate)
        if left_out:
            skipped = Outcome(skip=left_out, unchecked=self._unwanted(gate))
            return judge(gate, skipped, seconds=0.0, required=self.options.require)
        selection = gate.files.select(sources)
        whole = gate.record.scope is Dependence.CHANGE
        if not selection.sources and not whole:
            unread = _unread(Outcome(), selection.unread) if selection.unread else ""
            skip = "" if unread else _nothing(change, selection.note)
            return judge(gate, Outcome(skip=skip, error=unread), seconds=0.0)
        limit = gate.timeout_s * _times(len(selection.sources))
        limit = min(limit, self.options.timeout_s or limit)
        options, quality = self.options, self.options.quality.over(gate.limits)
        job = Job(
            gate, self.repository, change, selection.sources, limit, quality, options.size, options.tested,
            options.announced, self._memory, project=self._project_of(change, sources),
            commands=self._commands_of_gates, in_run=self._in_run,
        )  # fmt: skip
        question = cache_key(job, self._memory.surroundings) if self._memory else ""
        known = self._memory.recall(question) if self._memory else None
        if known is None and gate.stage is Stage.FIX:
            self._prepare()
        outcome = known or await scanner_run.run_scanner(gate, job)
        if known is None:
            self._scanned[gate.id] = question, outcome
        found, expired = acceptances.mark(
            outcome.findings, self._accepted, {source.path: source for source in sources}, acceptances.today()
        )
        self._expired += expired
        outcome = replace(outcome, findings=tuple(found))
        if selection.unread:
            outcome = replace(outcome, skip="", failure="", error=_unread(outcome, selection.unread))
        note = "" if whole else selection.note
        seconds = time.monotonic() - started
        result = judge(gate, outcome, note=note, seconds=seconds, required=self.options.require)
        return result.model_copy(update={"cached": True}) if known else result

    def _commands_of_gates(self) -> CommandRunner:
        if self._commands is None:
            self._commands = self.by_hand()
        return self._commands

    def _prepare(self) -> None:
        """Import what the checks need while a fix, which is a process of its own, is waited for."""
        names = [gate.adapter for gate in sorted(self.checks, key=_cost) if gate.adapter and not self._left_out(gate)]
        self._preparing = asyncio.get_running_loop().run_in_executor(None, prepare, names)

    def _keep(self, gate: GateDefinition, *, certain: bool = True) -> None:
        if self._memory and gate.id in self._scanned:
            question, outcome = self._scanned[gate.id]
            self._memory.keep(question if certain else "", outcome)

    def _left_out(self, gate: GateDefinition) -> str:
        if not gate.enabled:
            return f"disabled in {gate.source}"
        if gate.id in self.options.skip:
            return "skipped by configuration (gates.skip)"
        if self.options.only and gate.id not in self.options.only:
            return NOT_SELECTED
        if self.scope.whole and gate.record.difference:
            return "it judges a difference, and files are judged whole here"
        return ""

    def _unwanted(self, gate: GateDefinition) -> tuple[Unchecked, ...]:
        """What is not checked where the settings leave a gate out, and not only this run."""
        unwanted = not gate.enabled or gate.id in self.options.skip
        selected = not self.options.only or gate.id in self.options.only
        why = "left out by gates.skip or --skip" if gate.enabled else f"disabled in {gate.source}"
        return tuple(Unchecked(what=what, why=why) for what in gate.subjects) if unwanted and selected else ()


def _times(files: int) -> float:
    """How many times its time limit a gate has: a tree, or all that a tool wrote anew, may be judged."""
    return max(1.0, files / _FILES_IN_TIME)


def not_followed(repository: Repository) -> tuple[str, ...]:
    """What the last snapshot left out (submodules and the like), a sentence each."""
    return tuple(f"{path}/ is a repository without a commit: not looked at" for path in repository.not_followed)


def _unjudged(change: ChangeSet, results: Sequence[GateResult]) -> tuple[str, ...]:
    """The folders of installed packages, where the gate that tells of them was left out."""
    reported = any(rule == "not-ignored" for result in results for rule in {each.rule for each in result.findings})
    names = () if reported else change.installed
    return tuple(f"{folder}/ holds packages or build output that git does not ignore: not judged" for folder in names)


def _unread(outcome: Outcome, paths: Sequence[str]) -> str:
    """The error of a gate to which files were not given: what it says of the others is no verdict of the change."""
    reason = outcome.error or outcome.failure
    return "; ".join(filter(None, (reason, f"not read: {_few(paths)} (the change is too large, or they are gone)")))


def _nothing(change: ChangeSet, skipped: str) -> str:
    if not change.files:
        return "nothing was changed"
    if not change.present:
        return "the change only deletes files"
    return f"no file to look at ({skipped})" if skipped else "no file of its kind was changed"


def _cost(gate: GateDefinition) -> int:
    """Where a gate stands in the order of starting: the slowest begins first, so that it does not end last."""
    return -gate.record.cost


def check_names(definitions: Sequence[GateDefinition], options: GatesOptions, *, skip: str = "gates.skip") -> None:
    """Check that the gate names in the options exist.

    Args:
        definitions: the gates.
        options: what was asked for.
        skip: where the names to skip were given, for the message.

    Raises:
        ConfigError: one is not there; the hint names the nearest.
    """
    known = [gate.id for gate in definitions]
    named = [*((skip, name) for name in options.skip), *(("--only", name) for name in options.only)]
    for option, name in named:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"Did you mean {near[0]}?" if near else f"There are: {', '.join(known)}."
            raise ConfigError(f"{option}: there is no gate {name!r}", hint=hint)
    subjects = list(dict.fromkeys(what for gate in definitions for what in gate.subjects))
    for name in options.require:
        if name not in subjects:
            near = difflib.get_close_matches(name, subjects, n=1)
            hint = f"Did you mean {near[0]}?" if near else f"There are: {', '.join(subjects)}."
            raise ConfigError(f"gates.require: no gate checks {name!r}", hint=hint)


def _few(paths: Sequence[str], limit: int = 5) -> str:
    more = f" and {len(paths) - limit} more" if len(paths) > limit else ""
    return ", ".join(paths[:limit]) + more

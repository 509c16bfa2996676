"""The context of the steps: ledger, files, git, models and settings, and helpers that several steps need."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Protocol

from swarmgate.agents.authority.authority import RULE, Authority, right_of
from swarmgate.agents.briefs.house_rules import CommittedRules, HouseRules, summary
from swarmgate.agents.briefs.prior_knowledge import Background, background
from swarmgate.agents.context import AgentContext
from swarmgate.config import Config
from swarmgate.council.participants.contexts import ContextFactory
from swarmgate.council.records.store import Records
from swarmgate.domain.events.event import Event, GuardActed, GuidanceGiven, LocksRemoved, TurnEnded, UsageRecorded
from swarmgate.domain.guard import Effect, GuardNote, Turn, merged
from swarmgate.domain.next_step import worked_on
from swarmgate.domain.plan.plan import Task
from swarmgate.domain.progress import Listener, Progress, TestCount, silent
from swarmgate.domain.review.change import ChangeSet
from swarmgate.domain.review.finding import GateReport
from swarmgate.domain.spending.budget import PROJECT, Account, accounts
from swarmgate.domain.state.state import Attempt, State
from swarmgate.domain.state.unattended import ATTENDED, Unattended
from swarmgate.domain.task.debate_rules import DebateWorth
from swarmgate.domain.text.redaction import redact
from swarmgate.domain.usage import Usage
from swarmgate.engine.branch_history import require_on_branch
from swarmgate.engine.ignored_files import IgnoredFiles
from swarmgate.engine.related_tests import related_tests
from swarmgate.engine.run_limits import WorkClock
from swarmgate.errors import HeadMoved
from swarmgate.gates.sensitivity.definition import Sensitivity
from swarmgate.ledger.context import guidance
from swarmgate.ledger.councils.sessions import UnsettledUsage
from swarmgate.ledger.evidence.evidence import EvidenceStore
from swarmgate.ledger.files import suite_coverage
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger
from swarmgate.llm.budget import Metered
from swarmgate.llm.limits.worktime import WorkTime
from swarmgate.workspace.agent_programs.files import AgentFiles
from swarmgate.workspace.checkout.checkout import Checkout, MixedTree, checked_out
from swarmgate.workspace.detect import Detection, detect, is_test_path
from swarmgate.workspace.git import history
from swarmgate.workspace.git.repository import Repository
from swarmgate.workspace.programs.shadowing import StartUp
from swarmgate.workspace.sandbox.command_runner import CommandRunner
from swarmgate.workspace.test_runs.collection.by_suite import Collecting
from swarmgate.workspace.test_runs.suites import Suites, chosen, suites_of

OWN = "swarmgate"
"""The role under which the ledger counts the time that no model call took."""
_WORTH_A_LINE = 0.1
"""Seconds; less is told with the time of the steps after it."""


_AGENTS_WORDS = ("tool", "words", "answer")
"""Kinds of progress that tell what agents say and do: a secret may stand there."""


@dataclass
class StopFlag:
    """Set by Ctrl-C or by `swarm stop`; the loop looks at it between steps."""

    request: Path
    asked: bool = False

    @property
    def requested(self) -> bool:
        """Whether somebody wants the run to end at the next safe point."""
        return self.asked or self.request.exists()

    def clear(self) -> None:
        """Forgets an earlier request."""
        self.asked = False
        self.request.unlink(missing_ok=True)


class AgentOf(Protocol):
    """Gives the agent context of a role, made on first use with its model."""

    def __call__(self, role: str, model: str = "") -> AgentContext:
        """The agent context; `model`: another one of a provider than the role's."""
        ...


class Judge(Protocol):
    """Runs the gate pipeline over the work tree."""

    def __call__(self, *, fix: bool, base: str = "", tested: bool = False) -> Awaitable[GateReport]:
        """Runs the gates and returns their report.

        `fix` says whether gates may change files; `base` is compared with, HEAD when empty. `tested`: the test engineer
        has had the last word, so it is judged whether there are tests enough.
        """
        ...


@dataclass(frozen=True)
class Context:
    """The context of a run: everything that its steps work with.

    `agent` gives the agent context of a role, made on first use with its model. `commands` runs what agents and tests
    run, confined. `sensitivity` says which code gets a security review. `meters` are the models made so far, by role.
    `reports` is what guards, turns and experts said since the last record. `worked` is the time less the waits for the
    ends of limits; `waits` has these take as long as they take. `unattended` is what is approved in the user's place.
    `agent_files` is what belongs to agent programs, and so is nobody's to write; `start_up`, where modules that
    swarmgate's own Python would start with are nobody's to make.
    `debate_contexts` makes those of a debate, `records` is where debates are kept, `worth` what was measured of their
    worth. `stash` allows uncommitted changes to be stashed instead of refused. `environ` is where
    keys stand. `attended`: somebody is there to answer an agent's questions.
    """

    config: Config
    folder: SwarmFolder
    repository: Repository
    ledger: Ledger
    evidence: EvidenceStore
    agent: AgentOf
    commands: CommandRunner
    meters: dict[str, Metered]
    reports: list[GuardNote | Turn | GuidanceGiven]
    judge: Judge
    sensitivity: Sensitivity
    stop: StopFlag
    agent_files: AgentFiles
    start_up: StartUp
    debate_contexts: Callable[[int, Callable[[], Iterable[Account]]], ContextFactory]
    records: Records
    worth: DebateWorth | None = None
    listener: Listener = silent
    stash: bool = False
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    started: float = field(default_factory=time.monotonic)
    worked: WorkTime = field(default_factory=WorkTime)
    waits: bool = False
    attended: bool = False
    unattended: Unattended = ATTENDED

    @cached_property
    def clock(self) -> WorkClock:
        """The time worked since the last record; waits for the end of a limit are none."""
        return WorkClock(self.worked)

    @cached_property
    def ignored(self) -> IgnoredFiles:
        """The git-ignored files under watch from the first step of a run on."""
        return IgnoredFiles(self.repository, self.folder)

    @cached_property
    def _announced_rules(self) -> set[tuple[str, str]]:
        """The instructions of the project that the user knows of, by their paths and the ids of their contents."""
        return set()

    @cached_property
    def _rules(self) -> CommittedRules:
        return CommittedRules(self.repository)

    def house_rules(self, files: Sequence[str]) -> tuple[HouseRules, ...]:
        """The project's own instructions for agents about some files, as committed at the attempt's base."""
        attempt = self.ledger.state.task(self.ledger.state.open).running
        found = self._rules.at(attempt.base if attempt and attempt.base else self.repository.head(), files)
        if news := [each for each in found if (each.path, each.blob) not in self._announced_rules]:
            self._announced_rules.update((each.path, each.blob) for each in news)
            self.notify("notice", f"agents are told what the project says: {summary(news)}")
        return found

    @cached_property
    def detection(self) -> Detection:
        """Languages, test command and test paths of the tree as it was at first use."""
        return detect(self.repository.root, self.repository.list_tree(self.repository.snapshot()))

    @contextmanager
    def checkout(self, tree: str | MixedTree) -> Iterator[Checkout]:
        """A clean checkout of a tree: where tests run that decide something.

        Raises:
            WorkspaceError: git failed.
        """
        sandbox, items = self.commands.sandbox, self.ignored.items()
        with checked_out(self.repository.root, tree, items=items, sandbox=sandbox) as made:
            yield made

    def is_test_path(self, path: str) -> bool:
        """Whether a file there is a test."""
        return is_test_path(path, self.config.tests.paths or self.detection.test_globs)

    def authority(self, role: str, step: str) -> Authority:
        """The write authority of a role at a step."""
        tables = {str(key): own for key, own in self.config.authority.items()}
        own = tables.get(role) or tables.get("default")
        return Authority(
            role=role,
            right=right_of(role, step),
            allow=own.allow if own else (),
            deny=own.deny if own else (),
            closed=self.agent_files.closed,
            is_test=self.is_test_path,
            original=self._committed,
        )

    def _committed(self, path: str) -> str | None:
        """The text of a file on which the running attempt builds; None where there is none."""
        attempt = self.ledger.state.task(self.ledger.state.open).running
        content = self.repository.read(attempt.base if attempt and attempt.base else "HEAD", path)
        return None if content is None else content.decode("utf-8", "replace")

    def uncollected(self, path: str) -> str:
        """Why the test runner passes over a test file that was just written; empty where it does not."""
        if not self.is_test_path(path):
            return ""
        collecting = Collecting(self.all_suites(), self.repository, self.repository.snapshot())
        return next((each.message(collecting.runner(path)) for each in collecting.uncollected([path])), "")

    def all_suites(self) -> Suites:
        """The suites of the settings, else the command that the tree calls for now; none when there is none."""
        settings, detected = self.config.tests, ""
        if not settings.command and not settings.suite:
            detected = detect(self.repository.root, self.repository.list_tree(self.repository.snapshot())).test_command
        return suites_of(settings, detected)

    def suites(self, tree: str = "") -> Suites:
        """The suites that the running attempt is tested by: those of its scope and of its change; else all of them.

        `tree`: the tree of its change, where that is not the newest on record.
        """
        known, attempt = self.all_suites(), self.ledger.state.task(self.ledger.state.open).running
        if attempt is None or not (known.names or self.config.tests.whole == "phase"):
            return known
        change = self.change(attempt, tree)
        mine = chosen(known, files_of(attempt, change))
        if self.config.tests.whole == "phase" and (related := self.related(change)):
            return mine.narrowed(self.repository.root, related)
        return mine

    def related(self, change: ChangeSet) -> tuple[str, ...]:
        """The test files that are related to a change; none where that cannot be told."""
        known = self._related.get((change.base, change.tree))
        if known is None:
            known = related_tests(self.repository, change, self.is_test_path, suite_coverage.read(self.folder))
            self._related[change.base, change.tree] = known
        return known

    @cached_property
    def _related(self) -> dict[tuple[str, str], tuple[str, ...]]:
        return {}

    def test_command(self) -> str:
        """How the running attempt is tested, as agents are told it; empty when nobody knows."""
        return self.suites().text

    def notify(
        self,
        kind: str,
        text: str,
        *,
        step: str = "",
        until: str = "",
        detail: str = "",
        failed: bool = False,
        tests: TestCount | None = None,
    ) -> None:
        """Sends a progress message to the listener; `until` is when a wait ends."""
        state = self.ledger.state
        attempt = state.task(state.open).running if state.open else None
        used = state.usage + self.pending
        tasks, task = state.plan.tasks if state.plan else {}, worked_on(state)
        place = [*tasks].index(task) + 1 if task in tasks else 0
        self.listener(
            Progress(
                kind=kind,
                text=self._redact(text) if kind in _AGENTS_WORDS else text,
                step=step,
                phase=state.current_phase,
                task=task,
                attempt=attempt.number if attempt else 0,
                seconds=time.monotonic() - self.started,
                usage=used,
                until=until,
                title=tasks[task].title if place else "",
                place=place,
                of=len(tasks) if place else 0,
                detail=self._redact(detail),
                failed=failed,
                tests=tests,
            )
        )

    def _redact(self, text: str) -> str:
        return redact(text, self._keys) if text else ""

    @cached_property
    def _keys(self) -> tuple[str, ...]:
        """The values of the keys of all providers."""
        names = (provider.api_key_env for provider in self.config.providers.values())
        return tuple(key for name in names if (key := self.environ.get(name, "").strip()))

    @property
    def pending(self) -> Usage:
        """The usage and the time worked since the last record."""
        meters = tuple(self.meters.values())  # other threads tell too, while the run makes another
        used = sum((meter.pending for meter in meters), Usage())
        return used.model_copy(update={"seconds": max(used.seconds, self.clock.seconds)})

    def redact(self, text: str) -> str:
        """The text without the keys of this project, and without what looks like one."""
        return redact(text, self.config.keys(self.environ))

    def budgets(self) -> tuple[Account, ...]:
        """The budgets as they stand now; that of the project with what councils use meanwhile."""
        state = self.ledger.state
        found = accounts(state, worked_on(state), self.pending)
        return tuple(
            replace(each, spent=each.spent + self._unsettled_usage.due) if each.owner == PROJECT else each
            for each in found
        )

    def reserve(self, expected: Usage) -> None:
        """Tells whoever shares the budgets what the next model call is likely to use.

        Raises:
            LeaseLost, RemoteAway: somebody else works on the goal now, or cannot be told.
        """
        self.ledger.publication.reserve(self.ledger, expected, self.pending)

    @cached_property
    def _unsettled_usage(self) -> UnsettledUsage:
        return UnsettledUsage(self.folder)

    def background(self, state: State, task: Task) -> Background:
        """Prior knowledge about a task: decisions, lessons and experts' answers from context.md."""
        phase = state.plan.phase_numbers.get(task.id, 0) if state.plan else 0
        entries = guidance.applying(guidance.read(self.folder.context), task=task.id, phase=phase, text=task.text)
        return background(state, task, [each for each in entries if not each.stands])

    def drain_reports(self, state: State) -> list[Event]:
        """Returns the reports of guards and turns since the last call, as events."""
        task, reports = worked_on(state), tuple(self.reports)
        self.reports.clear()
        attempt = state.task(state.open).running
        notes = [each for each in reports if isinstance(each, GuardNote)]
        if attempt is not None:
            notes = [note.model_copy(update={"attempt": note.attempt or attempt.number}) for note in notes]
        turns = (each for each in reports if isinstance(each, Turn))
        locks = self.repository.locks.drain()
        return [
            *(LocksRemoved(locks=each.locks, command=each.command) for each in locks),
            *(each for each in reports if isinstance(each, GuidanceGiven)),
            *(GuardActed(task=task, note=note) for note in merged(notes)),
            *(TurnEnded(task=task, turn=turn) for turn in turns),
        ]

    def drain_usage(self, state: State) -> list[Event]:
        """Returns model usage since the last call, and the time between model calls, as events."""
        task, reported = worked_on(state), 0.0
        used: dict[str, dict[str, Usage]] = {}
        for meter in self.meters.values():  # voices have a meter for each of their models
            models = used.setdefault(meter.role, {})
            for model, usage in meter.drain().items():
                models[model] = models.get(model, Usage()) + usage
        events: list[Event] = []
        for role, models in used.items():
            usage = sum(models.values(), Usage())
            if usage.calls:
                events.append(UsageRecorded(role=role, task=task, usage=usage, models=models))
                reported += usage.seconds
        if seconds := self.clock.lap(reported, least=_WORTH_A_LINE):
            events.append(UsageRecorded(role=OWN, task=task, usage=Usage(seconds=round(seconds, 3))))
        return events

    def change(self, attempt: Attempt, tree: str = "") -> ChangeSet:
        """The change of a tree (the attempt's own by default) against the attempt's base commit."""
        base = self.repository.tree_of(attempt.base or "HEAD")
        return self.repository.changes(base, tree or attempt.tree)

    def keep_head(self, attempt: Attempt) -> None:
        """Ensures that the branch is at the attempt's base, before its files are read or restored.

        Raises:
            HeadMoved, WorkspaceError: see `stay_on`.
        """
        if attempt.base:
            self.stay_on(attempt.base)

    def stay_on(self, base: str) -> None:
        """Ensures that the work branch is checked out at the commit `base`.

        In a sandbox no agent can commit, so that a commit is the user's and stays where it is. Without one it may as
        well be an agent's: it is set aside under a name of its own, and its files are judged with the rest.

        Raises:
            HeadMoved: somebody committed on the branch, or moved it.
            WorkspaceError: another branch is checked out.
        """
        here = history.position(self.repository)
        require_on_branch(self.ledger.state, self.repository, here.branch)
        if self.repository.stands(base, here.commit):
            return
        message = history.meanwhile(self.repository, base, here.commit)
        if self.commands.sandbox.name != "none":
            raise HeadMoved(message)
        name = self.repository.set_aside(history.commit(self.repository, here.commit), base)
        message = f"{message}. No sandbox keeps agents from that: set aside as {name}, and the files are judged"
        self.reports.append(GuardNote(rule=RULE, effect=Effect.WARNED, detail=message))
        self.notify("notice", message)

    def settle_tree(self, attempt: Attempt) -> None:
        """Restores the files to the tree of the last step before they are judged; other changes go to the quarantine.

        Raises:
            HeadMoved, WorkspaceError: see `stay_on`.
        """
        self.keep_head(attempt)
        if self.repository.snapshot() == attempt.tree:
            return
        quarantine = self.folder.quarantine_folder("changed-meanwhile")
        paths = self.repository.restore(attempt.tree, quarantine=quarantine)
        where = f", kept in {self.folder.relative(quarantine)}" if quarantine.exists() else ""
        self.notify("notice", f"files changed between two steps; brought back{where}: {', '.join(paths[:5])}")


def files_of(attempt: Attempt, change: ChangeSet) -> tuple[str, ...]:
    """The files that say by which suites an attempt is tested: its scope, its tests, and what it changed."""
    changed = (path for file in change.files for path in file.touched)
    return tuple(dict.fromkeys((*attempt.scope, *attempt.tests, *changed)))

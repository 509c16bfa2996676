"""What the steps work with: the rooms below, put together by `build`, and the few things that several steps need."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Protocol

from swarmgate.agents.desk import Desk
from swarmgate.config import Config
from swarmgate.domain.change import ChangeSet
from swarmgate.domain.decide import Step, next_step, next_task
from swarmgate.domain.events import Event, GuardActed, TurnEnded, UsageRecorded
from swarmgate.domain.finding import GateReport
from swarmgate.domain.guard import GuardNote, Turn
from swarmgate.domain.state import Attempt, State
from swarmgate.engine.progress import Listener, Progress, silent
from swarmgate.errors import WorkspaceError
from swarmgate.ledger.evidence import EvidenceStore
from swarmgate.ledger.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger
from swarmgate.llm.budget import Metered
from swarmgate.workspace.detect import Detection, detect, is_test_path
from swarmgate.workspace.repository import Repository


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


class Judge(Protocol):
    """Runs the gate pipeline over the work tree."""

    def __call__(self, *, fix: bool, base: str = "", tested: bool = False) -> Awaitable[GateReport]:
        """The report.

        `fix` says whether gates may change files; `base` is compared with, HEAD when empty. `tested`: the test engineer
        has had the last word, so it is judged whether there are tests enough.
        """
        ...


@dataclass(frozen=True)
class Context:
    """The surroundings of a step.

    `desk` gives the desk of a role, made on first use, its model with it. `meters` are the models made so far, by role.
    `reports` is what guards and turns said since the last record.
    `stash` allows uncommitted changes to be stashed instead of refused.
    """

    config: Config
    folder: SwarmFolder
    repository: Repository
    ledger: Ledger
    evidence: EvidenceStore
    desk: Callable[[str], Desk]
    meters: dict[str, Metered]
    reports: list[GuardNote | Turn]
    judge: Judge
    stop: StopFlag
    listener: Listener = silent
    stash: bool = False
    started: float = field(default_factory=time.monotonic)

    @cached_property
    def detection(self) -> Detection:
        """Languages, test command and test paths of the tree as it was at first use."""
        return detect(self.repository.root, self.repository.list_tree(self.repository.snapshot()))

    def is_test_path(self, path: str) -> bool:
        """Whether the test engineer may write there."""
        return is_test_path(path, self.config.tests.paths or self.detection.test_globs)

    def test_command(self) -> str:
        """The configured test command, else the one that the tree calls for now; empty when there is none."""
        if self.config.tests.command:
            return self.config.tests.command
        files = self.repository.list_tree(self.repository.snapshot())
        return detect(self.repository.root, files).test_command

    def tell(self, kind: str, text: str, *, step: str = "") -> None:
        """Tells the listener."""
        state = self.ledger.state
        attempt = state.task(state.open).running if state.open else None
        used = sum((meter.pending for meter in self.meters.values()), state.usage)
        self.listener(
            Progress(
                kind=kind,
                text=text,
                step=step,
                phase=state.current_phase,
                task=state.open,
                attempt=attempt.number if attempt else 0,
                seconds=time.monotonic() - self.started,
                usage=used,
            )
        )

    def drain_reports(self, state: State) -> list[Event]:
        """What guards and turns said since the last time, as events."""
        task, said = _worked_on(state), tuple(self.reports)
        self.reports.clear()
        return [
            GuardActed(task=task, note=each) if isinstance(each, GuardNote) else TurnEnded(task=task, turn=each)
            for each in said
        ]

    def drain_usage(self, state: State) -> list[Event]:
        """What the models used since the last time, as events."""
        task = _worked_on(state)
        events: list[Event] = []
        for role, meter in self.meters.items():
            usage = meter.drain()
            if usage.calls:
                events.append(UsageRecorded(role=role, task=task, usage=usage))
        return events

    def change(self, attempt: Attempt, tree: str = "") -> ChangeSet:
        """What a tree, the attempt's own if none is given, changes against the attempt's base commit."""
        base = self.repository.tree_of(attempt.base or "HEAD")
        return self.repository.changes(base, tree or attempt.tree)

    def keep_head(self, attempt: Attempt) -> None:
        """After a turn: commits that an agent made are taken back. Their files stay, and are judged with the rest.

        Raises:
            WorkspaceError: the agent left the branch of the work.
        """
        branch = self.ledger.state.branch
        if self.repository.branch() != branch:
            raise WorkspaceError(f"An agent left the branch {branch}.", hint=f"git switch {branch}, then: swarm run")
        if attempt.base and self.repository.head() != attempt.base:
            self.repository.rewind(attempt.base)
            self.tell("notice", "an agent made commits itself; they were taken back, and their files are judged")

    def settle_tree(self, attempt: Attempt) -> None:
        """Before a judgement: the files are those that the last step left; what was changed since goes aside."""
        if self.repository.snapshot() == attempt.tree:
            return
        quarantine = self.folder.quarantine_folder("changed-meanwhile")
        paths = self.repository.restore(attempt.tree, quarantine=quarantine)
        where = f", kept in {self.folder.relative(quarantine)}" if quarantine.exists() else ""
        self.tell("notice", f"files changed between two steps; brought back{where}: {', '.join(paths[:5])}")


def _worked_on(state: State) -> str:
    """The task that the present step is for: a delegation is for the one that it opens; empty outside of tasks."""
    due = next_task(state) if next_step(state) is Step.DELEGATE else None
    return due.id if due else state.open

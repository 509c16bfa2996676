"""Brings one goal forward: checks it out, takes its lease, works until it is nobody's turn, and says how it stands.

The one place where a fleet works; who calls it, and when, is the queue's business.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from swarmgate.domain.base import Frozen
from swarmgate.domain.events.event import RunPaused
from swarmgate.domain.progress import Listener, Progress, silent
from swarmgate.domain.state.state import State
from swarmgate.domain.state.unattended import Unattended, rules_of
from swarmgate.engine.swarm import Swarm
from swarmgate.errors import LeaseLost, RemoteAway, Stopped, SwarmError
from swarmgate.fleet.goals import checkout as goals
from swarmgate.fleet.goals import lease, statements
from swarmgate.fleet.goals.goal import Goal, Standing, due, standing_of
from swarmgate.fleet.goals.publication import GoalPublication
from swarmgate.fleet.work import errand
from swarmgate.ledger.ledger import Ledger
from swarmgate.version import __version__
from swarmgate.workspace.git.repository import Repository

if TYPE_CHECKING:
    from swarmgate.config import Config
    from swarmgate.fleet.goals.checkout import Checkout, Site

FLAGS: Mapping[str, Mapping[str, object]] = {"loop": {"wait_limit": 0}}
"""Nobody waits for the end of a limit inside of a run: the goal is taken up again then."""


class Outcome(Frozen):
    """What came of one job: how the goal stands, and `until` when it waits. `why` is the error that ended it.

    `lost`: somebody else had it meanwhile. `epoch` is that of the lease, 0 where none was taken; `pushes` how often the
    remote was written.
    """

    standing: Standing
    until: str = ""
    why: str = ""
    code: str = ""
    epoch: int = 0
    steps: int = 0
    pushes: int = 0
    lost: bool = False
    kept: str = ""


@dataclass
class Work:
    """The work at one goal, which another thread may end.

    Attributes:
        site: where the goal lies.
        goal: which one.
        worker: the name of who works.
        version: of swarmgate.
        steps: after so many it lets others go first; 0: it goes on.
        patience_s: how long the remote may be out of reach.
        environ: all variables that the goal is told, keys of providers among them.
        clones: folder of the clones that errands of the evaluation replay patches in; empty: there is none.
        admitted: asked before the lease is taken, with the goal's own settings; gives the goal back where that raises.
    """

    site: Site
    goal: Goal
    worker: str
    version: str = __version__
    steps: int = 0
    patience_s: float = 60.0
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    clones: str = ""
    listener: Listener = silent
    admitted: Callable[[Config], None] = lambda _config: None
    _done: int = 0
    _ending: threading.Event = field(default_factory=threading.Event)
    _swarm: Swarm | None = None
    _publication: GoalPublication | None = None
    _turn: threading.Lock = field(default_factory=threading.Lock)

    def run(self) -> Outcome:
        """Works until the goal waits for somebody or something, is done, or is somebody else's.

        Raises:
            NewerGoal: a newer swarmgate wrote it.
            RemoteAway: the remote is out of reach.
            SwarmError: the goal cannot be worked on here: settings, sandbox, a missing tool; or of `admitted`.
        """
        with goals.checked_out(self.site, self.goal) as found:
            lease.require_known(found, version=self.version)
            swarm = Swarm(found.root, environ=self.environ, flags=FLAGS, listener=self._hear)
            config = swarm.config
            rules = rules_of(config.approve.auto, config.approve.phases_in_a_row, None)
            if found.wish.argv:
                return self._errand(found, config)
            state = swarm.state
            lease.require_own(found, state)
            if not due(state, rules):
                standing, until = standing_of(state, rules)
                outcome = Outcome(standing=standing, until=until)
            else:
                self.admitted(config)
                outcome = self._worked(found, rules)
            if not outcome.lost:
                statements.share(found, attest=config.git.attest)
            return outcome

    def end(self) -> None:
        """Has it end at the next safe point. Any thread may ask."""
        with self._turn:
            self._ending.set()
            if self._swarm is not None:
                self._swarm.interrupt()

    def abandon(self) -> None:
        """Nothing more is published: what the running step does, somebody else does again."""
        self._ending.set()
        if self._publication is not None:
            self._publication.abandon()

    def _errand(self, found: Checkout, config: Config) -> Outcome:
        """Runs the command of an errand once."""
        if found.answer.exists():
            return Outcome(standing=Standing.DONE)
        self.admitted(config)
        publication = GoalPublication(found, patience_s=self.patience_s)
        self._publication = publication
        try:
            with Ledger.write(found.folder, publication=publication) as ledger:
                epoch = lease.take(ledger, self.worker, version=self.version)
            errand.run(found, self.worker, self.environ, self._ending, clones=self.clones)
            with Ledger.write(found.folder, publication=publication) as ledger:
                publication.recorded(ledger)
        except Stopped as stopped:
            return Outcome(standing=Standing.DUE, why=stopped.message, code=stopped.code, pushes=publication.pushes)
        except LeaseLost as lost:
            kept = lease.quarantine(found, self.worker)
            return Outcome(standing=Standing.DUE, why=lost.message, code=lost.code, lost=True, kept=kept)
        return Outcome(standing=Standing.DONE, epoch=epoch, pushes=publication.pushes)

    def _worked(self, found: Checkout, rules: Unattended) -> Outcome:
        publication = GoalPublication(found, rules=rules, patience_s=self.patience_s)
        swarm = Swarm(found.root, environ=self.environ, flags=FLAGS, listener=self._hear, publication=publication)
        self._publication = publication
        epoch, error = 0, None
        try:
            with swarm.project.writing() as ledger:
                epoch = lease.take(ledger, self.worker, version=self.version)
                _restore_work(ledger.state, found)
            with self._turn:
                self._swarm = swarm
            if not self._ending.is_set():
                asyncio.run(swarm.run())
        except SwarmError as failed:
            error = failed
        finally:
            self._swarm = None
        if publication.lost:
            kept = lease.quarantine(found, self.worker)
            return self._outcome(swarm.state, rules, publication, epoch, error, kept=kept)
        if error is not None and (isinstance(error, RemoteAway) or not _on_record(found)):
            lease.quarantine(found, self.worker)
            raise error
        return self._outcome(swarm.state, rules, publication, epoch, error)

    def _outcome(
        self,
        state: State,
        rules: Unattended,
        publication: GoalPublication,
        epoch: int,
        error: SwarmError | None,
        *,
        kept: str = "",
    ) -> Outcome:
        standing, until = standing_of(state, rules)
        return Outcome(
            standing=standing,
            until=until,
            why=error.message if error else "",
            code=error.code if error else "",
            epoch=epoch,
            steps=self._done,
            pushes=publication.pushes,
            lost=bool(publication.lost) or isinstance(error, LeaseLost),
            kept=kept,
        )

    def _hear(self, progress: Progress) -> None:
        """Counts the steps, and ends after enough of them."""
        if progress.kind == "step":
            self._done += 1
            swarm = self._swarm
            if swarm is not None and (self._ending.is_set() or 0 < self.steps <= self._done):
                swarm.interrupt()
        self.listener(progress)


def _on_record(found: Checkout) -> bool:
    """Whether the run came to its end on record; else it never began."""
    return isinstance(Ledger.read(found.folder).last(1)[0], RunPaused)


def _restore_work(state: State, found: Checkout) -> None:
    """Brings back the files of an unfinished task, which no branch has."""
    if state.tree:
        repository = Repository(found.root)
        repository.restore(state.tree, quarantine=found.folder.quarantine_folder("checkout"))

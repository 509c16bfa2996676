"""Publishes what is recorded of a goal: ledger and branch move together on the remote, or not at all.

Each push names where both have to be. A worker that was believed dead and comes back finds another commit there: it is
told so by `LeaseLost` and publishes nothing any more. What a step may use is on the remote before a model is asked.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable

from swarmgate.domain.events.event import BudgetReserved
from swarmgate.domain.next_step import worked_on
from swarmgate.domain.spending.budget import accounts
from swarmgate.domain.state.state import State
from swarmgate.domain.state.unattended import ATTENDED, Unattended
from swarmgate.domain.usage import Usage
from swarmgate.errors import LeaseLost, RemoteAway
from swarmgate.fleet.goals.checkout import WISH, WORK, Beside, Checkout
from swarmgate.fleet.goals.goal import due, summarised
from swarmgate.ledger.publication import Publication, Published
from swarmgate.ledger.witness.anchors import subject
from swarmgate.workspace.git import growing_log
from swarmgate.workspace.git.driver import Driver, call
from swarmgate.workspace.git.hosting import shared_refs
from swarmgate.workspace.git.hosting.shared_refs import Move

FRESH_S = 10.0
"""Seconds after which a worker looks whether the goal is still its own before it asks a model again."""
_AHEAD = 4
"""How many calls are reserved at once: few turns take fewer, and each reservation is a push."""
_PAUSES_S = (0.2, 0.5, 1.0, 2.0, 5.0)


def boot_time() -> float:
    """Seconds that go on while the machine sleeps and while the process is stopped, whatever the clock is set to."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


class GoalPublication(Publication):
    """Publishes one goal from one checkout. Threads may share it.

    Args:
        checkout: of the goal.
        rules: what is approved in the user's place.
        decided: whether a person decides, and no worker works: see `goal.standing_of`.
        patience_s: how long the remote may be out of reach.
        clock: seconds that always go on.

    Attributes:
        lost: why nothing is published any more; empty: all is well.
        pushes: how often the remote was written.
        log: the newest commit of the ledger there.
    """

    def __init__(
        self,
        checkout: Checkout,
        *,
        rules: Unattended = ATTENDED,
        decided: bool = False,
        patience_s: float = 60.0,
        clock: Callable[[], float] = boot_time,
    ) -> None:
        self.checkout = checkout
        self.branch = checkout.goal.branch
        self.lost = ""
        self.pushes = 0
        self.log, self._tip = checkout.log, checkout.tip
        self._rules, self._decided, self._patience_s, self._clock = rules, decided, patience_s, clock
        self._git = Driver(checkout.root)
        self._beside = Beside(checkout.folder, known=bool(checkout.log))
        self._size = checkout.folder.ledger.stat().st_size if checkout.log else 0
        self._work = ""
        self._confirmed = clock()
        self._abandoned = False
        self._turn = threading.RLock()

    def recorded(self, ledger: Published) -> None:
        """Pushes what was recorded; what is reserved is given back with what makes it a person's turn.

        Whoever sees that it is theirs decides on a ledger that no worker adds to any more.

        Raises:
            LeaseLost: the goal is somebody else's.
            RemoteAway: the remote was out of reach for too long, or refuses for good.
        """
        if ledger.state.reserved.calls and not self._decided and not due(ledger.state, self._rules):
            ledger.append([BudgetReserved(usage=Usage())], expect=ledger.state.seq)  # which comes here again
            return
        with self._turn:
            if self.lost:
                return
            self._require()
            commit, tip = self._committed(ledger), self._branch_tip(ledger.state)
            moves = [Move(self.checkout.goal.ref, self.log, commit)]
            if tip:
                moves.append(Move(f"refs/heads/{self.branch}", self._tip, tip))
            self._push(moves)
            self.log, self._tip = commit, tip

    def reserve(self, ledger: Published, expected: Usage, pending: Usage) -> None:
        """Has the remote know what the step may use, and looks whether the goal is still this worker's.

        Raises:
            LeaseLost, RemoteAway: as `recorded`; the call is not made.
        """
        self._require()
        reserved, wanted = ledger.state.reserved, pending + expected
        if not _covers(reserved, wanted):
            amount = _ahead(ledger.state, wanted, expected, pending)
            event = BudgetReserved(usage=amount, task=worked_on(ledger.state))
            ledger.append([event], expect=ledger.state.seq)
        elif self._clock() - self._confirmed > FRESH_S:
            with self._turn:
                self._confirm()

    def abandon(self) -> None:
        """Publishes nothing more: the worker ends before its step does, and somebody else does that again."""
        self._abandoned = True

    def _require(self) -> None:
        if self._abandoned:
            self._lose("this worker ends before its step does")
        if self.lost:
            raise LeaseLost(self.lost)

    def _committed(self, ledger: Published) -> str:
        """A commit of what was recorded since the last one."""
        lines = self.checkout.folder.ledger.read_bytes()
        state, files = ledger.state, dict(self._beside.changed())
        if not self.log:
            files[WISH] = self.checkout.wish.model_dump_json(indent=1).encode()
        trees = {WORK: state.tree} if state.tree != self._work else {}
        answered = self.checkout.answer.exists()
        summary = summarised(state, self.checkout.wish, self._rules, decided=self._decided, answered=answered)
        commit = growing_log.add(
            self.checkout.root,
            self.checkout.goal.ref,
            lines[self._size :],
            message=f"{subject(state.seq, ledger.head)}\n\n{summary.trailers()}",
            parent=self.log,
            beside=growing_log.Beside(files, trees),
            durable=False,  # the remote has it in a moment, and this clone is thrown away
        )
        self._size, self._work = len(lines), state.tree
        return commit

    def _branch_tip(self, state: State) -> str:
        """The newest commit of the branch of the work; empty before it began."""
        if not state.branch:
            return ""
        loose = self._git.common_dir / "refs" / "heads" / self.branch  # where git puts what has just moved
        if loose.is_file():
            return loose.read_text(encoding="ascii").strip()
        return self._git.run("rev-parse", f"refs/heads/{self.branch}").decode().strip()

    def _push(self, moves: list[Move]) -> None:
        """Moves the references; asks the remote itself where an answer was lost.

        Raises:
            LeaseLost: they are somewhere else.
            RemoteAway: it was out of reach for too long.
        """
        site, since = self.checkout.site, self._clock()
        for attempt in range(1_000_000):
            problem = shared_refs.push_together(self.checkout.root, site.remote, moves)
            if not problem or self._is_done(moves):
                self.pushes += 1
                self._confirmed = self._clock()
                return
            if self._clock() - since >= self._patience_s:
                raise RemoteAway(
                    f"Nothing could be published of {self.checkout.goal.id}: {problem[:300]}",
                    hint=f"See whether this works here: git ls-remote {site.remote}; the goal goes on by itself then",
                )
            pause = _PAUSES_S[min(attempt, len(_PAUSES_S) - 1)]
            time.sleep(pause * random.uniform(0.8, 1.2))  # noqa: S311 - so that workers do not knock all at once

    def _is_done(self, moves: list[Move]) -> bool:
        """Whether the remote has what was pushed; False where it has what was there before, or cannot be asked.

        A worker goes on with a decision as soon as it is there: its commits follow that of the decision then.
        """
        there = self._seen([each.ref for each in moves])
        if there is None:
            return False
        if all(there.get(each.ref, "") == each.new for each in moves):
            return True
        if self._decided and self._is_followed(moves[0]):
            return True
        for each in moves:
            if (found := there.get(each.ref, "")) != each.old:
                self._lose(f"{each.ref} is at {found[:12] or 'nothing'}, and this worker left it at {each.old[:12]}")
        return False

    def _is_followed(self, ledger: Move) -> bool:
        """Whether the ledger that the remote has goes on from what was pushed."""
        seen = "refs/swarm/seen"
        try:
            shared_refs.fetch(self.checkout.root, self.checkout.site.remote, [f"{ledger.ref}:{seen}"])
        except RemoteAway:
            return False
        return call(self.checkout.root, "merge-base", "--is-ancestor", ledger.new, seen)[0] == 0

    def _confirm(self) -> None:
        """Looks whether the goal is still this worker's; a remote out of reach has time until the next push."""
        there = self._seen([self.checkout.goal.ref])
        if there is None:
            return
        if there.get(self.checkout.goal.ref, "") != self.log:
            self._lose(f"{self.checkout.goal.ref} has moved on")
        self._confirmed = self._clock()

    def _seen(self, refs: list[str]) -> dict[str, str] | None:
        try:
            return shared_refs.listed(self.checkout.root, self.checkout.site.remote, refs)
        except RemoteAway:
            return None

    def _lose(self, why: str) -> None:
        self.lost = f"Goal {self.checkout.goal.id} is somebody else's now: {why}."
        place = self.checkout.site.cache.path
        raise LeaseLost(
            self.lost, hint=f"Nothing is lost: what was done here is kept; see: git -C {place} for-each-ref"
        )


def _covers(reserved: Usage, wanted: Usage) -> bool:
    """Whether what is reserved is enough for what the step has used and the next call."""
    return (
        reserved.calls >= wanted.calls and reserved.tokens >= wanted.tokens and reserved.least_usd >= wanted.least_usd
    )


def _ahead(state: State, wanted: Usage, expected: Usage, pending: Usage) -> Usage:
    """What is reserved: some calls ahead, at least as much again as was used, and of no budget more than is left."""
    more = expected
    for _ in range(_AHEAD - 1):
        more += expected
    amount = pending + (more if more.tokens > pending.tokens else pending + expected)
    whole = next((each for each in accounts(state, "") if each.owner.kind == "project"), None)
    for measure in whole.measures() if whole else ():
        left = measure.left
        if (measure.key == "tokens" and amount.tokens > left) or (measure.key == "usd" and amount.least_usd > left):
            return wanted
    return amount

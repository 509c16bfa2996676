"""The worker of plan sync: an edit of plan.md or plan.json starts a pass that reconciles the files with the ledger.

It is started by files, not by events, and is held to the same rules as every other worker: a circuit breaker, a time
limit a pass, and loop protection from a program that undoes each of our passes.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import threading
import time
from collections.abc import Callable
from pathlib import Path

from swarmgate.automation.bus.breaker import RESET_S, WITHIN_S, Breaker, Repeats
from swarmgate.automation.bus.threaded_call import Call, error_text
from swarmgate.domain.events.automation import (
    AutomationEvent,
    BreakerChanged,
    BreakerState,
    PlanSynced,
    SyncDeferred,
    TriggerSuppressed,
    WorkerFailed,
)
from swarmgate.domain.status import WorkerStatus
from swarmgate.journal.lock import live_owner
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.files.status_file import stamp
from swarmgate.workspace import system

NAME = "plan_sync"
LOOK_S = 0.5
"""Seconds between two looks whether the ledger's lock is free again."""
_HEAD = 1_000_000
"""Bytes of a file that are compared to recognise an edit."""
_SEQ = re.compile(rb'(seq"?:?\s*)\d+', re.IGNORECASE)
"""The ledger position in the head of a plan file: it grows with every pass, and makes no other edit of the same one."""

Pass = Callable[[], PlanSynced | SyncDeferred | None]


class PlanSync:
    """Plan sync of one project, in a thread of its own.

    Args:
        folder: the project.
        sync: one pass. It returns what it changed, None where all was in step, or that an edit has to wait because the
            ledger is locked (without `sources`: it cannot be known yet whether there is one) or because only the user
            may take it in.
        tell: puts an event on record.
        call_s: longest time of a pass, in seconds.
    """

    def __init__(
        self, folder: SwarmFolder, sync: Pass, tell: Callable[[AutomationEvent], None], *, call_s: float
    ) -> None:
        self._folder, self._sync, self._tell, self.call_s = folder, sync, tell, call_s
        self._wake = threading.Condition()
        self._poked = self._stopping = False
        self._again_at: float | None = None
        self._locked = False
        self._put_off: SyncDeferred | None = None
        self._breaker = Breaker()
        self._acted: dict[str, Repeats] = {}
        self._suppressed = ""
        self._running: Call[PlanSynced | SyncDeferred | None] | None = None
        self._digest = ""
        self._last = self._last_time = ""
        self._thread = threading.Thread(target=self._run, name="swarm-plan-sync", daemon=True)

    @property
    def waiting(self) -> tuple[str, ...]:
        """The files with an edit that waits: for somebody else at work, or for the user."""
        return self._put_off.sources if self._put_off else ()

    def start(self) -> None:
        """Begins, with a first pass."""
        self._poked = True
        self._thread.start()

    def poke(self) -> None:
        """A plan file changed. Returns at once."""
        with self._wake:
            self._poked = True
            self._wake.notify()

    def stop(self, within_s: float) -> bool:
        """Ends after the pass that is at work; whether that was within the time."""
        with self._wake:
            self._stopping = True
            self._wake.notify()
        if self._thread.ident is not None:
            self._thread.join(within_s)
        return not self._thread.is_alive()

    def snapshot(self) -> WorkerStatus:
        """How it stands."""
        breaker = self._breaker.at(time.monotonic())
        return WorkerStatus(
            name=NAME,
            state=breaker.state,
            failures=breaker.failures,
            pending=int(self._poked),
            last=self._last,
            last_time=self._last_time,
            suppressed=("the same edit again and again",) if self._suppressed else (),
        )

    # --- its thread ---

    def _run(self) -> None:
        while True:
            with self._wake:
                self._wake.wait_for(lambda: self._poked or self._stopping, self._wait_s())
                if self._stopping:
                    break
                poked, self._poked = self._poked, False
            if poked or self._due():
                self._again_at = None
                self._step()
        if self._running is not None:
            self._running.ended(None)

    def _wait_s(self) -> float | None:
        return None if self._again_at is None else max(0.0, self._again_at - time.monotonic())

    def _due(self) -> bool:
        """Whether what was put off can be tried: not while somebody else holds the lock."""
        if self._again_at is None or time.monotonic() < self._again_at:
            return False
        if self._locked and live_owner(self._folder.lock):
            self._again_at = time.monotonic() + LOOK_S
            return False
        return True

    def _step(self) -> None:
        now = time.monotonic()
        if not self._folder.path.is_dir():
            return  # it is told as changed when it comes back
        if self._running is not None and not self._collect():
            self._again_at = now + LOOK_S
            return
        if not self._breaker.allows(now):
            self._again_at = self._breaker.opened + RESET_S
            return
        digest = self._state_of_files()
        if self._held_back(digest, now):
            self._again_at = now + WITHIN_S
            return
        self._last, self._last_time = "file_changed", stamp()
        self._digest, self._running = digest, Call(self._sync, "swarm-plan-sync-pass")
        if self._running.ended(self.call_s, lambda: self._stopping):
            self._collect()
        elif not self._stopping:
            self._failed(f"a pass takes longer than {self.call_s:g} s", timed_out=True)

    def _collect(self) -> bool:
        """Takes in how the running pass ended; False while it goes on."""
        call = self._running
        if call is None or not call.ended():
            return False
        self._running = None
        if call.error is not None:
            self._failed(error_text(call.error))
        else:
            self._ended(call.result)
        return True

    def _ended(self, outcome: PlanSynced | SyncDeferred | None) -> None:
        self._changed(self._breaker.succeeded(time.monotonic()))
        self._locked = isinstance(outcome, SyncDeferred) and not outcome.for_user
        if self._locked or self._breaker.state is BreakerState.HALF_OPEN:  # it closes by passes, edits or not
            self._again_at = time.monotonic() + LOOK_S
        before, self._put_off = self._put_off, outcome if isinstance(outcome, SyncDeferred) else None
        if isinstance(outcome, SyncDeferred):
            if outcome.sources and (before is None or before != outcome):
                self._tell(outcome)
            return
        if outcome is not None:
            now = time.monotonic()
            recent = {key: each for key, each in self._acted.items() if now - each.times[-1] < WITHIN_S}
            self._acted = {**recent, self._digest: self._acted.get(self._digest, Repeats()).again(now)}
            self._again_at = now + LOOK_S  # a file that somebody was writing meanwhile was left
            self._tell(outcome)

    def _failed(self, error: str, *, timed_out: bool = False) -> None:
        now = time.monotonic()
        self._tell(WorkerFailed(worker=NAME, subject="plan.md, plan.json", error=error, timed_out=timed_out))
        self._changed(self._breaker.failed(now), reason=error)
        self._again_at = now + 2.0 ** min(self._breaker.failures - 1, 4)

    def _changed(self, breaker: Breaker, reason: str = "") -> None:
        before, self._breaker = self._breaker.state, breaker
        if breaker.state is not before:
            self._tell(BreakerChanged(worker=NAME, state=breaker.state, reason=reason))

    def _held_back(self, digest: str, now: float) -> bool:
        """Loop protection: whether these very bytes were dealt with too often of late."""
        known = self._acted.get(digest)
        again = known.again(now) if known else Repeats()
        if not again.too_many:
            self._suppressed = ""
            return False
        self._acted[digest] = again
        if self._suppressed != digest:
            self._suppressed = digest
            suppressed = TriggerSuppressed(
                capability=NAME, subject="plan.md, plan.json", count=len(again.times), within_s=WITHIN_S
            )
            self._tell(suppressed)
        return True

    def _state_of_files(self) -> str:
        """A digest of the two files, without the ledger position in them."""
        digest = hashlib.sha256()
        for path in (self._folder.plan_md, self._folder.plan_json):
            head = _head(path)
            digest.update(b"\0none" if head is None else _SEQ.sub(rb"\1", head, count=1) + b"\0")
        return digest.hexdigest()


def _head(path: Path) -> bytes | None:
    """The beginning of a file; None where there is none, or something else than a file."""
    try:
        descriptor = os.open(path, os.O_RDONLY | system.NONBLOCK | system.NOFOLLOW | system.CLOEXEC)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        return file.read(_HEAD) if stat.S_ISREG(os.fstat(descriptor).st_mode) else None

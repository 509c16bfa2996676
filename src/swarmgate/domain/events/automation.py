"""The event union of background automation, as recorded in `.swarm/events.jsonl`: frozen and tagged.

It decides nothing: the state of the work is the fold over the ledger alone. It is there so that a user can see what was
done beside the loop, and so that subscribers of the bus hear of it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal, get_args

from pydantic import Field

from swarmgate.domain.base import Frozen, Line, Text


class Watching(StrEnum):
    """How changes of files are noticed."""

    EVENTS = "events"
    """The operating system tells."""
    POLLING = "polling"
    """swarmgate looks every few seconds: where no events come."""


class BreakerState(StrEnum):
    """Of a circuit breaker (Nygard, Release It!, 2007)."""

    CLOSED = "closed"
    """Calls go through."""
    OPEN = "open"
    """Calls are not made."""
    HALF_OPEN = "half_open"
    """Calls are tried; the first failure opens it again."""


class WatchStarted(Frozen):
    """Workers began in this process; `place` says which verb started them. `reason`: why it polls, if it does."""

    type: Literal["watch_started"] = "watch_started"
    pid: int
    host: str
    place: Literal["watch", "daemon", "run"]
    mode: str
    workers: tuple[str, ...] = ()
    watching: Watching = Watching.EVENTS
    reason: Line = ""


class WatchStopped(Frozen):
    """They ended, in order."""

    type: Literal["watch_stopped"] = "watch_stopped"
    pid: int
    reason: Line = ""


class WatchFellBack(Frozen):
    """File events do not come any more, or never came: from now on it polls."""

    type: Literal["watch_fell_back"] = "watch_fell_back"
    reason: Line


class PlanSynced(Frozen):
    """A pass of plan sync changed something: edits `amended` the plan, files were `restored`, edits were `refused`."""

    type: Literal["plan_synced"] = "plan_synced"
    amended: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()
    interrupted: str = ""
    seconds: float = 0.0


class SyncDeferred(Frozen):
    """An edit was seen and waits: a run is at work, which takes it in between two of its steps.

    `for_user`: it waits for the user's next command instead, since an agent may have made it.
    """

    type: Literal["sync_deferred"] = "sync_deferred"
    sources: tuple[str, ...] = ()
    reason: Line
    for_user: bool = False


class WorkerFailed(Frozen):
    """A call of a worker failed or took too long."""

    type: Literal["worker_failed"] = "worker_failed"
    worker: str
    subject: Line = ""
    error: Line
    timed_out: bool = False


class BreakerChanged(Frozen):
    """The circuit breaker of a worker went into another state."""

    type: Literal["breaker_changed"] = "breaker_changed"
    worker: str
    state: BreakerState
    reason: Line = ""


class TriggerFired(Frozen):
    """An event started a capability; `seq` is that event's ledger position, 0 for start-up."""

    type: Literal["trigger_fired"] = "trigger_fired"
    capability: str
    subject: Line
    seq: int = 0


class TriggerSuppressed(Frozen):
    """Loop protection: the same trigger came too often, and is not followed until it is quiet again."""

    type: Literal["trigger_suppressed"] = "trigger_suppressed"
    capability: str
    subject: Line
    count: int
    within_s: float


class PreflightRan(Frozen):
    """Preflight of a phase; `failed` names the checks that stop it, `problem` says what the first of them found.

    `report` is the file with all of it, relative to the repository; the next look at the phase replaces it.
    """

    type: Literal["preflight_ran"] = "preflight_ran"
    phase: int
    passed: bool
    failed: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    problem: Line = ""
    report: str = ""
    seconds: float = 0.0


class DoctorRan(Frozen):
    """The config doctor looked by itself; `fixed` are the files that it mended, `backup` where their old text lies."""

    type: Literal["doctor_ran"] = "doctor_ran"
    passed: bool
    problems: tuple[Line, ...] = ()
    fixed: tuple[str, ...] = ()
    backup: str = ""


class DriftFound(Frozen):
    """Decisions that the plan, a brief or an answer speaks against; each in one line. Empty: none (any more)."""

    type: Literal["drift_found"] = "drift_found"
    signals: tuple[Line, ...] = ()


class EvidenceSummarised(Frozen):
    """The evidence of a long task was summed up in context.md."""

    type: Literal["evidence_summarised"] = "evidence_summarised"
    task: str
    reason: Line


class HookRan(Frozen):
    """A command of the user on an event; `exit_code` is None where it was ended at its time limit, or never began."""

    type: Literal["hook_ran"] = "hook_ran"
    event: str
    seq: int = 0
    exit_code: int | None
    seconds: float = 0.0
    output: Text = ""
    problem: Line = ""


class DeadLetter(Frozen):
    """A subscriber could not take an event, after all retries or because its queue was full; it is kept."""

    type: Literal["dead_letter"] = "dead_letter"
    subscriber: str
    event: str
    seq: int = 0
    error: Line


AutomationEvent = Annotated[
    WatchStarted
    | WatchStopped
    | WatchFellBack
    | PlanSynced
    | SyncDeferred
    | WorkerFailed
    | BreakerChanged
    | TriggerFired
    | TriggerSuppressed
    | PreflightRan
    | DoctorRan
    | DriftFound
    | EvidenceSummarised
    | HookRan
    | DeadLetter,
    Field(discriminator="type"),
]
"""One event of automation. The `type` tag tells which; no tag is one of the ledger's."""

AUTOMATION_EVENTS: dict[str, type[Frozen]] = {
    kind.model_fields["type"].default: kind for kind in get_args(get_args(AutomationEvent)[0])
}
"""The kinds by their tag."""


class Happening(Frozen):
    """An event on the bus, from the ledger or from automation, with its place in that file.

    `seq` counts from 1 in the file that it stands in; `time` is UTC (ISO 8601); `actor` says who: in the ledger as
    there, else the worker. `data` is the event as JSON has it, its tag too.
    """

    source: Literal["ledger", "automation"]
    seq: int
    time: str
    actor: str
    data: dict[str, Any]

    @property
    def type(self) -> str:
        """The event's tag."""
        return str(self.data.get("type", ""))

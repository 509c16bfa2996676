"""The record in `.swarm/runtime/status.json`: progress of the run and of workers, for status lines and GUIs."""

from typing import Literal

from swarmgate.domain.base import Frozen, Line, Text
from swarmgate.domain.events.automation import BreakerState
from swarmgate.domain.next_step import next_step, waiting_for, worked_on
from swarmgate.domain.state.state import State

VERSION = 1
"""Of the schema. It grows when a field is taken away or changes its meaning; new fields leave it as it is."""
LAST_EVENTS = 10
"""As many of the newest events are shown."""

Place = Literal["watch", "daemon", "run"]
"""Which verb started the workers: `swarm watch`, `swarm watch --daemon` or `swarm run`."""


class WorkerStatus(Frozen):
    """One worker. `last` is the type of the newest event that started it, `last_time` when that was (UTC, ISO 8601).

    `failures` counts those in a row; `pending` are events in its queue; `suppressed` are the subjects that loop
    protection holds back now. `by` names who does its work in its place; empty: it does. `problem` is
    what it cannot do since the settings are wrong.
    """

    name: str
    on: bool = True
    state: BreakerState = BreakerState.CLOSED
    failures: int = 0
    pending: int = 0
    last: str = ""
    last_time: str = ""
    suppressed: tuple[Line, ...] = ()
    by: Line = ""
    problem: Text = ""


class StatusEvent(Frozen):
    """One of the newest events: in which file it stands, at which place there, and what it says in words."""

    source: Literal["ledger", "automation"]
    seq: int
    time: str
    type: str
    text: Line


class StatusCost(Frozen):
    """What the whole project used so far; `usd` is None where a price is missing."""

    tokens: int = 0
    usd: float | None = 0.0
    seconds: float = 0.0


class WorkStatus(Frozen):
    """Where the work stands at ledger position `seq`.

    `running` names the process that holds the ledger's lock, empty if nobody works; `step` is what is done next (by
    that process), `waiting` what only the user can do; one of the two is empty. `attempt` is 0 outside of attempts.
    """

    seq: int = 0
    phase: int = 0
    task: str = ""
    attempt: int = 0
    step: str = ""
    waiting: str = ""
    running: str = ""
    cost: StatusCost = StatusCost()


class StatusFile(Frozen):
    """The whole file. Times are UTC (ISO 8601).

    It holds while the process `pid` on `host` lives and `watching` is not `stopped`; it is written again at least
    every `heartbeat_s` seconds. Of one that stopped, `work` alone goes on: as of `written_at`. `reason` says why it
    polls, or why it stopped. `edits_waiting` are plan files with an edit that a run will take in;
    `config_problem` is why the settings of before are still used.
    """

    version: int = VERSION
    written_at: str
    started_at: str
    heartbeat_s: float
    pid: int
    host: str
    place: Place
    mode: str
    watching: Literal["events", "polling", "stopped"]
    reason: Line = ""
    workers: tuple[WorkerStatus, ...] = ()
    last_events: tuple[StatusEvent, ...] = ()
    work: WorkStatus = WorkStatus()
    edits_waiting: tuple[str, ...] = ()
    config_problem: Line = ""


class Ended(Frozen):
    """A process that was made to end, and how many seconds that took."""

    pid: int
    host: str
    seconds: float


class WatchStatus(Frozen):
    """Who watches a project now. `watching` is whether a living process does; `told` is what the user should know.

    `file` is what that process wrote last; of a process that is gone, what it left behind. `ended` is the process that
    `swarm watch stop` ended.
    """

    watching: bool
    pid: int = 0
    host: str = ""
    file: StatusFile | None = None
    told: tuple[Line, ...] = ()
    ended: Ended | None = None


def work_status(state: State, running: str) -> WorkStatus:
    """Where the work stands.

    Args:
        state: the fold.
        running: the process that holds the ledger's lock, in words.
    """
    attempt = state.task(state.open).running
    usage = state.usage
    return WorkStatus(
        seq=state.seq,
        phase=state.current_phase,
        task=state.open or worked_on(state),
        attempt=attempt.number if attempt else 0,
        step=next_step(state) or "",
        waiting=waiting_for(state) or "",
        running=running,
        cost=StatusCost(tokens=usage.tokens, usd=usage.usd, seconds=usage.seconds),
    )

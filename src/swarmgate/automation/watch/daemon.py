"""`swarm watch --daemon`, `stop` and `status`: starts, stops and inspects the daemon from other processes."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
from datetime import datetime

from swarmgate import errors
from swarmgate.automation.watch.lock import taken
from swarmgate.domain.progress import Progress
from swarmgate.domain.status import Ended, StatusFile, WatchStatus, work_status
from swarmgate.errors import SwarmError, UsageError
from swarmgate.journal.disk_errors import writing
from swarmgate.journal.journal import utc_now
from swarmgate.journal.lock import at_work, describe, live_owner
from swarmgate.ledger.files import status_file
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.files.watch_log import end_of
from swarmgate.ledger.ledger import Ledger
from swarmgate.project import Project
from swarmgate.workspace import system
from swarmgate.workspace.process import detached
from swarmgate.workspace.programs import trusted

START_S = 20.0
"""Seconds in which a daemon has to watch, on the slowest machine."""
STOP_S = 2.0
"""Seconds in which a watching process has to end; it is killed after them."""
ELSEWHERE_S = 5.0
"""Seconds that a process on another host has to end in: it is asked by a file."""
_PAUSE_S = 0.02
_LATE = 3
"""Heartbeats that may be left out before a status is called old."""


def start(project: Project, module: str) -> WatchStatus:
    """See `Automation.start_daemon`; `module` is what runs as the daemon."""
    folder = project.folder
    if owner := live_owner(folder.watch_lock):
        raise taken(owner)
    environ, flags = project.environ, project.flags
    _ = project.config  # what is wrong with the settings is told here, and not in a log
    with writing(folder.watch_log):
        folder.runtime.mkdir(exist_ok=True)
        given = trusted.given() if environ is os.environ else environ
        around = trusted.environment(folder.root, given)
        apart = {name: value for name, value in given.items() if around.get(name) != value}
        line = detached.start(
            trusted.module(module),
            cwd=folder.root,
            environ=around,
            given=json.dumps({"root": str(folder.root), "flags": flags, "apart": apart}, default=str).encode(),
            errors=folder.watch_log,
            within_s=START_S,
        )
    if line:
        answer = json.loads(line)
        if "pid" in answer:
            return status(project)
        raise _error(answer)
    lines = end_of(folder.watch_log)
    raise UsageError(
        "The daemon did not come up" + (f"; its log ends so: {' | '.join(lines)}" if lines else " and said nothing."),
        hint=f"Its log is {folder.relative(folder.watch_log)}. In the foreground it tells more: swarm watch",
    )


def _error(answer: dict[str, str]) -> SwarmError:
    """The error that ended the daemon's beginning, as it was raised there."""
    kinds = (each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, SwarmError))
    kind = next((each for each in kinds if each.code == answer["error"] and each.__init__ is SwarmError.__init__), None)
    return (kind or UsageError)(answer["message"], hint=answer["hint"])


def stop(project: Project) -> WatchStatus:
    """See `Automation.stop_watching`."""
    folder = project.folder
    before = _found(folder)
    if not before.watching:
        return before
    place = live_owner(folder.watch_lock).get("place")
    if place not in ("watch", "daemon"):
        who, run = f"pid {before.pid} on {before.host}", place == "run"
        raise UsageError(
            f"{who} is a run: its workers end with it." if run else f"{who} does not say what it is.",
            hint="End the run with: swarm stop" if run else f"End it yourself: kill {before.pid}",
        )
    began = time.monotonic()
    message = _asked(folder, before) if before.host != system.host() else _ended(project, before)
    seconds = round(time.monotonic() - began, 1)
    now = _found(folder)
    if now.pid == before.pid:  # on another host, and it goes on
        return now.model_copy(update={"told": (message,)})
    ended = Ended(pid=before.pid, host=before.host, seconds=seconds)
    return now.model_copy(update={"told": (message or f"it ended after {seconds} s",), "ended": ended})


def _asked(folder: SwarmFolder, before: WatchStatus) -> str:
    """Asks a process on another host to end; returns the message for the user where it does not."""
    with writing(folder.watch_stop):
        folder.watch_stop.touch()
    if _gone(folder, before.pid, ELSEWHERE_S):
        return ""
    return f"it was asked to end, and did not within {ELSEWHERE_S:g} s; it runs on {before.host}"


def _ended(project: Project, before: WatchStatus) -> str:
    """Ends a process of this host: by SIGTERM, and by SIGKILL where that takes too long, which it says."""
    folder = project.folder
    try:
        with detached.Foreign(before.pid) as process:
            if live_owner(folder.watch_lock).get("pid") != before.pid:  # it ended, and its number may be another's
                return ""
            process.send(signal.SIGTERM)
            if _gone(folder, before.pid, STOP_S):
                return ""
            project.listener(Progress(kind="notice", text=f"pid {before.pid} does not end; it is killed"))
            process.send(signal.SIGKILL)
            _gone(folder, before.pid, STOP_S)
    except ProcessLookupError:
        return ""
    except PermissionError as error:
        raise UsageError(
            f"pid {before.pid} is another user's process, and cannot be ended.", hint="Ask that user."
        ) from error
    return f"it did not end within {STOP_S:g} s and was killed; nothing that is on record is lost"


def _gone(folder: SwarmFolder, pid: int, within_s: float) -> bool:
    until = time.monotonic() + within_s
    while live_owner(folder.watch_lock).get("pid") == pid:
        if time.monotonic() >= until:
            return False
        time.sleep(_PAUSE_S)
    return True


def status(project: Project) -> WatchStatus:
    """See `Automation.watch_status`. `work` is as of now, whoever wrote the file."""
    found = _found(project.folder)
    if found.file is None:
        return found
    with contextlib.suppress(SwarmError):  # what is wrong with the ledger, `swarm status` tells
        owner = at_work(project.folder.lock)
        work = work_status(Ledger.read(project.folder).state, describe(owner) if owner else "")
        return found.model_copy(update={"file": found.file.model_copy(update={"work": work})})
    return found


def _found(folder: SwarmFolder) -> WatchStatus:
    """Who watches, and what stands in the file."""
    owner, file = live_owner(folder.watch_lock), status_file.read(folder)
    if not owner:
        died = f"pid {file.pid} on {file.host} is gone without an end" if file and file.watching != "stopped" else ""
        return WatchStatus(watching=False, file=file, told=(died,) if died else ())
    pid, host = owner.get("pid"), str(owner.get("host", ""))
    pid = pid if isinstance(pid, int) and pid > 1 else 0
    mine = file if file is not None and file.pid == pid else None
    return WatchStatus(watching=True, pid=pid, host=host, file=mine, told=_lateness(mine))


def _lateness(file: StatusFile | None) -> tuple[str, ...]:
    if file is None:
        return ("its status cannot be read (yet)",)
    seconds = (utc_now() - datetime.fromisoformat(file.written_at)).total_seconds()
    if seconds <= _LATE * file.heartbeat_s:
        return ()
    return (f"it has written no status for {seconds:.0f} s: it hangs, or the disk refuses",)

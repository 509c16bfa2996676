"""A worker: a process that does what is wanted of one goal or council, writes down how that ended, and is gone.

It holds the lock of its record for as long as it lives, so that nobody begins a second one, whatever became of the
server meanwhile. SIGINT asks it to stop at the next safe point, SIGHUP the same for a server that ends and wants it to
go on later; SIGTERM ends it at once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, NamedTuple

from swarmgate.config import Config, Telemetry
from swarmgate.errors import LedgerLocked, NotFound, Stopped
from swarmgate.journal.lock import WriterLock, forget_renamed
from swarmgate.project import Project
from swarmgate.server.repositories.repositories import Repositories
from swarmgate.server.runs.fleet import bound
from swarmgate.server.runs.goals import Goals
from swarmgate.server.runs.jobs import Jobs
from swarmgate.server.runs.model import Ended, Wanted
from swarmgate.server.runs.records import Records
from swarmgate.server.runs.work import held, worked
from swarmgate.server.runs.work.session import LOG, Session
from swarmgate.server.telemetry.spans import exported

_LARGEST_LOG = 1_000_000

Kind = Literal["goal", "council"]


class Setup(NamedTuple):
    """What a worker needs to know of its server; it goes from process to process."""

    home: Path
    environ: Mapping[str, str]
    private_hosts: tuple[str, ...]
    trusted_sources: tuple[str, ...]
    telemetry: Telemetry
    settings: Config | None = None
    """Of the server, where they name a fleet."""


def main(setup: Setup, kind: Kind, id: str) -> None:  # noqa: A002 - the field's name
    """Runs in the worker's own process, from its first line to its last."""
    with suppress(OSError):
        os.setsid()  # Ctrl-C at the server's terminal is the server's
    repositories = Repositories(setup.home, private_hosts=setup.private_hosts, trusted_sources=setup.trusted_sources)
    goals = Goals(setup.home, repositories, setup.environ, fleet=bound(setup.settings, setup.environ))
    jobs = Jobs(setup.home, goals)
    os.environ.clear()
    os.environ.update(goals.environ)
    telemetry = setup.telemetry
    redact = _redacting(goals.records if kind == "goal" else jobs.records, id, goals.environ)
    with exported(telemetry.otlp_endpoint, content=redact if telemetry.content else None):
        if kind == "goal":
            _work(goals.records, id, lambda session, goal: worked.work(session, goals, goal), goals)
        else:
            _work(jobs.records, id, lambda session, council: held.hold(session, jobs, council), goals)


def _redacting(records: Records[Any], id: str, environ: Mapping[str, str]) -> Callable[[str], str]:  # noqa: A002 - the field's name
    """What masks the secrets in what agents say: the keys of their project, and what looks like one."""
    return lambda text: Project(Path(records.get(id).path), environ=environ).redact(text)


def _work(
    records: Records[Any],
    id: str,  # noqa: A002 - the field's name
    work: Callable[[Session, Any], Coroutine[Any, Any, int]],
    goals: Goals,
) -> None:
    """Does what is wanted, and writes down how it ended and what is still wanted."""
    try:
        records.get(id)
        with _locked(records.lock(id)):
            _to_log(records.folder(id) / LOG)
            record = records.get(id)
            wanted = record.wanted
            if wanted is None or wanted.paused:
                return
            session = Session(wanted, goals)
            ended, still = session.run(lambda each: work(each, record))
            records.change(id, lambda each: _settled(each, wanted, ended, still, leaving=session.leaving))
    except (NotFound, LedgerLocked):  # it was put away; or one that an earlier server began is at it still
        return


def _locked(lock: Path) -> WriterLock:
    """The lock of a record; a dead owner on a host of another name is none: the disk is this machine's own."""
    forget_renamed(lock)
    return WriterLock(lock, place="worker")


def _settled(record: Any, wanted: Wanted, ended: Ended, still: Wanted | None, *, leaving: bool) -> Any:
    """The record after the work: where somebody wants something else meanwhile, that stays.

    Args:
        record: as it is now.
        wanted: what was worked on.
        ended: how that ended.
        still: what of it is still wanted.
        leaving: the server ends, and wants to go on later.
    """
    update: dict[str, Any] = {"ended": ended}
    same = record.wanted is not None and record.wanted.asked == wanted.asked
    if same and ended.code == Stopped.code:
        update["wanted"] = record.wanted if leaving or record.wanted.paused else None
    elif same:
        update["wanted"] = still.model_copy(update={"paused": record.wanted.paused}) if still else None
    return record.model_copy(update=update)


def _to_log(path: Path) -> None:
    """Has what this process prints go into a file; an old one that is long begins anew."""
    with suppress(OSError):
        long = path.is_file() and path.stat().st_size > _LARGEST_LOG
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | (os.O_TRUNC if long else 0)
        log, nothing = os.open(path, flags, 0o600), os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        for target in (1, 2):
            os.dup2(log, target)
        os.close(log)
        os.close(nothing)
        sys.stdout = sys.stderr = open(2, "w", encoding="utf-8", buffering=1, closefd=False)  # noqa: SIM115 - for the life of the process


def nothing() -> None:
    """What the first worker does, which only has the process start that the others are forked from."""

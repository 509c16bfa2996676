"""The signs of life of workers, what each works on, and whether it was told to end."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from swarmgate.domain.base import Frozen
from swarmgate.errors import MissingRequirement
from swarmgate.version import __version__
from swarmgate.workspace.programs import trusted

if TYPE_CHECKING:
    from pathlib import Path

    import psycopg

    from swarmgate.config import FleetQueue

_GIB = 1 << 30


class WorkerRow(Frozen):
    """A worker as `swarm fleet status` shows it; `silent_s` is since its last sign of life."""

    name: str
    queues: tuple[str, ...]
    labels: tuple[str, ...]
    version: str
    host: str
    pid: int
    goal: str
    draining: bool
    silent_s: float


class Register:
    """One worker's row.

    Args:
        connection: to the database, in autocommit.
        name: of the worker.
        queues: that it works for.
        labels: that its machine has been found to have.
    """

    def __init__(self, connection: psycopg.Connection[Any], name: str, *, queues: list[str], labels: list[str]) -> None:
        self._connection, self._name, self._queues, self._labels = connection, name, queues, labels

    def beat(self, goal: str) -> bool:
        """Says that it is alive, and what it works on; returns whether it was told to end."""
        row = self._connection.execute(
            "INSERT INTO swarm_workers (name, queues, labels, version, host, pid, goal)"
            " VALUES (%s, %s, %s, %s, %s, %s, %s)"
            " ON CONFLICT (name) DO UPDATE SET seen = now(), goal = EXCLUDED.goal RETURNING draining",
            (self._name, self._queues, self._labels, __version__, platform.node(), os.getpid(), goal),
        ).fetchone()
        return bool(row and row["draining"])

    def leave(self) -> None:
        """It is gone."""
        self._connection.execute("DELETE FROM swarm_workers WHERE name = %s", (self._name,))


def listed(connection: psycopg.Connection[Any]) -> tuple[WorkerRow, ...]:
    """All workers that are known, the longest at work first."""
    rows = connection.execute(
        "SELECT name, queues, labels, version, host, pid, goal, draining,"
        " extract(epoch FROM now() - seen)::float AS silent_s FROM swarm_workers ORDER BY started"
    )
    return tuple(WorkerRow.model_validate(row) for row in rows)


def holder(connection: psycopg.Connection[Any], goal: str, name: str, silent_s: float) -> str:
    """Who else works on a goal, and has said so within so many seconds; empty: nobody."""
    row = connection.execute(
        "SELECT name FROM swarm_workers WHERE goal = %s AND name <> %s AND seen > now() - make_interval(secs => %s)",
        (goal, name, silent_s),
    ).fetchone()
    return str(row["name"]) if row else ""


def free(connection: psycopg.Connection[Any], name: str) -> None:
    """Says that a worker works on nothing now, without waiting for its next sign of life."""
    connection.execute("UPDATE swarm_workers SET goal = '' WHERE name = %s", (name,))


def drain(connection: psycopg.Connection[Any], name: str) -> tuple[str, ...]:
    """Tells a worker (empty: all) to end at its next safe point; returns those that are told."""
    rows = connection.execute("UPDATE swarm_workers SET draining = true WHERE %s IN ('', name) RETURNING name", (name,))
    return tuple(sorted(row["name"] for row in rows))


def forget(connection: psycopg.Connection[Any], dead_s: float) -> None:
    """Takes the rows of workers away that have been silent for so long."""
    connection.execute("DELETE FROM swarm_workers WHERE seen < now() - make_interval(secs => %s)", (dead_s,))


def require_labels(queues: Mapping[str, FleetQueue], names: list[str], folder: Path) -> list[str]:
    """The labels of the queues, each found true of this machine.

    Args:
        queues: of the settings.
        names: of those that the worker is for.
        folder: in which programs are looked for.

    Raises:
        MissingRequirement: one is not.
    """
    wanted = sorted({label for name in names if name in queues for label in queues[name].labels})
    for label in wanted:
        if problem := _problem(label, folder):
            raise MissingRequirement(
                f"This machine cannot work for a queue that promises {label}: {problem}.",
                hint="Name other queues with --queue; what each promises stands in [fleet.queues]",
            )
    return wanted


def _problem(label: str, folder: Path) -> str:
    kind, _, value = label.partition(":")
    match kind:
        case "os":
            here = platform.system().lower()
            return "" if value == here else f"it runs {here}"
        case "memory":
            there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / _GIB
            return "" if value.isdigit() and there >= int(value) else f"it has {there:.1f} GiB"
        case "sandbox":
            program = "bwrap" if value == "bubblewrap" else value
            return "" if trusted.find(program, folder) else f"{program} is not on PATH"
        case _:
            return "" if trusted.find(value, folder) else f"{value} is not on PATH"

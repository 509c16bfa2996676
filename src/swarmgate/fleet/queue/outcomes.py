"""What came of the newest jobs, for people and for metrics; nobody else relies on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from swarmgate.domain.base import Frozen

if TYPE_CHECKING:
    import psycopg

    from swarmgate.fleet.goals.goal import Goal

_KEPT_DAYS = 30


class Noted(Frozen):
    """What came of one job; `why` and `code` are those of the error that ended it."""

    standing: str
    why: str = ""
    code: str = ""
    lost: bool = False
    steps: int = 0
    pushes: int = 0
    seconds: float = 0.0


def note(connection: psycopg.Connection[Any], goal: Goal, worker: str, noted: Noted) -> None:
    """Keeps what came of a job."""
    fields = noted.model_dump()
    connection.execute(
        "INSERT INTO swarm_outcomes (goal, worker, standing, why, code, lost, steps, pushes, seconds) VALUES"
        " (%(goal)s, %(worker)s, %(standing)s, %(why)s, %(code)s, %(lost)s, %(steps)s, %(pushes)s, %(seconds)s)",
        {**fields, "why": noted.why[:1000], "goal": goal.lock, "worker": worker},
    )


def newest(connection: psycopg.Connection[Any]) -> dict[str, Noted]:
    """What came of the newest job of each goal."""
    rows = connection.execute(
        "SELECT DISTINCT ON (goal) goal, standing, why, code, lost, steps, pushes, seconds FROM swarm_outcomes"
        " ORDER BY goal, id DESC"
    )
    return {row.pop("goal"): Noted.model_validate(row) for row in rows}


def totals(connection: psycopg.Connection[Any]) -> dict[str, float]:
    """Sums over all jobs that are kept: how many, of those lost, steps, pushes and seconds."""
    row = connection.execute(
        "SELECT count(*)::float AS jobs, count(*) FILTER (WHERE lost)::float AS lost, coalesce(sum(steps), 0)::float"
        " AS steps, coalesce(sum(pushes), 0)::float AS pushes, coalesce(sum(seconds), 0)::float AS seconds"
        " FROM swarm_outcomes"
    ).fetchone()
    return dict(row or {})


def forget(connection: psycopg.Connection[Any]) -> None:
    """Drops what is older than a month."""
    connection.execute("DELETE FROM swarm_outcomes WHERE time < now() - make_interval(days => %s)", (_KEPT_DAYS,))

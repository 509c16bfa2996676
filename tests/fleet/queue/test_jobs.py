"""The line: one job a goal, woken once, given back when its worker is silent."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from tests.fleet.postgres import Server

from swarmgate.errors import QueueAway, UsageError
from swarmgate.fleet.goals.goal import Goal, Standing, Summary
from swarmgate.fleet.queue import database as queue
from swarmgate.fleet.queue.jobs import Jobs, Place, bury, due_at
from swarmgate.fleet.queue.tokens import Tokens
from swarmgate.fleet.queue.workers import Register, free, holder

GOAL, OTHER = Goal("calc", "g-000000000001"), Goal("calc", "g-000000000002")
SOON = datetime.now(UTC) + timedelta(hours=1)


@pytest.fixture
def jobs(database: str) -> Iterator[Jobs]:
    with queue.line(database) as app:
        yield Jobs(app)


def test_to_wake_a_goal_twice_is_to_wake_it_once(jobs: Jobs) -> None:
    assert jobs.enqueue(Place(GOAL, "default"))
    assert not jobs.enqueue(Place(GOAL, "default"))
    assert jobs.enqueue(Place(OTHER, "default"))
    assert {name: job.status for name, job in jobs.listed().items()} == {GOAL.lock: "queued", OTHER.lock: "queued"}


def test_a_goal_that_waits_for_a_limit_is_woken_by_a_decision(jobs: Jobs) -> None:
    assert jobs.enqueue(Place(GOAL, "default", at=SOON))
    assert jobs.listed()[GOAL.lock].at == SOON.isoformat(timespec="seconds")
    assert not jobs.enqueue(Place(GOAL, "default", at=SOON + timedelta(hours=1)))
    assert jobs.listed()[GOAL.lock].at == SOON.isoformat(timespec="seconds")
    assert not jobs.enqueue(Place(GOAL, "default"))
    assert jobs.listed()[GOAL.lock].at == ""


def test_only_what_is_not_in_line_is_put_there(jobs: Jobs) -> None:
    jobs.enqueue(Place(GOAL, "default"))
    places = [Place(GOAL, "default"), Place(OTHER, "large", 3, SOON)]
    assert jobs.enqueue_many(places) == 1
    assert jobs.enqueue_many(places) == 0
    assert jobs.listed()[OTHER.lock].queue == "large"


def test_a_process_that_stops_in_the_middle_of_a_transaction_holds_nobody_up(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "SILENT_S", 0.3)

    def stopped() -> None:
        with queue.connected(database) as connection:
            connection.execute("BEGIN")
            connection.execute("LOCK TABLE swarm_workers")
            with queue.connected(database) as other:
                Register(other, "w1", queues=["default"], labels=[]).beat("")
            connection.execute("COMMIT")

    with pytest.raises(QueueAway, match="idle-in-transaction"):
        stopped()


async def _fetched(address: str, queues: list[str]) -> list[str]:
    """The goals that a worker is given, one after the other, while it ends none."""
    async with queue.opened(address) as app:
        worker = await app.job_manager.register_worker()
        found = []
        while job := await app.job_manager.fetch_job(queues=queues, worker_id=worker):
            found.append(str(job.task_kwargs["goal"]))
        return found


def test_goals_of_a_higher_priority_go_first_and_classes_of_workers_apart(database: str, jobs: Jobs) -> None:
    third = Goal("calc", "g-000000000003")
    jobs.enqueue_many([Place(GOAL, "default"), Place(OTHER, "default", 5), Place(third, "large", 9)])
    assert asyncio.run(_fetched(database, ["default"])) == [OTHER.id, GOAL.id]
    assert asyncio.run(_fetched(database, ["large"])) == [third.id]


def test_a_goal_that_is_worked_on_is_given_to_nobody_else(database: str, jobs: Jobs) -> None:
    jobs.enqueue(Place(GOAL, "default"))
    assert asyncio.run(_fetched(database, ["default"])) == [GOAL.id]
    jobs.enqueue(Place(GOAL, "default"))
    assert asyncio.run(_fetched(database, ["default"])) == []


async def _buried(address: str) -> list[Goal]:
    async with queue.opened(address) as app:
        return await bury(app, 30)


def test_the_goal_of_a_silent_worker_is_given_back(database: str, jobs: Jobs) -> None:
    jobs.enqueue(Place(GOAL, "default", 4))
    assert asyncio.run(_fetched(database, ["default"])) == [GOAL.id]
    assert asyncio.run(_buried(database)) == []
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("UPDATE procrastinate_workers SET last_heartbeat = now() - interval '31 seconds'")
    assert asyncio.run(_buried(database)) == [GOAL]
    assert jobs.listed()[GOAL.lock].status == "queued"
    assert asyncio.run(_fetched(database, ["default"])) == [GOAL.id]


def test_a_worker_that_is_heard_of_holds_its_goal(database: str) -> None:
    with queue.connected(database) as connection:
        Register(connection, "w1", queues=["default"], labels=[]).beat(GOAL.lock)
        assert holder(connection, GOAL.lock, "w2", 20) == "w1"
        assert holder(connection, GOAL.lock, "w1", 20) == ""
        assert holder(connection, OTHER.lock, "w2", 20) == ""
        free(connection, "w1")
        assert holder(connection, GOAL.lock, "w2", 20) == ""
        Register(connection, "w1", queues=["default"], labels=[]).beat(GOAL.lock)
        connection.execute("UPDATE swarm_workers SET seen = now() - interval '21 seconds'")
        assert holder(connection, GOAL.lock, "w2", 20) == ""


def test_a_database_that_is_away_says_so(server: Server) -> None:
    with pytest.raises(QueueAway, match="is away"), queue.connected(server.address("nowhere")):
        pass
    with pytest.raises(UsageError, match="no database"), queue.connected(""):
        pass


def test_a_new_database_asks_for_all_goals_once(database: str) -> None:
    assert queue.prepared(database)
    with queue.connected(database) as connection:
        queue.rebuilt(connection)
    assert not queue.prepared(database)


def test_tokens_hold_back_as_many_goals_as_the_settings_say(database: str) -> None:
    with queue.connected(database) as connection:
        first, second, third = (Tokens(connection, name, {"provider a": 2, "repository b": 5}, 60) for name in "xyz")
        assert (first.take(), second.take(), third.take()) == ("", "", "provider a")
        first.renew()
        first.give_back()
        assert third.take() == ""
        assert second.take() == ""  # its own


def test_all_tokens_are_had_or_none(database: str) -> None:
    with queue.connected(database) as connection:
        assert Tokens(connection, "x", {"repository b": 1}, 60).take() == ""
        assert Tokens(connection, "y", {"provider a": 1, "repository b": 1}, 60).take() == "repository b"
        assert Tokens(connection, "z", {"provider a": 1}, 60).take() == ""


def test_a_token_that_nobody_renews_runs_out(database: str) -> None:
    with queue.connected(database) as connection:
        assert Tokens(connection, "x", {"provider a": 1}, 1).take() == ""
        connection.execute("UPDATE swarm_tokens SET expires = now()")
        assert Tokens(connection, "y", {"provider a": 1}, 60).take() == ""


def test_a_goal_that_waits_for_a_limit_begins_at_its_end() -> None:
    now = datetime(2030, 1, 1, tzinfo=UTC)
    assert due_at(Summary(standing=Standing.LIMIT, until=SOON.isoformat()), now=now, retry_s=1) == SOON
    assert due_at(Summary(standing=Standing.DUE), now=now, retry_s=1) is None
    assert due_at(Summary(standing=Standing.ENDPOINT), now=now, retry_s=60) == now + timedelta(minutes=1)

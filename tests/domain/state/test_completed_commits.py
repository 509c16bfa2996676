"""Which commits of completed tasks moved, and which are lost."""

from __future__ import annotations

from tests.domain.story import passing, play, started

from swarmgate.domain.events import event as ev
from swarmgate.domain.events.event import Event
from swarmgate.domain.state.completed_commits import Landed, landed, lost, moved
from swarmgate.domain.state.state import State


def completed(task: str, commit: str) -> list[Event]:
    *rest, _ = passing(task)
    return [*rest, ev.TaskCompleted(task=task, attempt=1, commit=commit, tree=f"tree-{commit}")]


def test_completed_tasks_stand_in_the_order_of_their_commits() -> None:
    state = play(State(), *started(), *completed("1.3", "c"), *completed("1.1", "a"), *passing("1.2")[:3])
    assert landed(state) == (Landed("1.3", "c", "tree-c"), Landed("1.1", "a", "tree-a"))


def test_what_is_found_moved_and_what_is_not_is_lost() -> None:
    state = play(State(), *started(), *completed("1.1", "a"), *completed("1.2", "b"), *completed("1.3", "c"))
    gone, found = ("b", "c"), {"b": "b2"}
    assert moved(state, found) == (ev.CommitMoved(task="1.2", was="b", commit="b2"),)
    assert [each.task for each in lost(state, gone, found)] == ["1.3"]
    assert lost(state, (), {}) == ()

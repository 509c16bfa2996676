"""Usage on record by task, role, model, phase and day, over all goals, and of versions that recorded no models."""

from __future__ import annotations

from tests.domain.story import entries, passing, started

from swarmgate.domain.events import event as ev
from swarmgate.domain.spending.cost import COUNCILS, NOT_RECORDED, OUTSIDE, CostRow, recorded, report
from swarmgate.domain.usage import Usage

PRICED = Usage(calls=1, prompt_tokens=10, completion_tokens=5, usd=0.5, seconds=1.0)
UNPRICED = Usage(calls=1, prompt_tokens=1, usd=None)


def used(role: str, usage: Usage = PRICED, task: str = "", **more: object) -> ev.UsageRecorded:
    return ev.UsageRecorded.model_validate({"role": role, "task": task, "usage": usage, **more})


def names(rows: tuple[CostRow, ...]) -> dict[str, int]:
    return {row.name: row.tokens for row in rows}


def test_each_charge_stands_where_it_was_made() -> None:
    story = [
        used("architect", models={"a/one": PRICED}),
        *started(),
        used("coder", task="1.1", models={"a/one": PRICED, "a/two": UNPRICED}),
        *passing("1.1"),
        used("swarmgate", Usage(seconds=9.0), task="1.1"),
        used("council", source="debate-1", counted=2, models={"a/two": PRICED}),
        ev.GoalAbandoned(reason="another one is wanted"),
        ev.GoalSet(goal="Next"),
        used("architect", UNPRICED),
    ]
    found = report(recorded(entries(story)), goals=2)
    assert found.total.usage.usd is None
    assert found.total.usage.known_usd == 1.5
    assert names(found.tasks) == {
        "goal 0, outside of tasks": 15,
        "goal 1, task 1.1": 15,
        COUNCILS: 15,
        OUTSIDE: 1,
    }
    assert names(found.phases) == {"goal 0, planning": 15, "goal 1, phase 1": 15, COUNCILS: 15, "planning": 1}
    assert names(found.roles) == {"architect": 16, "coder": 15, "swarmgate": 0, "council": 15}
    assert names(found.models) == {"a/one": 30, "a/two": 16, NOT_RECORDED: 1}
    assert names(found.days) == {"2026-11-21": 46}
    assert all(row.unsettled == Usage() for row in found.tasks)

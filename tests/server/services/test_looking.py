"""What services answer to who looks: of a project that somebody works on at a terminal."""

from __future__ import annotations

import pytest
from tests.project import GOAL, plan
from tests.server.services.conftest import House

from swarmgate.errors import NotFound


@pytest.fixture
async def planned(house: House) -> str:
    """A checkout whose plan of two phases waits for approval; its id."""
    return await house.planned(plan("1.1", "1.2", "2.1"))


async def test_a_goal_is_what_status_says_of_it(house: House, planned: str) -> None:
    view = await house.services.goals.get(house.cy, planned)
    status = house.project.json("status")
    assert view.status is not None
    assert (view.seq, view.title, view.waiting, view.state) == (status["seq"], "Parts", "plan_approval", "idle")
    assert view.status.model_dump(mode="json") == status
    assert (view.repo, view.kind, view.text, view.tasks) == ("calc", "checkout", GOAL, {"pending": 3})


async def test_a_view_is_made_once_while_nothing_changed_and_anew_when_the_ledger_grew(
    house: House, planned: str
) -> None:
    first = await house.services.goals.plan(house.cy, planned)
    assert await house.services.goals.plan(house.cy, planned) is first
    house.project.swarm("approve")
    second = await house.services.goals.plan(house.cy, planned)
    assert (first.approved, second.approved) == (False, True)
    assert second.seq == first.seq + 1
    assert second.markdown == house.project.plan_md


async def test_tasks_history_ledger_and_cost_are_those_of_the_command_line(house: House, planned: str) -> None:
    services = house.services
    rows = await services.tasks.list(house.cy, planned)
    assert [row.id for row in rows.items] == ["1.1", "1.2", "2.1"]
    task = await services.tasks.get(house.cy, planned, "1.2")
    assert task.report.model_dump(mode="json") == house.project.json("show", "1.2")
    history = await services.goals.history(house.cy, planned, limit=1000)
    assert [line.model_dump(mode="json") for line in history.items] == house.project.json("history")
    entries = await services.ledger.page(house.cy, planned, limit=2)
    assert [entry.seq for entry in entries.items] == [1, 2]
    assert (await services.ledger.page(house.cy, planned, after=entries.next, limit=2)).items[0].seq == 3
    audit = await services.ledger.verify(house.cy, planned)
    assert audit.passed
    assert audit.head == house.project.lines()[-1]["hash"]
    cost = await services.cost.report(house.cy, goal=planned, by="role")
    assert cost.total.usage.calls == 2
    assert {row.name for row in cost.rows} >= {"architect", "critic"}


async def test_roles_with_their_models_are_listed(house: House, planned: str) -> None:
    agents = await house.services.agents.list(house.cy, goal=planned)
    assert {each.name: each.model for each in agents.items if each.kind == "role"}["coder"] == "local/junior"


async def test_gates_are_listed_and_explained(house: House, planned: str) -> None:
    gates = await house.services.gates.list(house.cy, planned)
    assert {each.id: each.on for each in gates.items}["sast_scan"] is False
    explained = await house.services.gates.explain(house.cy, planned, "secret_scan")
    assert explained.rule.gates == ("secret_scan",)
    with pytest.raises(NotFound):
        await house.services.gates.explain(house.cy, planned, "no-such-rule")


async def test_what_has_no_plan_has_no_task_no_report_and_nothing_to_approve(house: House) -> None:
    goal = await house.checkout()
    services = house.services
    assert (await services.tasks.list(house.cy, goal)).items == ()
    assert (await services.approvals.list(house.cy)).items == ()
    for looked in (
        services.goals.plan(house.cy, goal),
        services.goals.report(house.cy, goal),
        services.tasks.get(house.cy, goal, "1.1"),
        services.evidence.report(house.cy, goal, task="1.1"),
    ):
        with pytest.raises(NotFound):
            await looked


async def test_a_ledger_that_is_damaged_is_told_and_takes_nothing_else_with_it(house: House, planned: str) -> None:
    ledger = house.project.folder.ledger
    ledger.write_text(ledger.read_text().replace(GOAL, "Another goal"))
    view = await house.services.goals.get(house.cy, planned)
    assert "ledger.jsonl" in view.problem
    assert (await house.services.needs.list(house.ada)).items == ()
    assert (await house.services.approvals.list(house.ada)).items == ()


async def test_keys_and_control_characters_do_not_leave_the_server(house: House) -> None:
    key = "sk-" + "a" * 40
    goal = await house.planned(plan("1.1"), text=f"Use {key} \u202ebackwards")
    services = house.services
    for view in (
        await services.goals.get(house.cy, goal),
        await services.goals.list(house.cy),
        await services.goals.history(house.cy, goal),
        await services.ledger.page(house.cy, goal),
        await services.needs.list(house.ada),
    ):
        text = view.encoded.decode()
        assert "Use" in text or "plan" in text
        assert key not in text
        assert "\u202e" not in text


async def test_a_key_in_what_is_asked_for_is_masked_before_there_is_a_project(house: House) -> None:
    made = await house.services.goals.create(house.op, repo="calc", text="Use sk-" + "a" * 40)
    assert made.text == "Use [redacted]"

"""Decisions over the services: who may, what stands in the ledger, and what has moved on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from tests.project import plan
from tests.server.services.conftest import House

from swarmgate.errors import IllegalMove, LedgerLocked, NotAllowed, NotFound, Stale, UsageError
from swarmgate.server.accounts.model import Principal
from swarmgate.server.services.views.decision import ApprovalSummary


@pytest.fixture
async def planned(house: House) -> str:
    """A checkout whose plan waits for approval; its id."""
    return await house.planned(plan("1.1", "1.2"))


async def waiting(house: House) -> ApprovalSummary:
    return (await house.services.approvals.list(house.cy)).items[0]


async def test_an_approval_stands_in_the_ledger_by_name_and_starts_no_run_in_a_checkout(
    house: House, planned: str
) -> None:
    found = await house.services.approvals.get(house.cy, (await waiting(house)).id)
    assert (found.what, found.phase, len(found.plan.phases[0].tasks)) == ("plan", 0, 2)
    run = await house.services.approvals.decide(house.bo, found.id, "approve", if_match=found.seq)
    assert (run.state, run.wanted) == ("idle", None)
    last = house.project.lines()[-1]
    assert (last["event"]["type"], last["actor"]) == ("plan_approved", "user:bo")
    assert (await house.services.approvals.list(house.cy)).items == ()


async def test_what_was_decided_is_not_decided_again(house: House, planned: str) -> None:
    there = await waiting(house)
    await house.services.approvals.decide(house.bo, there.id, "approve")
    with pytest.raises(IllegalMove, match="decided already"):
        await house.services.approvals.decide(house.bo, there.id, "approve")
    with pytest.raises(NotFound):
        await house.services.approvals.get(house.bo, there.id)
    assert [line["event"]["type"] for line in house.project.lines()].count("plan_approved") == 1


async def test_of_two_who_approve_at_the_same_time_one_does(house: House, planned: str) -> None:
    there = await waiting(house)
    both = [house.services.approvals.decide(who, there.id, "approve") for who in (house.bo, house.op)]
    ended = await asyncio.gather(*both, return_exceptions=True)
    refused = [each for each in ended if isinstance(each, Exception)]
    assert len(refused) == 1
    assert isinstance(refused[0], IllegalMove | Stale | LedgerLocked)
    assert [line["event"]["type"] for line in house.project.lines()].count("plan_approved") == 1


async def test_what_moved_on_since_it_was_looked_at_is_not_decided(house: House, planned: str) -> None:
    there = await waiting(house)
    text = house.project.plan_md.replace("Part 1.1", "Another part")
    house.project.folder.plan_md.write_text(text)  # somebody edits the plan at the terminal
    with pytest.raises(Stale):
        await house.services.approvals.decide(house.bo, there.id, "approve", if_match=there.seq)
    types = [line["event"]["type"] for line in house.project.lines()]
    assert "plan_approved" not in types
    assert types[-1] == "plan_amended"


async def test_an_earlier_position_is_stale_and_tells_the_present_one(house: House, planned: str) -> None:
    there = await waiting(house)
    with pytest.raises(Stale) as refused:
        await house.services.goals.abandon(house.op, planned, reason="no", if_match=there.seq - 1)
    assert refused.value.seq == there.seq
    view = await house.services.goals.abandon(house.op, planned, reason="no need", if_match=there.seq)
    assert (view.waiting, house.project.lines()[-1]["actor"]) == ("goal", "user:op")


async def test_to_revise_needs_a_text_and_to_approve_takes_none(house: House, planned: str) -> None:
    there = await waiting(house)
    for decision, text in (("revise", " "), ("approve", "but smaller")):
        with pytest.raises(UsageError):
            await house.services.approvals.decide(house.bo, there.id, decision, text=text)  # type: ignore[arg-type]  # both are decisions


async def test_tasks_are_skipped_with_a_reason_by_name(house: House, planned: str) -> None:
    await house.services.approvals.decide(house.bo, (await waiting(house)).id, "approve")
    task = await house.services.tasks.skip(house.op, planned, "1.1", reason="not needed")
    assert task is not None
    assert (task.report.status, house.project.lines()[-1]["actor"]) == ("skipped", "user:op")
    with pytest.raises(NotFound):
        await house.services.tasks.skip(house.op, planned, "7.1", reason="there is none")
    with pytest.raises(IllegalMove):
        await house.services.tasks.override(house.op, planned, "1.2", reason="nothing was rejected")


Asked = Callable[[House, Principal, str], Coroutine[Any, Any, Any]]

LOOKS: dict[str, Asked] = {
    "goal": lambda house, who, goal: house.services.goals.get(who, goal),
    "plan": lambda house, who, goal: house.services.goals.plan(who, goal),
    "history": lambda house, who, goal: house.services.goals.history(who, goal),
    "failures": lambda house, who, goal: house.services.goals.failures(who, goal),
    "report": lambda house, who, goal: house.services.goals.report(who, goal),
    "page": lambda house, who, goal: house.services.goals.report_page(who, goal),
    "tasks": lambda house, who, goal: house.services.tasks.list(who, goal),
    "task": lambda house, who, goal: house.services.tasks.get(who, goal, "1.1"),
    "run": lambda house, who, goal: house.services.runs.get(who, goal),
    "ledger": lambda house, who, goal: house.services.ledger.page(who, goal),
    "verify": lambda house, who, goal: house.services.ledger.verify(who, goal),
    "evidence": lambda house, who, goal: house.services.evidence.report(who, goal),
    "cost": lambda house, who, goal: house.services.cost.report(who, goal=goal),
    "gates": lambda house, who, goal: house.services.gates.list(who, goal),
    "agents": lambda house, who, goal: house.services.agents.list(who, goal=goal),
    "questions": lambda house, who, goal: house.services.questions.list(who, goal=goal),
    "description": lambda house, who, goal: house.services.goals.pull_request(who, goal, check=True),
}
DECISIONS: dict[str, Asked] = {
    "revise": lambda house, who, goal: house.services.goals.revise(who, goal, "smaller"),
    "approve": lambda house, who, goal: house.services.approvals.decide(who, f"{goal}-plan-3", "approve"),
    "answer": lambda house, who, goal: house.services.questions.answer(who, f"{goal}-q1", text="yes"),
}
OPERATIONS: dict[str, Asked] = {
    "start": lambda house, who, goal: house.services.runs.start(who, goal),
    "stop": lambda house, who, goal: house.services.runs.stop(who, goal),
    "pause": lambda house, who, goal: house.services.runs.pause(who, goal),
    "resume": lambda house, who, goal: house.services.runs.resume(who, goal),
    "retry": lambda house, who, goal: house.services.tasks.retry(who, goal, "1.1"),
    "skip": lambda house, who, goal: house.services.tasks.skip(who, goal, "1.1", reason="x"),
    "override": lambda house, who, goal: house.services.tasks.override(who, goal, "1.1", reason="x"),
    "undo": lambda house, who, goal: house.services.tasks.undo(who, goal, "1.1"),
    "abandon": lambda house, who, goal: house.services.goals.abandon(who, goal, reason="x"),
    "archive": lambda house, who, goal: house.services.goals.archive(who, goal),
    "pull request": lambda house, who, goal: house.services.goals.pull_request(who, goal),
    "create": lambda house, who, _: house.services.goals.create(who, repo="calc", text="more"),
    "doctor": lambda house, who, goal: house.services.checks.doctor(who, goal),
    "preflight": lambda house, who, goal: house.services.checks.preflight(who, goal),
    "gates run": lambda house, who, goal: house.services.gates.start(who, goal),
    "council": lambda house, who, goal: house.services.councils.start(who, "debate", {"question": "?"}, goal=goal),
}
ADMINISTRATION: dict[str, Asked] = {
    "accounts": lambda house, who, _: house.services.accounts.list(who),
    "account": lambda house, who, _: house.services.accounts.get(who, "a-000000000000"),
    "create account": lambda house, who, _: house.services.accounts.create(who, name="eve"),
    "change account": lambda house, who, _: house.services.accounts.update(who, "a-000000000000", name="eve"),
    "delete account": lambda house, who, _: house.services.accounts.delete(who, "a-000000000000"),
    "login link": lambda house, who, _: house.services.accounts.login_link(who, "a-000000000000"),
    "audit": lambda house, who, _: house.services.accounts.audit(who),
    "register": lambda house, who, _: house.services.repositories.register(who, source="/etc"),
}


async def test_who_may_not_see_a_repository_is_answered_as_if_nothing_were_there(house: House, planned: str) -> None:
    before = house.project.lines()
    missing = "g-000000000000"
    for name, ask in {**LOOKS, **DECISIONS, **OPERATIONS}.items():
        if name == "create":
            continue
        with pytest.raises(NotFound) as unseen:
            await ask(house, house.di, planned)
        with pytest.raises(NotFound) as unknown:
            await ask(house, house.ada, missing)
        assert unseen.value.message == unknown.value.message, name
    with pytest.raises(NotFound):
        await OPERATIONS["create"](house, house.di, planned)
    services = house.services
    for listed in (
        services.goals.list(house.di),
        services.approvals.list(house.di),
        services.questions.list(house.di),
        services.needs.list(house.di),
        services.runs.list(house.di),
        services.repositories.list(house.di),
        services.councils.list(house.di),
        services.agents.list(house.di),
    ):
        assert (await listed).items == ()
    assert (await services.cost.report(house.di)).goals == {}
    assert house.project.lines() == before


async def test_each_role_may_all_that_the_one_before_may_and_no_more(house: House, planned: str) -> None:
    before = house.project.lines()
    for ask in LOOKS.values():
        await ask(house, house.cy, planned)
    too_low = (
        (house.cy, DECISIONS),
        (house.cy, OPERATIONS),
        (house.bo, OPERATIONS),
        (house.op, ADMINISTRATION),
        (house.di, ADMINISTRATION),  # an admin of one repository keeps no accounts
    )
    for who, asked in too_low:
        for ask in asked.values():
            with pytest.raises(NotAllowed):
                await ask(house, who, planned)
    assert house.project.lines() == before


async def test_needs_are_those_that_the_account_may_decide(house: House, planned: str) -> None:
    needs = await house.services.needs.list(house.bo)
    assert [(each.kind, each.goal, each.id) for each in needs.items] == [
        ("approval", planned, (await waiting(house)).id)
    ]
    assert [way.do for way in needs.items[0].ways] == ["approve", "revise"]
    assert (await house.services.needs.list(house.cy)).items == ()

"""What no tool decides: the person is asked by a form of the client, or nobody is."""

from __future__ import annotations

from typing import Any

import pytest
from mcp.client.session import ClientSession
from mcp.shared.context import RequestContext
from mcp.types import ElicitRequestParams, ElicitResult
from tests.mcp.conftest import Connect, told
from tests.project import GOAL, Project, call, rule

from swarmgate.domain.next_step import Waiting, waiting_for

pytestmark = pytest.mark.suite("unittest")


class Person:
    """Fills in forms, and keeps what was shown with them."""

    def __init__(self, *says: ElicitResult) -> None:
        self.says, self.shown = list(says), list[str]()

    async def __call__(self, context: RequestContext[ClientSession, Any], params: ElicitRequestParams) -> ElicitResult:
        del context
        self.shown.append(params.message)
        return self.says.pop(0)


def form(**content: str) -> ElicitResult:
    return ElicitResult(action="accept", content=dict(content))


async def test_without_forms_a_plan_waits_and_nobody_is_asked(project: Project, connect: Connect) -> None:
    project.play()
    async with connect(project.root) as client:
        planned = told(await client.call_tool("plan", {"goal": GOAL}))["result"]
        again = await client.call_tool("run", {})
    assert planned["person"] == "not asked"
    assert (planned["outcome"]["waiting"], planned["exit_code"]) == ("plan_approval", 3)
    assert told(again)["result"]["outcome"]["waiting"] == "plan_approval"
    assert waiting_for(project.state) is Waiting.PLAN_APPROVAL


@pytest.mark.parametrize(
    ("says", "person", "waiting"),
    [
        (form(decision="approve"), "approved", None),
        (form(decision="leave"), "left", Waiting.PLAN_APPROVAL),
        (form(decision="yes, go on"), "left", Waiting.PLAN_APPROVAL),
        (form(), "left", Waiting.PLAN_APPROVAL),
        (ElicitResult(action="decline"), "left", Waiting.PLAN_APPROVAL),
        (ElicitResult(action="cancel"), "left", Waiting.PLAN_APPROVAL),
    ],
)
async def test_a_plan_is_approved_by_the_person_who_was_shown_it_and_by_no_other_answer(
    says: ElicitResult, person: str, waiting: Waiting | None, project: Project, connect: Connect
) -> None:
    project.play()
    there = Person(says)
    async with connect(project.root, elicitation_callback=there) as client:
        planned = told(await client.call_tool("plan", {"goal": GOAL}))["result"]
    assert planned["person"] == person
    assert "Task 1.1" in there.shown[0]
    assert waiting_for(project.state) is waiting


async def test_what_moved_on_while_the_person_read_is_not_approved(project: Project, connect: Connect) -> None:
    project.play()

    async def edits(context: RequestContext[ClientSession, Any], params: ElicitRequestParams) -> ElicitResult:
        project.folder.plan_md.write_text(project.plan_md.replace("Part 1.1", "Another part"))
        return form(decision="approve")

    async with connect(project.root, elicitation_callback=edits) as client:
        answer = await client.call_tool("plan", {"goal": GOAL})
    assert answer.isError
    assert waiting_for(project.state) is Waiting.PLAN_APPROVAL


async def test_questions_of_the_architect_are_asked_and_planning_goes_on(project: Project, connect: Connect) -> None:
    asked = call("ask_user", questions=["Metres or feet?"])
    project.play(rule("architect", "plan", [asked], [call("save_plan", title="Parts", phases=[])]))
    there = Person(ElicitResult(action="decline"))
    async with connect(project.root, elicitation_callback=there) as client:
        planned = told(await client.call_tool("plan", {"goal": GOAL}))["result"]
    assert planned["outcome"]["waiting"] == "answers"
    assert "Metres or feet?" in there.shown[0]
    assert waiting_for(project.state) is Waiting.ANSWERS

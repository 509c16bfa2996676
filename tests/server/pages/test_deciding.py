"""What waits for a person is decided by forms: a plan that is sent back, a question, the ways out of a blocked task."""

from __future__ import annotations

import re

import pytest
from tests.project import Project, call, plan, review, rule, until
from tests.server.conftest import Running
from tests.server.pages.conftest import Visits

from swarmgate.domain.events import event as ev
from swarmgate.server.accounts.model import Role

pytestmark = pytest.mark.slow


def test_a_plan_is_sent_back_with_words_and_then_approved_by_name(
    visit: Visits, repo: str, project: Project, server: Running
) -> None:
    project.play(plan("1.1"), plan("1.1", "1.2", step="revise"))
    project.swarm("plan", "Add parts", exits=3)
    bo = visit("bo", Role.APPROVER, "calc")
    page = bo.get("/")
    (action,) = set(re.findall(r'action="(/approvals/[^"]+)"', page))
    assert "part 1.1 has a value" in page
    empty = bo.send("/", action, decision="revise", text=" ")
    assert "what is to be changed" in bo.told(empty)
    assert bo.told(bo.send("/", action, decision="revise", text="Two parts.")) == "Sent back to the architect."
    until(lambda: "Part 1.2" in bo.get("/"), 90)
    assert bo.told(bo.client_send(action, decision="approve")).startswith("Something has happened since you looked.")
    (again,) = set(re.findall(r'action="(/approvals/[^"]+)"', bo.get("/")))
    assert again != action
    assert bo.told(bo.send("/", again, decision="approve")) == "Approved."
    assert [line["actor"] for line in project.lines() if line["event"]["type"] == "plan_approved"] == ["user:bo"]
    assert "Nothing waits for you" in bo.get("/")


def test_who_may_only_look_sees_no_form_and_can_send_none(visit: Visits, repo: str, project: Project) -> None:
    project.play(plan("1.1"))
    project.swarm("plan", "Add parts", exits=3)
    ada, cy = visit("ada"), visit("cy", Role.VIEWER)
    (action,) = set(re.findall(r'action="(/approvals/[^"]+)"', ada.get("/")))
    assert "Nothing waits for you" in cy.get("/")
    refused = cy.client_send(action, decision="approve")
    assert refused.status_code == 303
    assert project.events(ev.PlanApproved) == []


def test_a_question_takes_an_option_once(visit: Visits, repo: str, project: Project) -> None:
    asks = rule("architect", "plan", [call("ask_user", questions=["Which unit?"])])
    project.play(asks, plan("1.1", contains="metres"))
    project.swarm("plan", "Add parts", exits=3)
    ada = visit()
    (action,) = set(re.findall(r'action="(/questions/[^"]+)"', ada.get("/")))
    told = ada.told(ada.send("/", action, how="answer", text=""))
    assert "answer" in told.lower()
    assert ada.told(ada.send("/", action, how="answer", text="metres")) == "Answered."
    assert "not open any more" in ada.told(ada.client_send(action, how="answer", text="feet"))
    assert [each.answer for each in project.events(ev.QuestionAnswered)] == ["metres"]


def test_a_blocked_task_has_its_ways_out_as_forms(visit: Visits, repo: str, project: Project) -> None:
    rejects = review("REJECTED", "It has no value.", "no value at all")
    project.play(plan("1.1"), rejects, loop={"max_rejections": 1})
    project.swarm("plan", "Add parts", exits=3)
    project.swarm("approve")
    project.swarm("run", exits=1)
    ada = visit()
    page = ada.get("/")
    ways = set(re.findall(r'action="/goals/[^/]+/ways/(\w+)"', page))
    assert {"retry", "skip", "override", "revise"} <= ways
    assert "It has no value." in page
    assert "swarm retry" not in page
    (goal,) = set(re.findall(r"/goals/([cg]-[0-9a-f]{12})/ways/skip", page))
    task = ada.get(f"/goals/{goal}/tasks/1.1")
    assert "Ways out" in task
    assert "no value at all" in task
    assert "reason" in ada.told(ada.send("/", f"/goals/{goal}/ways/skip", text=" ")).lower()
    assert ada.told(ada.send("/", f"/goals/{goal}/ways/skip", text="Not needed.")) == "The task was given up."
    assert [each.reason for each in project.events(ev.TaskSkipped)] == ["Not needed."]

"""What an endpoint sees: DESIGN.md, "The model wire", for every role and step of the loop."""

from __future__ import annotations

import re

import pytest
from tests.project import GOAL, Project, code, critic, part, plan, review

from swarmgate.agents.briefs.role_markers import HEADERS

pytestmark = pytest.mark.suite("unittest")

_EXPECTED = {
    ("architect", "plan"): ["ROLE", "STEP", "GOAL"],
    ("critic", "review_plan"): ["ROLE", "STEP", "GOAL"],
    ("architect", "revise"): ["ROLE", "STEP", "GOAL"],
    ("architect", "delegate"): ["ROLE", "STEP", "TASK", "ATTEMPT", "FILE"],
    ("coder", "code"): ["ROLE", "STEP", "TASK", "ATTEMPT", "FILE"],
    ("reviewer", "review"): ["ROLE", "STEP", "TASK", "ATTEMPT", "FILE"],
    ("architect", "implement"): ["ROLE", "STEP", "TASK", "ATTEMPT", "FILE"],
    ("test_engineer", "test"): ["ROLE", "STEP", "TASK", "ATTEMPT", "FILE"],
    ("architect", "close_phase"): ["ROLE", "STEP", "PHASE"],
}


@pytest.fixture
def played(project: Project) -> Project:
    """A project in whose play every role took every one of its steps."""
    project.planned(
        critic("REJECTED", "say more"),
        critic(contains="say more"),
        review("REJECTED", "NAME-THE-UNIT", "the unit is missing"),
        review(attempt="3"),
    )
    project.swarm("run", exits=3)
    return project


@pytest.mark.slow
def test_every_turn_opens_in_the_documented_form(played: Project) -> None:
    seen = set()
    for request in played.requests:
        roles = [message["role"] for message in request.messages]
        assert roles[:2] == ["system", "user"]
        assert roles.count("system") == 1
        head, blank, _ = request.messages[1]["content"].partition("\n\n")
        assert blank
        lines = [re.fullmatch(r"([A-Z]+): (\S.*)", line) for line in head.split("\n")]
        assert all(lines), head
        keys = [line[1] for line in lines if line]
        turn = (request.headers["ROLE"], request.headers["STEP"])
        assert keys == _EXPECTED[turn]  # type: ignore[index]  # both are strings
        assert set(keys) <= set(HEADERS)
        seen.add(turn)
    assert seen == set(_EXPECTED)


def test_headers_carry_what_the_turn_is_for(played: Project) -> None:
    (brief,) = played.briefs("coder", "code", attempt="2")
    assert brief.startswith("ROLE: coder\nSTEP: code\nTASK: 1.1\nATTEMPT: 2\nFILE: src/calc/part_1.1.py\n\n")
    (brief,) = played.briefs("architect", "plan")
    assert brief.startswith(f"ROLE: architect\nSTEP: plan\nGOAL: {GOAL}\n\n")
    (brief,) = played.briefs("architect", "close_phase")
    assert brief.startswith("ROLE: architect\nSTEP: close_phase\nPHASE: 1\n\n")


@pytest.mark.slow
def test_agents_md_stands_in_every_brief(played: Project) -> None:
    assert all("HOUSE-RULE: names in English." in request.messages[1]["content"] for request in played.requests)


@pytest.mark.slow
def test_the_reviewer_never_sees_what_the_coder_claims(played: Project) -> None:
    asked = [str(request.body) for request in played.requests if request.headers["ROLE"] != "coder"]
    assert not [body for body in asked if "I-CLAIM-IT-IS-DONE" in body]


@pytest.mark.slow
def test_a_rejection_reaches_architect_and_coder(played: Project) -> None:
    for role, step in (("architect", "delegate"), ("coder", "code")):
        first, second = played.briefs(role, step, task="1.1")
        assert "the unit is missing" not in first
        assert "Attempt 1: REJECTED by reviewer: NAME-THE-UNIT" in second
        assert "[high] the unit is missing" in second
    (brief,) = played.briefs("architect", "implement")
    assert "Attempt 2: REJECTED by reviewer" in brief


@pytest.mark.slow
def test_each_role_speaks_with_its_model_and_its_tools(played: Project) -> None:
    models = {request.headers["ROLE"]: request.model for request in played.requests}
    assert models == {role: "junior" if role == "coder" else "senior" for role in models}
    tools = {(r.headers["ROLE"], r.headers["STEP"]): set(r.tools) for r in played.requests}
    assert "write_file" not in tools["reviewer", "review"] | tools["critic", "review_plan"]
    assert {"write_file", "edit_file", "delete_file", "run_command", "run_gates", "finish"} <= tools["coder", "code"]
    assert "delegate" in tools["architect", "delegate"]


@pytest.mark.slow
def test_the_escalated_attempt_is_shown_as_such(played: Project) -> None:
    assert "- Attempt 3: ESCALATED - Architect implementing directly" in played.plan_md


@pytest.mark.slow
def test_a_model_without_tools_is_served_by_json_in_text(project: Project) -> None:
    project.planned(plan("1.1"), code({"src/calc/part_1.1.py": part("1.1")}), providers__local={"tools": False})
    project.swarm("run", exits=3)
    assert not any(request.tools for request in project.requests)

"""Requests in the words of the reference, as our councils take them: each translation is one that a council accepts."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from swarmgate.council.critique.request import critique_of
from swarmgate.council.decision.request import decision_of
from swarmgate.council.orchestration.model import Orchestration
from swarmgate.council.orchestration.references import filled
from swarmgate.council.orchestration.validation import checked
from swarmgate.errors import UsageError
from swarmgate.server.reference import requests
from swarmgate.server.reference.bodies import CritiqueBody, DiscussionBody, OrchestrationBody
from swarmgate.server.reference.requests import CouncilRequest
from swarmgate.server.runs import patterns

CRITERION = {"name": "clarity", "description": "Clear", "weight": 0.5}


def critique(**given: Any) -> dict[str, Any]:
    config = {"maxIterations": 3, "criteria": [CRITERION], **given.pop("config", {})}
    body = CritiqueBody.model_validate({"agentId": "claude", "prompt": "Write it.", "config": config, **given})
    return accepted(requests.critique(body, {"guard"}))


def discussion(**given: Any) -> dict[str, Any]:
    seats = given.pop("participants", [{"agentId": "claude", "role": "expert"}])
    config = {"maxRounds": 2, **given.pop("config", {})}
    body = DiscussionBody.model_validate({"topic": "Do we move?", "participants": seats, "config": config, **given})
    return accepted(requests.discussion(body, {"guard"}))


def orchestration(pattern: str, *tasks: dict[str, Any], **given: Any) -> Orchestration:
    body = OrchestrationBody.model_validate({"tasks": tasks, **given})
    found = requests.orchestration(pattern, body, {"guard"})
    assert found is not None
    patterns.checked(found.pattern, found.arguments)
    return checked(Orchestration.model_validate(found.arguments))


def accepted(request: CouncilRequest) -> dict[str, Any]:
    """The arguments: those that the queue takes, and that make a request which can be held."""
    given = patterns.checked(request.pattern, request.arguments)
    if request.pattern == "critique":
        critique_of(id="k", **{key: value for key, value in given.items() if key != "model"})
    else:
        seats = [{key: value for key, value in each.items() if key != "agent"} for each in given["participants"]]
        fields = {"threshold", "rounds", "whole_s", "facilitator", "material", "facilitator_system"}
        more = {key: given[key] for key in fields & given.keys()}
        decision_of(id="k", question=given["question"], participants=seats, strategy=given["strategy"], **more)
    return given


# --- self-critique ---


def test_a_critique_in_the_form_that_the_reference_documents() -> None:
    found = critique(config={"maxIterations": 5, "qualityThreshold": 0.85, "timeoutMs": 60_000})
    assert found == {
        "task": "Write it.",
        "criteria": [{"name": "clarity", "description": "Clear", "rubric": "", "weight": 0.5}],
        "iterations": 5,
        "stop": 0.85,
        "whole_s": 60,
    }


def test_a_critique_of_a_nested_task_names_its_agent_its_time_and_its_variables() -> None:
    task = {"id": "x", "agentId": "guard", "prompt": "On {{ topic }}, {{who}}.", "variables": {"topic": "A"}}
    found = critique(task={**task, "timeoutMs": 2_000}, context={"who": "all", "n": [1]}, timeoutMs=5_000)
    assert (found["task"], found["model"]) == ("On A, all.", "guard")
    assert (found["timeout_s"], found["whole_s"]) == (2, 5)
    assert '"n"' in found["material"]


def test_a_context_that_says_the_prompt_again_is_no_material() -> None:
    assert "material" not in critique(context={"input": "Write it."})


def test_templates_are_guidance_and_criteria_keep_rubric_and_question() -> None:
    criterion = {**CRITERION, "rubric": "1 is best.", "evaluationPrompt": "Is it clear?", "threshold": 0.4}
    config = {
        "criteria": [criterion],
        "improvementPromptTemplate": "Improve {{output}} by {{#if feedback}}{{ previousFeedback }}{{/if}}",
        "evaluationPromptTemplate": "Judge {{output}}.",
    }
    found = critique(config=config)
    assert found["criteria"][0] == {
        "name": "clarity",
        "description": "Clear",
        "rubric": "1 is best.\n\nIs it clear?",
        "weight": 0.5,
        "threshold": 0.4,
    }
    assert found["system"] == "Improve (the output) by (the previous feedback)"
    assert found["evaluator_system"] == "Judge (the output)."


def test_names_of_criteria_become_ids_that_differ() -> None:
    names = ["Clear & short", "clear   short", "!!!", "ok"]
    found = critique(config={"criteria": [{**CRITERION, "name": each} for each in names]})
    assert [each["name"] for each in found["criteria"]] == ["Clear-short", "clear-short-2", "criterion", "ok"]


# --- discussion ---


def test_a_discussion_is_a_decision_with_its_seats_weights_and_threshold() -> None:
    seats = [
        {"id": "arch", "agentId": "guard", "role": "architect", "weight": 1.0, "systemPrompt": "Be brief."},
        {"agentId": "claude", "role": "devil's advocate", "weight": 0.3, "perspective": "Against it."},
    ]
    config = {"consensusStrategy": "weighted", "consensusThreshold": 0.8, "timeoutMs": 90_000}
    config |= {"contributionPromptTemplate": "Say {{role}}.", "synthesisPromptTemplate": "Sum up."}
    found = discussion(participants=seats, config=config)
    assert found["participants"] == [
        {"id": "arch", "agent": "guard", "role": "architect", "weight": 1.0, "system": "Be brief.\n\nSay (the role)."},
        {
            "id": "devil-s-advocate",
            "role": "devil's advocate",
            "weight": 0.3,
            "perspective": "Against it.",
            "system": "Say (the role).",
        },
    ]
    assert (found["strategy"], found["threshold"], found["whole_s"]) == ("weighted", 0.8, 90)
    assert found["facilitator_system"] == "Sum up."


def test_a_majority_takes_more_than_half_whatever_the_threshold_says() -> None:
    assert "threshold" not in discussion(config={"consensusStrategy": "majority", "convergenceThreshold": 0.9})


@pytest.mark.parametrize(
    ("named", "roles", "decides", "many"),
    [
        ("boss", ["expert", "critic"], "boss", 2),  # by the id of a participant
        ("guard", ["expert", "critic"], "second", 2),  # by its agent
        ("claude", ["expert", "critic"], "boss", 2),
        ("", ["expert", "facilitator"], "second", 2),  # by its role
    ],
)
def test_who_decides_is_a_participant(named: str, roles: list[str], decides: str, many: int) -> None:
    seats = [
        {"id": "boss", "agentId": "claude", "role": roles[0]},
        {"id": "second", "agentId": "guard", "role": roles[1]},
    ]
    config = {"consensusStrategy": "facilitator", "facilitatorAgentId": named}
    found = discussion(participants=seats, config=config)
    assert (found["facilitator"], len(found["participants"])) == (decides, many)


def test_who_decides_joins_where_it_takes_no_part() -> None:
    seats = [{"agentId": "claude", "role": "expert"}]
    config = {"consensusStrategy": "facilitator", "facilitatorAgentId": "guard"}
    found = discussion(participants=seats, config=config)
    assert found["facilitator"] == "facilitator"
    assert found["participants"][-1] == {"id": "facilitator", "agent": "guard", "role": "facilitator"}
    with pytest.raises(UsageError, match="one participant too many"):
        discussion(participants=seats * 10, config=config)


@pytest.mark.parametrize("agent", ["", "claude", "agent_claude_default"])
def test_the_agents_of_the_reference_are_the_voice_of_participants(agent: str) -> None:
    assert "model" not in critique(agentId=agent)


def test_an_agent_that_there_is_not_is_refused() -> None:
    with pytest.raises(UsageError, match="agent with id 'nobody' not found") as refused:
        critique(agentId="nobody")
    assert "guard" in refused.value.hint
    with pytest.raises(UsageError, match="No agent available for type: strudel"):
        critique(agentId="", agentType="strudel")


# --- orchestration ---


def test_tasks_in_order_see_the_results_before() -> None:
    tasks = (
        {"id": "one", "prompt": "Say {it} for {{who}}, {{unknown}}.", "timeoutMs": 3_000},
        {"id": "two", "prompt": "On {{_lastResult}}, {{_task_one}}.", "agentId": "guard"},
    )
    steps = orchestration("sequential", *tasks, context={"who": "{me}"}, timeoutMs=9_000).model_dump()["steps"]
    assert [each.get("agent", each.get("participant")) for each in steps] == ["one", "guard"]
    assert [each["timeout_s"] for each in steps] == [3, 9]
    assert steps[1]["text"] == "On {t1}, {t1}."
    made = orchestration("sequential", *tasks, context={"who": "{me}"}).steps[0]
    assert filled(made, {}).text == "Say {it} for {me}, {{unknown}}."  # type: ignore[arg-type,union-attr]  # it asks


def test_tasks_at_once_have_all_to_be_done() -> None:
    found = orchestration(
        "parallel", *({"id": f"n{at}", "prompt": "Do."} for at in range(3)), options={"maxParallel": 2}
    )
    (group,) = found.model_dump()["steps"]
    assert (group["kind"], group["least"], group["at_once"], len(group["steps"])) == ("parallel", 3, 2, 3)


@pytest.mark.parametrize(("level", "asked"), [(5, "high"), (1, "otherwise")])
def test_the_first_task_whose_condition_holds_is_done(level: int, asked: str) -> None:
    tasks = (
        {"id": "none", "prompt": "otherwise"},
        {"id": "high", "prompt": "high", "condition": "context.level > 3"},
        {"id": "higher", "prompt": "higher", "condition": "context.level > 4"},
    )
    found = orchestration("conditional", *tasks, context={"level": level})
    assert [each.text for each in found.steps] == [asked]  # type: ignore[union-attr]  # they ask


def test_nothing_is_done_where_no_condition_holds() -> None:
    task = {"id": "a", "prompt": "x", "condition": "context.level > 3"}
    assert requests.orchestration("conditional", OrchestrationBody.model_validate({"tasks": [task]}), set()) is None


def test_a_task_for_each_item_then_one_with_all_results() -> None:
    tasks = (
        {"id": "map", "prompt": "Do {{_item}} of {{_totalItems}}."},
        {"id": "reduce-all", "prompt": "Join {{_mapResults}}.", "agentId": "guard"},
    )
    found = orchestration("map-reduce", *tasks, options={"items": ["a", {"b": 1}]})
    (step,) = found.model_dump()["steps"]
    assert (step["items"], step["least"]) == (("a", '{"b": 1}'), 2)
    assert (step["step"]["text"], step["reduce"]["text"]) == ("Do {item} of 2.", "Join the results below.")
    assert step["reduce"]["agent"] == "guard"


@pytest.mark.parametrize(
    ("tasks", "options", "told"),
    [
        ([{"id": "a", "prompt": "x"}], {"items": ["1"]}, 'a task with id "map"'),
        ([{"id": "map", "prompt": "x"}], {}, "items in options.items"),
    ],
)
def test_a_map_needs_a_task_and_items(tasks: list[dict[str, Any]], options: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        orchestration("map-reduce", *tasks, options=options)


# --- hard limits ---


def seats(many: int) -> list[dict[str, str]]:
    return [{"agentId": "claude", "role": "r"}] * many


@pytest.mark.parametrize(
    ("given", "place"),
    [
        ({"config": {"maxIterations": 0}}, "maxIterations"),
        ({"config": {"maxIterations": 11}}, "maxIterations"),
        ({"config": {"criteria": []}}, "criteria"),
        ({"config": {"criteria": [CRITERION] * 11}}, "criteria"),
        ({"config": {"criteria": [{**CRITERION, "weight": 1.1}]}}, "weight"),
        ({"config": {"qualityThreshold": 1.5}}, "qualityThreshold"),
        ({"prompt": ""}, "prompt"),
        ({"prompt": "x" * 100_001}, "prompt"),
        ({"timeoutMs": 999}, "timeoutMs"),
        ({"timeoutMs": 900_001}, "timeoutMs"),
        ({"prompt": None}, ""),
    ],
)
def test_a_critique_beyond_a_limit_is_refused(given: dict[str, Any], place: str) -> None:
    with pytest.raises(ValidationError) as refused:
        critique(**given)
    assert any(place in map(str, each["loc"]) or not place for each in refused.value.errors()), refused.value


@pytest.mark.parametrize(
    ("given", "place"),
    [
        ({"config": {"maxRounds": 0}}, "maxRounds"),
        ({"config": {"maxRounds": 11}}, "maxRounds"),
        ({"participants": seats(11)}, "participants"),
        ({"participants": []}, "participants"),
        ({"topic": ""}, "topic"),
        ({"topic": "x" * 10_001}, "topic"),
        ({"timeoutMs": 999}, "timeoutMs"),
        ({"timeoutMs": 1_800_001}, "timeoutMs"),
        ({"config": {"consensusStrategy": "dictator"}}, "consensusStrategy"),
        ({"config": {"consensusStrategy": "facilitator"}}, ""),
    ],
)
def test_a_discussion_beyond_a_limit_is_refused(given: dict[str, Any], place: str) -> None:
    with pytest.raises(ValidationError) as refused:
        discussion(**given)
    assert any(place in map(str, each["loc"]) or not place for each in refused.value.errors()), refused.value


def test_the_limits_themselves_are_held() -> None:
    found = critique(
        prompt="x" * 100_000,
        timeoutMs=900_000,
        config={"maxIterations": 10, "criteria": [{**CRITERION, "name": f"n{at}"} for at in range(10)]},
    )
    assert (found["iterations"], len(found["criteria"]), found["whole_s"]) == (10, 10, 900)
    held = discussion(topic="x" * 10_000, timeoutMs=1_800_000, participants=seats(10), config={"maxRounds": 10})
    assert (held["rounds"], len(held["participants"]), held["whole_s"]) == (10, 10, 1800)

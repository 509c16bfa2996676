"""The endpoints of ADR 0007 over HTTP, against councils that are really held by the server's workers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from tests.project import Project, rule, until
from tests.server.reference.conftest import (
    AGENTS,
    PROPOSES,
    WRITES,
    critique,
    discussion,
    play,
    says,
    scores,
    stands,
)

from swarmgate.server.accounts.model import Role

pytestmark = pytest.mark.slow


def told(response: httpx.Response, status: int = 200) -> Any:
    """The data of a successful envelope."""
    assert response.status_code == status, response.text
    found = response.json()
    assert found["success"] is True
    assert found["meta"]["timestamp"].endswith("Z")
    assert found["meta"]["requestId"] == response.headers["x-request-id"]
    return found["data"]


def refused(response: httpx.Response, status: int, code: str) -> Any:
    """The error of an envelope."""
    assert response.status_code == status, response.text
    found = response.json()
    assert (found["success"], found["error"]["code"]) == (False, code), found
    return found["error"]


def test_a_self_critique_waited_for(project: Project, operator: httpx.Client) -> None:
    play(project, *WRITES, scores(1, 0.9, 0.4), scores(2, 0.6, 0.9))
    found = told(operator.post(f"{AGENTS}/orchestrate/self-critique?wait=true", json=critique()))
    assert (found["status"], found["pattern"], found["converged"]) == ("completed", "self-critique", True)
    assert found["finalOutput"] == "version 2"
    assert found["finalScore"] == pytest.approx(0.825)
    first, second = found["iterations"]
    assert first["critique"]["criteriaScores"] == {"Is it brief?": 0.9, "truth": 0.4}
    assert (first["critique"]["meetsThreshold"], second["critique"]["meetsThreshold"]) == (False, True)
    assert "SUGGESTION-1" in first["critique"]["feedback"]
    assert [each["iteration"] for each in (first, second)] == [1, 2]
    assert told(operator.get(f"{AGENTS}/critique/{found['id']}")) == found
    refused(operator.get(f"{AGENTS}/discussion/{found['id']}"), 404, "NOT_FOUND")


def test_not_waited_for_is_202_with_an_id_and_its_place(project: Project, operator: httpx.Client) -> None:
    play(project, *WRITES, scores(1, 0.9, 0.9))
    body = critique(id="mine", task={"id": "theirs", "agentType": "claude", "prompt": "Say what it does."})
    response = operator.post(f"{AGENTS}/orchestrate/self-critique", json=body)
    found = told(response, 202)
    assert found["status"] in {"pending", "running"}
    assert found["id"].startswith("k-")  # the server's, whatever the client called it
    place = response.headers["location"]
    assert place == f"{AGENTS}/critique/{found['id']}"
    until(lambda: told(operator.get(place))["status"] == "completed")
    assert told(operator.get(place))["taskResults"][0]["taskId"] == "theirs"
    assert told(operator.get(f"{AGENTS}/orchestrate/self-critique/{found['id']}"))["converged"] is True


def test_iterations_that_do_not_suffice(project: Project, operator: httpx.Client) -> None:
    play(project, *WRITES, scores(1, 0.1, 0.1), scores(2, 0.2, 0.2))
    body = critique(config={"maxIterations": 2})
    found = told(operator.post(f"{AGENTS}/orchestrate/self-critique", json=body, headers={"Prefer": "wait=120"}))
    assert (found["status"], found["converged"], len(found["iterations"])) == ("completed", False, 2)
    assert "maximum iterations (2)" in found["error"]


def test_a_discussion_waited_for_and_the_same_request_again(project: Project, operator: httpx.Client) -> None:
    play(project, stands("The-operator", 0.2), stands("The-operator", 0.8, round="2"), stands("law", 0.9), PROPOSES)
    post = f"{AGENTS}/orchestrate/discussion?wait=120"
    found = told(operator.post(post, json=discussion()))
    assert (found["status"], found["converged"], found["finalConsensus"]) == ("completed", True, "Plan 2.")
    assert found["consensusScore"] == pytest.approx(0.8)
    first, second = found["rounds"]
    assert (first["round"], first["synthesis"], second["round"]) == (1, "Plan 1.", 2)
    said = first["contributions"]
    assert [(each["participantId"], each["role"]) for each in said] == [("The operator", "operator"), ("law", "law")]
    assert said[0]["agreementScore"] == pytest.approx(0.2)
    assert "The-operator says so." in said[0]["content"]
    assert found["participantSummaries"]["The operator"] == {"contributions": 2, "agreementRate": 0.5}
    asked = len(project.requests)
    again = operator.post(post, json=discussion())
    assert told(again)["id"] == found["id"]
    assert again.json()["meta"]["cached"] is True
    assert len(project.requests) == asked
    other = told(operator.post(post, json=discussion(topic="Do we stay?")))
    assert other["id"] != found["id"]
    agents = {each.body["model"] for each in project.requests if each.headers.get("PARTICIPANT") == "law"}
    assert agents == {"guard"}


def test_no_consensus(project: Project, operator: httpx.Client) -> None:
    play(project, stands("The-operator", 0.2), stands("law", 0.9), PROPOSES)
    body = discussion(config={"maxRounds": 1})
    found = told(operator.post(f"{AGENTS}/orchestrate/discussion?wait=120", json=body))
    assert (found["status"], found["converged"]) == ("completed", False)
    assert "No consensus" in found["error"]


def test_a_failed_council_is_a_500_with_the_code_of_its_pattern(project: Project, operator: httpx.Client) -> None:
    play(
        project,
        {"match": {"role": "participant"}, "replies": [{"fault": {"kind": "500"}}]},
        providers__local={"max_retries": 0},
    )
    for pattern, body, code in (
        ("self-critique", critique(), "SELF_CRITIQUE_FAILED"),
        ("discussion", discussion(), "DISCUSSION_FAILED"),
        ("sequential", {"tasks": [{"id": "a", "prompt": "x"}]}, "ORCHESTRATION_FAILED"),
    ):
        response = operator.post(f"{AGENTS}/orchestrate/{pattern}?wait=120", json=body)
        assert refused(response, 500, code)["message"]
        assert response.json()["data"]["status"] == "failed"


def test_what_takes_too_long_is_ended_and_what_there_is_is_the_result(project: Project, operator: httpx.Client) -> None:
    """The time of the whole ends it between and inside of rounds; that of a task ends one try."""
    hangs = {"fault": {"kind": "hang"}}
    late = rule("participant", "improve", hangs)
    play(project, WRITES[0], late, scores(1, 0.2, 0.2), says("one", "x"), rule("participant", "dispatch", hangs))
    body = critique(timeoutMs=4_000)
    found = told(operator.post(f"{AGENTS}/orchestrate/self-critique?wait=60", json=body))
    assert (found["status"], found["converged"], found["finalOutput"]) == ("completed", False, "version 1")
    assert "timed out" in found["error"]
    assert found["durationMs"] < 20_000
    tasks = [{"id": "one", "prompt": "x"}, {"id": "slow", "prompt": "x", "timeoutMs": 1_000}]
    response = operator.post(f"{AGENTS}/orchestrate/parallel?wait=60", json={"tasks": tasks})
    refused(response, 500, "ORCHESTRATION_FAILED")
    results = {each["taskId"]: each for each in response.json()["data"]["taskResults"]}
    assert (results["one"]["result"], results["slow"]["success"]) == ("x", False)
    assert "no answer within 1 s" in results["slow"]["error"]


def test_tasks_in_order_at_once_by_condition_and_for_each_item(project: Project, operator: httpx.Client) -> None:
    names = ("one", "two", "map", "reduce", "fast")
    play(project, *(says(name, f"SAID-BY-{name}") for name in names))
    tasks = [{"id": "one", "prompt": "First."}, {"id": "two", "prompt": "Then, on {{_lastResult}}."}]

    def ran(pattern: str, **body: Any) -> dict[str, Any]:
        found: dict[str, Any] = told(operator.post(f"{AGENTS}/orchestrate/{pattern}?wait=120", json=body))
        assert (found["status"], found["pattern"]) == ("completed", pattern)
        assert all(each["success"] and each["durationMs"] >= 0 for each in found["taskResults"])
        return found

    found = ran("sequential", tasks=tasks)
    assert [each["taskId"] for each in found["taskResults"]] == ["one", "two"]
    assert found["taskResults"][1]["result"] == "SAID-BY-two"
    (asked,) = [each for each in project.requests if each.headers.get("PARTICIPANT") == "two"]
    assert "SAID-BY-one" in str(asked.messages)
    assert {each["taskId"] for each in ran("parallel", tasks=tasks)["taskResults"]} == {"one", "two"}
    slow = {"id": "slow", "prompt": "Slowly."}
    fast = {"id": "fast", "prompt": "Fast.", "condition": "context.hurry == true"}
    chosen = ran("conditional", tasks=[slow, fast], context={"hurry": True})
    assert [each["taskId"] for each in chosen["taskResults"]] == ["fast"]
    assert ran("conditional", tasks=[fast], context={"hurry": False})["taskResults"] == []
    each_of = [{"id": "map", "prompt": "On {{_item}}."}, {"id": "reduce", "prompt": "Sum up."}]
    reduced = ran("map-reduce", tasks=each_of, options={"items": ["a", "b"]})
    assert reduced["aggregatedResult"] == "SAID-BY-reduce"
    assert [each["taskId"] for each in reduced["taskResults"]] == ["map_0", "map_1", "reduce"]
    mapped = ran("map-reduce", tasks=each_of[:1], options={"items": ["a", "b"]})
    assert mapped["aggregatedResult"] == ["SAID-BY-map", "SAID-BY-map"]
    asked_before = len(project.requests)
    again = operator.post(
        f"{AGENTS}/orchestrate/map-reduce?wait=120", json={"tasks": each_of[:1], "options": {"items": ["a", "b"]}}
    )
    assert (told(again)["id"], again.json()["meta"]["cached"]) == (mapped["id"], True)
    assert len(project.requests) == asked_before
    generic = told(operator.post(f"{AGENTS}/orchestrate?wait=120", json={"pattern": "sequential", "tasks": tasks}))
    assert generic["taskResults"][1]["result"] == "SAID-BY-two"


def test_metrics_count_what_was_begun_here(project: Project, operator: httpx.Client) -> None:
    play(project, *WRITES, scores(1, 0.9, 0.9), stands("The-operator", 0.2), stands("law", 0.9), PROPOSES)
    told(operator.post(f"{AGENTS}/orchestrate/self-critique?wait=120", json=critique()))
    told(operator.post(f"{AGENTS}/orchestrate/discussion?wait=120", json=discussion(config={"maxRounds": 1})))
    whole = told(operator.get(f"{AGENTS}/orchestrate/metrics"))
    assert (whole["total"], whole["byStatus"]["completed"], whole["successRate"]) == (2, 2, 1)
    assert (whole["byPattern"]["self-critique"], whole["byPattern"]["discussion"]) == (1, 1)
    assert {each["pattern"] for each in whole["recentMetrics"]} == {"self-critique", "discussion"}
    critiques = told(operator.get(f"{AGENTS}/critique/metrics"))
    assert (critiques["totalExecutions"], critiques["avgIterations"], critiques["convergenceRate"]) == (1, 1, 1)
    assert critiques["avgFinalScore"] == pytest.approx(0.9)
    assert critiques["byAgent"]["claude"]["total"] == 1
    discussions = told(operator.get(f"{AGENTS}/discussion/metrics"))
    assert (discussions["avgRounds"], discussions["convergenceRate"], discussions["avgParticipants"]) == (1, 0, 2)
    assert discussions["byStrategy"]["unanimous"]["total"] == 1
    both = told(operator.get(f"{AGENTS}/metrics?periodSeconds=600&includeRecent=false"))
    assert (both["selfCritique"], both["discussion"]) == (critiques, discussions)
    assert "recentMetrics" not in both["orchestration"]


def test_an_agent_is_listed_looked_at_and_asked(project: Project, operator: httpx.Client) -> None:
    play(project, says("guard", "Guarded."))
    listed = told(operator.get(f"{AGENTS}/registry"))
    assert [(each["id"], each["type"], each["status"]) for each in listed] == [
        ("agent_claude_default", "claude", "idle"),
        ("guard", "custom", "idle"),
    ]
    assert told(operator.get(f"{AGENTS}/registry/guard"))["config"]["model"] == "local/guard"
    assert told(operator.get(f"{AGENTS}/registry/claude"))["id"] == "agent_claude_default"
    assert told(operator.get(f"{AGENTS}/registry/guard/health"))["healthy"] is True
    refused(operator.get(f"{AGENTS}/registry/nobody"), 404, "NOT_FOUND")
    refused(operator.post(f"{AGENTS}/registry", json={"name": "x"}), 403, "FORBIDDEN")
    refused(operator.delete(f"{AGENTS}/registry/guard"), 403, "FORBIDDEN")
    done = told(operator.post(f"{AGENTS}/registry/guard/execute?wait=60", json={"prompt": "Look."}))
    assert done["taskResults"][0]["result"] == "Guarded."


def test_health_tells_strangers_no_more_than_that_it_is_well(operator: httpx.Client, anybody: httpx.Client) -> None:
    assert set(told(anybody.get(f"{AGENTS}/health"))) == {"healthy", "services", "uptimeSeconds", "timestamp"}
    known = told(operator.get(f"{AGENTS}/health"))
    assert (known["agents"]["total"], known["workflows"]["maxConcurrent"]) == (2, 2)


def test_what_is_wrong_is_named(operator: httpx.Client) -> None:
    def post(pattern: str, body: Any, query: str = "") -> httpx.Response:
        return operator.post(f"{AGENTS}/orchestrate/{pattern}{query}", json=body)

    error = refused(post("self-critique", critique(config={"maxIterations": 11})), 400, "VALIDATION_ERROR")
    assert error["details"]["problems"][0]["path"] == "config.maxIterations"
    assert (
        "agent with id 'x' not found"
        in refused(post("self-critique", critique(agentId="x")), 400, "INVALID_REQUEST")["message"]
    )
    refused(post("discussion", discussion(config={"consensusStrategy": "facilitator"})), 400, "VALIDATION_ERROR")
    refused(post("sequential", {"tasks": []}), 400, "VALIDATION_ERROR")
    refused(post("conditional", {"tasks": [{"id": "a", "prompt": "x", "condition": "("}]}), 400, "INVALID_REQUEST")
    refused(post("map-reduce", {"tasks": [{"id": "a", "prompt": "x"}]}), 400, "INVALID_REQUEST")
    refused(post("self-critique", critique(), "?wait=soon"), 400, "INVALID_REQUEST")
    refused(operator.get(f"{AGENTS}/critique/k-000000000000"), 404, "NOT_FOUND")
    refused(operator.get(f"{AGENTS}/critique/..%2f..%2fetc"), 404, "NOT_FOUND")


def test_only_who_may_is_let_in(
    project: Project,
    operator: httpx.Client,
    anybody: httpx.Client,
    account: Callable[..., httpx.Client],
    repo: str,
) -> None:
    play(project, *WRITES, scores(1, 0.9, 0.9))
    made = told(operator.post(f"{AGENTS}/orchestrate/self-critique?wait=120", json=critique()))
    place = f"{AGENTS}/critique/{made['id']}"
    viewer, stranger = account("vera", Role.VIEWER, repo), account("eve", Role.ADMIN, "another")
    assert told(viewer.get(place))["id"] == made["id"]
    refused(viewer.post(f"{AGENTS}/orchestrate/self-critique?repo={repo}", json=critique()), 403, "FORBIDDEN")
    refused(stranger.get(place), 404, "NOT_FOUND")
    refused(stranger.post(f"{AGENTS}/orchestrate/self-critique?repo={repo}", json=critique()), 404, "NOT_FOUND")
    assert told(stranger.get(f"{AGENTS}/orchestrate/metrics"))["total"] == 0
    for method, path in (
        ("GET", place),
        ("GET", f"{AGENTS}/registry"),
        ("GET", f"{AGENTS}/metrics"),
        ("POST", f"{AGENTS}/orchestrate/self-critique"),
        ("POST", f"{AGENTS}/orchestrate/discussion"),
        ("POST", f"{AGENTS}/registry/guard/execute"),
        ("DELETE", f"{AGENTS}/registry/guard"),
    ):
        refused(anybody.request(method, path, json={}), 401, "UNAUTHORIZED")

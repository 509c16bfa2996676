"""How the interface answers: tags and conditions, requests that are sent again, problems, what begins work."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from tests.project import GOAL, Project, plan, rule, verdict
from tests.server.conftest import Running

from swarmgate.server.accounts.model import Role

pytestmark = pytest.mark.slow


@pytest.fixture
def ada(account: Callable[..., httpx.Client], project: Project) -> httpx.Client:
    """An admin of a server on which a checkout with a plan that waits for approval is registered as `shop`."""
    project.play(plan("1.1"))
    project.swarm("plan", GOAL, exits=3)
    client = account("ada", Role.ADMIN)
    made = client.post("/v1/repos", json={"source": str(project.root), "id": "shop"})
    assert (made.status_code, made.headers["Location"]) == (201, "/v1/repos/shop")
    return client


def until(look: Callable[[], object], within_s: float = 120) -> None:
    end = time.monotonic() + within_s
    while not look():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.1)


def test_what_is_known_is_not_sent_again_and_what_moved_on_is_not_decided(ada: httpx.Client, project: Project) -> None:
    goal = ada.get("/v1/goals").json()["items"][0]["id"]
    seen = ada.get(f"/v1/goals/{goal}")
    tag, seq = seen.headers["ETag"], seen.json()["seq"]
    assert tag.startswith(f'"{seq}-')
    again = ada.get(f"/v1/goals/{goal}", headers={"If-None-Match": f'"other", W/{tag}'})
    assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", tag)
    approval = ada.get("/v1/approvals").json()["items"][0]["id"]
    text = project.plan_md.replace("Part 1.1", "Another part")
    project.folder.plan_md.write_text(text)  # at the terminal, meanwhile
    stale = ada.post(f"/v1/approvals/{approval}", json={"decision": "approve"}, headers={"If-Match": tag})
    assert (stale.status_code, stale.json()["code"]) == (412, "STALE")
    assert stale.headers["Content-Type"] == "application/problem+json"
    assert ada.get(f"/v1/goals/{goal}", headers={"If-None-Match": tag}).status_code == 200
    newer = ada.get("/v1/approvals").json()["items"][0]
    for none in ("", "42", '"x"'):  # a variable that is empty is no wish to decide whatever is there
        refused = ada.post(f"/v1/approvals/{newer['id']}", json={"decision": "approve"}, headers={"If-Match": none})
        assert (refused.status_code, refused.json()["code"]) == (400, "BAD_REQUEST"), none
    done = ada.post(
        f"/v1/approvals/{newer['id']}", json={"decision": "approve"}, headers={"If-Match": f'"{newer["seq"]}"'}
    )
    assert (done.status_code, done.json()["state"]) == (200, "idle")
    assert project.lines()[-1]["actor"] == "user:ada"
    twice = ada.post(f"/v1/approvals/{newer['id']}", json={"decision": "approve"})
    assert (twice.status_code, twice.json()["code"], twice.json()["exit_code"]) == (409, "ILLEGAL_MOVE", 2)


def test_a_goal_that_is_asked_for_twice_under_one_key_is_created_once(
    ada: httpx.Client, account: Callable[..., httpx.Client], project: Project
) -> None:
    wanted = {"repo": "shop", "text": "More parts"}
    first, second = (ada.post("/v1/goals", json=wanted, headers={"Idempotency-Key": "k"}) for _ in range(2))
    assert (first.status_code, second.status_code) == (202, 202)
    assert first.headers["Location"] == second.headers["Location"] == f"/v1/goals/{first.json()['id']}"
    other = ada.post("/v1/goals", json={**wanted, "text": "Fewer"}, headers={"Idempotency-Key": "k"})
    assert (other.status_code, other.json()["code"]) == (422, "IDEMPOTENCY_KEY_REUSED")
    clones = [each for each in ada.get("/v1/goals").json()["items"] if each["kind"] == "clone"]
    assert len(clones) == 1
    assert ada.get(first.headers["Location"]).json()["owner"] == "ada"
    viewer = account("cy", Role.VIEWER, "shop")
    for path, body in (
        (f"/v1/goals/{clones[0]['id']}/abandon", {"reason": "x"}),
        ("/v1/runs", {"goal": clones[0]["id"]}),
        ("/v1/goals", wanted),
    ):
        assert viewer.post(path, json=body).status_code == 403, path
    stranger = account("di", Role.ADMIN, "other")
    assert stranger.get(first.headers["Location"]).json()["code"] == "NOT_FOUND"


def test_wrong_fields_are_named_without_their_values(ada: httpx.Client) -> None:
    answer = ada.post("/v1/goals", json={"repo": "shop", "text": " ", "secret": "-".join(["hunter2"] * 2)})
    assert answer.status_code == 422
    assert {each["field"] for each in answer.json()["problems"]} == {"body.text", "body.secret"}
    assert "hunter2" not in answer.text
    assert ada.get("/v1/goals/x").status_code == 422
    assert ada.request("TRACE", "/v1/goals").headers["Allow"] == "GET, POST"


def test_a_blocked_task_is_a_need_with_its_ways_out_and_a_skip_is_one_of_them(
    ada: httpx.Client, project: Project
) -> None:
    rejects = [verdict("REJECTED", "it has no value", "it has no value")]
    project.play(plan("1.1"), rule("reviewer", "review", rejects, rejects, rejects, rejects))
    goal = ada.post("/v1/goals", json={"repo": "shop", "text": GOAL}).json()["id"]

    def need(kind: str) -> list[dict[str, object]]:
        found = ada.get("/v1/needs").json()["items"]
        return [each for each in found if (each["goal"], each["kind"]) == (goal, kind)]

    until(lambda: need("approval"))
    approved = ada.post(f"/v1/approvals/{need('approval')[0]['id']}", json={"decision": "approve"})
    assert (approved.status_code, approved.headers["Location"]) == (202, f"/v1/runs/{goal}")
    until(lambda: need("blocked_task"))
    blocked = need("blocked_task")[0]
    assert (blocked["task"], [way["do"] for way in blocked["ways"]]) == ("1.1", ["retry", "revise", "override", "skip"])  # type: ignore[attr-defined]  # JSON
    view = ada.get(f"/v1/tasks/{goal}/1.1").json()
    assert view["report"]["attempts"][0]["outcome"] == "REJECTED"
    failures = ada.get(f"/v1/goals/{goal}/failures").json()["groups"]
    assert any("no value" in each["message"] for each in failures)
    skipped = ada.post(f"/v1/tasks/{goal}/1.1/skip", json={"reason": "not needed"})
    assert (skipped.status_code, skipped.json()["tasks"]) == (200, {"skipped": 1})
    assert not need("blocked_task")


def test_a_run_that_failed_is_a_need_that_says_what_helps(ada: httpx.Client, project: Project) -> None:
    project.silence()
    goal = ada.post("/v1/goals", json={"repo": "shop", "text": GOAL}).json()["id"]
    until(lambda: ada.get(f"/v1/runs/{goal}").json()["state"] == "failed")
    run = ada.get(f"/v1/runs/{goal}").json()
    assert run["code"] == "ENDPOINT_FAILED"
    need = next(each for each in ada.get("/v1/needs").json()["items"] if each["goal"] == goal)
    assert (need["kind"], [way["do"] for way in need["ways"]]) == ("failed_run", ["run"])
    assert ada.get("/v1/goals?state=failed").json()["items"][0]["id"] == goal


def over(client: httpx.Client, begun: httpx.Response) -> dict[str, Any]:
    """An operation when it is over."""
    until(lambda: client.get(begun.headers["Location"]).json()["state"] != "working")
    found: dict[str, Any] = client.get(begun.headers["Location"]).json()
    return found


def test_gates_run_beside_the_request_and_their_report_is_kept(ada: httpx.Client, project: Project) -> None:
    project.write("src/calc/leak.py", f'"""A leak."""\n\nTOKEN = "ghp_{"a1B2" * 9}"\n')
    goal = ada.get("/v1/goals").json()["items"][0]["id"]
    begun = ada.post("/v1/gates", json={"goal": goal, "only": ["secret_scan"]})
    assert (begun.status_code, begun.json()["state"]) == (202, "working")
    ended = over(ada, begun)
    assert (ended["state"], ended["kind"], ended["result"]["verdict"]) == ("complete", "gates", "rejected"), ended
    assert "ghp_a1B2" not in str(ended)
    refused = ada.post("/v1/gates", json={"goal": goal, "only": ["no_such_gate"]})
    assert (refused.status_code, refused.json()["code"]) == (400, "USAGE")


def test_what_else_the_command_line_looks_at_is_looked_at(ada: httpx.Client, server: Running, project: Project) -> None:
    goal = ada.get("/v1/goals").json()["items"][0]["id"]
    before = sorted(each.name for each in project.folder.path.iterdir())
    for name in ("drift", "handoff", "automation"):
        answer = ada.get(f"/v1/goals/{goal}/{name}")
        assert answer.status_code == 200, f"{name}: {answer.text}"
    for name, result in (("doctor", "checks"), ("preflight", "report")):
        begun = ada.post(f"/v1/goals/{goal}/{name}")
        assert (begun.status_code, begun.json()["state"]) == (202, "working"), begun.text
        ended = over(ada, begun)
        assert result in (ended["result"] or {}), ended
    assert GOAL in ada.get(f"/v1/goals/{goal}/handoff").json()["handoff"]["page"]
    assert sorted(each.name for each in project.folder.path.iterdir()) == before, "a look writes nothing"
    assert ada.get("/v1/councils/metrics").json() == {"patterns": []}
    page = ada.get(f"/v1/goals/{goal}/report.html")
    assert page.headers["Content-Type"].startswith("text/html")
    assert page.headers["Content-Disposition"].startswith("attachment")

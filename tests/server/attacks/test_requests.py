"""Bodies that no schema describes to the end, as somebody hostile sends them to a running server."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from tests.server.conftest import Running

from swarmgate.server.accounts.model import Role

pytestmark = pytest.mark.slow


def deep(levels: int) -> str:
    return '{"a":' * levels + "1" + "}" * levels


BODIES = {
    "/v1/councils": '{"pattern": "decision", "request": {"question": "?", "participants": %s}}',
    "/api/v1/agents/orchestrate/sequential": '{"tasks": [{"id": "a", "prompt": "x"}], "context": {"x": %s}}',
    "/api/v1/agents/orchestrate/parallel": '{"tasks": [{"id": "a", "prompt": "x", "variables": {"x": %s}}]}',
}
VALUES = {"half a character": '["\\ud800"]', "half a character as key": '{"\\udfff": 1}', "deep": deep(400)}


@pytest.mark.parametrize("path", BODIES)
@pytest.mark.parametrize("value", VALUES)
def test_values_that_cannot_be_kept_are_refused(
    server: Running, repo: str, account: Callable[..., httpx.Client], path: str, value: str
) -> None:
    op = account("op", Role.OPERATOR, repo)
    answer = op.post(path, content=BODIES[path] % VALUES[value], headers={"Content-Type": "application/json"})
    assert answer.status_code in {400, 422}, answer.text[:300]
    assert server.app.state.rooms.jobs.list() == ()
    assert not list(server.home.glob("bugs/*"))


@pytest.mark.parametrize(
    "request_",
    [
        {"question": "?", "participants": ["a=command:touch /tmp/x", "b"]},
        {"question": "?", "participants": [{"id": "a", "model": "acp:sh -c id"}, "b"]},
        {"question": "?", "participants": ["a", "b"], "facilitator": " command:id"},
    ],
)
def test_an_operator_names_no_programs_that_the_server_starts(
    server: Running, repo: str, account: Callable[..., httpx.Client], request_: dict[str, Any]
) -> None:
    answer = account("op", Role.OPERATOR, repo).post("/v1/councils", json={"pattern": "decision", "request": request_})
    assert (answer.status_code, "settings" in answer.text) == (400, True), json.dumps(answer.json())
    assert server.app.state.rooms.jobs.list() == ()

"""`swarm serve --demo`: one command, no key, and a goal that is done at the end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.project import BARE_PYTEST
from tests.server.served import Served, served
from tests.server.telemetry.test_spans import collecting

pytestmark = pytest.mark.slow
_LONGEST_S = 240


def _until(look: Callable[[], Any]) -> Any:
    end = time.monotonic() + _LONGEST_S
    while time.monotonic() < end:
        if found := look():
            return found
        time.sleep(0.2)
    raise AssertionError("it did not come to that")


def _goal(client: httpx.Client) -> dict[str, Any]:
    items = client.get("/v1/goals").json()["items"]
    return dict(items[0]) if items else {}


def _types(client: httpx.Client) -> list[str]:
    return [each["type"] for each in client.get("/v1/events/past", params={"limit": 500}).json()["items"]]


@pytest.fixture
def browser() -> Iterator[Callable[[Served], httpx.Client]]:
    clients = []

    def logged_in(server: Served) -> httpx.Client:
        clients.append(httpx.Client(base_url=server.url, timeout=60))
        server.log_in(clients[-1])
        return clients[-1]

    yield logged_in
    for each in clients:
        each.close()


def test_with_yes_it_plays_to_its_end_and_every_step_is_a_span(
    home: Path, browser: Callable[[Served], httpx.Client]
) -> None:
    with (
        collecting() as collector,
        served(
            home, "--demo", "--yes", cwd=None, **BARE_PYTEST, SWARM_SERVER__TELEMETRY__OTLP_ENDPOINT=collector.url
        ) as server,
    ):
        client = browser(server)
        _until(lambda: _types(client).count("phase_approved") == 2 and _goal(client)["state"] == "idle")
        types = _types(client)
        assert types.count("plan_approved") == 1
        assert types.count("phase_approved") == 2
        assert types.index("goal_created") < types.index("run_started") < types.index("task_completed")
        code, errors = server.end()
        assert (code, "Traceback" in errors) == (0, False), errors
        workflow = collector.named("invoke_workflow goal")
        agents = {each["name"] for each in collector.spans if each["parent"] == workflow["id"]}
        assert "invoke_agent architect" in agents
        assert {"invoke_agent coder", "execute_tool write_file"} <= {each["name"] for each in collector.spans}


def test_a_person_approves_in_the_page(home: Path, browser: Callable[[Served], httpx.Client]) -> None:
    with served(home, "--demo") as server:
        client = browser(server)
        waiting = _until(lambda: client.get("/v1/approvals").json()["items"])
        time.sleep(1)
        assert client.get("/v1/approvals").json()["items"] == waiting, "nobody approves but a person"
        page = client.get("/")
        assert "Short codes" in page.text
        assert waiting[0]["id"] in page.text

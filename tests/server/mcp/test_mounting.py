"""The tools over HTTP, by the client of the package, behind the door of a real server."""

from __future__ import annotations

import gc
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult
from pydantic import AnyUrl
from tests.project import GOAL, Project
from tests.server.conftest import Running

from mcp import ClientSession
from swarmgate.engine import Swarm
from swarmgate.server.accounts.model import Role

pytestmark = [
    pytest.mark.suite("unittest"),
    # Client and server of the package leave streams of theirs to the collector.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

GREETING = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "a", "version": "1"},
    },
}
ACCEPT = {"Accept": "application/json, text/event-stream"}

Account = Callable[..., httpx.Client]


@pytest.fixture(autouse=True)
def _collected() -> Iterator[None]:
    """What the package leaves is collected here, and not in a test of others."""
    yield
    gc.collect()


@asynccontextmanager
async def connected(client: httpx.Client) -> AsyncIterator[ClientSession]:
    """A session in the name of whom a client of the fixture speaks for."""
    headers = {"Authorization": client.headers["Authorization"]}
    async with (
        httpx.AsyncClient(headers=headers, timeout=60) as http,
        streamable_http_client(f"{client.base_url}/mcp".replace("//mcp", "/mcp"), http_client=http) as (
            reading,
            writing,
            _,
        ),
        ClientSession(reading, writing) as session,
    ):
        await session.initialize()
        yield session


def said(answer: CallToolResult) -> dict[str, Any]:
    assert answer.isError
    found: dict[str, Any] = json.loads(answer.content[0].text)  # type: ignore[union-attr]  # a text
    return found


@pytest.mark.slow
async def test_who_may_look_sees_a_goal_and_may_not_have_it_worked_on(
    server: Running, account: Account, project: Project
) -> None:
    project.play()
    await Swarm(project.root).plan(GOAL)
    rooms = server.app.state.rooms
    rooms.repositories.register(project.root, id="calc", by="user:ada")
    (goal,) = rooms.goals.list()
    async with connected(account("vera", Role.VIEWER)) as client:
        assert len((await client.list_tools()).tools) == 14
        status = await client.call_tool("status", {"goal_id": goal.id})
        assert status.structuredContent
        assert status.structuredContent["result"]["waiting"] == "plan_approval"
        for tool, more in (("show", {"task": "1.1"}), ("history", {}), ("verify", {}), ("cost", {}), ("failures", {})):
            assert not (await client.call_tool(tool, {"goal_id": goal.id, **more})).isError, tool
        plan = await client.read_resource(AnyUrl(f"swarm://plan?goal={goal.id}"))
        assert "Task 1.1" in plan.contents[0].text  # type: ignore[union-attr]  # a text
        refused = [
            await client.call_tool("run", {"goal_id": goal.id}),
            await client.call_tool("gates_run", {"goal_id": goal.id}),
            await client.call_tool("plan", {"repository": "calc", "goal": "More"}),
            await client.call_tool("debate", {"repository": "calc", "question": "Is it?"}),
        ]
    assert [said(each)["error"] for each in refused] == ["FORBIDDEN"] * 4
    async with connected(account("olga", Role.OPERATOR)) as client:
        judged = await client.call_tool("gates_run", {"goal_id": goal.id, "everything": True, "only": ["syntax_check"]})
    assert judged.structuredContent
    assert judged.structuredContent["result"]["verdict"] == "passed"


async def test_who_sees_no_repository_learns_nothing_of_its_goals(
    server: Running, account: Account, project: Project
) -> None:
    rooms = server.app.state.rooms
    rooms.repositories.register(project.root, id="calc", by="user:ada")
    (goal,) = rooms.goals.list()
    async with connected(account("oscar", Role.VIEWER, "other")) as client:
        there = said(await client.call_tool("status", {"goal_id": goal.id}))
        nowhere = said(await client.call_tool("status", {"goal_id": "g-0123456789ab"}))
    assert there == nowhere
    assert there["error"] == "NOT_FOUND"


def test_the_door_lets_in_accounts_alone_from_no_foreign_page_and_each_to_its_own_session(
    server: Running, account: Account, anybody: httpx.Client
) -> None:
    ada, eve = account("ada", Role.OPERATOR), account("eve", Role.OPERATOR)
    assert anybody.post("/mcp", json=GREETING, headers={"Origin": server.url, **ACCEPT}).status_code == 401
    assert ada.post("/mcp", json=GREETING, headers={"Origin": "https://evil.example", **ACCEPT}).status_code == 403
    begun = ada.post("/mcp", json=GREETING, headers=ACCEPT)
    assert begun.status_code == 200
    session = {"mcp-session-id": begun.headers["mcp-session-id"], **ACCEPT}
    asked = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    assert eve.post("/mcp", json=asked, headers=session).status_code == 404
    assert eve.delete("/mcp", headers=session).status_code == 404
    assert ada.delete("/mcp", headers=session).status_code == 200

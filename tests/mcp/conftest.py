"""Clients of the protocol, the package's own, connected to a server in this process or in one of its own."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.memory import create_connected_server_and_client_session
from mcp.types import CallToolResult
from tests.project import _after, _template, once, project

from mcp import ClientSession, StdioServerParameters, stdio_client
from swarmgate.mcp.local import Local
from swarmgate.mcp.session import server_of

__all__ = ["_after", "_template", "once", "project"]

Connect = Callable[..., AbstractAsyncContextManager[ClientSession]]


@pytest.fixture
def connect() -> Connect:
    """`async with connect(folder) as client`: a client of a server in this process."""

    @asynccontextmanager
    async def connected(folder: Path, **client: Any) -> AsyncIterator[ClientSession]:
        backend = Local(folder, os.environ)
        async with create_connected_server_and_client_session(server_of(lambda _: backend), **client) as session:
            yield session

    return connected


@pytest.fixture
def start() -> Connect:
    """The same with a process of its own, as an agent starts it."""

    @asynccontextmanager
    async def started(folder: Path, **client: Any) -> AsyncIterator[ClientSession]:
        asked = StdioServerParameters(
            command=sys.executable, args=["-m", "swarmgate", "mcp"], cwd=folder, env=dict(os.environ)
        )
        async with stdio_client(asked) as (reading, writing), ClientSession(reading, writing, **client) as session:
            await session.initialize()
            yield session

    return started


def told(answer: CallToolResult) -> dict[str, Any]:
    """The structured answer of a tool that did what it was asked."""
    assert not answer.isError, answer.content
    assert answer.structuredContent is not None
    return answer.structuredContent

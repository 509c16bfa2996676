from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from mcp.shared.version import SUPPORTED_PROTOCOL_VERSIONS
from mcp.types import Implementation, InitializeRequest, InitializeRequestParams, InitializeResult
from tests.mcp.conftest import Connect

from swarmgate.mcp import greeting


def line(**changes: object) -> bytes:
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
    asked = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
    return json.dumps(asked | changes).encode()


def test_the_revisions_are_those_of_the_package() -> None:
    assert list(greeting.REVISIONS) == SUPPORTED_PROTOCOL_VERSIONS


@pytest.mark.parametrize("revision", [*greeting.REVISIONS, "1999-01-01"])
async def test_it_says_what_the_package_would(revision: str, repo: Path, connect: Connect) -> None:
    params = InitializeRequestParams(
        protocolVersion=revision,
        capabilities={},
        clientInfo=Implementation(name="a", version="1"),
    )
    async with connect(repo) as client:
        said = await client.send_request(InitializeRequest(params=params), InitializeResult)  # type: ignore[arg-type]  # a request of a client
    asked = line(params=params.model_dump(mode="json", exclude_none=True), id="x")
    answered = greeting.answer(asked)
    assert answered is not None
    assert answered[0] == "x"
    told = json.loads(answered[1])
    assert told == {
        "jsonrpc": "2.0",
        "id": "x",
        "result": said.model_dump(mode="json", by_alias=True, exclude_none=True),
    }


@pytest.mark.parametrize(
    "asked",
    [
        b"", b"{", b"[]", b"null", b"[" * 5000, line(method="ping"), line(id=None), line(id=True), line(jsonrpc="1.0"),
        line(params={}), line(params=[]), line(params={"protocolVersion": 1, "capabilities": {}, "clientInfo": {}}),
        line(params={"protocolVersion": "2025-06-18", "capabilities": [], "clientInfo": {"name": "a", "version": "1"}}),
    ],
)  # fmt: skip
def test_what_is_no_such_request_is_left_to_the_package(asked: bytes) -> None:
    assert greeting.answer(asked) is None


def test_it_is_said_before_the_package_is_loaded() -> None:
    """It takes seconds on a busy machine; benchmarks/mcp_startup.py measures."""
    look = "import sys; import swarmgate.mcp.stdio; sys.exit(bool({'mcp', 'pydantic', 'asyncio'} & sys.modules.keys()))"
    assert subprocess.run([sys.executable, "-c", look], check=False).returncode == 0

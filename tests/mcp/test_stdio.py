"""`swarm mcp` as an agent starts it: a process, its streams, its end."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.mcp.conftest import Connect, told

from swarmgate.mcp.stdio import LONGEST

GATE = """
title = "waits"
command = ["sleep", "{seconds}"]
[files]
include = ["**"]
"""


class Server:
    """The process, spoken to line by line."""

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "swarmgate", "mcp"],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(os.environ),
        )

    def send(self, method: str, id: int | None = None, **params: Any) -> None:  # noqa: A002 - the field's name
        message = {"jsonrpc": "2.0", "method": method, "params": params} | ({} if id is None else {"id": id})
        assert self.process.stdin
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout
        found: dict[str, Any] = json.loads(self.process.stdout.readline())
        return found

    def greet(self) -> None:
        about = {"name": "a", "version": "1"}
        self.send("initialize", 1, protocolVersion="2025-06-18", capabilities={}, clientInfo=about)
        assert self.receive()["result"]["serverInfo"]["name"] == "swarmgate"
        self.send("notifications/initialized")


@pytest.fixture
def server(repo: Path) -> Iterator[Server]:
    started = Server(repo)
    yield started
    started.process.kill()
    started.process.wait()
    for stream in (started.process.stdin, started.process.stdout, started.process.stderr):
        with contextlib.suppress(BrokenPipeError):
            stream.close()  # type: ignore[union-attr]  # all three are pipes


@pytest.mark.slow
async def test_the_reference_client_finds_a_server_that_says_nothing_but_the_protocol(
    repo: Path, start: Connect
) -> None:
    async with start(repo) as client:
        checks = [client.call_tool("guard_check", {"command": f"echo {number}"}) for number in range(8)]
        for each in checks:
            assert told(await each)["result"]["allowed"]
        assert len((await client.list_tools()).tools) > 10


@pytest.mark.slow
@pytest.mark.parametrize("end", ["cancelled", "gone", "signal"])
def test_what_a_call_started_is_ended_when_nobody_waits_for_it(end: str, repo: Path, server: Server) -> None:
    (repo / ".swarm/gates").mkdir(parents=True)
    seconds = f"300.{os.getpid()}"
    (repo / ".swarm/gates/waits.toml").write_text(GATE.replace("{seconds}", seconds))
    (repo / "src/app.py").write_text("def one():\n    return 2\n")
    server.greet()
    server.send("tools/call", 2, name="gates_run", arguments={"only": ["waits"]})
    _until(lambda: _at_work(seconds))
    if end == "cancelled":
        server.send("notifications/cancelled", requestId=2, reason="enough")
        assert server.receive()["error"]
        _until(lambda: not _at_work(seconds))
        server.send("tools/call", 3, name="guard_check", arguments={"command": "ls"})
        assert server.receive()["id"] == 3
    elif end == "gone":
        assert server.process.stdin
        server.process.stdin.close()
        assert server.process.wait(60) == 0
    else:
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(60) == 0
    _until(lambda: not _at_work(seconds))


@pytest.mark.slow
def test_who_sends_a_request_without_an_end_is_not_listened_to_any_more(server: Server) -> None:
    server.greet()
    assert server.process.stdin
    try:
        server.process.stdin.write(b"x" * (LONGEST + 10))
        server.process.stdin.flush()
    except BrokenPipeError:
        pass
    assert server.process.wait(60) == 2
    assert server.process.stderr
    assert b"A request has more than" in server.process.stderr.read()


def _at_work(seconds: str) -> bool:
    """Whether a program with this argument runs."""
    done = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    return any(line.endswith(f"sleep {seconds}") for line in done.stdout.splitlines())


def _until(found: Any) -> Any:
    ends = time.monotonic() + 60
    while not (value := found()):
        assert time.monotonic() < ends
        time.sleep(0.05)
    return value

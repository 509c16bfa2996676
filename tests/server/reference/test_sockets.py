"""The Socket.IO events of ADR 0007, spoken to by the real client from npm."""

from __future__ import annotations

import json
import os
import queue
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.project import Project, rule
from tests.server.conftest import Running
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
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect as connecting

from swarmgate.server.accounts.model import Role

pytestmark = pytest.mark.slow

CLIENT = "socket.io-client@4.8.1"
HERE = Path(__file__).parent


class Client:
    """One socket of the client from npm.

    Args:
        folder: with `node_modules`.
        url: of the server.
        options: of `io(url, options)`.
    """

    def __init__(self, folder: Path, url: str, options: dict[str, Any]) -> None:
        program = folder / "socket_client.mjs"
        shutil.copyfile(HERE / "socket_client.mjs", program)
        self._process = subprocess.Popen(
            ["node", str(program), url, json.dumps(options)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=folder,
        )
        self.heard: list[dict[str, Any]] = []
        self._lines: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            self._lines.put(json.loads(line))
        self._lines.put(None)

    def emit(self, event: str, data: Any = None) -> Any:
        """Emits an event, and gives what its callback is called with."""
        assert self._process.stdin
        command = {"emit": event} | ({} if data is None else {"data": data})
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        return self.wait(f"ack {event}")

    def wait(self, event: str, seconds: float = 90.0) -> Any:
        """The data of the next event of that name."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            said = self._lines.get(timeout=left)
            if said is None:
                raise AssertionError(f"the client ended before {event}: {self.heard}")
            self.heard.append(said)
            if said["event"] == event:
                return said["data"]
        raise AssertionError(f"no {event}: {self.heard}")

    def last(self, event: str) -> Any:
        """The data of the last event of that name so far."""
        return [each["data"] for each in self.heard if each["event"] == event][-1]

    def names(self, prefix: str = "agent:") -> list[str]:
        """The events that came, in order."""
        return [each["event"] for each in self.heard if each["event"].startswith(prefix)]

    def close(self) -> None:
        """Ends it."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        self._process.wait(90)
        self._reader.join(90)
        self._process.stdout.close()


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the client in it, from npm."""
    cache = os.environ.get("SWARMGATE_TEST_CACHE")
    folder = Path(cache) / "socket-io-client" if cache else tmp_path_factory.mktemp("npm")
    if not shutil.which("npm") or not shutil.which("node"):
        pytest.skip("npm is not installed")
    if not (folder / "node_modules" / "socket.io-client").is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        options = ["--no-audit", "--no-fund", "--ignore-scripts", "--no-package-lock"]
        environ = {**os.environ, "HOME": str(folder)}
        done = subprocess.run(
            ["npm", "install", *options, CLIENT],
            cwd=folder,
            env=environ,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        if done.returncode:
            pytest.skip(f"{CLIENT} cannot be had from npm: {done.stderr.strip()[-200:]}")
    return folder


Connect = Callable[..., Client]


def key_of(client: httpx.Client) -> str:
    return client.headers["Authorization"].removeprefix("Bearer ")


@pytest.fixture
def connect(packages: Path, server: Running) -> Iterator[Connect]:
    """`connect(client)`: a socket of the account that the HTTP client is of."""
    made = list[Client]()

    def connected(client: httpx.Client | None = None, **options: Any) -> Client:
        auth = {"auth": {"token": key_of(client)}} if client else {}
        made.append(Client(packages, server.url, {**auth, **options}))
        return made[-1]

    yield connected
    for each in made:
        each.close()


def test_a_self_critique_is_told_while_it_goes_on(project: Project, operator: httpx.Client, connect: Connect) -> None:
    play(project, *WRITES, scores(1, 0.9, 0.4), scores(2, 0.6, 0.9))
    socket = connect(operator)
    hello = socket.wait("authenticated")
    assert socket.heard[1]["event"] == "welcome"
    body = critique(task={"id": "theirs", "agentType": "claude", "prompt": "Say what it does."})
    begun = socket.emit("agent:critique:execute", body)
    assert begun["success"] is True
    assert begun["executionId"].startswith("k-")
    done = socket.wait("agent:critique:completed")
    assert socket.names() == [
        "agent:critique:iteration",
        "agent:critique:iteration",
        "agent:critique:converged",
        "agent:critique:completed",
    ]
    told = {each["event"]: each["data"] for each in socket.heard}
    assert all(told[name]["executionId"] == begun["executionId"] for name in socket.names())
    iteration = told["agent:critique:iteration"]
    assert (iteration["iteration"], iteration["meetsThreshold"]) == (2, True)
    assert iteration["scores"] == {"overall": pytest.approx(0.825), "criteria": {"Is it brief?": 0.6, "truth": 0.9}}
    assert told["agent:critique:converged"]["iterations"] == 2
    assert done["result"] == operator.get(f"{AGENTS}/critique/{begun['executionId']}").json()["data"]
    info = socket.emit("getConnectionInfo")
    assert set(info["rooms"]) == {f"critique:{begun['executionId']}", f"user:{hello['userId']}"}


def test_a_discussion_is_told_round_by_round(project: Project, operator: httpx.Client, connect: Connect) -> None:
    play(project, stands("The-operator", 0.2), stands("The-operator", 0.8, round="2"), stands("law", 0.9), PROPOSES)
    socket = connect(operator)
    socket.wait("authenticated")
    body = discussion()
    body["config"]["participants"] = body.pop("participants")
    begun = socket.emit("agent:discussion:execute", {**body, "id": "mine"})
    assert begun["executionId"] != "mine"
    done = socket.wait("agent:discussion:completed")
    told = socket.names()
    one_round = ["round-started", "contribution", "contribution", "round-completed"]
    assert [each.removeprefix("agent:discussion:") for each in told] == [
        *one_round,
        *one_round,
        "converged",
        "completed",
    ]
    started = next(each["data"] for each in socket.heard if each["event"] == "agent:discussion:round-started")
    assert (started["round"], started["participantCount"]) == (1, 2)
    said = [each["data"] for each in socket.heard if each["event"] == "agent:discussion:contribution"]
    assert {(each["participantId"], each["role"]) for each in said} == {("The operator", "operator"), ("law", "law")}
    assert done["result"]["finalConsensus"] == "Plan 2."


def test_orchestrations_answer_with_their_result(project: Project, operator: httpx.Client, connect: Connect) -> None:
    play(project, says("one", "SAID-BY-one"), says("two", "SAID-BY-two"))
    socket = connect(operator)
    socket.wait("authenticated")
    tasks = [{"id": "one", "prompt": "First."}, {"id": "two", "prompt": "Then."}]
    request = {"pattern": "sequential", "tasks": tasks}
    answer = socket.emit("agent:orchestrate", {"request": request})
    assert (answer["success"], answer["result"]["status"]) == (True, "completed")
    socket.wait("agent:workflow:completed") if "agent:workflow:completed" not in socket.names() else None
    steps = ["started", "step:completed", "step:completed", "completed"]
    assert [each.removeprefix("agent:workflow:") for each in socket.names()] == steps
    status = socket.emit("agent:workflow:status", {"executionId": answer["executionId"]})
    assert status["status"]["taskResults"][1]["result"] == "SAID-BY-two"
    assert socket.emit("agent:orchestrate", {"request": {**request, "tasks": []}})["success"] is False
    assert socket.emit("agent:workflow:execute", {"workflow": {"id": "x"}})["success"] is False


def test_an_orchestration_is_cancelled_and_goes_on(project: Project, operator: httpx.Client, connect: Connect) -> None:
    play(project, says("one", "SAID-BY-one"), rule("participant", "dispatch", {"fault": {"kind": "hang"}}))
    socket = connect(operator)
    socket.wait("authenticated")
    request = {"pattern": "sequential", "tasks": [{"id": "one", "prompt": "x"}, {"id": "two", "prompt": "x"}]}
    begun = socket.emit("agent:orchestrate", {"request": request, "wait": False})
    assert set(begun) == {"success", "executionId"}
    socket.wait("agent:workflow:step:completed")
    assert socket.emit("agent:workflow:cancel", {"executionId": begun["executionId"]})["cancelled"] is True
    assert socket.wait("agent:workflow:cancelled")["completedSteps"] == 1
    play(project, says("one", "SAID-BY-one"), says("two", "SAID-BY-two"))
    assert socket.emit("agent:workflow:resume", {"executionId": begun["executionId"]})["success"] is True
    done = socket.wait("agent:workflow:completed")
    assert done["results"] == {"one": "SAID-BY-one", "two": "SAID-BY-two"}
    assert socket.names().count("agent:workflow:step:completed") == 2


def test_what_fails_is_told_by_its_error_events(project: Project, operator: httpx.Client, connect: Connect) -> None:
    down = {"match": {"role": "participant"}, "replies": [{"fault": {"kind": "500"}}]}
    play(project, down, providers__local={"max_retries": 0})
    socket = connect(operator)
    socket.wait("authenticated")
    begun = socket.emit("agent:critique:execute", critique())
    assert socket.wait("agent:critique:error")["executionId"] == begun["executionId"]
    assert socket.wait("agent:error")["code"] == "SELF_CRITIQUE_FAILED"
    failed = next(each["data"] for each in socket.heard if each["event"] == "agent:critique:completed")
    assert failed["result"]["status"] == "failed"
    refused = socket.emit("agent:critique:execute", critique(config={"maxIterations": 11}))
    assert refused["success"] is False
    assert socket.last("agent:error")["code"] == "INVALID_PAYLOAD"
    assert socket.emit("agent:workflow:status", {"executionId": "k-000000000000"})["success"] is False


def test_rooms_are_of_what_may_be_seen(
    project: Project, operator: httpx.Client, account: Callable[..., httpx.Client], repo: str, connect: Connect
) -> None:
    play(project, *WRITES, scores(1, 0.9, 0.9))
    made = operator.post(f"{AGENTS}/orchestrate/self-critique?wait=120", json=critique()).json()["data"]
    room = f"critique:{made['id']}"
    viewer, stranger = connect(account("vera", Role.VIEWER, repo)), connect(account("eve", Role.ADMIN, "another"))
    assert viewer.wait("authenticated")["userId"]
    assert viewer.emit("joinRoom", room) == {"success": True, "room": room}
    assert viewer.wait("agent:critique:completed")["result"]["id"] == made["id"]  # who comes late is told all of it
    other = stranger.wait("authenticated")["userId"]
    for name in (room, "critique:k-000000000000", f"user:{made['id']}", "project-123", "", f"discussion:{made['id']}"):
        answer = stranger.emit("joinRoom", name)
        assert (answer["success"], answer["error"]) == (False, "Access denied"), name
    assert stranger.emit("joinRoom", f"user:{other}")["success"] is True
    assert stranger.emit("agent:workflow:status", {"executionId": made["id"]})["success"] is False
    refused = stranger.emit("agent:critique:execute", {**critique(), "repo": repo})
    assert refused["success"] is False
    assert stranger.last("agent:error")["code"] == "NOT_FOUND"
    assert viewer.emit("agent:critique:execute", critique())["success"] is False
    assert viewer.emit("leaveRoom", room)["success"] is True


def test_heartbeats(operator: httpx.Client, connect: Connect) -> None:
    socket = connect(operator, transports=["websocket"])
    socket.wait("authenticated")
    assert socket.emit("ping")["timestamp"] > 0
    beat = socket.emit("heartbeat", {"timestamp": 1})
    assert beat["latency"] > 0
    assert {"pong", "heartbeatAck"} <= set(socket.names(""))
    assert socket.emit("heartbeat", {})["latency"] is None


@pytest.mark.parametrize("auth", [{}, {"token": "wrong"}, {"token": 5}, {"token": "swk_000000000000_x"}])
def test_nobody_is_let_in_without_a_proof(server: Running, packages: Path, auth: dict[str, Any]) -> None:
    client = Client(packages, server.url, {"auth": auth})
    try:
        assert client.wait("connect_error") == "Unauthorized"
    finally:
        client.close()


def test_a_foreign_page_is_not_let_in(operator: httpx.Client, connect: Connect) -> None:
    for transport in ("websocket", "polling"):
        foreign = {"transports": [transport], "extraHeaders": {"Origin": "https://evil.example"}}
        socket = connect(operator, **foreign)
        assert socket._lines.get(timeout=30)["event"] in {"connect_error", "disconnect"}  # type: ignore[index]  # it says so


def test_who_is_disabled_or_logs_out_is_cut_off(
    server: Running, operator: httpx.Client, account: Callable[..., httpx.Client], connect: Connect
) -> None:
    socket = connect(operator)
    socket.wait("authenticated")
    assert socket.emit("authenticate", {"token": key_of(operator)})["success"] is True
    other = account("bob", Role.VIEWER)
    assert socket.emit("authenticate", {"token": key_of(other)})["success"] is False
    assert socket.wait("disconnect")
    second = connect(operator)
    second.wait("authenticated")
    accounts = server.app.state.accounts
    accounts.update(accounts.named("ada").id, disabled=True)
    assert second.emit("agent:critique:execute", critique())["success"] is False
    assert second.last("agent:error")["code"] == "UNAUTHORIZED"
    third = connect(other)
    third.wait("authenticated")
    assert third.emit("logout") == {"success": True}
    assert third.wait("disconnect")


def test_sockets_in_a_minute_are_limited(operator: httpx.Client, connect: Connect) -> None:
    for _ in range(5):
        connect(operator, transports=["polling"]).wait("authenticated")
    assert connect(operator, transports=["polling"]).wait("connect_error")


def test_who_says_nothing_of_themselves_is_counted_by_their_address(server: Running, anybody: httpx.Client) -> None:
    opening = "/socket.io/?EIO=4&transport=polling"
    opened = [anybody.get(opening) for _ in range(5)]
    assert [each.status_code for each in opened] == [200] * 5
    sid = json.loads(opened[0].text[1:])["sid"]
    assert anybody.post(f"{opening}&sid={sid}", content="3").status_code == 200, "one that is open is not counted again"
    refused = [anybody.get(opening), anybody.get(f"{opening}&sid=nobodys")]
    assert [(each.status_code, "retry-after" in each.headers) for each in refused] == [(429, True)] * 2
    with connecting(f"{server.url.replace('http', 'ws')}/socket.io/?EIO=4&transport=websocket") as socket:
        with pytest.raises(ConnectionClosed) as over:
            socket.recv(10)
        assert over.value.rcvd is not None
        assert over.value.rcvd.code == 4029

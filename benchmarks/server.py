"""Measures the team server: reads against a bare FastAPI route, many readers of its events, and an approval's way.

    python benchmarks/server.py [start] [reads] [events] [approval]

Start: from the command to the printed link, where there is a home; target: 2 s.
Reads: a goal over HTTP, authorised and from its ledger, beside a FastAPI route that returns the same JSON from memory
under the same uvicorn; target: 1,000 a second, and at most a quarter more processor time for each.
Events: 500 readers of the stream each get 1,000 events once and in order; target: none lost or doubled, below 300 MB.
Approval: from the request that approves a plan until the ledger has the run, and its first step; target: 300 ms. A step
that works on the first task begins with the project's own tests, so the first request to a model waits for those.

All servers are processes of their own. Processor time is theirs alone, by /proc: other work on the machine disturbs it
less than it does the clock.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from workload import make_project, team

from swarmgate.domain.events.event import UsageRecorded
from swarmgate.domain.usage import Usage
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger
from swarmgate.testing import ScriptedServer

CONNECTIONS, READS, ROUNDS = 16, 3_000, 5
READERS, EVENTS, CHUNK = 500, 1_000, 50
APPROVALS, STARTS = 5, 6
TASKS = 7
RESTING_S = 5
TICK = os.sysconf("SC_CLK_TCK")

BARE = """
import json, sys
import uvicorn
from fastapi import FastAPI

app, answer = FastAPI(), json.loads(sys.stdin.readline())

@app.get("/v1/goals/{goal}")
async def goal(goal: str):
    return answer

uvicorn.run(app, port=int(sys.argv[1]), access_log=False, log_level="warning")
"""


# --- servers ---


@dataclass(frozen=True)
class Served:
    """A server process, and a key of an account that may everything."""

    pid: int
    url: str
    key: str = ""

    @property
    def headers(self) -> dict[str, str]:
        """What proves who asks."""
        return {"Authorization": f"Bearer {self.key}"} if self.key else {}

    @property
    def client(self) -> httpx.Client:
        """A client of that account."""
        return httpx.Client(base_url=self.url, headers=self.headers, timeout=30)

    @property
    def processor_s(self) -> float:
        """Processor time so far, of all its threads."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    @property
    def peak_mb(self) -> float:
        """Most memory that it had at once."""
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def swarm(*arguments: str, cwd: Path | None = None, codes: tuple[int, ...] = (0,)) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "swarmgate", *arguments], cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode in codes, f"swarm {' '.join(arguments)}: {done.returncode}\n{done.stderr}"
    return done.stdout


@contextmanager
def serving(home: Path, *projects: Path, prepared: bool = False) -> Iterator[Served]:
    """A team server over projects that somebody works on; `prepared`: its home is there, nobody asks it anything."""
    key = ""
    if not prepared:
        for project in projects:
            swarm("server", "repositories", "add", str(project), "--home", str(home))
        swarm("server", "accounts", "add", "bench", "--role", "admin", "--home", str(home))
        key = swarm("server", "keys", "add", "bench", "benchmark", "--home", str(home)).strip()
    command = [sys.executable, "-m", "swarmgate", "serve", "--port", "0", "--home", str(home), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=home) as process:
        assert process.stdout is not None
        told = ""
        while not told.endswith("}\n"):
            told += process.stdout.readline()
        try:
            yield Served(process.pid, json.loads(told)["url"], key)
        finally:
            process.send_signal(signal.SIGTERM)


@contextmanager
def bare(answer: Any) -> Iterator[Served]:
    """A FastAPI application with one route that returns what it was given."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-c", BARE, str(port)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        process.stdin.write(json.dumps(answer) + "\n")
        process.stdin.flush()
        served = Served(process.pid, f"http://127.0.0.1:{port}")
        try:
            wait(lambda: served.client.get("/v1/goals/x").status_code == httpx.codes.OK)
            yield served
        finally:
            process.send_signal(signal.SIGTERM)


def wait(until: Any, seconds: float = 60) -> Any:
    """The first true answer; asked two hundred times a second."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if found := until():
                return found
        except httpx.TransportError:
            pass
        time.sleep(0.005)
    raise TimeoutError


def planned(place: Path, base_url: str) -> Path:
    """A project whose plan waits for approval."""
    make_project(place, base_url)
    swarm("plan", "Parts", "--repo", str(place), codes=(3,))
    return place


# --- start ---


def start(place: Path) -> None:
    """Prints how long `swarm serve` takes until it has printed the link."""
    seconds: list[float] = []
    used: list[float] = []
    for _ in range(STARTS):
        began = time.perf_counter()
        with serving(place / "start-home", prepared=bool(seconds)) as served:
            seconds.append(time.perf_counter() - began)
            used.append(served.processor_s)
    print(f"start: to the printed link, {STARTS - 1} times, median and longest (target: 2 s)")
    print(f"  {statistics.median(seconds[1:]):.2f} s, {max(seconds[1:]):.2f} s")
    print(f"  processor time: {statistics.median(used[1:]):.2f} s")


# --- reads ---


async def _read(served: Served, path: str, times: int) -> int:
    """Reads a path over one connection; the bytes of the last answer. So short a client leaves time to others."""
    host, port = served.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    lines = [f"GET {path} HTTP/1.1", f"Host: {host}:{port}", *(f"{k}: {v}" for k, v in served.headers.items())]
    asked, size = "\r\n".join([*lines, "", ""]).encode(), 0
    for _ in range(times):
        writer.write(asked)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        assert head.startswith(b"http/1.1 200"), head
        size = int(head.partition(b"content-length: ")[2].split(b"\r\n")[0])
        await reader.readexactly(size)
    writer.close()
    await writer.wait_closed()
    return size


def resting(served: Served) -> float:
    """Processor time in a second of a server that nobody asks for anything: it looks for new lines of ledgers."""
    began, used = time.perf_counter(), served.processor_s
    time.sleep(RESTING_S)
    return (served.processor_s - used) / (time.perf_counter() - began)


async def _load(served: Served, path: str, rest: float) -> tuple[float, float]:
    """Requests a second, and processor time of the server for each, in ms, beside what it takes at rest."""
    began, used = time.perf_counter(), served.processor_s
    await asyncio.gather(*(_read(served, path, READS // CONNECTIONS) for _ in range(CONNECTIONS)))
    count, seconds = READS // CONNECTIONS * CONNECTIONS, time.perf_counter() - began
    return count / seconds, (served.processor_s - used - rest * seconds) / count * 1000


def reads(place: Path, base_url: str) -> None:
    """Prints how reads compare; rounds take turns, so that a busy moment falls on both."""
    project = planned(place / "reads", base_url)
    with serving(place / "reads-home", project) as served, served.client as client:
        goal = client.get("/v1/goals").json()["items"][0]["id"]
        path = f"/v1/goals/{goal}"
        answer = client.get(path).json()
        with bare(answer) as other:
            found: dict[str, list[tuple[float, float]]] = {"server": [], "bare": []}
            rest = {"server": resting(served), "bare": resting(other)}
            for number in range(ROUNDS + 1):
                for name, each in (("server", served), ("bare", other)):
                    measured = asyncio.run(_load(each, path, rest[name]))
                    if number:  # the first round warms both
                        found[name].append(measured)
        rates = {name: statistics.median(rate for rate, _ in each) for name, each in found.items()}
        costs = {name: statistics.median(cost for _, cost in each) for name, each in found.items()}
    size = len(json.dumps(answer))
    print(f"reads: GET {path}, {size:,} bytes of JSON, {CONNECTIONS} connections, median of {ROUNDS} rounds")
    for name in found:
        print(f"  {name:<7} {rates[name]:7,.0f} a second, {costs[name]:.3f} ms of processor time each")
    print(f"  at rest the server takes {rest['server']:.1%} of a processor, which is not counted above")
    print(f"  processor time against the bare route: {costs['server'] / costs['bare']:.2f} (target: at most 1.25)")
    print(f"  rate against the bare route: {rates['server'] / rates['bare']:.2f}")


# --- events ---


async def _follow(served: Served, ready: asyncio.Semaphore) -> list[int]:
    """Reads the stream until it had all events of this run; their numbers as they came."""
    host, port = served.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port), limit=2**20)
    path = "/v1/events?type=usage_recorded"
    lines = [f"GET {path} HTTP/1.1", f"Host: {host}:{port}", *(f"{k}: {v}" for k, v in served.headers.items())]
    writer.write("\r\n".join([*lines, "", ""]).encode())
    await reader.readuntil(b": the feed")
    ready.release()
    seen: list[int] = []
    while len(seen) < EVENTS:
        line = await reader.readline()
        assert line, "the stream ended"
        if line.startswith(b"id: "):
            seen.append(int(line[4:]))
    writer.close()
    return seen


def _write(project: Path) -> None:
    """Appends the events to the ledger, as a run does."""
    ledger = Ledger.write(SwarmFolder(project))
    used = UsageRecorded(role="coder", usage=Usage(calls=1, prompt_tokens=900, completion_tokens=90, usd=0.01))
    for _ in range(EVENTS // CHUNK):
        ledger.append([used] * CHUNK, expect=ledger.state.seq)
    ledger.close()


async def _all(served: Served, project: Path) -> tuple[list[list[int]], float]:
    ready = asyncio.Semaphore(0)
    following = [asyncio.create_task(_follow(served, ready)) for _ in range(READERS)]
    for _ in range(READERS):
        await asyncio.wait_for(ready.acquire(), 120)
    began = time.perf_counter()
    await asyncio.to_thread(_write, project)
    seen = await asyncio.wait_for(asyncio.gather(*following), 600)
    return list(seen), time.perf_counter() - began


def events(place: Path, base_url: str) -> None:
    """Prints what readers got."""
    project = planned(place / "events", base_url)
    with serving(place / "events-home", project) as served:
        used = served.processor_s
        seen, seconds = asyncio.run(_all(served, project))
        used, peak = served.processor_s - used, served.peak_mb
    expected = seen[0]
    right = sum(each == expected and each == sorted(set(each)) for each in seen)
    print(f"events: {READERS} readers of {EVENTS:,} events of a ledger, in {seconds:.1f} s")
    print(f"  readers that got each once and in order: {right} of {READERS}")
    print(
        f"  {READERS * EVENTS / seconds:,.0f} a second, {used / (READERS * EVENTS) * 1e6:.1f} us of processor time each"
    )
    print(f"  peak memory of the server: {peak:.0f} MB (target: below 300)")


# --- approval ---


def approval(place: Path) -> None:
    """Prints how long the run takes to go on after an approval, of goals that the server works on in clones."""
    begun, stepped, asked = [], [], []
    with ScriptedServer(team(TASKS)) as models:
        make_project(place / "approval", models.base_url)
        with serving(place / "approval-home", place / "approval") as served, served.client as client:
            for _ in range(APPROVALS):
                goal = client.post("/v1/goals", json={"repo": "approval", "text": "Parts"}).json()["id"]
                waiting = wait(lambda goal=goal: _waiting(client, goal))
                ledger = place / "approval-home/goals" / goal / "work/.swarm/ledger.jsonl"
                runs, requests = _count(ledger, "run_started"), len(models.requests)
                began = time.perf_counter()
                answer = client.post(f"/v1/approvals/{waiting}", json={"decision": "approve"})
                assert answer.is_success, answer.text
                wait(lambda ledger=ledger, runs=runs: _count(ledger, "run_started") > runs)
                begun.append((time.perf_counter() - began) * 1000)
                wait(lambda ledger=ledger: _count(ledger, "work_started"))
                stepped.append((time.perf_counter() - began) * 1000)
                wait(lambda requests=requests: len(models.requests) > requests)
                asked.append((time.perf_counter() - began) * 1000)
                client.post(f"/v1/runs/{goal}/stop")
                wait(lambda goal=goal: client.get(f"/v1/goals/{goal}").json()["state"] == "idle")
    print(f"approval: from the request on, {APPROVALS} goals, median and longest")
    for what, took in (
        ("until the run has begun", begun),
        ("until its first step has begun (target: 300 ms)", stepped),
        ("until its first request to a model", asked),
    ):
        print(f"  {what:<47} {statistics.median(took):6.0f} ms, {max(took):6.0f} ms")


def _waiting(client: httpx.Client, goal: str) -> str:
    """The id of what waits for approval of a goal; empty: nothing yet."""
    items = client.get("/v1/approvals").json()["items"]
    return next((str(each["id"]) for each in items if each["goal"] == goal), "")


def _count(ledger: Path, kind: str) -> int:
    """How many events of a kind a ledger has."""
    return ledger.read_bytes().count(f'"type":"{kind}"'.encode())


def main() -> None:
    asked = sys.argv[1:] or ["start", "reads", "events", "approval"]
    with tempfile.TemporaryDirectory() as folder, ScriptedServer(team(TASKS)) as models:
        place = Path(folder)
        if "start" in asked:
            start(place)
        if "reads" in asked:
            reads(place, models.base_url)
        if "events" in asked:
            events(place, models.base_url)
        if "approval" in asked:
            approval(place)


if __name__ == "__main__":
    main()

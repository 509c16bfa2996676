"""Five hundred readers of one server, which is a process of its own so that its memory can be measured."""

from __future__ import annotations

import asyncio
import os
import threading
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from swarmgate.config import load
from swarmgate.server.accounts.model import EVERY_REPOSITORY, Role
from swarmgate.server.serving.app import create_app
from swarmgate.server.serving.listening import Listener, address, bind

READERS, EVENTS = 500, 1_000
MOST_BYTES = 300 * 1024 * 1024
TEXT = "a line of some length, as a ledger has it: " * 10


def serve(home: Path, pipe: Connection) -> None:
    """Serves; for each number that comes, so many events are published; None ends it. Answers peak memory in bytes."""
    settings, bound = load(), bind("127.0.0.1", 0)
    app = create_app(settings, home=home, environ=os.environ)
    accounts = app.state.accounts
    made = accounts.create("many", roles={EVERY_REPOSITORY: Role.VIEWER})
    started = threading.Event()
    listener = Listener(app, bound, settings.server, started=started.set, ending=app.state.feed.end)
    thread = threading.Thread(target=listener.serve_until_told)
    thread.start()
    started.wait(60)
    pipe.send((address(bound), accounts.keys.create(made.id, "many").secret))
    while (count := pipe.recv()) is not None:
        for _ in range(count):
            app.state.feed.publish("noted", TEXT, repo="shop", goal="g-1")
    listener.should_exit = True
    thread.join(60)
    # Its own: what `getrusage` says holds what the process that it was forked from had.
    status = Path("/proc/self/status").read_text()
    pipe.send(int(status.partition("VmHWM:")[2].split()[0]) * 1024)


async def read(url: str, key: str, after: int, count: int) -> list[int]:
    """The ids of so many events, over a connection of its own."""
    host = urlsplit(url)
    reader, writer = await asyncio.open_connection(host.hostname, host.port)
    writer.write(
        f"GET /v1/events?since={after} HTTP/1.1\r\nHost: {host.netloc}\r\nAuthorization: Bearer {key}\r\n\r\n".encode()
    )
    found: list[int] = []
    while len(found) < count:
        line = await reader.readline()
        assert line, f"it ended after {len(found)}"
        if line.startswith(b"id: "):
            found.append(int(line[4:]))
    writer.close()
    return found


async def _readers(url: str, key: str, pipe: Connection) -> list[list[int]]:
    late = READERS // 2
    tasks = [asyncio.create_task(read(url, key, 0, EVENTS)) for _ in range(READERS - late)]
    for _ in range(EVENTS // 50):  # half of them are there from the beginning, half come in the middle
        pipe.send(50)
        await asyncio.sleep(0.02)
        if len(tasks) < READERS:
            tasks += [asyncio.create_task(read(url, key, 0, EVENTS)) for _ in range(late // 10)]
    assert len(tasks) == READERS
    return await asyncio.gather(*tasks)


@pytest.mark.slow
async def test_500_readers_each_get_1000_events_once_in_order_and_the_server_stays_below_300_mb(tmp_path: Path) -> None:
    context = get_context("spawn")
    pipe, other = context.Pipe()
    server = context.Process(target=serve, args=(tmp_path, other))
    server.start()
    try:
        url, key = await asyncio.to_thread(pipe.recv)
        found = await _readers(url, key, pipe)
        assert len(found) == READERS
        assert all(each == list(range(1, EVENTS + 1)) for each in found)
    finally:
        pipe.send(None)
        peak = await asyncio.to_thread(pipe.recv)
        await asyncio.to_thread(server.join, 60)
    assert peak < MOST_BYTES, f"{peak / 1024 / 1024:.0f} MB"

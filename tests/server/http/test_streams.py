from __future__ import annotations

import json
import secrets
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.server.conftest import Running
from websockets import Origin
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from swarmgate.server.accounts.model import Role
from swarmgate.server.http import streams
from swarmgate.server.services.records import events

Accounts = Callable[..., httpx.Client]
Event = dict[str, str]


class Reader:
    """Reads server-sent events as a browser does: the last id is remembered, comments are left out."""

    def __init__(self, response: httpx.Response) -> None:
        self._lines = response.iter_lines()
        self.comments: list[str] = []

    def take(self, count: int) -> list[Event]:
        found: list[Event] = []
        event: Event = {}
        while len(found) < count:
            line = next(self._lines)
            if line.startswith(":"):
                self.comments.append(line)
            elif line:
                name, _, value = line.partition(": ")
                event[name] = value
            elif event:
                found.append(event)
                event = {}
        return found

    def rest(self) -> list[str]:
        return list(self._lines)


@contextmanager
def reading(client: httpx.Client, last: str = "", **query: Any) -> Iterator[Reader]:
    headers = {"Last-Event-ID": last} if last else {}
    with client.stream("GET", "/v1/events", params=query, headers=headers) as response:
        assert response.status_code == 200, response.read()
        assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
        yield Reader(response)


@contextmanager
def listening(server: Running, client: httpx.Client, query: str = "", **more: Any) -> Iterator[ClientConnection]:
    key = client.headers.get("Authorization")
    headers = {"Authorization": key} if key else {}
    url = server.url.replace("http", "ws")
    with connect(f"{url}/v1/events/socket{query}", additional_headers=headers, **more) as socket:
        yield socket


def closed(socket: ClientConnection) -> int:
    """The code that it is closed with, after whatever was said."""
    try:
        while True:
            socket.recv(10)
    except ConnectionClosed as end:
        return end.rcvd.code if end.rcvd else 0


def publish(server: Running, *texts: str, repo: str = "shop", **more: Any) -> None:
    for each in texts:
        server.app.state.feed.publish("noted", each, repo=repo, **more)


def said(found: list[Event]) -> list[str]:
    return [json.loads(each["data"])["text"] for each in found]


# --- server-sent events ---


def test_a_reader_gets_what_it_missed_once_and_in_order_and_then_what_happens(
    server: Running, admin: httpx.Client
) -> None:
    publish(server, "one", "two", "three")
    with reading(admin, since=0) as reader:
        found = reader.take(3)
        assert (said(found), [each["id"] for each in found]) == (["one", "two", "three"], ["1", "2", "3"])
        assert json.loads(found[0]["data"])["seq"] == 1
        publish(server, "four")
        assert said(reader.take(1)) == ["four"]
    publish(server, "five")
    with reading(admin, last="3", since=0) as reader:
        assert said(reader.take(2)) == ["four", "five"], "the id that was seen last counts before `since`"
    with reading(admin) as reader:
        publish(server, "six")
        assert said(reader.take(1)) == ["six"]
        assert reader.comments == [": the feed"]


def test_a_place_of_another_epoch_is_reset(server: Running, admin: httpx.Client) -> None:
    publish(server, "one")
    with reading(admin, last="999") as reader:
        reset, one = reader.take(2)
        assert (reset["event"], reset["id"], json.loads(reset["data"])["epoch"]) == ("reset", "0", 0)
        assert (one["id"], said([one])) == ("1", ["one"])


def test_an_account_sees_the_events_of_its_repositories_alone(server: Running, account: Accounts) -> None:
    eva, ada = account("eva", Role.VIEWER, "shop"), account("ada")
    publish(server, "of nobody", repo="")
    publish(server, "of bank", repo="bank")
    publish(server, "of shop", goal="g-1", task="1.1")
    publish(server, "of another goal", goal="g-2")
    for client, expected in ((eva, ["of shop", "of another goal"]), (ada, ["of bank", "of shop", "of another goal"])):
        with reading(client, since=0) as reader:
            assert said(reader.take(len(expected))) == expected
        page = client.get("/v1/events/past").json()
        assert [each["text"] for each in page["items"]] == expected
        assert page["next"] is None
    with reading(eva, since=0, task="1.1", type="noted") as reader:
        assert said(reader.take(1)) == ["of shop"]
    assert eva.get("/v1/events/past", params={"limit": 1}).json()["next"] == 3
    assert eva.get("/v1/events/past", params={"after": 3, "limit": 5}).json()["items"][0]["seq"] == 4


def test_nobody_and_nonsense_are_refused(anybody: httpx.Client, admin: httpx.Client) -> None:
    for path in ("/v1/events", "/v1/events/past"):
        refused = anybody.get(path)
        assert (refused.status_code, refused.json()["code"]) == (401, "UNAUTHENTICATED")
        refused = admin.get(path, params={"since": "-1", "after": "-1"})
        assert (refused.status_code, refused.json()["code"]) == (422, "VALIDATION")


def test_a_store_that_is_away_is_told_before_a_stream_begins(server: Running, admin: httpx.Client) -> None:
    server.app.state.feed._log._window = None
    refused = admin.get("/v1/events")
    assert (refused.status_code, refused.json()["code"]) == (503, "STORE_AWAY")
    assert refused.headers["retry-after"]


def test_a_permission_that_is_lost_in_mid_stream_ends_it(
    server: Running, account: Accounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "CHECK_S", 0.0)
    eva, accounts = account("eva", Role.VIEWER, "shop"), server.app.state.accounts
    with reading(eva) as reader:
        publish(server, "one")
        assert said(reader.take(1)) == ["one"]
        accounts.update(_id(server, "eva"), roles={"shop": Role.VIEWER, "bank": Role.VIEWER})
        publish(server, "more may be seen now", repo="bank")
        publish(server, "two")
        assert said(reader.take(2)) == ["more may be seen now", "two"]
        accounts.update(_id(server, "eva"), roles={"bank": Role.VIEWER})
        publish(server, "secret by now")
        (end,) = reader.take(1)
        assert end["event"] == "closed"
        assert json.loads(end["data"])["code"] == "FORBIDDEN"
        assert not any(reader.rest())


def test_a_key_that_is_revoked_in_mid_stream_ends_it(
    server: Running, account: Accounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "CHECK_S", 0.0)
    eva, accounts = account("eva"), server.app.state.accounts
    with reading(eva) as reader, listening(server, eva) as socket:
        publish(server, "one")
        assert said(reader.take(1)) == ["one"]
        assert json.loads(socket.recv(10))["text"] == "one"
        accounts.update(_id(server, "eva"), disabled=True)
        publish(server, "secret by now")
        (end,) = reader.take(1)
        assert (end["event"], json.loads(end["data"])["code"]) == ("closed", "UNAUTHENTICATED")
        assert closed(socket) == 4001


@pytest.mark.slow
def test_a_reader_that_takes_nothing_is_cut_off(
    server: Running, admin: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "STALLED_S", 0.2)
    open_now = server.app.state.feed.metrics.streams.labels("sse")._value
    with reading(admin) as reader:
        assert reader.comments == []
        for number in range(400):  # some hundred of them fill what the system keeps for a connection
            publish(server, f"{number} {'x' * 60_000}")
            if open_now.get() == 0:
                break
        _until(lambda: open_now.get() == 0)


@pytest.mark.slow
def test_a_socket_that_takes_nothing_is_closed_and_told_why(
    server: Running, admin: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "STALLED_S", 5.0)  # for the close, too: it comes behind what was sent
    open_now = server.app.state.feed.metrics.streams.labels("websocket")._value
    texts = [f"{number} {secrets.token_hex(30_000)}" for number in range(300)]  # compressed they would fill nothing
    with listening(server, admin, ping_interval=None) as socket:
        _until(lambda: open_now.get() == 1)
        publishing = threading.Thread(target=publish, args=(server, *texts))
        publishing.start()
        _until(lambda: open_now.get() == 0, within_s=90)
        assert closed(socket) == 4008, "who reads on while it is being closed learns why"
        publishing.join()


def test_no_more_streams_are_open_than_the_server_serves(
    server: Running, admin: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "MOST", 1)
    with reading(admin, since=0) as reader:
        publish(server, "one")
        reader.take(1)
        refused = admin.get("/v1/events")
        assert (refused.status_code, refused.json()["code"]) == (503, "FULL")
        with listening(server, admin) as socket:
            assert closed(socket) == 1013
    open_now = server.app.state.feed.metrics.streams.labels("sse")._value
    _until(lambda: open_now.get() == 0)
    with reading(admin, since=0) as reader:
        assert said(reader.take(1)) == ["one"]


# --- WebSocket ---


def test_a_socket_has_the_same_frames(server: Running, admin: httpx.Client) -> None:
    publish(server, "one", "two")
    with reading(admin, since=0) as reader:
        frames = [each["data"] for each in reader.take(2)]
    with listening(server, admin, "?since=0") as socket:
        assert [socket.recv(10), socket.recv(10)] == frames
        socket.send("what a client says is not read")
        publish(server, "three")
        assert json.loads(socket.recv(10))["text"] == "three"


def test_a_socket_is_closed_with_a_code_that_says_why(server: Running, anybody: httpx.Client) -> None:
    with listening(server, anybody) as socket:
        assert closed(socket) == 4001
    with connect(
        f"{server.url.replace('http', 'ws')}/v1/events/socket", origin=Origin("https://evil.example")
    ) as socket:
        assert closed(socket) == 4003


def test_what_is_not_there_and_what_may_not_be_seen_look_alike(
    server: Running, account: Accounts, admin: httpx.Client, tmp_path: Path
) -> None:
    vault = tmp_path / "vault"
    subprocess.run(["git", "init", "-q", str(vault)], check=True)
    subprocess.run(["git", "-C", str(vault), "commit", "-q", "--allow-empty", "-m", "begin"], check=True)
    repo = server.app.state.rooms.repositories.register(vault, by="user:admin").id
    eva = account("eva", Role.VIEWER, "shop")
    with reading(admin, repo=repo), listening(server, admin, f"?repo={repo}&since=0") as socket:
        publish(server, "seen", repo=repo)
        assert json.loads(socket.recv(10))["text"] == "seen"
    for query in ({"repo": repo}, {"repo": "never"}, {"goal": "g-0123456789ab"}, {"repo": ["shop", repo]}):
        refused = eva.get("/v1/events", params=query)
        assert (refused.status_code, refused.json()["code"]) == (404, "NOT_FOUND")
        assert eva.get("/v1/events/past", params=query).status_code == 404
        with listening(server, eva, f"?{httpx.QueryParams(query)}") as socket:
            assert closed(socket) == 4004


def test_a_server_that_stops_ends_its_streams(server: Running, admin: httpx.Client) -> None:
    with reading(admin) as reader, listening(server, admin) as socket:
        server.app.state.feed.end()
        assert closed(socket) == 1001
        assert all(each.startswith(":") or not each for each in reader.rest())


def _id(server: Running, name: str) -> str:
    return next(str(each.id) for each in server.app.state.accounts.list() if each.name == name)


def _until(there: Callable[[], bool], within_s: float = 20) -> None:
    ends = time.monotonic() + within_s
    while not there():
        assert time.monotonic() < ends
        time.sleep(0.02)

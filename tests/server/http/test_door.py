"""What every request passes: who asks, by which name, through which proxy, from which page; and the answers."""

from __future__ import annotations

import socket
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from tests.server.http.conftest import Served, Serving
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from swarmgate.config import Server, ServerLimits
from swarmgate.server.accounts.model import Account

PROXY = "127.0.0.1"


def wire(served: Served, lines: str, *, wait_s: float = 5) -> str:
    """What comes back for bytes that no client of good manners would send."""
    parts = urlsplit(served.url)
    with socket.create_connection((parts.hostname or "", parts.port or 0), timeout=wait_s) as connection:
        connection.sendall(lines.replace("\n", "\r\n").encode("latin-1"))
        answer = b""
        while more := connection.recv(65_536):
            answer += more
    return answer.decode("latin-1")


# --- who asks ---


def test_a_token_a_key_and_a_cookie_say_who_asks(served: Served, ada: Account) -> None:
    with served.client() as client:
        key = served.accounts.keys.create(ada.id, "ci").secret
        assert client.get("/who").json()["account"] == ""
        assert client.get("/who", headers=served.token(ada)).json()["via"] == "token"
        assert client.get("/who", headers={"Authorization": f"bearer {key}"}).json()["via"] == "key"
    browser, _ = served.browser(ada)
    with browser:
        assert browser.get("/who").json()["via"] == "session"
        # A program that says who it is means that, also where it kept a cookie.
        assert browser.get("/who", headers={"Authorization": "Bearer x"}).json()["account"] == ""


@pytest.mark.parametrize(
    "header", ["Bearer x", "Bearer", "Basic YTpi", "x", "Bearer swk_0_x", "Bearer \x80", "Bearer " + "a" * 7000]
)
def test_what_proves_nobody_is_answered_401_and_not_told_why(served: Served, header: str) -> None:
    with served.client() as client:
        answer = client.get("/mine", headers=[(b"Authorization", header.encode("latin-1"))])
    assert answer.status_code == 401
    assert answer.json()["code"] == "UNAUTHENTICATED"
    assert answer.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize(
    "cookie", ["swarm_session=", "swarm_session=x", 'swarm_session="a', "swarm_session", "=;=;\x80"]
)
def test_a_cookie_that_is_none_is_nobodys(served: Served, cookie: str) -> None:
    with served.client() as client:
        assert client.get("/mine", headers=[(b"Cookie", cookie.encode("latin-1"))]).status_code == 401


# --- names, proxies ---


@pytest.mark.parametrize("host", ["127.0.0.1:1", "localhost", "LOCALHOST:80", "[::1]:9", "10.0.0.7", "swarm.lan:8642"])
def test_the_server_answers_to_its_names_and_to_addresses(serve: Serving, host: str) -> None:
    with serve(Server(hosts=("swarm.lan",))).client() as client:
        assert client.get("/who", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "a b", "x@localhost"]
)
def test_a_name_that_was_rebound_to_this_machine_is_refused(served: Served, host: str) -> None:
    with served.client() as client:
        answer = client.get("/who", headers={"Host": host})
    assert (answer.status_code, answer.json()["code"]) == (400, "BAD_REQUEST")
    assert host not in answer.text


FORWARDED = {"X-Forwarded-For": "1.1.1.1, 203.0.113.9", "X-Forwarded-Proto": "https", "X-Forwarded-Host": "swarm.lan"}


def test_headers_of_a_proxy_that_is_not_named_mean_nothing(served: Served) -> None:
    with served.client() as client:
        seen = client.get("/who", headers={**FORWARDED, "X-Request-ID": "mine"})
    assert (seen.json()["client"], seen.json()["scheme"]) == ("127.0.0.1", "http")
    assert seen.headers["x-request-id"] != "mine"
    assert "strict-transport-security" not in seen.headers


def test_a_named_proxy_says_who_asks_and_clients_do_not(serve: Serving) -> None:
    served = serve(Server(trusted_proxies=("127.0.0.0/8", "10.0.0.0/8"), hosts=("swarm.lan",)))
    with served.client() as client:
        seen = client.get("/who", headers={**FORWARDED, "X-Request-ID": "of-the-proxy"})
        assert (seen.json()["client"], seen.json()["scheme"]) == ("203.0.113.9", "https")
        assert seen.headers["x-request-id"] == "of-the-proxy"
        assert seen.headers["strict-transport-security"] == "max-age=31536000"
        chain = client.get("/who", headers={"X-Forwarded-For": "6.6.6.6, 203.0.113.9, 10.1.1.1, 127.0.0.5"})
        assert chain.json()["client"] == "203.0.113.9"
        evil = client.get("/who", headers={"X-Forwarded-Host": "evil.example"})
        assert evil.status_code == 400
        odd = client.get("/who", headers={"X-Request-ID": "a b\tc", "X-Forwarded-Proto": "gopher"})
        assert (odd.headers["x-request-id"] != "a b\tc", odd.json()["scheme"]) == (True, "http")


# --- what a browser is told ---


def test_every_answer_forbids_what_is_inline_foreign_or_framed(served: Served) -> None:
    with served.client() as client:
        answers = [client.get(each) for each in ("/who", "/mine", "/nothing", "/bug", "/page")]
    assert [each.status_code for each in answers] == [200, 401, 404, 500, 200]
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "same-origin"
        assert len(answer.headers["x-request-id"]) == 16
        assert "server" not in answer.headers
    assert [each.headers["cache-control"] for each in answers] == [*["no-store"] * 4, "max-age=60"]


# --- forgery ---


def test_a_cookie_alone_changes_nothing(served: Served, ada: Account) -> None:
    browser, token = served.browser(ada)
    other = served.browser(ada)[1]
    before = len(served.done)
    with browser:
        for headers in ({}, {"X-CSRF-Token": ""}, {"X-CSRF-Token": "x"}, other):
            refused = browser.post("/things", json={}, headers=headers)
            assert (refused.status_code, refused.json()["code"]) == (403, "FORBIDDEN")
        assert len(served.done) == before
        assert browser.get("/who").json()["csrf"] == token["X-CSRF-Token"]
        assert browser.post("/things", json={}, headers=token).status_code == 201


def test_a_form_carries_the_token_in_a_field(served: Served, ada: Account) -> None:
    browser, token = served.browser(ada)
    with browser:
        field = {"csrf_token": token["X-CSRF-Token"], "text": "ä & ö"}
        assert browser.post("/form", data=field).json() == field
        assert browser.post("/form", data={**field, "csrf_token": "x"}).status_code == 403
        # A field in a body that says it is something else is no field.
        assert browser.post("/form", json=field).status_code == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": ""},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
    ids=str,
)
def test_a_foreign_page_may_ask_nothing_of_a_browser(served: Served, ada: Account, headers: dict[str, str]) -> None:
    browser, token = served.browser(ada)
    before = len(served.done)
    with browser, served.client() as anybody:
        assert browser.post("/things", json={}, headers={**token, **headers}).status_code == 403
        assert anybody.post("/login", json={"name": "a", "password": "b"}, headers=headers).status_code == 403
        assert len(served.done) == before
        own = {"Origin": served.url, "Sec-Fetch-Site": "same-origin"}
        assert browser.post("/things", json={}, headers={**token, **own}).status_code == 201
        # No page can add this header: it is a program that asks.
        assert anybody.post("/things", json={}, headers={**served.token(ada), **headers}).status_code == 201


def test_behind_a_proxy_the_page_is_that_of_the_public_address(serve: Serving) -> None:
    public = {"public_url": "https://swarm.lan", "behind_proxy": True, "trusted_proxies": (PROXY,)}
    served = serve(Server(**public))
    ada = served.accounts.create("ada")
    begun, secret = served.accounts.sessions.begin(ada.id)
    token = {"X-CSRF-Token": served.accounts.signer.bound("csrf", begun.id), "Host": "swarm.lan"}
    with served.client(headers=token) as client:
        secure = {"Cookie": f"__Host-swarm_session={secret}"}
        assert client.get("/who", headers={"Cookie": f"swarm_session={secret}"}).json()["account"] == ""
        good = client.post("/things", json={}, headers={**secure, "Origin": "https://swarm.lan"})
        bad = client.post("/things", json={}, headers={**secure, "Origin": "http://swarm.lan"})
        assert (good.status_code, bad.status_code) == (201, 403)


# --- bodies ---

SMALL = Server(limits=ServerLimits(body_bytes=2000, body_s=1))


@pytest.mark.slow
def test_a_body_that_is_too_large_is_refused_before_it_is_read(serve: Serving) -> None:
    served = serve(SMALL)
    with served.client(headers=served.token(served.accounts.create("ada"))) as client:
        assert client.post("/things", json={"text": "x" * 1900}).status_code == 201
        large = client.post("/things", json={"text": "x" * 2000})
        assert (large.status_code, large.json()["code"]) == (413, "BODY_TOO_LARGE")
        chunked = client.post("/things", content=(b"x" * 500 for _ in range(1000)))
        assert chunked.status_code == 413
    head = "POST /things HTTP/1.1\nHost: localhost\nContent-Length: 999999999999999999\n\n"
    assert wire(served, head).startswith("HTTP/1.1 413 ")
    assert len(served.done) == 1


@pytest.mark.slow
def test_a_body_that_does_not_come_in_time_is_given_up(serve: Serving) -> None:
    served = serve(SMALL)
    began = time.monotonic()
    answer = wire(served, "POST /things HTTP/1.1\nHost: localhost\nContent-Length: 100\n\nx")
    assert answer.startswith("HTTP/1.1 408 ")
    assert '"code":"BODY_TOO_SLOW"' in answer
    assert 0.9 < time.monotonic() - began < 60  # and the connection is closed


def test_a_client_that_goes_away_in_the_middle_of_its_body_leaves_nothing(served: Served) -> None:
    parts = urlsplit(served.url)
    with socket.create_connection((parts.hostname or "", parts.port or 0)) as connection:
        connection.sendall(b"POST /form HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhalf")
    with served.client() as client:
        assert client.get("/who").status_code == 200
    assert not (served.home / "bugs").exists() or not [
        each for each in (served.home / "bugs").iterdir() if "/form" in each.read_text()
    ]


# --- bugs ---


def test_a_bug_is_a_report_without_secrets_and_an_answer_that_names_it(
    serve: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = serve()
    with served.client() as client:
        answer = client.get("/bug")
    said: dict[str, Any] = answer.json()
    assert (answer.status_code, said["code"], said["exit_code"]) == (500, "BUG", 70)
    assert "no way on" not in answer.text
    (report,) = (served.home / "bugs").iterdir()
    assert report.name in said["hint"]
    assert str(served.home) not in answer.text
    assert report.stat().st_mode & 0o777 == 0o600
    text = report.read_text()
    assert "RuntimeError: no way on from [redacted]" in text
    assert "swk_" not in text.replace('"swk_', "")  # but in the line of the source that made it up


def test_bugs_do_not_fill_the_disk(serve: Serving) -> None:
    served = serve()
    (served.home / "bugs").mkdir()
    for number in range(100):
        (served.home / f"bugs/bug-{number}.txt").touch()
    with served.client() as client:
        assert "log" in client.get("/bug").json()["hint"]
    assert len(list((served.home / "bugs").iterdir())) == 100


def test_an_answer_that_fails_in_the_middle_does_not_look_whole(served: Served) -> None:
    with served.client() as client, pytest.raises(httpx.RemoteProtocolError):
        client.get("/bug-in-the-middle")


# --- sockets ---


def socket_of(served: Served, **more: Any) -> str:
    with connect(served.url.replace("http", "ws") + "/socket", **more) as one:
        return str(one.recv(5))


def closed_with(served: Served, **more: Any) -> int:
    with pytest.raises(ConnectionClosed) as caught:
        socket_of(served, **more)
    assert caught.value.rcvd is not None
    return caught.value.rcvd.code


def test_a_socket_is_opened_by_programs_and_by_our_own_pages(serve: Serving) -> None:
    served = serve(Server(limits=ServerLimits(sockets_per_minute=100)))
    ada = served.accounts.create("ada")
    _, secret = served.accounts.sessions.begin(ada.id)
    cookie = {"Cookie": f"swarm_session={secret}"}
    assert socket_of(served) == "nobody"
    assert socket_of(served, additional_headers=served.token(ada)) == "ada"
    assert socket_of(served, additional_headers=cookie, origin=served.url) == "ada"
    for origin in ("https://evil.example", "null", "http://localhost:1"):
        assert closed_with(served, additional_headers=cookie, origin=origin) == 4003
    parts = urlsplit(served.url)
    with (
        socket.create_connection((parts.hostname or "", parts.port or 0)) as raw,
        pytest.raises(InvalidStatus, match="403"),
    ):
        connect("ws://evil.example/socket", sock=raw)


def test_the_sixth_socket_of_an_account_in_a_minute_is_closed(serve: Serving) -> None:
    served = serve()
    ada, bob = served.accounts.create("ada"), served.accounts.create("bob")
    for _ in range(5):
        assert socket_of(served, additional_headers=served.token(ada)) == "ada"
    assert closed_with(served, additional_headers=served.token(ada)) == 4029
    assert socket_of(served, additional_headers=served.token(bob)) == "bob"


def test_nothing_of_what_was_asked_stands_in_a_log(
    served: Served, ada: Account, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level("DEBUG")
    token = served.token(ada)
    with served.client() as client:
        client.get("/who", headers=token)
        client.post("/things", json={"text": "x"}, headers=token)
        client.get("/bug", headers=token)
    out = capfd.readouterr()
    assert token["Authorization"].partition(" ")[2] not in caplog.text + out.out + out.err
    assert "s" * 43 not in caplog.text + out.out + out.err


def test_reports_hold_no_key_of_a_provider(tmp_path: Path) -> None:
    from swarmgate.server.http import bug_reports

    report = bug_reports.write(tmp_path, "r1", "GET /x", RuntimeError("key is geheim-42"), ("geheim-42",))
    assert "key is [redacted]" in Path(report).read_text()

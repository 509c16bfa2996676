"""Every endpoint of the whole server, asked by those who have no business there: none gets in."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator
from typing import Any

import httpx
import jwt
import pytest
from fastapi import FastAPI
from starlette.routing import BaseRoute, Mount, Route
from tests.project import Project
from tests.server.conftest import Running, running
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from swarmgate.config import load
from swarmgate.server.accounts.model import Account, Role

pytestmark = pytest.mark.slow

OPEN = {
    ("GET", "/healthz"),
    ("GET", "/readyz"),
    ("GET", "/openapi.json"),
    ("GET", "/api/v1/openapi.json"),
    ("GET", "/api/v1/agents/health"),
    ("GET", "/login"),
    ("POST", "/login"),
    ("POST", "/login/link"),
    ("GET", "/login/oidc"),
    ("GET", "/login/oidc/callback"),
    ("POST", "/v1/session"),
    ("POST", "/v1/session/refresh"),
}
"""What answers somebody who is nobody: whether the server is well, how it is asked, and how to log in."""
OWN = {
    ("POST", "/v1/keys"),
    ("DELETE", "/v1/session"),
    ("PUT", "/v1/me/password"),
    ("POST", "/logout"),
    ("POST", "/settings/theme"),
    ("POST", "/settings/password"),
    ("POST", "/settings/keys"),
    ("POST", "/settings/push"),
}
"""What everybody may change of their own."""
IDS = {
    "goal": "g-0123456789ab", "council": "k-0123456789ab", "account": "a-0123456789ab", "key": "0123456789ab",
    "repo": "calc", "task": "1.1", "attempt": "1", "name": "review.json", "approval": "g-0123456789ab-plan-1",
    "question": "g-0123456789ab-q1", "rule": "python.sql", "operation": "o-0123456789ab", "what": "doctor",
    "id": "0123456789ab", "verb": "stop", "do": "retry", "pattern": "discussion",
}  # fmt: skip
UNSAFE = {"POST", "PUT", "PATCH", "DELETE"}


def _walk(routes: list[BaseRoute], above: str = "") -> Iterator[tuple[str, str]]:
    for route in routes:
        if isinstance(route, Route):
            yield from ((method, above + route.path) for method in sorted((route.methods or set()) - {"HEAD"}))
        elif isinstance(route, Mount):
            continue  # static files, Socket.IO
        elif router := getattr(route, "original_router", None):
            yield from _walk(router.routes, above + route.include_context.prefix)  # type: ignore[attr-defined]  # FastAPI's own class


def endpoints(app: FastAPI) -> list[tuple[str, str]]:
    """Each method and path, as it is written."""
    found = list(dict.fromkeys(_walk(app.routes)))
    assert len(found) > 100
    assert {("GET", "/v1/goals"), ("POST", "/goals"), ("GET", "/api/v1/agents/registry")} <= set(found)
    return found


def filled(path: str, **ids: str) -> str:
    """The path with something in the place of each parameter."""
    for name, value in (IDS | ids).items():
        path = path.replace(f"{{{name}}}", value)
    assert "{" not in path, path
    return path


@pytest.fixture
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    settings = load(flags={"server": {"limits": {"writes_per_minute": 100_000, "sockets_per_minute": 1000}}})
    with running(settings, tmp_path_factory.mktemp("attacked") / "home") as at:
        yield at


def turned_away(answer: httpx.Response) -> bool:
    """Whether it says that somebody has to log in first, as a program or as a browser is told."""
    to_login = answer.status_code == 303 and answer.headers["location"].startswith("/login")
    return answer.status_code == 401 or to_login


def account(server: Running, name: str, **roles: Role) -> Account:
    made: Account = server.app.state.accounts.create(
        name, roles={"*" if k == "all" else k: v for k, v in roles.items()}
    )
    return made


def bearer(server: Running, who: Account) -> str:
    return str(server.app.state.accounts.sessions.issue(who.id).access_token)


def test_nobody_gets_in_without_a_proof_that_holds(server: Running) -> None:
    accounts = server.app.state.accounts
    ada = account(server, "ada", all=Role.ADMIN)
    secret = (server.home / "signing.key").read_bytes()
    good = bearer(server, ada)
    claims = jwt.decode(good, options={"verify_signature": False})
    head = base64.urlsafe_b64encode(json.dumps({"alg": "none", "typ": "JWT"}).encode()).decode().rstrip("=")
    revoked = bearer(server, ada)
    accounts.sessions.end(accounts.verify(revoked).session)
    off = account(server, "off", all=Role.ADMIN)
    disabled, dead_key = bearer(server, off), accounts.keys.create(off.id, "x").secret
    accounts.update(off.id, disabled=True)
    deleted = accounts.keys.create(ada.id, "x")
    accounts.keys.delete(ada.id, deleted.id)
    proofs: dict[str, dict[str, str]] = {
        "none": {},
        "algorithm none": {"Authorization": f"Bearer {head}.{good.split('.')[1]}."},
        "expired": {"Authorization": f"Bearer {jwt.encode({**claims, 'exp': time.time() - 60}, secret, 'HS256')}"},
        "foreign key": {"Authorization": f"Bearer {jwt.encode(claims, 'x' * 64, 'HS256')}"},
        "revoked": {"Authorization": f"Bearer {revoked}"},
        "disabled": {"Authorization": f"Bearer {disabled}"},
        "key of a disabled account": {"Authorization": f"Bearer {dead_key}"},
        "deleted key": {"Authorization": f"Bearer {deleted.secret}"},
        "basic": {"Authorization": "Basic YWRtaW46YWRtaW4="},
        "wrong cookie": {"Cookie": "swarm_session=sws_" + "A" * 43},
        "token as cookie": {"Cookie": f"swarm_session={good}"},
        "proxy": {"X-Forwarded-For": "127.0.0.1", "X-Forwarded-User": "ada", "X-Real-IP": "127.0.0.1"},
    }
    got_in = []
    with httpx.Client(base_url=server.url, timeout=120) as client:
        for method, path in endpoints(server.app):
            if (method, path) in OPEN:
                continue
            for how, headers in proofs.items():
                answer = client.request(method, filled(path), headers=headers, json={} if method in UNSAFE else None)
                if not turned_away(answer):
                    got_in.append((how, method, path, answer.status_code))
        assert client.get("/v1/me", headers={"Authorization": f"Bearer {good}"}).status_code == 200
    assert got_in == []


def test_a_cookie_without_the_token_of_its_session_changes_nothing(server: Running) -> None:
    accounts = server.app.state.accounts
    ada = account(server, "ada", all=Role.ADMIN)
    begun, secret = accounts.sessions.begin(ada.id)
    other, _ = accounts.sessions.begin(ada.id)
    tokens = {
        "none": {},
        "empty": {"X-CSRF-Token": ""},
        "another session's": {"X-CSRF-Token": accounts.signer.bound("csrf", other.id)},
        "right, from a foreign page": {
            "X-CSRF-Token": accounts.signer.bound("csrf", begun.id),
            "Origin": "https://evil.example",
        },
    }
    passed = []
    with httpx.Client(base_url=server.url, cookies={"swarm_session": secret}, timeout=120) as browser:
        for method, path in endpoints(server.app):
            for how, headers in tokens.items():
                if method not in UNSAFE:
                    continue
                answer = browser.request(
                    method, filled(path), headers=headers, data={"name": "evil"} if method == "POST" else None
                )
                if answer.status_code != 403:
                    passed.append((how, method, path, answer.status_code))
        assert browser.get("/v1/me").status_code == 200
    assert passed == []
    assert [each.name for each in accounts.list()] == ["ada"]


def test_a_role_that_is_too_low_changes_nothing(server: Running, project: Project, repo: str) -> None:
    rooms = server.app.state.rooms
    (goal,) = (each.id for each in rooms.goals.list())
    cy = account(server, "cy", calc=Role.VIEWER)

    def known() -> object:
        ledger = project.root / ".swarm/ledger.jsonl"
        lines = ledger.read_bytes() if ledger.exists() else b""
        work = (rooms.goals.list(), rooms.jobs.list(), rooms.runs.working(), rooms.runs.queued())
        return lines, work, rooms.repositories.list(), server.app.state.accounts.list()

    before = known()
    headers = {"Authorization": f"Bearer {bearer(server, cy)}"}
    passed = []
    with httpx.Client(base_url=server.url, headers=headers, timeout=120) as client:
        assert client.get(f"/v1/goals/{goal}").status_code == 200
        for method, path in endpoints(server.app):
            if method not in UNSAFE or (method, path) in OPEN | OWN:
                continue
            address = filled(path, goal=goal, approval=f"{goal}-plan-1", question=f"{goal}-q1")
            answer = client.request(method, address, json=_body(path, goal), headers={"If-Match": '"1"'})
            if answer.status_code < 400 and not _refused_page(answer):
                passed.append((method, path, answer.status_code, answer.text[:200]))
    assert passed == []
    assert known() == before


def _body(path: str, goal: str) -> dict[str, Any]:
    """A body that would do."""
    agents = {"topic": "x", "task": "x", "prompt": "x", "criteria": ["x"]}
    return {
        "goal": goal, "repo": "calc", "text": "do it", "reason": "because", "decision": "approve", "name": "evil",
        "source": "/", "roles": {"*": "admin"}, **(agents if path.startswith("/api/") else {}),
    }  # fmt: skip


def _refused_page(answer: httpx.Response) -> bool:
    """A form that is refused leads back to its page, which says why; nothing was done, as the ledger shows."""
    return answer.status_code == 303


def test_what_may_not_be_seen_is_answered_as_if_it_were_not_there(server: Running, project: Project, repo: str) -> None:
    rooms = server.app.state.rooms
    (goal,) = (each.id for each in rooms.goals.list())
    headers = {"Authorization": f"Bearer {bearer(server, account(server, 'di', other=Role.ADMIN))}"}
    told = []
    with httpx.Client(base_url=server.url, headers=headers, timeout=120) as client:
        for method, path in endpoints(server.app):
            if not {"{goal}", "{repo}", "{approval}", "{question}"} & set(_parts(path)):
                continue
            hers = {"goal": goal, "approval": f"{goal}-plan-1", "question": f"{goal}-q1", "repo": "calc"}
            nobodys = {
                "goal": "c-000000000000", "approval": "c-000000000000-plan-1", "question": "c-000000000000-q1",
                "repo": "nothing",
            }  # fmt: skip
            answers = [
                client.request(method, filled(path, **ids), json=_body(path, goal) if method in UNSAFE else None)
                for ids in (hers, nobodys)
            ]
            if answers[0].status_code < 400 or _without_id(answers[0]) != _without_id(answers[1]):
                told.append((method, path, *((each.status_code, each.text[:120]) for each in answers)))
        for path in (
            "/v1/goals",
            "/v1/repos",
            "/v1/needs",
            "/v1/approvals",
            "/v1/questions",
            "/v1/runs",
            "/v1/councils",
        ):
            answer = client.get(path)
            assert (answer.status_code, answer.json()["items"]) == (200, []), path
    assert told == []


def _parts(path: str) -> list[str]:
    return path.split("/")


def _without_id(answer: httpx.Response) -> Any:
    """All of an answer but what tells requests and ids apart."""
    try:
        said = answer.json()
    except ValueError:
        return answer.status_code
    return answer.status_code, said.get("code"), said.get("detail") if answer.status_code == 404 else None


TRICKS = [
    "/v1/goals/..%2F..%2Fetc%2Fpasswd", "/v1/goals/%2e%2e", "/v1/goals/g-0123456789ab%00",
    "/static/..%2f..%2fsigning.key",
    "/static/../../signing.key", "/static/%2e%2e/%2e%2e/signing.key", "/static//etc/passwd", "/V1/goals",
    "/v1/goals/", "/v1//goals", "/v1/goals;x", "/v1/evidence/{goal}/1.1/1/..%2f..%2f..%2fledger.jsonl",
    "/v1/evidence/{goal}/..%2f..%2f/1/x", "/v1/evidence/{goal}/1.1/1/%2fetc%2fpasswd", "/v1/ledger/{goal}%2f..%2f..",
    "/v1/goals/" + "g" * 5000, "/v1/goals/g-0123456789AB", "/v1/goals/'%20OR%201=1--", "/v1/accounts/%25", "/v1/keys/*",
]  # fmt: skip


def test_tricks_of_paths_and_ids_lead_nowhere(server: Running, project: Project, repo: str) -> None:
    rooms = server.app.state.rooms
    (goal,) = (each.id for each in rooms.goals.list())
    headers = {"Authorization": f"Bearer {bearer(server, account(server, 'ada', all=Role.ADMIN))}"}
    with httpx.Client(base_url=server.url, headers=headers, timeout=120) as client:
        for path in TRICKS:
            answer = client.get(path.format(goal=goal) if "{goal}" in path else path)
            assert answer.status_code in {307, 400, 404, 405, 414, 422}, (path, answer.text[:300])
            assert "root:" not in answer.text
    assert not list(server.home.glob("bugs/*"))


def test_a_foreign_page_opens_no_socket(server: Running) -> None:
    _, secret = server.app.state.accounts.sessions.begin(account(server, "ada", all=Role.ADMIN).id)
    address = server.url.replace("http", "ws")
    cookie = {"Cookie": f"swarm_session={secret}"}

    def closed(path: str, **more: Any) -> int:
        try:
            with connect(address + path, **more) as one:
                while True:
                    one.recv(10)
        except ConnectionClosed as over:
            return over.rcvd.code if over.rcvd else 0
        except InvalidStatus as refused:
            return refused.response.status_code

    for path in ("/v1/events/socket", "/socket.io/?EIO=4&transport=websocket"):
        assert closed(path, additional_headers=cookie, origin="https://evil.example") == 4003, path
        assert closed(path, additional_headers=cookie, origin="null") == 4003, path
    assert closed("/v1/events/socket") == 4001
    assert closed("/v1/events/socket", additional_headers={"Authorization": "Bearer x"}) == 4001


def test_oversized_and_malformed_requests_are_no_bugs(server: Running) -> None:
    headers = {"Authorization": f"Bearer {bearer(server, account(server, 'ada', all=Role.ADMIN))}"}
    bodies: list[tuple[bytes, str, set[int]]] = [
        (b"x" * 2_000_000, "application/json", {413}),
        (b"{", "application/json", {422, 400, 415, 404, 409}),
        (b"[" * 100_000, "application/json", {422, 400, 404, 409}),
        (b'{"text": "\\ud800"}', "application/json", {422, 400, 404, 409}),
        (b"\xff\xfe", "application/json", {422, 400, 404, 409}),
        (b"a=" + b"%" * 1000, "application/x-www-form-urlencoded", {422, 400, 415, 404, 409, 303}),
        (b"", "multipart/form-data; boundary=", {422, 400, 415, 404, 409, 303}),
    ]
    odd = []
    with httpx.Client(base_url=server.url, headers=headers, timeout=120) as client:
        for method, path in endpoints(server.app):
            if method not in UNSAFE or (method, path) in OWN | {("POST", "/v1/session")}:
                continue
            for body, kind, expected in bodies:
                answer = client.request(method, filled(path), content=body, headers={"Content-Type": kind})
                no_body = method == "DELETE" or answer.status_code in {401, 404, 409, 429}
                if answer.status_code not in expected and not no_body:
                    odd.append((method, path, body[:20], answer.status_code, answer.text[:200]))
    assert [each for each in odd if each[3] >= 500] == []
    assert [each for each in odd if each[2].startswith(b"xxx")] == []
    assert not list(server.home.glob("bugs/*"))


def test_no_answer_of_the_server_holds_a_secret_of_another(server: Running) -> None:
    accounts = server.app.state.accounts
    ada, bob = account(server, "ada", all=Role.ADMIN), account(server, "bob", all=Role.ADMIN)
    accounts.set_password(bob.id, "the password of bob, which is long")
    key = accounts.keys.create(bob.id, "ci").secret
    tokens, link = accounts.sessions.issue(bob.id), accounts.login_link(bob.id).token
    secrets = [
        key,
        tokens.access_token,
        tokens.refresh_token,
        link,
        (server.home / "signing.key").read_text(),
        "argon2",
    ]
    with httpx.Client(
        base_url=server.url, headers={"Authorization": f"Bearer {bearer(server, ada)}"}, timeout=120
    ) as client:
        for method, path in endpoints(server.app):
            if method == "GET" and path != "/v1/events":  # which never ends
                answer = client.get(filled(path, account=bob.id))
                assert not [each for each in secrets if each in answer.text], path

"""What ADR 0007 asks of a service: its endpoints with a token at each, their limits, state in Redis, and sockets."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest
from tests.project import Project
from tests.server.conftest import Running, running
from tests.server.redis_server import RedisServer, redis_program, redis_server
from tests.server.reference.conftest import AGENTS, PROPOSES, WRITES, critique, discussion, play, scores, stands

from swarmgate.config import load
from swarmgate.server.accounts.model import Role

__all__ = ["redis_program", "redis_server"]

pytestmark = pytest.mark.slow

ENDPOINTS = (
    *(("POST", f"{AGENTS}/orchestrate/{name}") for name in ("self-critique", "discussion", "sequential", "parallel")),
    *(("POST", f"{AGENTS}/orchestrate/{name}") for name in ("conditional", "map-reduce")),
    *(("GET", f"{AGENTS}/{name}") for name in ("orchestrate/metrics", "critique/metrics", "discussion/metrics")),
    *(
        ("GET", f"{AGENTS}/{name}")
        for name in ("critique/k-0", "discussion/k-0", "registry", "registry/guard", "metrics")
    ),
)


@contextmanager
def served(project: Project, home: Path, **server: Any) -> Iterator[tuple[Running, httpx.Client]]:
    """A server with the project, and a client of an operator."""
    with running(load(flags={"server": server}), home) as at:
        at.app.state.rooms.repositories.register(project.root, name="shop", by="user:test")
        accounts = at.app.state.accounts
        known = [each.name for each in accounts.list()]
        made = accounts.named("ada") if "ada" in known else accounts.create("ada", roles={"*": Role.OPERATOR})
        key = accounts.keys.create(made.id, "tests").secret
        with httpx.Client(base_url=at.url, headers={"Authorization": f"Bearer {key}"}, timeout=60) as client:
            yield at, client


def test_every_endpoint_asks_for_a_token(project: Project, tmp_path: Path) -> None:
    """JWT at every endpoint: none, another's signature, one that is over, and the algorithm `none` are no proofs."""
    with served(project, tmp_path / "home") as (at, client):
        accounts = at.app.state.accounts
        good = accounts.sessions.issue(accounts.named("ada").id).access_token
        claims = jwt.decode(good, options={"verify_signature": False})
        assert claims["exp"] - claims["iat"] == 15 * 60
        secret = (at.home / "signing.key").read_bytes().strip()
        over = jwt.encode({**claims, "exp": int(time.time()) - 600}, secret, "HS256")
        forged = jwt.encode(claims, "x" * 64, "HS256")
        unsigned = jwt.encode(claims, "", "none")
        with httpx.Client(base_url=at.url) as nobody:
            for method, path in ENDPOINTS:
                for token in ("", over, forged, unsigned):
                    headers = {"Authorization": f"Bearer {token}"} if token else {}
                    refused = nobody.request(method, path, headers=headers, json={} if method == "POST" else None)
                    said = refused.json()
                    assert (refused.status_code, said["success"], said["error"]["code"]) == (401, False, "UNAUTHORIZED")
            registry = f"{AGENTS}/registry"
            assert nobody.get(registry, headers={"Authorization": f"Bearer {good}"}).status_code == 200
            assert client.get(registry).status_code == 200


def test_requests_are_limited(project: Project, tmp_path: Path) -> None:
    """So many a minute begin something; who asks once more is told when to come again."""
    with served(project, tmp_path / "home", limits={"writes_per_minute": 2}) as (_, client):
        bad: dict[str, Any] = {"tasks": []}
        for left in ("1", "0"):
            answer = client.post(f"{AGENTS}/orchestrate/parallel", json=bad)
            assert (answer.status_code, answer.headers["ratelimit-remaining"]) == (400, left)
        refused = client.post(f"{AGENTS}/orchestrate/parallel", json=bad)
        assert (refused.status_code, refused.json()["error"]["code"]) == (429, "RATE_LIMIT_EXCEEDED")
        assert 0 < int(refused.headers["retry-after"]) <= 60
        assert client.get(f"{AGENTS}/registry").status_code == 200


def test_the_endpoints_hold_councils(project: Project, tmp_path: Path) -> None:
    play(project, *WRITES, scores(1, 0.9, 0.9), stands("The-operator", 0.9), stands("law", 0.9), PROPOSES)
    with served(project, tmp_path / "home") as (_, client):
        done = client.post(f"{AGENTS}/orchestrate/self-critique?wait=120", json=critique())
        assert (done.status_code, done.json()["data"]["converged"]) == (200, True)
        begun = client.post(f"{AGENTS}/orchestrate/discussion", json=discussion())
        assert begun.status_code == 202
        place, end = begun.headers["location"], time.monotonic() + 60
        while (found := client.get(place).json()["data"])["status"] != "completed":
            assert time.monotonic() < end, found
            time.sleep(0.2)
        assert found["finalConsensus"] == "Plan 1."


def test_state_in_redis(project: Project, tmp_path: Path, redis_server: RedisServer) -> None:
    """Results and metrics are cached there; when it loses everything, the records themselves have it."""
    play(project, stands("The-operator", 0.9), stands("law", 0.9), PROPOSES)
    post = f"{AGENTS}/orchestrate/discussion?wait=120"
    with served(project, tmp_path / "home", store=redis_server.address) as (_, client):
        first = client.post(post, json=discussion()).json()["data"]
        asked = len(project.requests)
        again = client.post(post, json=discussion()).json()
        assert (again["data"]["id"], again["meta"]["cached"], len(project.requests)) == (first["id"], True, asked)
        metrics = client.get(f"{AGENTS}/discussion/metrics").json()["data"]
        assert (metrics["totalDiscussions"], metrics["convergenceRate"]) == (1, 1)
    with served(project, tmp_path / "home", store=redis_server.address) as (
        _,
        client,
    ):  # another server, the same Redis
        assert client.post(post, json=discussion()).json()["data"]["id"] == first["id"]
        redis_server.kill()
        refused = client.post(post, json=discussion())
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "SERVICE_UNAVAILABLE")
        assert client.get(f"{AGENTS}/discussion/{first['id']}").json()["data"] == first
        assert client.get(f"{AGENTS}/health").status_code == 503
        redis_server.forget()
        redis_server.start()
    with served(project, tmp_path / "home", store=redis_server.address) as (_, client):
        assert client.get(f"{AGENTS}/discussion/{first['id']}").json()["data"] == first
        assert client.get(f"{AGENTS}/discussion/metrics").json()["data"] == metrics
        anew = client.post(post, json=discussion()).json()["data"]
        assert (anew["id"] != first["id"], anew["finalConsensus"]) == (True, first["finalConsensus"])

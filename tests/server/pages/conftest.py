"""Somebody with a browser at a server whose repository has a scripted model."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import unescape
from typing import Any

import httpx
import pytest
from argon2 import PasswordHasher
from tests.server.conftest import NOBODY, Running, running

from swarmgate.config import load
from swarmgate.server.accounts import passwords
from swarmgate.server.accounts.model import EVERY_REPOSITORY, Account, Role

WORDS = "several words in a row"


@dataclass
class Visitor:
    """An account with a session, and an HTTP client that acts as a browser without scripts."""

    client: httpx.Client
    account: Account

    def get(self, path: str, status: int = 200) -> str:
        """A page."""
        answer = self.client.get(path)
        assert answer.status_code == status, (answer.status_code, answer.text[:2000])
        return answer.text

    def send(self, on: str, action: str, **fields: str | list[str]) -> httpx.Response:
        """Sends the form of a page that goes to `action`, with its hidden fields, as a browser does."""
        page = self.get(on)
        found = re.search(rf'<form[^>]* action="{re.escape(action)}".*?</form>', page, re.DOTALL)
        assert found, (action, re.findall(r'action="([^"]*)"', page))
        hidden = dict(re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', found[0]))
        data = {name: unescape(value) for name, value in hidden.items()}
        origin = str(self.client.base_url).rstrip("/")
        headers = {"origin": origin, "referer": f"{origin}{on}"}
        return self.client.post(action, data={**data, **fields}, headers=headers)

    def api(self, path: str, **body: Any) -> dict[str, Any]:
        """What the interface answers to this account, asked with the token of its session."""
        token = re.search(r'name="csrf_token" value="([^"]+)"', self.get("/settings"))
        assert token
        answer = self.client.post(path, json=body, headers={"x-csrf-token": token[1]})
        assert answer.is_success, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def client_send(self, action: str, **fields: str) -> httpx.Response:
        """Sends a form that is on no page any more, with the token of the session."""
        token = re.search(r'name="csrf_token" value="([^"]+)"', self.get("/settings"))
        assert token
        return self.client.post(action, data={"csrf_token": token[1], **fields})

    def told(self, answer: httpx.Response) -> str:
        """What the page says that follows a form."""
        assert answer.status_code == 303, (answer.status_code, answer.text[:2000])
        page = self.get(answer.headers["location"])
        found = re.search(r'role="(?:alert|status)"><strong>(.*?)</strong>(?:<span>(.*?)</span>)?', page)
        assert found, page[:3000]
        return unescape(" ".join(filter(None, found.groups())))


Visits = Callable[..., Visitor]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One server for the tests of a file; what they make, they take away."""
    with running(load(), tmp_path_factory.mktemp("served") / "home") as at:
        at.app.state.accounts.create("root", roles={EVERY_REPOSITORY: Role.ADMIN})
        yield at


@pytest.fixture
def emptied(server: Running) -> Iterator[None]:
    """The server loses the accounts that a test made."""
    yield
    accounts = server.app.state.accounts
    for each in accounts.list():
        if each.name != "root":
            accounts.delete(each.id)


@pytest.fixture(autouse=True)
def _cheap_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Argon2 with the least that it takes: these tests are of what stands around it."""
    passwords._nobodys.cache_clear()
    monkeypatch.setattr("swarmgate.server.accounts.passwords._hasher", lambda: PasswordHasher(1, 8, 1))


@pytest.fixture
def anybody(server: Running, emptied: None) -> Iterator[httpx.Client]:
    """A client that says nothing of who it is."""
    with httpx.Client(base_url=server.url, timeout=30, verify=NOBODY) as client:
        yield client


@pytest.fixture
def visit(server: Running, emptied: None) -> Iterator[Visits]:
    """`visit(name, role, repo)`: somebody new, who is logged in."""
    clients = []

    def make(name: str = "ada", role: Role | None = Role.ADMIN, repo: str = EVERY_REPOSITORY) -> Visitor:
        accounts = server.app.state.accounts
        account = accounts.create(name, roles={repo: role} if role else {})
        _, secret = accounts.sessions.begin(account.id)
        cookies = {"swarm_session": secret}
        clients.append(httpx.Client(base_url=server.url, cookies=cookies, timeout=30, verify=NOBODY))
        return Visitor(clients[-1], account)

    yield make
    for client in clients:
        client.close()

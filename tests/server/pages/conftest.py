"""Somebody with a browser at a server whose repository has a scripted model."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import unescape

import httpx
import pytest
from tests.project import Project
from tests.server.conftest import Running

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

    def send(self, on: str, action: str, **fields: str) -> httpx.Response:
        """Sends the form of a page that goes to `action`, with its hidden fields, as a browser does."""
        page = self.get(on)
        found = re.search(rf'<form[^>]* action="{re.escape(action)}".*?</form>', page, re.DOTALL)
        assert found, (action, re.findall(r'action="([^"]*)"', page))
        hidden = dict(re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', found[0]))
        data = {name: unescape(value) for name, value in hidden.items()}
        origin = str(self.client.base_url).rstrip("/")
        headers = {"origin": origin, "referer": f"{origin}{on}"}
        return self.client.post(action, data={**data, **fields}, headers=headers)

    def told(self, answer: httpx.Response) -> str:
        """What the page says that follows a form."""
        assert answer.status_code == 303, (answer.status_code, answer.text[:2000])
        page = self.get(answer.headers["location"])
        found = re.search(r'role="(?:alert|status)"><strong>(.*?)</strong>(?:<span>(.*?)</span>)?', page)
        assert found, page[:3000]
        return unescape(" ".join(filter(None, found.groups())))


Visits = Callable[..., Visitor]


@pytest.fixture
def visit(server: Running) -> Iterator[Visits]:
    """`visit(name, role, repo)`: somebody new, who is logged in."""
    clients = []

    def make(name: str = "ada", role: Role | None = Role.ADMIN, repo: str = EVERY_REPOSITORY) -> Visitor:
        accounts = server.app.state.accounts
        account = accounts.create(name, roles={repo: role} if role else {})
        _, secret = accounts.sessions.begin(account.id)
        clients.append(httpx.Client(base_url=server.url, cookies={"swarm_session": secret}, timeout=30))
        return Visitor(clients[-1], account)

    yield make
    for client in clients:
        client.close()


@pytest.fixture
def repo(server: Running, project: Project) -> str:
    """The id of a registered repository: the project's own folder."""
    made: str = server.app.state.rooms.repositories.register(project.root, id="calc", by="user:ada").id
    return made

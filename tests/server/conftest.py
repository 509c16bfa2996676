"""A running server: on a free port, with a home of its own."""

from __future__ import annotations

import os
import shutil
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from tests.project import Project, Rule, _after, _template, once, project

from swarmgate.config import Config, load
from swarmgate.server.accounts.model import EVERY_REPOSITORY, Role
from swarmgate.server.serving.app import create_app
from swarmgate.server.serving.listening import Listener, address, bind

__all__ = ["_after", "_template", "once", "project"]


PATIENCE_S = 90
"""Seconds: a tenth of a second is enough, but where many other processes are at work."""

NOBODY = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Trusts nobody: plain HTTP needs none of the authorities whose certificates each client reads else for 24 ms."""


@dataclass(frozen=True)
class Running:
    """A server that answers at `url`."""

    app: FastAPI
    url: str
    home: Path


@contextmanager
def running(settings: Config, home: Path) -> Iterator[Running]:
    """Serves real HTTP in a thread for the length of a block."""
    started = threading.Event()
    bound = bind("127.0.0.1", 0)
    app = create_app(settings, home=home, environ=os.environ)
    listener = Listener(app, bound, settings.server, started=started.set, ending=app.state.feed.end)
    thread = threading.Thread(target=listener.serve_until_told, name="server")
    thread.start()
    try:
        assert started.wait(PATIENCE_S), "the server did not start"
        yield Running(app, address(bound), home)
    finally:
        listener.should_exit = True
        thread.join(PATIENCE_S)
        assert not thread.is_alive(), "the server does not end"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Where the server of this test remembers."""
    return tmp_path / "server-home"


@pytest.fixture
def server(home: Path) -> Iterator[Running]:
    """A running server with the default settings."""
    with running(load(), home) as at:
        yield at


@pytest.fixture
def account(server: Running) -> Iterator[Callable[..., httpx.Client]]:
    """`account(name, role, repo)`: makes an account, and gives a client that has a key of it."""
    clients = []

    def make(name: str, role: Role | None = Role.VIEWER, repo: str = EVERY_REPOSITORY) -> httpx.Client:
        accounts = server.app.state.accounts
        made = accounts.create(name, roles={repo: role} if role else {})
        key = accounts.keys.create(made.id, "tests").secret
        headers = {"Authorization": f"Bearer {key}"}
        clients.append(httpx.Client(base_url=server.url, headers=headers, timeout=2 * PATIENCE_S, verify=NOBODY))
        return clients[-1]

    yield make
    for client in clients:
        client.close()


@pytest.fixture
def admin(account: Callable[..., httpx.Client]) -> httpx.Client:
    """A client of an account that may everything."""
    return account("admin", Role.ADMIN)


def play(project: Project, *rules: Rule, **tables: dict[str, Any]) -> None:
    """Says what agents answer; the settings are committed: councils are held in clones."""
    project.play(*rules, **tables)
    project.git("add", "-A")
    project.git("commit", "-q", "--allow-empty", "-m", "settings")


@pytest.fixture
def repo(server: Running, project: Project) -> Iterator[str]:
    """The id of a registered repository, the project's own folder; `play` says what its agents answer."""
    repositories = server.app.state.rooms.repositories
    yield repositories.register(project.root, id="calc", by="user:ada").id
    repositories.remove("calc")
    with repositories._database.writing() as database:  # the id is kept for its old source else
        database.execute("delete from former_repositories")
    shutil.rmtree(server.home / "scratch" / "calc", ignore_errors=True)  # the clone of a project that is gone


@pytest.fixture
def anybody(server: Running) -> Iterator[httpx.Client]:
    """A client that says nothing of who it is."""
    with httpx.Client(base_url=server.url, verify=NOBODY) as client:
        yield client

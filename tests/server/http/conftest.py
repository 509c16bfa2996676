"""The door in front of a few routes of its own, served over real HTTP."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from argon2 import PasswordHasher
from fastapi import FastAPI, Request, Response, WebSocket
from fastapi.responses import HTMLResponse
from pydantic import BaseModel
from tests.server.conftest import NOBODY
from tests.server.redis_server import redis_program, redis_server

from swarmgate.config import Config, Server
from swarmgate.errors import IllegalMove, NotAllowed
from swarmgate.server.accounts import passwords
from swarmgate.server.accounts.accounts import Accounts
from swarmgate.server.accounts.model import Account, Role
from swarmgate.server.http import door
from swarmgate.server.http.dependencies import Token, Who, principal_of
from swarmgate.server.http.etags import IfMatch, not_modified, require_current
from swarmgate.server.http.forgery import csrf_token
from swarmgate.server.http.limits.rates import RateLimits
from swarmgate.server.http.login import routes, session
from swarmgate.server.serving.listening import Listener, address, bind
from swarmgate.server.store.opening import open_store

__all__ = ["redis_program", "redis_server"]

WORDS = "several words in a row"


class Login(BaseModel, extra="forbid"):
    name: str
    password: str


@dataclass
class Served:
    """The server: where it is, its accounts, and how often its routes were reached."""

    url: str
    home: Path
    accounts: Accounts
    done: list[str] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)

    def client(self, **more: Any) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=10, verify=NOBODY, **more)

    def token(self, account: Account) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.accounts.sessions.issue(account.id).access_token}"}

    def browser(self, account: Account) -> tuple[httpx.Client, dict[str, str]]:
        """A browser that is logged in, and the header that its pages send."""
        begun, secret = self.accounts.sessions.begin(account.id)
        token = self.accounts.signer.bound("csrf", begun.id)
        return self.client(cookies={"swarm_session": secret}), {"X-CSRF-Token": token}


def _routes(app: FastAPI, done: list[str], tokens: list[str]) -> None:
    @app.get("/who")
    async def who(request: Request) -> dict[str, Any]:
        principal = principal_of(request)
        return {
            "account": principal.account.name if principal else "",
            "via": principal.via if principal else "",
            "client": request.scope["state"]["client"],
            "scheme": request.url.scheme,
            "csrf": csrf_token(request),
        }

    @app.get("/mine")
    async def mine(who: Who) -> str:
        return who.actor

    @app.post("/things", status_code=201)
    async def things(who: Who, token: Token, body: dict[str, Any], response: Response) -> dict[str, Any]:
        done.append(who.account.name)
        tokens.append(token)
        if "fail" in body:
            raise IllegalMove("It does not fit.", hint="try something else")
        response.headers["Location"] = f"/things/{len(done)}"
        await asyncio.sleep(body.get("seconds", 0))
        return {"number": len(done), **body}

    @app.post("/secrets")
    async def secrets(who: Who, response: Response) -> str:
        done.append(who.account.name)
        response.headers["Cache-Control"] = "no-store"
        return "geheim"

    @app.post("/form")
    async def form(request: Request) -> dict[str, str]:
        done.append("form")
        return {name: str(value) for name, value in (await request.form()).items()}

    @app.post("/things/stop")
    async def stop(who: Who) -> str:
        return who.actor

    @app.get("/bug")
    async def bug() -> str:
        secret = "_".join(["swk", "0123456789ab", "s" * 43])
        raise RuntimeError(f"no way on from {secret} and {os.environ.get('PROVIDER_KEY', '')}")

    @app.get("/bug-in-the-middle")
    async def middle() -> Response:
        async def lines() -> Any:
            yield b"one"
            raise RuntimeError

        from starlette.responses import StreamingResponse

        return StreamingResponse(lines())

    @app.get("/forbidden")
    async def forbidden() -> str:
        raise NotAllowed("Your role is too low.")

    @app.get("/page", response_class=HTMLResponse)
    async def page() -> HTMLResponse:
        return HTMLResponse("<p>hello", headers={"Cache-Control": "max-age=60"})

    @app.get("/versioned")
    async def versioned(request: Request, response: Response) -> Response:
        same = not_modified(request, response, 7)
        return Response(status_code=304 if same else 200, headers=dict(response.headers))

    @app.put("/versioned")
    async def change(decided: IfMatch) -> str:
        require_current(decided, 7)
        return "changed"

    @app.post("/login")
    async def log_in(request: Request, response: Response, body: Login) -> str:
        account = await session.by_password(request, body.name, body.password)
        await session.begin(request, response, account, "password")
        return account.name

    @app.post("/login/link")
    async def link(request: Request, response: Response, token: str) -> str:
        account = await session.by_link(request, token)
        await session.begin(request, response, account, "link")
        return account.name

    @app.post("/logout")
    async def log_out(request: Request, response: Response, who: Who) -> str:
        await session.end(request, response, who)
        return "bye"

    @app.post("/refresh")
    async def refresh(request: Request, token: str) -> dict[str, Any]:
        return (await session.refreshed(request, token)).model_dump()

    @app.websocket("/socket")
    async def socket(websocket: WebSocket) -> None:
        await websocket.accept()
        principal = principal_of(websocket)
        await websocket.send_text(principal.account.name if principal else "nobody")
        await websocket.close()


@contextmanager
def serving(home: Path, server: Server | None = None) -> Iterator[Served]:
    """Serves the routes behind the door for the length of a block.

    Args:
        home: of the server.
        server: its settings.
    """
    settings = Config(server=server or Server())
    bound, started = bind("127.0.0.1", 0), threading.Event()
    accounts = Accounts(home, settings.server)
    served = Served(address(bound), home, accounts)
    store = open_store(settings.server, home, os.environ)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        yield
        await store.close()
        await limits.aclose()

    app = FastAPI(lifespan=lifespan)
    limits = RateLimits(settings.server.limits, settings.server.store, home)
    _routes(app, served.done, served.tokens)
    app.include_router(routes.router)
    door.install(app, settings, accounts=accounts, limits=limits, store=store, home=home, environ=os.environ)
    listener = Listener(app, bound, settings.server, started=started.set, ending=lambda: None)
    thread = threading.Thread(target=listener.serve_until_told, name="door")
    with ExitStack() as stack:
        stack.callback(accounts.close)
        thread.start()
        stack.callback(thread.join, 90)
        stack.callback(setattr, listener, "should_exit", True)
        assert started.wait(90)
        yield served


Serving = Callable[..., Served]


@pytest.fixture(autouse=True)
def cheap_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Argon2 with the least that it takes: these tests are of what stands around it."""
    hasher = PasswordHasher(1, 8, 1)
    passwords._nobodys.cache_clear()
    monkeypatch.setattr("swarmgate.server.accounts.passwords._hasher", lambda: hasher)


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serving]:
    """`serve(settings)`: serves until the end of the test."""
    with ExitStack() as stack:
        yield lambda server=None: stack.enter_context(serving(tmp_path / "home", server))


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One server for the tests of a file that leave nothing behind."""
    with serving(tmp_path_factory.mktemp("served") / "home") as one:
        yield one


@pytest.fixture(scope="module")
def ada(served: Served) -> Account:
    return served.accounts.create("ada", roles={"*": Role.OPERATOR})

"""Composes the team server: every room is made here once, from settings, home and environment, and handed to the next.

app = create_app(settings, home=Path("home"), environ=os.environ)
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from fastapi import FastAPI

from swarmgate import __version__
from swarmgate.config import Config
from swarmgate.server.accounts.accounts import Accounts
from swarmgate.server.serving import health


def create_app(settings: Config, *, home: Path, environ: Mapping[str, str]) -> FastAPI:
    """Makes the application; what works beside requests begins with its lifespan and ends with it.

    Args:
        settings: the merged settings of the user, with `[server]`.
        home: the folder of what the server remembers; it is made where it is not there.
        environ: where keys and `SWARM_*` settings of projects are looked up.

    Raises:
        SwarmError: the home cannot be used as it is.
    """
    accounts = Accounts(home, settings.server)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            stack.callback(accounts.close)
            app.state.ready = True
            yield
            app.state.ready = False

    app = FastAPI(title="swarmgate", version=__version__, lifespan=lifespan, docs_url=None, redoc_url=None)
    app.state.ready = False
    app.state.settings, app.state.home, app.state.environ = settings, home, environ
    app.state.accounts = accounts
    app.include_router(health.router)
    return app

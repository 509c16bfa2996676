"""The application of the team server: its rooms, what every request passes, and the routes of all faces.

app = create_app(settings, home=Path("home"), environ=os.environ)
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI

from swarmgate.config import Config
from swarmgate.server.api import router as api
from swarmgate.server.http import door, streams
from swarmgate.server.http.login import routes
from swarmgate.server.mcp import mounting
from swarmgate.server.pages import pages
from swarmgate.server.reference import installing as adr_0007
from swarmgate.server.serving import health
from swarmgate.server.serving.home import prepared
from swarmgate.server.serving.rooms import Rooms
from swarmgate.server.telemetry.measured import Measured
from swarmgate.version import __version__


def create_app(settings: Config, *, home: Path, environ: Mapping[str, str], url: str = "") -> FastAPI:
    """Makes the application; what works beside requests begins with its lifespan and ends with it.

    A script that serves it does so below `if __name__ == "__main__":`, since its workers import the script.

    Args:
        settings: the merged settings of the user, with `[server]`.
        home: the folder of what the server keeps; it is made where it is not there.
        environ: where keys and `SWARM_*` settings of projects are looked up.
        url: where people open it, without a slash at its end; empty: as the settings say.

    Raises:
        SwarmError: the home cannot be used as it is.
    """
    server = settings.server
    address = server.public_url or url or f"http://{server.host}:{server.port}"
    rooms = Rooms.of(settings, home=prepared(home), environ=environ, url=address)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with rooms.working(), sockets, tools.working():
            app.state.ready = True
            yield
            app.state.ready = False

    app = FastAPI(title="swarmgate", version=__version__, lifespan=lifespan, docs_url=None, redoc_url=None)
    app.state.ready, app.state.rooms, app.state.services = False, rooms, rooms.services
    app.state.settings, app.state.environ, app.state.feed = settings, environ, rooms.feed
    api.install(app)
    app.include_router(streams.router)
    app.include_router(health.router)
    app.include_router(routes.router)
    sockets = adr_0007.install(
        app, settings, services=rooms.services, feed=rooms.feed, accounts=rooms.accounts, limits=rooms.limits
    )
    tools = mounting.install(app, rooms.services, server.public_url)
    door.install(
        app,
        settings,
        accounts=rooms.accounts,
        limits=rooms.limits,
        store=rooms.store,
        home=rooms.home,
        environ=environ,
    )
    pages.install(app)
    app.add_middleware(Measured, metrics=rooms.metrics)
    return app

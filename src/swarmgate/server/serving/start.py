"""Starts one server: its home, its address, its log, its application, and the link that logs in who started it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path

from swarmgate.config import Config
from swarmgate.domain.base import Frozen
from swarmgate.domain.text.redaction import redact
from swarmgate.errors import NotAProject
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.server.accounts.exposure import exposure, is_loopback
from swarmgate.server.serving import demo
from swarmgate.server.serving import home as homes
from swarmgate.server.serving.app import create_app
from swarmgate.server.serving.listening import Listener, address, bind, require_tls
from swarmgate.server.serving.rooms import Rooms
from swarmgate.server.telemetry import logs


class Started(Frozen):
    """A server that answers.

    Attributes:
        url: where people open it.
        link: logs in who started it, once; empty where it listens beyond this machine.
        until: when the link is over, in local time; None: there is none.
        home: of the server.
        project: the project that it was started in, or the demo's; empty: none.
    """

    url: str
    link: str = ""
    until: datetime | None = None
    home: str
    project: str = ""


class Wanted(Frozen):
    """What is shown beside what is registered already.

    Attributes:
        here: a folder; the project that it lies in is registered, where it is one.
        demo: play the demo, and show nothing else.
        yes: and approve whatever waits in it.
    """

    here: Path | None = None
    demo: bool = False
    yes: bool = False


def serve(
    settings: Config,
    *,
    home: Path | None,
    environ: Mapping[str, str],
    wanted: Wanted,
    started: Callable[[Started], None],
) -> None:
    """Serves until SIGINT or SIGTERM; then ends at the next safe point of what is worked on.

    Args:
        settings: the merged settings of the user.
        home: the folder of what is kept; None: as the settings say, and for the demo a new one.
        environ: where keys and `SWARM_*` settings of projects are looked up.
        wanted: what is shown.
        started: called once, when requests are answered.

    Raises:
        ConfigError: it may not listen where the settings say.
        IllegalMove: another server works in that home.
        UsageError: the address is taken, or the home cannot be used.
    """
    _log(settings)
    with ExitStack() as stack:
        project = None
        if wanted.demo:
            place = stack.enter_context(demo.staged())
            home, project = home or place / "home", place / "shortener"
        require_tls(settings.server)
        bound = stack.enter_context(bind(settings.server.host, settings.server.port))
        url = settings.server.public_url or address(bound, tls=settings.server.tls)
        folder = homes.prepared(homes.place(settings, home))
        stack.enter_context(homes.taken(folder, url))
        app = create_app(settings, home=folder, environ=environ, url=url)
        rooms: Rooms = app.state.rooms
        exposure(settings.server, rooms.accounts)
        if wanted.here is not None:
            project = _registered(rooms, wanted.here)
        playing = set()

        def tell() -> None:
            started(_started(rooms, project))
            if wanted.demo and project is not None:
                playing.add(asyncio.get_running_loop().create_task(demo.play(rooms, project, yes=wanted.yes)))

        Listener(app, bound, settings.server, started=tell, ending=rooms.feed.end).serve_until_told()


def _registered(rooms: Rooms, here: Path) -> Path | None:
    """The project that a folder lies in, which the server shows from now on; None: there is none."""
    try:
        root = SwarmFolder.find(here.resolve()).root
    except NotAProject:
        return None
    rooms.repositories.register(root, by="server")
    return root


def _started(rooms: Rooms, project: Path | None) -> Started:
    """What is told: a link only where nobody else could use it, on this machine."""
    server, known = rooms.settings.server, {"url": rooms.url, "home": str(rooms.home), "project": str(project or "")}
    if server.public_url or not is_loopback(server.host):
        return Started(**known)
    link = rooms.accounts.login_link(rooms.accounts.admin().id)
    return Started(**known, link=f"{rooms.url}{link.path}", until=link.expires.astimezone())


def _log(settings: Config) -> None:
    """Configures the log: at a terminal only what is wrong, unless the settings say otherwise."""
    telemetry = settings.server.telemetry
    quiet = sys.stderr.isatty() and "level" not in telemetry.model_fields_set
    logs.configure(style=telemetry.log, level="warning" if quiet else telemetry.level, redact=redact)

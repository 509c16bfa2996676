"""Starts one server: its home, its address, its log, its application, and the link that logs in who started it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path

from swarmgate.config import Config
from swarmgate.domain.base import Frozen
from swarmgate.domain.text.redaction import redact
from swarmgate.server.accounts.exposure import exposure, is_loopback
from swarmgate.server.serving import home as homes
from swarmgate.server.serving.app import create_app
from swarmgate.server.serving.listening import Listener, address, bind
from swarmgate.server.telemetry import logs


class Started(Frozen):
    """A server that answers.

    Attributes:
        url: where people open it.
        link: logs in who started it, once; empty where it listens beyond this machine.
        until: when the link is over, in local time; None: there is none.
        home: of the server.
    """

    url: str
    link: str = ""
    until: datetime | None = None
    home: str


def serve(
    settings: Config, *, home: Path | None, environ: Mapping[str, str], started: Callable[[Started], None]
) -> None:
    """Serves until SIGINT or SIGTERM; then ends at the next safe point of what is worked on.

    Args:
        settings: the merged settings of the user.
        home: the folder of what is kept; None: as the settings say.
        environ: where keys and `SWARM_*` settings of projects are looked up.
        started: called once, when requests are answered.

    Raises:
        ConfigError: it may not listen where the settings say.
        IllegalMove: another server works in that home.
        UsageError: the address is taken, or the home cannot be used.
    """
    _log(settings)
    place = homes.prepared(homes.place(settings, home))
    with ExitStack() as stack:
        bound = stack.enter_context(bind(settings.server.host, settings.server.port))
        url = settings.server.public_url or address(bound, tls=settings.server.tls)
        stack.enter_context(homes.taken(place, url))
        app = create_app(settings, home=place, environ=environ, url=url)
        accounts = app.state.accounts
        exposure(settings.server, accounts)

        def tell() -> None:
            if settings.server.public_url or not is_loopback(settings.server.host):
                started(Started(url=url, home=str(place)))
                return
            link = accounts.login_link(accounts.admin().id)
            started(Started(url=url, link=f"{url}{link.path}", until=link.expires.astimezone(), home=str(place)))

        Listener(app, bound, settings.server, started=tell, ending=app.state.feed.end).serve_until_told()


def _log(settings: Config) -> None:
    """Configures the log: at a terminal only what is wrong, unless the settings say otherwise."""
    telemetry = settings.server.telemetry
    quiet = sys.stderr.isatty() and "level" not in telemetry.model_fields_set
    logs.configure(style=telemetry.log, level="warning" if quiet else telemetry.level, redact=redact)

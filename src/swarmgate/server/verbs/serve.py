"""`swarm serve`: starts the team server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from swarmgate.server.verbs.extra import require_server_extra
from swarmgate.terminal.terminal import Terminal, boundary


def command(
    host: Annotated[str, typer.Option("--host", metavar="HOST", help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", metavar="N", min=0, max=65535, help="Its port; 0: any.")] = 8642,
    home: Annotated[Path | None, typer.Option("--home", metavar="DIR", help="Where the server remembers.")] = None,
) -> None:
    """Serve your projects to your team, or to yourself, in a browser.

    Example: swarm serve
    """
    with boundary(as_json=False) as terminal:
        require_server_extra()
        _serve(terminal, host, port, home)


def _serve(terminal: Terminal, host: str, port: int, home: Path | None) -> None:
    import os

    import platformdirs

    from swarmgate.config import load
    from swarmgate.server.serving.app import create_app
    from swarmgate.server.serving.listening import Listener, address, bind

    bound = bind(host, port)
    place = home or platformdirs.user_data_path("swarmgate") / "server"
    app = create_app(load(), home=place, environ=os.environ)
    url = address(bound)
    Listener(app, bound, started=lambda: terminal.note(f"swarmgate is at {url}")).serve_until_told()

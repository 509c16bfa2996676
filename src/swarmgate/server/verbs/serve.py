"""`swarm serve`: starts the team server."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from swarmgate.server.verbs.operator import Home
from swarmgate.terminal.options import Json, filled
from swarmgate.terminal.terminal import Terminal, boundary

if TYPE_CHECKING:
    from swarmgate.server.serving.start import Started, Wanted


def command(
    host: Annotated[
        str | None, typer.Option("--host", metavar="HOST", callback=filled, help="Where to listen; else 127.0.0.1.")
    ] = None,
    port: Annotated[
        int | None, typer.Option("--port", metavar="N", min=0, max=65535, help="The port, 0: a free one; else 8642.")
    ] = None,
    home: Home = None,
    store: Annotated[
        str | None,
        typer.Option("--store", metavar="STORE", callback=filled, help='"sqlite", or "redis://HOST:PORT/NUMBER".'),
    ] = None,
    public_url: Annotated[
        str | None, typer.Option("--public-url", metavar="URL", callback=filled, help="The address that people open.")
    ] = None,
    tls_cert: Annotated[
        Path | None, typer.Option("--tls-cert", metavar="FILE", callback=filled, help="The certificate, PEM.")
    ] = None,
    tls_key: Annotated[
        Path | None, typer.Option("--tls-key", metavar="FILE", callback=filled, help="Its private key, PEM.")
    ] = None,
    behind_proxy: Annotated[
        bool | None, typer.Option("--behind-proxy", help="A proxy in front does TLS; name it with --trusted-proxy.")
    ] = None,
    trusted_proxy: Annotated[
        list[str] | None,
        typer.Option("--trusted-proxy", metavar="ADDRESS", help="A proxy whose headers are believed. Repeatable."),
    ] = None,
    demo: Annotated[bool, typer.Option("--demo", help="Play the demo in the page: scripted models, no key.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="With --demo: approve the plan and every phase.")] = False,
    open_page: Annotated[bool, typer.Option("--open", help="Open the login link in your browser.")] = False,
    json: Json = False,
) -> None:
    """Serve your projects to your team, or to yourself, in a browser.

    Started in a project, it shows that project. It prints a link that logs you in once; Ctrl-C ends it.

    Example: swarm serve --demo
    """
    with boundary(json) as terminal:
        from swarmgate.server.verbs.extra import require_server_extra

        require_server_extra()
        flags = {
            "host": host,
            "port": port,
            "store": store,
            "public_url": public_url,
            "tls_cert": None if tls_cert is None else str(tls_cert),
            "tls_key": None if tls_key is None else str(tls_key),
            "behind_proxy": behind_proxy,
            "trusted_proxies": trusted_proxy or None,
        }
        _serve(terminal, flags, home=home, demo=demo, yes=yes, open_page=open_page)


def _serve(
    terminal: Terminal, flags: dict[str, Any], *, home: Path | None, demo: bool, yes: bool, open_page: bool
) -> None:
    """Serves until it is told to end."""
    import gc
    import os

    from swarmgate.config import load
    from swarmgate.errors import UsageError
    from swarmgate.server.serving.start import Wanted, serve

    if yes and not demo:
        raise UsageError("--yes approves in the demo alone.", hint="For your own goals see [approve] auto")

    def begun(started: Started) -> None:
        gc.freeze()  # what is loaded stays: no collection looks at it
        gc.enable()
        _tell(terminal, started, wanted, open_page=open_page)

    wanted = Wanted(here=None if demo else Path.cwd(), demo=demo, yes=yes)
    serve(load(flags={"server": flags}), home=home, environ=os.environ, wanted=wanted, started=begun)


def _tell(terminal: Terminal, started: Started, wanted: Wanted, *, open_page: bool) -> None:
    """Prints what a person needs to begin."""
    lines = [f"swarmgate serves at {started.url}"]
    if started.link:
        lines.append(f"Log in, once, until {started.until:%H:%M}: {started.link}")
    if wanted.demo:
        lines.append(
            "The demo begins: " + ("nobody has to approve." if wanted.yes else "approve its plan in the page.")
        )
    elif started.project:
        lines.append(f"This project: {started.project}")
    terminal.result(started.model_dump(mode="json"), [*lines, "Ctrl-C ends it."])
    if open_page and started.link:
        from swarmgate.workspace.programs.browser import open_address

        if not open_address(started.link, Path.cwd()):
            terminal.note("Nothing on this machine opens pages: open the link yourself.")

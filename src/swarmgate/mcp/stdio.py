"""Serves the project at hand over stdin and stdout, which belong to the protocol alone."""

# ruff: noqa: PLC0415 - late: `initialize` is answered before the package of the protocol is there

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from swarmgate.errors import MissingRequirement
from swarmgate.mcp import greeting
from swarmgate.terminal.protocol_streams import claimed

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

LONGEST = 32 << 20
"""Bytes of a request; whoever sends a longer one floods us, and is not listened to any more."""


def serve(start: Path) -> None:
    """Serves until the input ends, or SIGINT or SIGTERM come; what runs then is stopped, and ended before this returns.

    Args:
        start: a folder in the repository.

    Raises:
        MissingRequirement: the package of the protocol is not installed.
    """
    if find_spec("mcp") is None:
        raise MissingRequirement(
            "The package of the Model Context Protocol is not installed.", hint="pip install 'swarmgate[mcp]'"
        )
    requests, replies = claimed()
    if not (first := requests.readline(LONGEST)):
        return
    greeted = greeting.answer(first)
    if greeted is not None:
        with suppress(BrokenPipeError):
            replies.write(greeted[1])
            replies.flush()
    import gc

    gc.enable()  # the command line has it off, for those that end soon
    with _without("rfc3987_syntax"):
        import anyio

        from swarmgate.mcp.local import Local
        from swarmgate.mcp.session import server_of
        from swarmgate.mcp.streams import Replies, Requests, served

    local = Local(start, os.environ)
    server: Server = server_of(lambda _: local)
    answered = None if greeted is None else greeted[0]
    anyio.run(served, server, Requests(requests, first, LONGEST), Replies(replies, answered))


@contextmanager
def _without(module: str) -> Iterator[None]:
    """The time in which imports do not find a module that others can do without.

    `jsonschema` takes rfc3987_syntax for a check of addresses that no schema here has; it builds a grammar at its
    import, which takes two thirds of all that the package of the protocol needs (1.6 of 2.4 s).
    """
    if module in sys.modules:
        yield
        return
    sys.modules[module] = None  # type: ignore[assignment]  # so Python knows what is not to be found
    try:
        yield
    finally:
        del sys.modules[module]

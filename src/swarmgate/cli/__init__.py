"""The command line: one file a verb. Each parses, calls the facade `Swarm`, and prints; nothing is decided here."""

from __future__ import annotations

import contextlib
import gc
import os
import sys


def main() -> None:
    """The entry point of the `swarm` command."""
    # A short command ends before a collection pays off, and imports trigger many. Verbs that work on switch it on.
    gc.disable()
    if sys.argv[1:3] == ["gates", "run"]:
        _repeat()
    from swarmgate.cli.app import app

    try:
        app(prog_name="swarm")
    except SystemExit as ended:
        _end(ended.code if isinstance(ended.code, int) else int(ended.code is not None))


def _repeat() -> None:
    """End with what the same command said before, where nothing changed since."""
    from swarmgate.engine import replay

    known = replay.attempt(sys.argv[1:])
    if known is not None:
        sys.stdout.buffer.write(known.text.encode("utf-8", "surrogateescape"))
        _end(known.exit_code)


def _end(code: int) -> None:
    # Taking down some 400 modules again would be a sixth of a short command's time; only this is left to clean up.
    if used := sys.modules.get("swarmgate.workspace.temporary"):
        used.leave()
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)

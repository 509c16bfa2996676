"""`python -m swarmgate.testing SCRIPT` serves a scripted model; the first line on stdout is the base URL."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from swarmgate.errors import UsageError
from swarmgate.testing.habits import HABITS
from swarmgate.testing.script import Script
from swarmgate.testing.server import ScriptedServer


def main(argv: Sequence[str] | None = None) -> int:
    """Serve until SIGINT or SIGTERM, or until stdin closes; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m swarmgate.testing", description=__doc__)
    parser.add_argument("script", type=Path, nargs="?", help="a .yaml, .json or .toml file of rules")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument("--port", type=int, default=0, help="port to listen on (default: a free one)")
    parser.add_argument("--port-file", type=Path, help="write the port here once it is open")
    parser.add_argument("--latency", type=float, default=0.0, metavar="SECONDS", help="hold each answer back")
    parser.add_argument(
        "--habit", action="append", default=[], metavar="NAME", help="a habit of a real endpoint to play; repeatable"
    )
    parser.add_argument("--pace", type=float, default=1.0, metavar="FACTOR", help="how much of each pause is waited")
    parser.add_argument("--list-habits", action="store_true", help="print the habits and end")
    parser.add_argument("--until-stdin-closes", action="store_true", help="end when stdin closes")
    options = parser.parse_args(argv)
    if options.list_habits:
        sys.stdout.writelines(f"{each.name}: {each.about} ({each.source})\n" for each in HABITS)
        return 0
    if options.script is None:
        parser.error("a script is needed: what the model says")
    try:
        server = ScriptedServer(
            Script.load(options.script),
            host=options.host,
            port=options.port,
            latency_s=options.latency,
            habits=options.habit,
            pace=options.pace,
            keep_requests=False,
        )
    except (UsageError, OSError, OverflowError) as error:
        hint = f" ({error.hint})" if isinstance(error, UsageError) and error.hint else ""
        sys.stderr.write(f"error: {error}{hint}\n")
        return 2
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with server, contextlib.suppress(KeyboardInterrupt):
        if options.port_file:
            _write(options.port_file, str(server.port))
        sys.stdout.write(f"{server.base_url}\n")
        sys.stdout.flush()
        _wait(until_stdin_closes=options.until_stdin_closes)
    return 0


def _wait(*, until_stdin_closes: bool) -> None:
    if not until_stdin_closes:
        signal.pause()
    while os.read(sys.stdin.fileno(), 4096):
        pass


def _write(path: Path, text: str) -> None:
    """In one step: whoever waits for the file never reads half of it."""
    partial = path.with_name(f"{path.name}.partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)


if __name__ == "__main__":
    sys.exit(main())

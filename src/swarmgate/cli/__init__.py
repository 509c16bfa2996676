"""The command line: one file a verb. Each parses, calls the facade `Swarm`, and prints; nothing is decided here."""

from __future__ import annotations

import gc


def main() -> None:
    """The entry point of the `swarm` command."""
    # A short command ends before a collection pays off, and imports trigger many. Verbs that work on switch it on.
    gc.disable()
    from swarmgate.cli.app import app

    app(prog_name="swarm")

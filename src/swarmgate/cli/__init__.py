"""The command line: one file a verb. Each parses, calls the facade `Swarm`, and prints; nothing is decided here."""

from __future__ import annotations


def main() -> None:
    """The entry point of the `swarm` command."""
    from swarmgate.cli.app import app

    app(prog_name="swarm")

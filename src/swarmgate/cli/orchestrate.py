"""`swarm orchestrate`: to be written."""

from __future__ import annotations


def command() -> None:
    """To be written."""

"""A `.swarm/` folder of its own for every test."""

from __future__ import annotations

from tests.ledger.conftest import folder

__all__ = ["folder"]

"""A `.swarm/` folder of its own for every test, and a Redis where one is asked for."""

from __future__ import annotations

from tests.ledger.conftest import folder
from tests.server.redis_server import redis_program, redis_server

__all__ = ["folder", "redis_program", "redis_server"]

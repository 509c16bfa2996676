"""What every part of the council's facade stands on: the project, its surroundings, and the records of its patterns."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from swarmgate.engine.sitting import Surroundings
    from swarmgate.engine.swarm import Swarm


class InProject:
    """A part of the facade of one project."""

    def __init__(self, swarm: Swarm) -> None:
        self._swarm = swarm

    @cached_property
    def _around(self) -> Surroundings:
        return self._swarm.surroundings()


def new_id() -> str:
    """A name that sorts by time: `20261121-224500-3f2a`."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"

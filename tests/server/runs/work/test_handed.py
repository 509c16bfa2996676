"""A goal that a fleet works on is followed through moments in which its remote is out of reach."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import cast

import pytest

from swarmgate.errors import FleetError, RemoteAway
from swarmgate.server.runs.fleet import Fleet
from swarmgate.server.runs.work.handed import followed

pytestmark = pytest.mark.suite("unittest")


class Flickering:
    """A fleet whose remote fails some times before it answers."""

    def __init__(self, *problems: FleetError) -> None:
        self._problems = list(problems)

    def follow(self, *_place: object) -> str:
        if self._problems:
            raise self._problems.pop(0)
        return "waiting"


def standing(fleet: Flickering, patience_s: float) -> str:
    return asyncio.run(
        followed(cast("Fleet", fleet), "calc", "g-0123456789ab", Path(), patience_s=patience_s, pause_s=0)
    )


def test_a_remote_that_is_away_for_a_moment_ends_no_following() -> None:
    assert standing(Flickering(RemoteAway("away"), RemoteAway("away")), patience_s=60) == "waiting"
    with pytest.raises(RemoteAway):
        standing(Flickering(RemoteAway("away")), patience_s=-1)
    with pytest.raises(FleetError, match="does not go on"):
        standing(Flickering(FleetError("it does not go on from here")), patience_s=60)

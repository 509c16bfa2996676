"""Type of the progress events of a council."""

from __future__ import annotations

from collections.abc import Callable

from swarmgate.council.views.stream import PatternEvent

CouncilEvent = PatternEvent

OnCouncilEvent = Callable[[CouncilEvent], None]

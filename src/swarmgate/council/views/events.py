"""What a council tells while it is at work, for a progress display; what counts is on record elsewhere."""

from __future__ import annotations

from collections.abc import Callable

from swarmgate.council.views.stream import PatternEvent

CouncilEvent = PatternEvent

OnCouncilEvent = Callable[[CouncilEvent], None]

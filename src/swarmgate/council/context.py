"""Session context that the steps of every council pattern receive: agent contexts, record store, event listener."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from swarmgate.council.participants.contexts import ContextFactory
from swarmgate.council.records.store import Records
from swarmgate.council.views.events import CouncilEvent


def _nobody(_event: object) -> None:
    """Nobody listens."""


@dataclass(frozen=True)
class CouncilContext:
    """The context of one session.

    Attributes:
        contexts: make the agent context of each participant.
        records: where this one is kept, and those that are parts of it.
        on_event: hears what happens.
        own: further objects of a pattern, made by its facade: the user of a discussion, the checks of a critique.
    """

    contexts: ContextFactory
    records: Records
    on_event: Callable[[CouncilEvent], None] = _nobody
    own: Any = field(default=None)

"""Base class of council patterns: its pure rules and the steps that call models.

A pattern brings these and nothing else. Begin, resume, pause, limits, budget, usage, masking, sealing, concurrency and
progress are the driver's (`run.py`). A new pattern is one folder and one line in the table (`patterns.py`).
"""
# ruff: noqa: ARG002 - defaults use fewer arguments than a pattern may

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

from swarmgate.council.context import CouncilContext
from swarmgate.council.records.rules import Rules
from swarmgate.domain.base import Frozen
from swarmgate.errors import SwarmError

Where = Callable[[tuple[int | str, ...]], str]
"""How a message about a key begins, such as `decision.toml, line 3: `; a place in a list counts from 0."""

Q = TypeVar("Q", bound=Frozen)
S = TypeVar("S")
O = TypeVar("O")  # noqa: E741 - an outcome


class Unfinished(Exception):
    """A step that an error ended: its events so far go on record, then the error is raised.

    Args:
        error: what ended it.
        events: of the step so far.
    """

    def __init__(self, error: SwarmError, *events: Frozen) -> None:
        super().__init__(error.message)
        self.error, self.events = error, events


class Pattern(Rules[Q, S, O]):
    """One form in which several participants work on one request."""

    def check(self, request: Q, context: CouncilContext, where: Where) -> None:
        """Insists that it can be held, before anything is on record: everybody has a model, and what is asked fits.

        Args:
            request: what is asked for.
            context: of the session.
            where: how a message about a key of the request begins.

        Raises:
            CouncilRefused, ConfigError, MissingRequirement: it cannot.
        """

    def needs(self, request: Q, context: CouncilContext) -> int:
        """Tokens that its first round takes at least: of its prompts; 0: nobody knows."""
        return 0

    @abstractmethod
    async def do(self, step: Hashable, state: S, context: CouncilContext) -> Sequence[Frozen]:
        """Does a step, and says what happened: at least one event, after which `next` does not name the step again.

        One that is cut off may say what it used: it takes the `CancelledError`, and returns that.

        Raises:
            SwarmError: it cannot be done; what ends the session.
            Unfinished: the same, and what it came to before.
        """

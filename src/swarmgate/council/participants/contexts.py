"""Interface that makes agent contexts for participants and the architect; the engine implements it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from swarmgate.domain.review.votes import Seat

if TYPE_CHECKING:
    from swarmgate.agents.context import AgentContext


class ContextFactory(Protocol):
    """Makes the agent contexts of participants."""

    def agent(self, seat: Seat, *, folder: str = "") -> AgentContext:
        """An agent context with the seat's model and its persona as system text, that reads files and no more.

        Args:
            seat: whose.
            folder: where its files are rooted, relative to the repository; empty: at the repository's root.

        Raises:
            ConfigError: the seat has no model, or its provider is unknown.
            MissingRequirement: the key of its provider is not set.
            WorkspaceError: the folder is not inside of the repository.
        """

    def parent(self) -> AgentContext | None:
        """The agent context of the architect, who synthesises; None: it has no model, and the majority decides."""

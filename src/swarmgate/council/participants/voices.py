"""Who speaks: a desk for every seat, and the desk of the parent that synthesises. The engine room makes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from swarmgate.domain.review.votes import Seat

if TYPE_CHECKING:
    from swarmgate.agents.context import Desk


class Voices(Protocol):
    """Makes the surroundings of voices."""

    def desk(self, seat: Seat, *, folder: str = "") -> Desk:
        """A desk whose model is the seat's, whose persona is its system text, and that reads files and no more.

        Args:
            seat: whose.
            folder: where its files are rooted, relative to the repository; empty: at the repository's root.

        Raises:
            ConfigError: the seat has no model, or its provider is unknown.
            MissingRequirement: the key of its provider is not set.
            WorkspaceError: the folder is not inside of the repository.
        """

    def parent(self) -> Desk | None:
        """The desk of the architect, who synthesises; None: it has no model, and the majority decides."""

"""What judges a version without a model: commands and gates. The engine room carries them out."""

from __future__ import annotations

from typing import Protocol

from swarmgate.domain.critique import Criterion, Critique, Score


class Unchecked(Exception):
    """Whether a version meets a programmatic criterion cannot be told; the message says why. It is never a pass."""


class Checks(Protocol):
    """Judges versions by commands and gates."""

    async def check(self, criterion: Criterion, critique: Critique, version: str) -> Score:
        """The score of a version by a programmatic criterion: 1 or 0, with the end of what was printed as the reason.

        Raises:
            Unchecked: the program is not there, or it did not look at the version.
        """

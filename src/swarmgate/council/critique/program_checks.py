"""Interface for checking a version with commands and gates instead of a model; the engine implements it."""

from __future__ import annotations

from typing import Protocol

from swarmgate.council.critique.model import Criterion, Critique, Score
from swarmgate.project import Project


class Unchecked(Exception):
    """Whether a version meets a programmatic criterion cannot be told; the message says why. It is never a pass."""


class Checks(Protocol):
    """Judges versions by commands and gates."""

    async def check(self, criterion: Criterion, critique: Critique, version: str) -> Score:
        """The score of a version by a programmatic criterion: 1 or 0, with the end of what was printed as the reason.

        Raises:
            Unchecked: the program is not there, or it did not look at the version.
        """


class Programs(Protocol):
    """The commands and gates of projects."""

    def gates(self, project: Project) -> list[str]:
        """The names of the gates that may judge."""

    def of(self, project: Project, critique: Critique) -> Checks:
        """What judges the versions of a critique.

        Raises:
            CouncilRefused: gates are to judge a file that git ignores.
            MissingRequirement: there is no sandbox for a command.
        """

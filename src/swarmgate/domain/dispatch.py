"""The words of a dispatch: its modes, and a task for a voice. What comes of it stands in the council's room."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, model_validator

from swarmgate.domain.base import Frozen, Line, Text
from swarmgate.domain.debate import SeatId

MOST_TASKS = 8
"""Tasks of one parallel dispatch at most."""

MOST_CHAIN = 50
"""Tasks of one chain at most."""

AT_ONCE = 4
"""Of those, how many are worked on at the same time."""

PREVIOUS = "{previous}"
"""What stands in a chain's text for the output before."""

DispatchRole = Literal["architect", "critic", "coder", "reviewer", "test_engineer", "sme"]


class Mode(StrEnum):
    """How the tasks of a dispatch are worked on."""

    SINGLE = "single"
    PARALLEL = "parallel"
    CHAIN = "chain"
    DEBATE = "debate"


def _said(value: str) -> str:
    if not value:
        raise ValueError("must not be empty")
    return value


def _folder(value: str) -> str:
    if value.startswith(("/", "~", "\\")) or ".." in value.split("/"):
        raise ValueError("must be a folder inside of the repository, such as src/api")
    return value


class DispatchTask(Frozen):
    """One task: who is asked, as a role or as a participant of any name, and what.

    `model` is `provider/model`; empty: the role's own, or the participants'. The voice finds its files in `folder`,
    relative to the root of the repository; empty: the root itself.
    """

    role: DispatchRole | Literal[""] = ""
    participant: SeatId | Literal[""] = ""
    text: Annotated[Text, AfterValidator(_said)]
    model: Line = ""
    folder: Annotated[Line, AfterValidator(_folder)] = ""

    @model_validator(mode="after")
    def _one_voice(self) -> Self:
        if bool(self.role) == bool(self.participant):
            raise ValueError("has either a `role` or a `participant`" + (", not both" if self.role else ""))
        return self

    @property
    def name(self) -> str:
        """What the voice is called."""
        return self.role or self.participant

"""The verdict of the command policy on a command line, as a data class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from swarmgate.workspace.command_policy.model import Simple


@dataclass(frozen=True, slots=True)
class Reason:
    """One rule that refuses one command: which, the command, why, and what to do instead."""

    rule: str
    command: str
    why: str
    instead: str

    def __str__(self) -> str:
        return f"`{self.command}`: {self.why} ({self.rule}). {self.instead}"


@dataclass(frozen=True, slots=True)
class Judgement:
    """Whether a line may run, each reason against it, and how it was read.

    `allowed_by` is the pattern of `[commands] allow` that let it through, empty where none had to.
    """

    allowed: bool
    reasons: tuple[Reason, ...] = ()
    commands: tuple[Simple, ...] = ()
    allowed_by: str = ""

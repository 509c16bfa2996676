"""What a role works at: its model, the user's files, the prompts and the bounds of a turn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from swarmgate.agents.prompts import Prompts
from swarmgate.domain.guard import GuardNote, Turn
from swarmgate.llm.model import Model
from swarmgate.workspace.files import FileTree


@dataclass(frozen=True, slots=True)
class Limits:
    """The bounds of one turn.

    `replies`: how often an unusable reply, or a refused end of the turn, is sent back to the model. `max_turns`: model
    calls until the turn must have ended. `command_timeout_s`: the longest time of one `run_command`, in seconds.
    """

    replies: int = 3
    max_turns: int = 80
    command_timeout_s: float = 120


@dataclass(frozen=True, slots=True)
class ToolUse:
    """One tool call, for a progress display; `summary` is one line, and so is `problem`, why it did not succeed."""

    role: str
    tool: str
    summary: str
    problem: str = ""


def ignore(_what: object) -> None:
    """Tell nobody."""


@dataclass(frozen=True)
class Desk:
    """The surroundings of one role's turns.

    `guidance` is the repository's AGENTS.md: it stands, fenced, in every brief. `env` are variables on top of the
    inherited environment of commands. `on_guard` hears what a guard noticed, `on_turn` what a turn took: both go on
    record in the ledger.
    """

    model: Model
    files: FileTree
    prompts: Prompts
    guidance: str = ""
    limits: Limits = field(default_factory=Limits)
    env: Mapping[str, str] | None = None
    on_tool: Callable[[ToolUse], None] = ignore
    on_guard: Callable[[GuardNote], None] = ignore
    on_turn: Callable[[Turn], None] = ignore

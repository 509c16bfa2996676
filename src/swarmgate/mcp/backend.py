"""What stands behind the tools: the project at hand, or the projects of a team server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from swarmgate.domain.base import Frozen
from swarmgate.domain.progress import Listener

Ask = Callable[[str, Mapping[str, Any]], Awaitable[Mapping[str, Any] | None]]
"""Asks the person a text with the JSON schema of a form; what they filled in, None: they would not."""


@dataclass(frozen=True)
class Call:
    """One call of a tool, as whoever does it needs to know it.

    Attributes:
        listener: told about progress.
        ask: asks the person at the client; None: the client cannot.
    """

    listener: Listener
    ask: Ask | None = None


class Document(NamedTuple):
    """A text that can be read: its name, media type, and the text itself."""

    name: str
    media_type: str
    text: str


class Backend(Protocol):
    """Projects as the face sees them; what they answer is cleaned before it leaves."""

    async def call(self, tool: str, asked: Any, call: Call) -> Frozen:
        """Does what a tool is for.

        Args:
            tool: its name in the table.
            asked: its arguments, as the table has them.
            call: who asked.

        Raises:
            SwarmError: it cannot be done, as the facade says.
        """

    async def plan_document(self, goal: str) -> Document:
        """The plan as plan.md has it; `goal` is the id of a team server's, empty for the project at hand."""

    async def entry(self, goal: str, seq: int) -> Document:
        """One line of the ledger, as JSON."""

    async def evidence(self, goal: str, task: str, attempt: int, name: str) -> Document:
        """One file of the evidence of an attempt; without a name the list of them, as JSON."""

    async def handoff(self, goal: str) -> Document:
        """One page on where the work stands."""

    def cleaner(self) -> Callable[[str], str]:
        """What takes the secrets of the project, and control characters, out of texts."""

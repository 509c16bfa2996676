"""What a council tells while it is at work, for a progress display; what counts is on record elsewhere.

Each pattern adds its own events to the union `CouncilEvent`; those that came later share the ones of `council.stream`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from swarmgate.council.stream import PatternEvent
from swarmgate.domain.chat import ChatMessage, ChatResult, ChatTurn


@dataclass(frozen=True, slots=True)
class MessageSent:
    """A message of a swarm chat is on record, and delivered."""

    chat: str
    message: ChatMessage


@dataclass(frozen=True, slots=True)
class AgentSpoke:
    """A turn of an agent of a swarm chat is on record."""

    chat: str
    turn: ChatTurn


@dataclass(frozen=True, slots=True)
class ChatEnded:
    """A swarm chat is over, and that is on record."""

    result: ChatResult


CouncilEvent = MessageSent | AgentSpoke | ChatEnded | PatternEvent

OnCouncilEvent = Callable[[CouncilEvent], None]

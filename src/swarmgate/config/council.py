"""The table `[council]`: bounds of debates, dispatches and swarm chats."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from swarmgate.config.base import Seconds, Section

MOST_TTL_S = 7 * 24 * 3600
"""Seconds; the same as of a chat's file (`domain.chat`), which reads no settings."""


class Chat(Section):
    """`[council.chat]`: the bounds of one swarm chat."""

    ttl_s: float = Field(600, gt=0, le=MOST_TTL_S, description="How long a chat may last, in seconds.")
    messages: int = Field(200, ge=1, le=100_000, description="Messages that its agents may send.")
    tokens: int = Field(200_000, ge=1, description="Tokens that its agents may use together.")


class Council(Section):
    """`[council]`: the bounds of debates and of dispatched tasks."""

    rounds: int = Field(2, ge=1, le=5, description="Rounds of a debate; the last one is the vote.")
    order: Literal["fixed", "rotate"] = Field("rotate", description="Who is read first: always the same, or in turns.")
    tokens: int = Field(20_000, ge=500, description="Tokens that one voice may use in one round.")
    timeout_s: Seconds = Field(300, description="Longest time of one voice in one round, in seconds.")
    similarity: float = Field(90, ge=50, le=100, description="Likeness of two claims, in percent, that makes one old.")
    usd: float | None = Field(None, ge=0, description="US dollars that one debate, dispatch or chat may use.")
    total_tokens: int | None = Field(None, ge=1, description="Tokens that one debate, dispatch or chat may use.")
    chat: Chat = Field(default_factory=Chat, description="The bounds of one swarm chat.")

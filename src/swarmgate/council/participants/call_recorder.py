"""A model wrapper that records the newest conversation, the usage and the duration of a participant's calls."""

from __future__ import annotations

import hashlib
import time
from dataclasses import replace

from swarmgate.agents.context import AgentContext
from swarmgate.domain.usage import Usage
from swarmgate.llm.model import CallFailed, Model, ModelReply, ModelRequest


class CallRecorder:
    """A `Model` that remembers the newest conversation, what its calls used, also those that failed, and who answered.

    Args:
        inner: the model that answers.
    """

    def __init__(self, inner: Model) -> None:
        self.name = inner.name
        self.usage = Usage()
        self.model = inner.name
        self._inner = inner
        self._request: ModelRequest | None = None
        self._began = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Wall time since this was made."""
        return round(time.perf_counter() - self._began, 4)

    @property
    def took(self) -> dict[str, object]:
        """The fields of a record that say what the calls took."""
        return {"model": self.model, "prompt_hash": self.prompt_hash, "usage": self.usage, "seconds": self.seconds}

    @property
    def prompt_hash(self) -> str:
        """The SHA-256 of the newest conversation that was sent, in hex; empty: none was.

        Hashed is `role NUL content NUL` of each message, with the id, the name and the arguments of its tool calls.
        """
        if self._request is None:
            return ""
        digest = hashlib.sha256()
        for message in self._request.messages:
            parts = [message.role, message.content, message.tool_call_id]
            for call in message.tool_calls:
                parts += [call.id, call.name, call.arguments]
            for part in parts:
                digest.update(part.encode(errors="surrogatepass"))
                digest.update(b"\0")
        return digest.hexdigest()

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Answer the conversation; raises what `inner` raises."""
        self._request = request
        try:
            reply = await self._inner.complete(request)
        except CallFailed as error:
            self.usage += error.usage
            raise
        self.usage += reply.usage
        self.model = reply.model or self.model
        return reply


def with_recorder(agent: AgentContext) -> tuple[AgentContext, CallRecorder]:
    """The agent context with such a model, and the model."""
    model = CallRecorder(agent.model)
    return replace(agent, model=model), model

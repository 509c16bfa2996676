"""A scripted model without an endpoint, for tests of programs that use swarmgate as a library."""

from __future__ import annotations

from collections.abc import Iterable

from swarmgate.llm.model import CallFailed, ModelReply, ModelRequest, ToolCall

Scripted = ModelReply | ToolCall | str | Exception
"""A reply, or short for one: a tool call, a text, an error to raise."""


class ScriptedModel:
    """A `Model` that gives the replies it was handed, in order, and keeps the requests it got.

    For a whole script by role and task, over real HTTP, see `swarmgate.testing.ScriptedServer`.
    """

    def __init__(self, replies: Iterable[Scripted], *, name: str = "scripted/model") -> None:
        self.name = name
        self.requests: list[ModelRequest] = []
        self._replies = list(replies)

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Give the next reply.

        Raises:
            CallFailed: there is none left.
        """
        at = len(self.requests)
        self.requests.append(request)
        if at >= len(self._replies):
            raise CallFailed(f"{self.name}: the script has {at} replies; call {at + 1} is for {request.purpose or '?'}")
        reply = self._replies[at]
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, ToolCall):
            return ModelReply(tool_calls=(reply,), model=self.name, finish_reason="tool_calls")
        if isinstance(reply, str):
            return ModelReply(text=reply, model=self.name)
        return reply if reply.model else reply.model_copy(update={"model": self.name})

"""Answers the repeated calls of a resumed turn from its trace, so that nothing is paid for twice.

A turn that is begun again asks what it asked before as long as everything that its model was told is the same: the
prompt, the brief with the files, the results of the tools, which are carried out anew. Such a request gets the answer
on record. The first one that differs goes to the model, and so does everything after it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import ValidationError

from swarmgate.llm.model import Message, Model, ModelReply, ModelRequest

# What of a tool's result differs between runs that come to the same: how long it took, where its temporary files lay,
# addresses of objects.
_PASSING = re.compile(
    r"\b\d+(?:\.\d+)? ?(?:µs|us|ms|s|secs?|seconds?|min|minutes?)\b|\b\d+:\d\d(?::\d\d)?(?:\.\d+)?\b"
    r"|(?:/private)?/(?:tmp|var/folders|var/tmp)/[^\s'\":]+|\b0x[0-9a-f]{6,}\b"
)


class Finished:
    """The answers on record that a run may take, until the step is done that they were given for.

    Args:
        load: reads them, by the key of their request.
        step: which step is on; another one takes none of them.
    """

    def __init__(self, load: Callable[[], Mapping[str, Any]], step: Callable[[], int]) -> None:
        self._load = load
        self._step = step
        self._of: int | None = None
        self._known: dict[str, Any] = {}

    def take(self, key: str) -> ModelReply | None:
        """The answer to a request, once; None where there is none that can be read."""
        if self._of is None:
            self._of, self._known = self._step(), dict(self._load())
        if self._of != self._step():
            self._known.clear()
        found = self._known.pop(key, None)
        try:
            return None if found is None else ModelReply.model_validate(found)
        except ValidationError:
            return None


class Replayed:
    """A `Model` that answers from the record what it can; the outermost layer of a role's model.

    Args:
        inner: the model that is asked otherwise, and paid.
        finished: the answers on record.
        settings: what else an answer depends on: the model, its fallbacks, its sampling.
    """

    def __init__(self, inner: Model, finished: Finished, *, settings: str) -> None:
        self.name = inner.name
        self._inner = inner
        self._finished = finished
        self._settings = settings

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Answer the conversation; raises what `inner` raises."""
        key = key_of(request, self._settings)
        if (known := self._finished.take(key)) is not None:
            return known.model_copy(update={"replayed": True})
        return await self._inner.complete(request.model_copy(update={"key": key}))


def key_of(request: ModelRequest, settings: str) -> str:
    """What makes a request the same as another: SHA-256 of everything that the model receives, durations aside."""
    identity = {
        "settings": settings,
        "tools": [tool.model_dump(mode="json") for tool in request.tools],
        "messages": [_identity_of(message) for message in request.messages],
    }
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()


def _identity_of(message: Message) -> dict[str, Any]:
    fields = message.model_dump(mode="json")
    return {**fields, "content": _PASSING.sub("T", message.content)} if message.role == "tool" else fields

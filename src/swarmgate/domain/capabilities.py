"""What a model at an endpoint was found to be able to do."""

from __future__ import annotations

from swarmgate.domain.base import Frozen
from swarmgate.domain.usage import Usage


class Capabilities(Frozen):
    """The findings of a probe, made at `asked` (UTC) at `base_url`. None: it could not be told.

    `model` is `provider/model`. `error` says why it could not be asked at all; all findings are None then.
    `parallel_tools`: several tool calls in one reply. `json_schema`: an answer is held to a given schema. `system` is
    False where the endpoint refuses a system message. `context_tokens` is the window as the endpoint states it.
    `usage` is what the probe itself cost.
    """

    model: str
    base_url: str
    asked: str
    error: str = ""
    tools: bool | None = None
    parallel_tools: bool | None = None
    stream: bool | None = None
    json_schema: bool | None = None
    system: bool | None = None
    context_tokens: int | None = None
    usage: Usage = Usage()

"""The record of a model's probed capabilities (tools, JSON, context window) at an endpoint."""

from typing import Self

from swarmgate.domain.base import Frozen
from swarmgate.domain.usage import Usage

_ASKED_FOR = {"tools": "tools", "stream": "stream", "system": "system", "response_format": "json_schema"}
"""The features that a probe asks for, and the field that has its answer."""


class Capabilities(Frozen):
    """The findings of a probe, made at `asked` (UTC) at `base_url`, and of calls. None: it could not be told.

    `model` is `provider/model`. `error` says why it could not be asked at all; all findings are None then. `asked` is
    empty where no probe was made and all is known from calls.
    `parallel_tools`: several tool calls in one reply. `json_schema`: an answer is held to a given schema. `system` is
    False where the endpoint refuses a system message. `context_tokens` is the window as the endpoint states it.
    `left_out` names what else of a request is refused (`llm.endpoint.refusals`), `longest_answer` the most tokens
    of an answer that may be asked for. `usage` is what the probe itself cost.
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
    left_out: tuple[str, ...] = ()
    longest_answer: int | None = None
    usage: Usage = Usage()

    def lacks(self, feature: str) -> bool:
        """Whether a feature of the wire was found not to work."""
        if field := _ASKED_FOR.get(feature):
            return getattr(self, field) is False
        return feature in self.left_out

    def without(self, feature: str) -> Self:
        """The same, and the feature does not work."""
        if field := _ASKED_FOR.get(feature):
            return self.model_copy(update={field: False})
        return self.model_copy(update={"left_out": tuple(sorted({*self.left_out, feature}))})

    def with_(self, feature: str) -> Self:
        """The same, and nothing is known against the feature."""
        if field := _ASKED_FOR.get(feature):
            return self.model_copy(update={field: None})
        return self.model_copy(update={"left_out": tuple(each for each in self.left_out if each != feature)})

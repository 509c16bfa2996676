"""Falls back to the next model when one has failed for good."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from swarmgate.config import is_program
from swarmgate.domain.usage import Usage
from swarmgate.llm.events import FellBack, OnEvent, ignore
from swarmgate.llm.model import CallFailed, Model, ModelReply, ModelRequest

REST_S = 300.0
"""A model whose retries were used up is asked last for this long, so that not every call waits for it again."""

_NEVER = datetime.max.replace(tzinfo=UTC)


class Fallback:
    """A `Model` that asks several in order; `ModelReply.model` says which one answered.

    `limited` says of which ones it is known that their limit is reached: those are asked last.
    """

    def __init__(
        self,
        models: Sequence[Model],
        *,
        on_event: OnEvent = ignore,
        clock: Callable[[], float] = time.monotonic,
        limited: Callable[[str], bool] = lambda _model: False,
    ) -> None:
        self.name = models[0].name
        self._models = tuple(models)
        self._on_event = on_event
        self._clock = clock
        self._limited = limited
        self._rests_until: dict[str, float] = {}

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Answer the conversation.

        Raises:
            CallFailed: every model failed; the message names each one with its last error, `limit` the one that ends
                first.
        """
        failures: list[CallFailed] = []
        wasted = Usage()
        order = self._order()
        for model, following in zip(order, [*order[1:], None], strict=True):
            try:
                reply = await model.complete(request)
            except CallFailed as error:
                failures.append(error)
                wasted += error.usage
                if error.retriable if error.limit is None else error.limit.ends is None:
                    self._rests_until[model.name] = self._clock() + REST_S
                if following:
                    limit = error.limit.kind if error.limit else ""
                    self._on_event(FellBack(model=model.name, to=following.name, reason=error.message, limit=limit))
            else:
                self._rests_until.pop(model.name, None)
                return reply.model_copy(update={"usage": wasted + reply.usage})
        raise _all_failed(failures, wasted, _awaited(self._models))

    def _order(self) -> list[Model]:
        now = self._clock()
        return sorted(
            self._models,
            key=lambda model: self._rests_until.get(model.name, 0.0) > now or self._limited(model.name),
        )


def _awaited(models: Sequence[Model]) -> str:
    """What has to happen before it is worth another try."""
    programs = [is_program(model.name) for model in models]
    if all(programs):
        return "the program works"
    return "one of them works" if any(programs) else "the endpoint answers"


def _all_failed(failures: list[CallFailed], wasted: Usage, awaited: str) -> CallFailed:
    hints = [error.hint for error in failures if error.hint]
    resume = f"nothing is lost: `swarm run` goes on from here once {awaited}"
    what = "; ".join(error.message for error in failures)
    message = what if len(failures) == 1 else f"every model of the role failed: {what}"
    ending = [error.limit for error in failures if error.limit and error.limit.ends]
    first = min(ending, key=lambda limit: limit.ends or _NEVER, default=None)
    return CallFailed(message, hint="; ".join([*dict.fromkeys(hints), resume]), limit=first, usage=wasted)

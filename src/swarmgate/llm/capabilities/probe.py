"""Probes the capabilities of a model with a few tiny requests, each with its own time limit.

Four requests where all goes well: one streamed answer that obeys its system message, one reply with two tool calls, one
answer held to a schema, and the list of models for the size of the window. Import this module late: `openai` takes long
to load.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any

import openai

from swarmgate.config import Provider
from swarmgate.domain.capabilities import Capabilities
from swarmgate.domain.usage import Usage
from swarmgate.llm.capabilities import windows
from swarmgate.llm.endpoint import refusals
from swarmgate.llm.endpoint.assembly import Assembly
from swarmgate.llm.endpoint.failures import FailureFactory
from swarmgate.llm.endpoint.openai_model import OpenAIModel, complaint
from swarmgate.llm.endpoint.wire import Dialect, characters, estimated_tokens, options
from swarmgate.llm.model import CallFailed

TIMEOUT_S = 60.0
"""Longest time of one request; a server at home may have to load the model first."""

_LONGEST_ANSWER = 1024
"""Tokens; a model that thinks needs some before it writes a word."""

_WORD = "PLUM"
_OBEY = f"Whatever you are asked, answer with the single word {_WORD}."
_PLAIN = "You are a test program. Do exactly what you are told."
_SCHEMA = {
    "type": "object",
    "properties": {"plum_count": {"type": "integer"}, "plum_colour": {"type": "string"}},
    "required": ["plum_count", "plum_colour"],
    "additionalProperties": False,
}
_TOOL = {
    "type": "function",
    "function": {
        "name": "report_number",
        "description": "Report one number.",
        "parameters": {
            "type": "object",
            "properties": {"number": {"type": "integer"}},
            "required": ["number"],
            "additionalProperties": False,
        },
    },
}
_TWICE = "Call report_number with 1 and, in the same reply, report_number with 2."
_ONCE = "Call the tool report_number with the number 7 now."
_FORMS = tuple(Dialect(left_out=frozenset(each)) for each in ((), ("stream",), ("system",), ("stream", "system")))
"""How the first request is tried, until the endpoint takes it."""
_REFUSING = {400, 404, 405, 415, 422, 500, 501}
"""Statuses by which endpoints refuse a feature once the plain request went well."""


async def probe(
    name: str,
    provider: Provider,
    *,
    api_key: str,
    price: Callable[[Usage], float | None],
    now: datetime,
    timeout_s: float = TIMEOUT_S,
) -> Capabilities:
    """Probes the capabilities of `provider/model`. Never raises for an endpoint's failure: `error` says it."""
    model = OpenAIModel(name, provider, api_key=api_key, timeout_s=timeout_s)
    prober = _Prober(model, name.partition("/")[2])
    found: dict[str, Any] = {"model": name, "base_url": provider.base_url, "asked": now.isoformat(timespec="seconds")}
    try:
        found |= await prober.base()
        found |= await prober.tools()
        found["json_schema"] = await prober.schema()
        found["left_out"] = prober.left_out
        found["context_tokens"] = await windows.context_tokens(model.fetch, provider.base_url, prober.served)
    except (CallFailed, openai.APIStatusError) as error:
        failed = error if isinstance(error, CallFailed) else _refused(FailureFactory(name, provider, api_key), error)
        problem = f"{failed.message} -> {failed.hint}" if failed.hint else failed.message
        found = {key: found[key] for key in ("model", "base_url", "asked")} | {"error": problem}
    finally:
        await model.aclose()
    usage = prober.usage
    return Capabilities(**found, usage=usage.model_copy(update={"usd": price(usage) if usage.calls else 0.0}))


def _refused(failing: FailureFactory, error: openai.APIStatusError) -> CallFailed:
    return failing.refused(error.status_code, error.response.headers, error.response.text, complaint(error))


class _Prober:
    """The requests to one model, each in the form that the ones before it showed to be taken."""

    def __init__(self, model: OpenAIModel, served: str) -> None:
        self.served = served
        self.usage = Usage()
        self._model = model
        self._dialect = Dialect()

    @property
    def left_out(self) -> tuple[str, ...]:
        """What requests were made without, beside what has a finding of its own."""
        return tuple(sorted(self._dialect.left_out & _RENAMED))

    async def base(self) -> dict[str, bool | None]:
        """Streaming and system message. Without any answer there is nothing to find out.

        Raises:
            CallFailed, openai.APIStatusError: the model cannot be asked at all.
        """
        for dialect in _FORMS:
            self._dialect = dialect
            try:
                answer = await self._ask_text("system", "Which colour has the sky?", system=_OBEY)
                break
            except openai.APIStatusError as error:
                if error.status_code not in _REFUSING - {404} or dialect is _FORMS[-1]:
                    raise
            except CallFailed:  # perhaps only its streams break off; a dead endpoint fails again
                if not dialect.takes("stream"):
                    raise
        obeyed = True if _WORD in answer.text.upper() else None
        takes = self._dialect.takes
        return {"stream": takes("stream"), "system": obeyed if takes("system") else False}

    async def tools(self) -> dict[str, bool | None]:
        """Tool calls, and several in one reply."""
        answer = await self._tried("tools", _TWICE, tools=[_TOOL])
        if not isinstance(answer, Assembly):
            return {"tools": answer, "parallel_tools": answer}
        if calls := _numbers(answer):
            return {"tools": True, "parallel_tools": True if len(calls) > 1 else _lacking(answer)}
        parallel = _lacking(answer)
        answer = await self._tried("tools", _ONCE, tools=[_TOOL])
        works = (True if _numbers(answer) else _lacking(answer)) if isinstance(answer, Assembly) else answer
        return {"tools": works, "parallel_tools": parallel if works else works}

    async def schema(self) -> bool | None:
        """Whether an answer is held to a schema that the question does not speak of."""
        form = {"type": "json_schema", "json_schema": {"name": "plums", "strict": True, "schema": _SCHEMA}}
        answer = await self._tried("json_schema", "Say something about plums.", response_format=form)
        if not isinstance(answer, Assembly):
            return answer
        try:
            value = json.loads(answer.text)
        except (ValueError, RecursionError):
            return _lacking(answer)
        return isinstance(value, dict) and {k: type(v) for k, v in value.items()} == {
            "plum_count": int,
            "plum_colour": str,
        }

    async def _tried(self, step: str, text: str, **more: Any) -> Assembly | bool | None:
        """The answer; False when the endpoint refuses what is more in the request, None when it failed otherwise."""
        try:
            return await self._ask_text(step, text, system=_PLAIN, **more)
        except openai.APIStatusError as error:
            return False if error.status_code in _REFUSING else None
        except CallFailed:
            return None

    async def _ask_text(self, step: str, text: str, *, system: str, **more: Any) -> Assembly:
        """One answer; a limit or an option that the endpoint knows by another name is sent by that."""
        while True:
            body = self._body(f"ROLE: probe\nSTEP: {step}\n\n{text}", system, **more)
            try:
                answer = await self._model.send(body)
            except openai.APIStatusError as error:
                refused = refusals.named(complaint(error), _RENAMED & body.keys(), set())
                if not refused:
                    raise
                self._dialect = self._dialect.without(refused)
            else:
                self._count(answer, body)
                return answer

    def _body(self, user: str, system: str, **more: Any) -> dict[str, Any]:
        system_messages = [{"role": "system", "content": system}] if self._dialect.takes("system") else []
        user = user if system_messages else f"{user}\n\n{system}"
        fields = {"model": self.served, "messages": [*system_messages, {"role": "user", "content": user}], **more}
        return fields | options(self._dialect, temperature=None, max_tokens=_LONGEST_ANSWER)

    def _count(self, answer: Assembly, body: dict[str, Any]) -> None:
        usage = answer.usage or Usage(
            prompt_tokens=estimated_tokens(characters(body["messages"])),
            completion_tokens=estimated_tokens(answer.size),
        )
        self.usage += usage.model_copy(update={"calls": 1})


_RENAMED = frozenset({"max_tokens", "max_completion_tokens", "stream_options"})


def _lacking(answer: Assembly) -> bool | None:
    """What an answer says that lacks what was asked for: False; None where it was cut off, perhaps while thinking."""
    return None if answer.finish_reason == "length" or answer.too_long else False


def _numbers(answer: Assembly) -> list[int]:
    """The numbers of the calls that are as they were asked for."""
    found = []
    for call in answer.tool_calls:
        try:
            arguments = json.loads(call.arguments)
        except (ValueError, RecursionError):
            continue
        if call.name == "report_number" and isinstance(arguments, dict) and isinstance(arguments.get("number"), int):
            found.append(arguments["number"])
    return found

"""One call to one OpenAI-compatible endpoint, through the `openai` package.

Import this module late: `openai` takes long to load.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any

import openai

from swarmgate.config import Provider, Role
from swarmgate.domain.capabilities import Capabilities
from swarmgate.domain.usage import Usage
from swarmgate.llm import strict, wire
from swarmgate.llm.assembly import Assembly, EventBody, JsonBody, Malformed, Refused
from swarmgate.llm.json_tools import parse
from swarmgate.llm.limit_ends import of_answer, of_stream
from swarmgate.llm.model import TOO_LONG, CallFailed, ModelReply, ModelRequest
from swarmgate.llm.redact import redact

INACTIVITY_S = 60.0
"""A stream that was silent for this long has died."""

_AFTER_DONE_S = 1.0
"""How long to wait for the end of the connection after the end of the answer, so that it can be used again."""

_LOOK_S = 10.0
"""Longest time of a look at what an endpoint states about itself."""

_FEATURE_REFUSED = {400, 404, 422, 500, 501}
_RETRIED = {408, 409, 425, 429}
_CONTEXT = re.compile(
    r"context.{0,20}(length|window|size)|maximum context|prompt is too long|too many (input )?tokens", re.IGNORECASE
)


class OpenAIModel:
    """A `Model` at an endpoint.

    Args:
        name: `provider/model`.
        provider: the endpoint.
        role: sampling and time limit; its `model` and `fallback` are not looked at.
        api_key: empty when the endpoint needs none: then no Authorization header is sent.
        price: the cost in US dollars of what a call used; None when unknown.
        known: what a probe found; settings that the user wrote win over it.
        timeout_s: longest time of a call; default as `role`, then `provider` say.
        inactivity_s: longest silence in a stream.
        clock: seconds, monotonic.
    """

    def __init__(
        self,
        name: str,
        provider: Provider,
        role: Role | None = None,
        *,
        api_key: str = "",
        price: Callable[[Usage], float | None] = lambda _usage: None,
        known: Capabilities | None = None,
        timeout_s: float | None = None,
        inactivity_s: float = INACTIVITY_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self._served = name.partition("/")[2]
        self._provider = provider
        self._key = api_key
        self._price = price
        self._clock = clock
        self._temperature = role.temperature if role else None
        self._max_tokens = role.max_tokens if role else None
        self._timeout_s = timeout_s or (role.timeout_s if role else None) or provider.timeout_s
        self._inactivity_s = inactivity_s
        self._dialect = _dialect(provider, role, known)
        self._client: openai.AsyncOpenAI | None = None
        _ = self._open().chat.completions  # connects nowhere; else openai loads half of itself in the first call

    async def aclose(self) -> None:
        """Close the connections; a later call opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Answer the conversation; a feature that the endpoint refuses is left out from then on.

        Raises:
            CallFailed: no answer; `retriable` says whether trying again may help.
        """
        started = self._clock()
        while True:
            body = wire.body(
                request,
                self._dialect,
                model=self._served,
                temperature=self._temperature,
                max_tokens=self._max_tokens,
            )
            assembly = Assembly()
            try:
                await self._exchange(body, assembly)
            except openai.APIStatusError as error:
                narrower = self._dialect.without(complaint(error), body)
                if error.status_code not in _FEATURE_REFUSED or narrower is None:
                    raise self._refusal(error) from error
                self._dialect = narrower
            else:
                return self._reply(request, body, assembly, self._clock() - started)

    async def send(self, body: dict[str, Any]) -> Assembly:
        """The answer to a body as it is: one try, nothing left out.

        Raises:
            CallFailed: no answer.
            openai.APIStatusError: the endpoint refused it.
        """
        assembly = Assembly()
        await self._exchange(body, assembly)
        return assembly

    async def look(self, url: str, *, body: dict[str, Any] | None = None) -> Any:
        """The JSON that a GET (or a POST of `body`) gives, None when there is none; `url` may be relative to `/v1`."""
        options: Any = {"headers": self._left_out(), "max_retries": 0, "timeout": min(_LOOK_S, self._timeout_s)}
        try:
            if body is None:
                return await self._open().get(url, cast_to=object, options=options)
            return await self._open().post(url, cast_to=object, body=body, options=options)
        except (openai.OpenAIError, ValueError):
            return None

    async def _exchange(self, body: dict[str, Any], assembly: Assembly) -> None:
        """Send `body` and read the answer into `assembly`, within the time limits."""
        loop = asyncio.get_running_loop()
        end = loop.time() + self._timeout_s
        reader: JsonBody | EventBody | None = None
        # The body is JSON already, see `wire`: as `extra_body` openai does not walk through it for 2 ms a call.
        # The overloads of create() cannot be matched by a dict.
        create: Any = self._open().chat.completions.with_streaming_response.create
        named = {key: body[key] for key in ("model", "stream") if key in body}
        try:
            sent = create(**named, messages=(), extra_body=body, extra_headers=self._left_out())
            async with asyncio.timeout_at(end) as limit, sent as response:
                is_json = "json" in response.headers.get("content-type", "")
                reader = JsonBody(assembly) if is_json else EventBody(assembly)
                async with aclosing(response.iter_bytes()) as chunks:
                    async for data in chunks:
                        if not reader.feed(data):
                            break
                        silence = _AFTER_DONE_S if reader.done else self._inactivity_s
                        limit.reschedule(min(end, loop.time() + silence))
                reader.finish()
        except TimeoutError:
            if not (reader and reader.done):
                waited = f"{self._timeout_s:g} s" if loop.time() >= end else f"{self._inactivity_s:g} s of silence"
                raise self._failure(f"no complete answer within {waited}", retriable=True) from None
        except Malformed as error:
            raise self._failure(f"the endpoint's answer is unreadable: {error}", retriable=True) from error
        except Refused as error:
            told = of_stream(str(error), now=datetime.now(UTC))
            raise self._failure(f"the endpoint reported an error: {error}", retriable=True, limit=told) from error
        except openai.APIStatusError:
            raise
        except Exception as error:
            if not is_transport(error):
                raise
            raise self._no_connection(error) from error

    def _open(self) -> openai.AsyncOpenAI:
        if self._client is None:
            # Plain http needs no trust store, and loading one costs 30 ms a role. Without redirects no request can end
            # at an endpoint with TLS that was not verified.
            plain = self._provider.base_url.startswith("http://")
            self._client = openai.AsyncOpenAI(
                http_client=openai.DefaultAsyncHttpxClient(verify=False, follow_redirects=False) if plain else None,
                base_url=self._provider.base_url,
                api_key=self._key or "none",
                default_headers=self._provider.headers,
                max_retries=0,
                timeout=openai.Timeout(self._timeout_s, connect=min(10.0, self._timeout_s)),
            )
        return self._client

    def _left_out(self) -> dict[str, Any]:
        """Headers not to send: openai takes organization and project from OPENAI_* variables, no settings of ours."""
        names = ["OpenAI-Organization", "OpenAI-Project", *([] if self._key else ["Authorization"])]
        return {name: openai.Omit() for name in names if name not in self._provider.headers}

    def _reply(self, request: ModelRequest, body: dict[str, Any], assembly: Assembly, seconds: float) -> ModelReply:
        usage = assembly.usage or Usage(
            prompt_tokens=wire.estimated_tokens(wire.characters(body["messages"]) + len(str(body.get("tools", "")))),
            completion_tokens=wire.estimated_tokens(assembly.size),
        )
        usage = usage.model_copy(update={"calls": 1, "seconds": seconds, "usd": self._price(usage)})
        text, calls = assembly.text, assembly.tool_calls
        if request.tools and not self._dialect.tools and not assembly.too_long:
            said = strict.unwrapped(text) if "response_format" in body else None
            # In a schema, text and calls have their own places: what is quoted stands in the text.
            data = () if said else [each.content for each in request.messages if each.role in ("user", "tool")]
            left, calls = parse(said[1] if said else text, prefix=f"text_{len(request.messages)}", data=data)
            text = (said and said[0]) or left
        reason = TOO_LONG if assembly.too_long else assembly.finish_reason or "stop"
        if not text.strip() and not calls and reason != TOO_LONG:
            raise self._empty(reason, usage)
        return ModelReply(text=text, tool_calls=calls, usage=usage, model=self.name, finish_reason=reason)

    def _failure(self, message: str, *, hint: str = "", retriable: bool = False, **more: Any) -> CallFailed:
        return CallFailed(f"{self.name}: {redact(message, (self._key,))}", hint=hint, retriable=retriable, **more)

    def _empty(self, reason: str, usage: Usage) -> CallFailed:
        if reason == "length":
            hint = "raise max_tokens of the role, or leave it out"
            return self._failure("the answer was cut off at max_tokens before it said anything", hint=hint, usage=usage)
        return self._failure(f"the answer is empty (finish_reason {reason})", retriable=True, usage=usage)

    def _no_connection(self, error: Exception) -> CallFailed:
        cause = error if error.__cause__ is None else error.__cause__
        url, why = self._provider.base_url, str(cause) or type(cause).__name__
        hint = f"is the endpoint running? [providers] base_url says {url}"
        return self._failure(f"the connection failed: {url}: {why}", hint=hint, retriable=True)

    def _refusal(self, error: openai.APIStatusError) -> CallFailed:
        """What a status says, and what the user should look at."""
        status, said = error.status_code, complaint(error)
        if status == 413 or (status in {400, 422} and _CONTEXT.search(said)):  # noqa: PLR2004 - Content Too Large
            hint = "use a model with a larger context for this role, or split the task"
            return self._failure(f"the conversation is too long for the model ({status}: {said})", hint=hint)
        headers = error.response.headers
        limit = of_answer(status, headers, error.response.text, now=datetime.now(UTC))
        quota = limit is not None and limit.ends is None
        final = quota or headers.get("x-should-retry") == "false"  # OpenAI's own way to say so
        retriable = (status in _RETRIED or status >= 500 or limit is not None) and not final  # noqa: PLR2004 - server errors
        key = self._provider.api_key_env
        hint = {
            401: f"check the key in {key}" if key else "name the variable with the key: [providers] api_key_env",
            403: f"check what the key in {key or '[providers] api_key_env'} may use",
            404: f"check the model name `{self._served}` and base_url {self._provider.base_url}",
        }.get(status, "check the account at the provider" if quota else "")
        return self._failure(f"the endpoint answered {status}: {said}", hint=hint, retriable=retriable, limit=limit)


def _dialect(provider: Provider, role: Role | None, known: Capabilities | None) -> wire.Dialect:
    """What the user set, else what a probe found, else that everything works until it is refused."""
    found = known or Capabilities(model="", base_url="", asked="")
    written = provider.model_fields_set
    tools = provider.tools if "tools" in written else found.tools is not False
    stream = provider.stream if "stream" in written else found.stream is not False
    return wire.Dialect(
        tools=role.tools if role and role.tools is not None else tools,
        stream=stream,
        system=found.system is not False,
        response_format=found.json_schema is True,
    )


def complaint(error: openai.APIStatusError) -> str:
    """What the endpoint said of a refused call, at most 300 characters."""
    body: Any = error.body
    said = body.get("message", body) if isinstance(body, dict) else body or error.message
    return re.sub(r"\s+", " ", str(said))[:300]


def is_transport(error: Exception) -> bool:
    """Whether the connection failed.

    openai stands on httpx, from version 3 on httpx2, and lets the errors of either through while a body is read.
    """
    roots = {kind.__module__.partition(".")[0] for kind in type(error).__mro__}
    return isinstance(error, OSError | openai.APIConnectionError) or bool(
        roots & {"httpx", "httpx2", "httpcore", "anyio"}
    )

"""Calls one OpenAI-compatible endpoint, through the `openai` package.

Import this module late: `openai` takes long to load.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import aclosing
from typing import Any

import openai

from swarmgate.config import Provider, Role
from swarmgate.domain.usage import Usage
from swarmgate.llm.endpoint import refusals, wire
from swarmgate.llm.endpoint.answer_length import where_cut
from swarmgate.llm.endpoint.answer_timeouts import AnswerTimer, TimeLimits
from swarmgate.llm.endpoint.assembly import Assembly, EventBody, JsonBody, Malformed, NoAnswer, Refused
from swarmgate.llm.endpoint.failures import FailureFactory
from swarmgate.llm.endpoint.model_memory import ModelMemory
from swarmgate.llm.endpoint.negotiation import Adaptation, Negotiation
from swarmgate.llm.events import Answering, CutOff, OnEvent, ignore
from swarmgate.llm.model import REPEATS, TOO_LONG, CallFailed, ModelReply, ModelRequest
from swarmgate.llm.parsing.merged_calls import Asked, answered
from swarmgate.llm.parsing.text_calls import read_plain

_FETCH_S = 10.0
"""Time limit in seconds of a request for what an endpoint states about itself."""


class OpenAIModel:
    """A `Model` at an endpoint.

    Args:
        name: `provider/model`.
        provider: the endpoint.
        role: sampling and time limit; its `model` and `fallback` are not looked at.
        api_key: empty when the endpoint needs none: then no Authorization header is sent.
        price: the cost in US dollars of what a call used; None when unknown.
        memory: what is known of models, and takes in what calls find out; settings that the user wrote win over it.
        on_event: receives each finding.
        longest: the longest answer, in tokens, where the role does not say; None: as the endpoint has it.
        limits: the longest times of a call, of its beginning and of a silence; default as `role`, then `provider` say.
        timeout_s: bounds all of these.
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
        memory: ModelMemory | None = None,
        on_event: OnEvent = ignore,
        longest: int | None = None,
        limits: TimeLimits | None = None,
        timeout_s: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self._provider = provider
        self._key = api_key
        self._price = price
        self._clock = clock
        self._temperature = role.temperature if role else None
        self._written_max_tokens = role.max_tokens if role else None
        self._max_tokens = self._written_max_tokens or longest
        self._window = role.context_tokens if role else None
        self._limits = limits or TimeLimits.of(provider, role, at_most=timeout_s)
        self._on_event = on_event
        self._failures = FailureFactory(name, provider, api_key)
        self._adaptation = Adaptation(
            name,
            provider.base_url,
            written=_written(provider, role),
            memory=memory or ModelMemory(),
            on_event=on_event,
            key=api_key,
        )
        self._calls_tools = self._tried_text = False
        self._client: openai.AsyncOpenAI | None = None
        self._answered: openai.AsyncOpenAI | None = None
        _ = self._open().chat.completions  # connects nowhere; else openai loads half of itself in the first call

    async def aclose(self) -> None:
        """Close the connections; a later call opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    @property
    def dialect(self) -> wire.Dialect:
        """The form in which calls are made now."""
        return self._adaptation.dialect()

    def learn(self, feature: str, complaint: str = "") -> bool:
        """Goes on without a feature of the wire, for all roles, now and in later runs; reported to the user once.

        Args:
            feature: its name (`llm.endpoint.refusals`), such as `tools`.
            complaint: the text of the endpoint or the model that revealed it.

        Returns:
            False where the user's settings ask for the feature: nothing changes then.
        """
        return self._adaptation.learn(feature, complaint)

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Answer the conversation; a feature that the endpoint refuses is left out from then on.

        Raises:
            CallFailed: no answer; `retriable` says whether trying again may help.
        """
        started = self._clock()
        call = Negotiation()
        self._report_unsupported_settings(self.dialect)
        while True:
            body = wire.body(
                request,
                self._adaptation.dialect(call),
                name=self.name,
                temperature=self._temperature,
                max_tokens=self._max_tokens,
            )
            assembly = Assembly()
            try:
                await self._exchange(body, assembly)
            except openai.APIStatusError as error:
                if not self._adaptation.adapt(error.status_code, complaint(error), body, call):
                    details = error.response.headers, error.response.text, call.first or complaint(error)
                    raise self._failures.refused(error.status_code, *details) from error
            except Refused as error:
                if assembly.size or not self._adaptation.adapt(error.status, error.complaint, body, call):
                    raise self._failures.reported(error) from error
            else:
                self._adaptation.answered(body, call)
                reply = self._answer(request, body, assembly, started)
                if "tools" not in body or self._calls_tools:
                    return reply
                self._calls_tools = bool(assembly.tool_calls) or self._adaptation.known.tools is True
                return reply if self._calls_tools else await self._in_text(request, reply)

    async def _in_text(self, request: ModelRequest, reply: ModelReply) -> ModelReply:
        """The reply of a model that may not call tools natively, though it was told to: then it goes on in text.

        One that wrote a call as text can do that. One that wrote words where a call is due, as models do whose endpoint
        drops the tools from the request, is asked once more, in text; if it calls now, that is how it is asked.
        """
        if reply.tool_calls:
            self.learn("tools", "it wrote a call into the text of its answer")
            return reply
        words = reply.text.strip() and not reply.doubt and reply.finish_reason not in (TOO_LONG, REPEATS, "length")
        if self._tried_text or not (request.call_due and words) or not self._adaptation.may_learn("tools"):
            return reply
        self._tried_text = True
        dialect = self._adaptation.dialect().without("tools")
        body = wire.body(request, dialect, name=self.name, temperature=self._temperature, max_tokens=self._max_tokens)
        assembly, started = Assembly(), self._clock()
        try:
            await self._exchange(body, assembly)
            again = self._answer(request, body, assembly, started)
        except (CallFailed, openai.APIStatusError, Refused) as error:
            used = error.usage if isinstance(error, CallFailed) else Usage()
            return reply.model_copy(update={"usage": reply.usage + used})
        usage = reply.usage + again.usage
        if not again.tool_calls:
            return reply.model_copy(update={"usage": usage})
        self.learn("tools", "it answered in words where a tool was to be called, and calls in text")
        return again.model_copy(update={"usage": usage})

    def _report_unsupported_settings(self, dialect: wire.Dialect) -> None:
        """Reports settings that the endpoint does not support, once a run."""
        if self._temperature is not None and not dialect.takes("temperature"):
            self._adaptation.report("temperature", f"it takes no temperature: {self._temperature:g} is left out")
        most = self._written_max_tokens
        if most and not (dialect.takes("max_tokens") or dialect.takes("max_completion_tokens")):
            self._adaptation.report("max_completion_tokens", f"it takes no limit of an answer: {most:,} is left out")
        elif most and dialect.longest and dialect.longest < most:
            reason = f"it gives no answers of {most:,} tokens: of at most {dialect.longest:,}"
            self._adaptation.report(f"longest {dialect.longest}", reason)

    async def send(self, body: dict[str, Any]) -> Assembly:
        """The answer to a body as it is: one try, nothing left out.

        Raises:
            CallFailed: no answer.
            openai.APIStatusError: the endpoint refused it.
        """
        assembly = Assembly()
        try:
            await self._exchange(body, assembly)
        except Refused as error:
            raise self._failures.reported(error) from error
        return assembly

    async def fetch(self, url: str, *, body: dict[str, Any] | None = None) -> Any:
        """The JSON that a GET (or a POST of `body`) gives, None when there is none; `url` may be relative to `/v1`."""
        options: Any = {"headers": self._left_out(), "max_retries": 0, "timeout": min(_FETCH_S, self._limits.whole_s)}
        try:
            if body is None:
                return await self._open().get(url, cast_to=object, options=options)
            return await self._open().post(url, cast_to=object, body=body, options=options)
        except (openai.OpenAIError, ValueError):
            return None

    async def _exchange(self, body: dict[str, Any], assembly: Assembly) -> None:
        """Send `body` and read the answer into `assembly`, within the time limits."""
        limits = self._limits if body.get("stream") else self._limits.whole
        timer = AnswerTimer(limits, asyncio.get_running_loop().time)
        # The body is JSON already, see `wire`: as `extra_body` openai does not walk through it for 2 ms a call.
        # The overloads of create() cannot be matched by a dict.
        create: Any = self._open().chat.completions.with_streaming_response.create
        named = {key: body[key] for key in ("model", "stream") if key in body}
        try:
            sent = create(**named, messages=(), extra_body=body, extra_headers=self._left_out())
            async with asyncio.timeout_at(timer.until) as limit, sent as response:
                await self._read(response, assembly, timer, limit)
        except TimeoutError:
            if not timer.done:
                raise self._failures.out_of_time(timer.missed) from None
        except NoAnswer as error:
            raise self._failures.no_answer(error) from error
        except Malformed as error:
            raise self._failures.failure(f"the endpoint's answer is unreadable: {error}", retriable=True) from error
        except (openai.APIStatusError, Refused):
            self._answered = self._client
            raise
        except Exception as error:
            if not is_transport(error):
                raise
            if not (self._connection_was_reused and hung_up(error)):
                raise self._failures.no_connection(error) from error
            await self.aclose()  # the server closed it while nobody spoke: what was sent did not reach it
            await self._exchange(body, assembly)

    @property
    def _connection_was_reused(self) -> bool:
        """Whether the connection was used before, and not opened for this request."""
        return self._answered is not None and self._answered is self._client

    async def _read(self, response: Any, assembly: Assembly, timer: AnswerTimer, limit: asyncio.Timeout) -> None:
        """Read the body of an answer; each sign of life sets the limit anew."""
        is_json = "json" in response.headers.get("content-type", "")
        reader = JsonBody(assembly) if is_json else EventBody(assembly)
        async with aclosing(response.iter_bytes()) as chunks:
            async for data in chunks:
                if not reader.feed(data):
                    break
                ended = bool(assembly.finish_reason)
                limit.reschedule(timer.received(begun=assembly.begun, done=reader.done, ended=ended))
                if timer.worth_showing(assembly.size):
                    tokens = wire.estimated_tokens(assembly.size)
                    self._on_event(Answering(model=self.name, tokens=tokens, words=assembly.newest))
        reader.finish()
        self._answered = self._client

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
                timeout=openai.Timeout(self._limits.whole_s, connect=min(10.0, self._limits.whole_s)),
            )
        return self._client

    def _left_out(self) -> dict[str, Any]:
        """Headers not to send: openai takes organization and project from OPENAI_* variables, no settings of ours."""
        names = ["OpenAI-Organization", "OpenAI-Project", *([] if self._key else ["Authorization"])]
        return {name: openai.Omit() for name in names if name not in self._provider.headers}

    def _answer(self, request: ModelRequest, body: dict[str, Any], assembly: Assembly, started: float) -> ModelReply:
        """The reply to a request, and where it was cut off if it was."""
        seconds = self._clock() - started
        if assembly.repeats:
            return self._repeating(body, assembly, seconds)
        return self._marked(self._reply(request, body, assembly, seconds))

    def _reply(self, request: ModelRequest, body: dict[str, Any], assembly: Assembly, seconds: float) -> ModelReply:
        usage = self._usage(body, assembly, seconds)
        if assembly.too_long:
            reply = _words(assembly)
        else:
            asked: Asked = "native" if "tools" in body else "schema" if "response_format" in body else "text"
            reply = answered(request, assembly.text, assembly.tool_calls, asked=asked)
        reason = TOO_LONG if assembly.too_long else assembly.finish_reason or "stop"
        if not assembly.text.strip() and not reply.tool_calls and reason != TOO_LONG:
            raise self._empty(reason, usage)
        facts = {"usage": usage, "model": self.name, "finish_reason": reason, "opaque": assembly.opaque}
        return ModelReply(**(dict(reply) | facts))

    def _marked(self, reply: ModelReply) -> ModelReply:
        """The reply, and where it was cut off if it was, which is also reported to the user."""
        if reply.finish_reason != "length":
            return reply
        where, hint = self._cut(reply.usage)
        self._on_event(CutOff(model=self.name, reason=f"{where}; {hint}"))
        return reply.model_copy(update={"cut": where})

    def _repeating(self, body: dict[str, Any], assembly: Assembly, seconds: float) -> ModelReply:
        """The reply of an answer that repeated itself."""
        usage = self._usage(body, assembly, seconds)
        reason = f"it said the same over and over; stopped after about {wire.estimated_tokens(assembly.size):,} tokens"
        self._on_event(CutOff(model=self.name, reason=reason))
        found = {"usage": usage, "model": self.name, "finish_reason": REPEATS, "cut": reason}
        return _words(assembly).model_copy(update=found)

    def _usage(self, body: dict[str, Any], assembly: Assembly, seconds: float) -> Usage:
        """The usage of the call: as the endpoint reports it, else estimated."""
        usage = assembly.usage or Usage(
            prompt_tokens=wire.estimated_tokens(wire.characters(body["messages"]) + len(str(body.get("tools", "")))),
            completion_tokens=wire.estimated_tokens(assembly.size),
        )
        return usage.model_copy(update={"calls": 1, "seconds": seconds, "usd": self._price(usage)})

    def _cut(self, usage: Usage) -> tuple[str, str]:
        """Where an answer was cut off that ended by its length, and what to set."""
        asked = min(filter(None, (self._max_tokens, self.dialect.longest)), default=None)
        window = self._window or self._adaptation.known.context_tokens
        return where_cut(usage, asked=asked, written=self._written_max_tokens is not None, window=window)

    def _empty(self, reason: str, usage: Usage) -> CallFailed:
        if reason == "length":
            where, hint = self._cut(usage)
            return self._failures.failure(
                f"the answer was cut off {where} before it said anything", hint=hint, usage=usage
            )
        return self._failures.failure(f"the answer is empty (finish_reason {reason})", retriable=True, usage=usage)


def _words(assembly: Assembly) -> ModelReply:
    """The reply of an answer without tool calls and reasoning."""
    words = read_plain(assembly.text)
    return ModelReply(text=words.text, thought=words.thought)


def _written(provider: Provider, role: Role | None) -> dict[str, bool]:
    """The features of the wire that the user's settings speak of, and whether they are wanted."""
    both = {"tools": provider.tools, "stream": provider.stream}
    found = {each: wanted for each, wanted in both.items() if each in provider.model_fields_set}
    return found | ({"tools": role.tools} if role and role.tools is not None else {})


def complaint(error: openai.APIStatusError) -> refusals.Complaint:
    """The endpoint's error about a refused call."""
    return refusals.read(error.body, error.message)


def hung_up(error: Exception) -> bool:
    """Whether the other side closed the connection before it said a word, as httpx tells."""
    return "without sending a response" in f"{error} {error.__cause__}"


def is_transport(error: Exception) -> bool:
    """Whether the connection failed.

    openai stands on httpx, from version 3 on httpx2, and lets the errors of either through while a body is read.
    """
    roots = {kind.__module__.partition(".")[0] for kind in type(error).__mro__}
    return isinstance(error, OSError | openai.APIConnectionError) or bool(
        roots & {"httpx", "httpx2", "httpcore", "anyio"}
    )

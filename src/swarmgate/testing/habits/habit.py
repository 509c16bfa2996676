"""Defines a habit, a simulated endpoint quirk: its name, its source, and how it changes an exchange."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from swarmgate.testing.exchange import Exchange, Response

Chunks = list[dict[str, Any]]

Group = Literal["answers", "reasoning", "tool calls", "streaming", "refusals", "limits", "errors", "usage", "transport"]


def takes_all(_exchange: Exchange) -> Response | None:
    """Refuses nothing."""
    return None


def same_completion(whole: dict[str, Any], _exchange: Exchange) -> dict[str, Any]:
    """The answer as the script has it."""
    return whole


def same_chunks(found: Chunks, _exchange: Exchange) -> Chunks:
    """The chunks as the answer has them."""
    return found


def same_response(response: Response, _exchange: Exchange) -> Response:
    """The bytes as they are."""
    return response


@dataclass(frozen=True, slots=True, kw_only=True)
class Habit:
    """One way in which a real endpoint differs from OpenAI's own, playable by its name.

    Habits are composed: each stage runs through all of them, in the order in which they were asked for.

    Attributes:
        name: what it is asked for by.
        about: what the endpoint does, in one sentence.
        source: server, version where known, and the thread or page where it is on record.
        group: what it is about.
        refuse: the response that stands in for an answer, None: the request is taken.
        complete: changes the whole answer, as one `chat.completion`; streams follow from it.
        chunk: changes the chunks of a stream.
        send: changes status, headers, bytes and pauses.
        models: what `GET /v1/models` answers instead of the list.
    """

    name: str
    about: str
    source: str
    group: Group
    refuse: Callable[[Exchange], Response | None] = takes_all
    complete: Callable[[dict[str, Any], Exchange], dict[str, Any]] = same_completion
    chunk: Callable[[Chunks, Exchange], Chunks] = same_chunks
    send: Callable[[Response, Exchange], Response] = same_response
    models: Response | None = None


def refusal(habits: Iterable[Habit], exchange: Exchange) -> Response | None:
    """The refusal of the first habit that has one."""
    return next((response for each in habits if (response := each.refuse(exchange)) is not None), None)


def completed(habits: Sequence[Habit], whole: dict[str, Any], exchange: Exchange) -> dict[str, Any]:
    """The answer after all habits."""
    for each in habits:
        whole = each.complete(whole, exchange)
    return whole


def chunked(habits: Sequence[Habit], found: Chunks, exchange: Exchange) -> Chunks:
    """The chunks after all habits."""
    for each in habits:
        found = each.chunk(found, exchange)
    return found


def sent(habits: Sequence[Habit], response: Response, exchange: Exchange) -> Response:
    """The response after all habits."""
    for each in habits:
        response = each.send(response, exchange)
    return response


def message_of(whole: dict[str, Any]) -> dict[str, Any]:
    """The message of an answer."""
    found: dict[str, Any] = whole["choices"][0]["message"]
    return found


def with_message(whole: dict[str, Any], message: dict[str, Any], *, finish: str | None = "") -> dict[str, Any]:
    """The answer with another message and, where given, another `finish_reason`."""
    choice = whole["choices"][0]
    reason = choice["finish_reason"] if finish == "" else finish
    return {**whole, "choices": [{**choice, "message": message, "finish_reason": reason}]}


def with_calls(whole: dict[str, Any], change: Callable[[dict[str, Any], int], dict[str, Any]]) -> dict[str, Any]:
    """The answer with each of its calls changed; `change` gets the call and its number from 0."""
    message = message_of(whole)
    if not message.get("tool_calls"):
        return whole
    calls = [change(call, number) for number, call in enumerate(message["tool_calls"])]
    return with_message(whole, {**message, "tool_calls": calls})


def with_call_deltas(found: Chunks, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Chunks:
    """The chunks with each delta of a call changed."""

    def changed(chunk: dict[str, Any]) -> dict[str, Any]:
        choices = [
            {**each, "delta": {**each["delta"], "tool_calls": [change(call) for call in each["delta"]["tool_calls"]]}}
            if each.get("delta", {}).get("tool_calls")
            else each
            for each in chunk["choices"]
        ]
        return {**chunk, "choices": choices}

    return [changed(chunk) for chunk in found]

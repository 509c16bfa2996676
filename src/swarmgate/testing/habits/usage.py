"""Endpoint quirks: token counts in every chunk, in the last one, elsewhere, or missing."""

from __future__ import annotations

from typing import Any

from swarmgate.testing.exchange import Exchange
from swarmgate.testing.habits.habit import Chunks, Habit


def _everywhere(found: Chunks, _exchange: Exchange) -> Chunks:
    """So far, with each chunk; the last is right."""
    counts = next((chunk["usage"] for chunk in found if chunk.get("usage")), None)
    if counts is None:
        return found
    return [
        {**chunk, "usage": {**counts, "completion_tokens": counts["completion_tokens"] * (at + 1) // len(found)}}
        for at, chunk in enumerate(found)
    ]


def _with_the_end(found: Chunks, _exchange: Exchange) -> Chunks:
    if not found[-1].get("usage"):
        return found
    return [*found[:-2], {**found[-2], "usage": found[-1]["usage"]}]


def _nowhere(found: Chunks, _exchange: Exchange) -> Chunks:
    return [{key: value for key, value in chunk.items() if key != "usage"} for chunk in found if chunk["choices"]]


def _not_in_json(whole: dict[str, Any], exchange: Exchange) -> dict[str, Any]:
    return whole if exchange.streams else {key: value for key, value in whole.items() if key != "usage"}


def _elsewhere(found: Chunks, _exchange: Exchange) -> Chunks:
    counts = next((chunk["usage"] for chunk in found if chunk.get("usage")), None)
    chunks = _nowhere(found, _exchange)
    return [*chunks[:-1], {**chunks[-1], "x_groq": {"id": "req_1", "usage": counts}}]


def _null(found: Chunks, _exchange: Exchange) -> Chunks:
    return [{"usage": None, **chunk} for chunk in found]


def _null_details(whole: dict[str, Any], _exchange: Exchange) -> dict[str, Any]:
    return {**whole, "usage": {**whole["usage"], "prompt_tokens_details": None, "completion_tokens_details": None}}


def _habit(name: str, about: str, source: str, **stages: Any) -> Habit:
    return Habit(name=name, about=about, source=source, group="usage", **stages)


HABITS = (
    _habit(
        "usage-in-every-chunk",
        "Each chunk has the counts so far.",
        "Gemini's OpenAI endpoint: https://github.com/ogx-ai/ogx/issues/5122; "
        "Perplexity: https://github.com/agno-agi/agno/pull/6058",
        chunk=_everywhere,
    ),
    _habit(
        "usage-with-the-end",
        "The counts come with the chunk that ends the answer, not behind it.",
        "Gemini's OpenAI endpoint: https://github.com/Routstr/routstr-core/pull/543",
        chunk=_with_the_end,
    ),
    _habit(
        "usage-missing",
        "There are no counts at all.",
        "Groq, streamed: https://github.com/Arize-ai/phoenix/issues/5729",
        chunk=_nowhere,
        complete=_not_in_json,
    ),
    _habit(
        "usage-elsewhere",
        "The counts of a stream stand in `x_groq`.",
        "Groq: https://console.groq.com/docs/api-reference",
        chunk=_elsewhere,
    ),
    _habit(
        "usage-null",
        "Each chunk but the last has `usage: null`; details of the counts are null.",
        "Azure OpenAI: https://github.com/microsoft/autogen/issues/6465; "
        "vLLM 0.10.0: https://github.com/vllm-project/vllm/issues/21718",
        chunk=_null,
        complete=_null_details,
    ),
)

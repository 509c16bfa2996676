"""Endpoint quirks: compressed, split or delayed bytes, as proxies and sockets cause them."""

from __future__ import annotations

import gzip
from dataclasses import replace
from typing import Any

from swarmgate.testing.exchange import Exchange, Response
from swarmgate.testing.habits.habit import Habit, message_of, with_message

_SMALL = 7
"""Bytes of a piece that goes out alone: no multiple of the length of any character."""


def _gzipped(response: Response, _exchange: Exchange) -> Response:
    if not response.data:
        return response
    return replace(
        response, headers={**response.headers, "Content-Encoding": "gzip"}, parts=(gzip.compress(response.data),)
    )


def _in_crumbs(response: Response, _exchange: Exchange) -> Response:
    data = response.data
    return replace(response, parts=tuple(data[at : at + _SMALL] for at in range(0, len(data), _SMALL)))


def _unescaped(whole: dict[str, Any], _exchange: Exchange) -> dict[str, Any]:
    """Characters of two, three and four bytes, for the pieces to fall into."""
    message = message_of(whole)
    return with_message(whole, {**message, "content": f"{message.get('content') or ''} äöü 漢字 🌱"})


def _raw_characters(response: Response, exchange: Exchange) -> Response:
    """The same bytes, with characters where JSON escapes were."""
    text = response.data.decode()
    for character in "äöü漢字":
        text = text.replace(f"\\u{ord(character):04x}", character)
    text = text.replace("\\ud83c\\udf31", "🌱")
    return _in_crumbs(replace(response, parts=(text.encode(),)), exchange)


def _blank_lines(response: Response, _exchange: Exchange) -> Response:
    return response if response.streamed else replace(response, parts=(b"\n" * 40, *response.parts))


def _closes(response: Response, _exchange: Exchange) -> Response:
    return replace(response, closes=True)


def _habit(name: str, about: str, source: str, **stages: Any) -> Habit:
    return Habit(name=name, about=about, source=source, group="transport", **stages)


HABITS = (
    _habit(
        "gzip",
        "Answers are compressed, streams too.",
        "Zuul: https://github.com/Netflix/zuul/pull/1468",
        send=_gzipped,
    ),
    _habit(
        "characters-cut",
        "Bytes come in pieces of seven: characters are cut in the middle.",
        "Any proxy: https://github.com/librefang/librefang/issues/3448",
        complete=_unescaped,
        send=_raw_characters,
    ),
    _habit(
        "blank-lines-first",
        "Blank lines come before the JSON of an answer, while the request waits.",
        "DeepSeek: https://api-docs.deepseek.com/quick_start/rate_limit",
        send=_blank_lines,
    ),
    _habit(
        "connection-dies",
        "A connection that may be used again is dropped without a word when it is.",
        "uvicorn's 5 s of keep-alive, vLLM: https://github.com/llm-d/llm-d/pull/1564",
        send=_closes,
    ),
)

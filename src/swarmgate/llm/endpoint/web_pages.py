"""Explains responses that are no model answer: a login page, a proxy error, another API's JSON. Pure."""

from __future__ import annotations

import html
import json
import re
from typing import Any, NamedTuple
from urllib.parse import urlsplit

_FLAGS = re.IGNORECASE | re.DOTALL
_TITLE = re.compile(r"<title[^>]*>(.*?)</title>", _FLAGS)
_LOGIN = re.compile(
    r"type=[\"']?password|sign[ -]?in|log[ -]?in|\bsso\b|single sign|authenticat|captive portal", _FLAGS
)
_GATEWAY = re.compile(
    r"\b50[0234]\b|bad gateway|gateway time-?out|service (temporarily )?unavailable|cloudflare|just a moment|"
    r"upstream|proxy error|maintenance",
    _FLAGS,
)
_TAGS = re.compile(r"<(script|style).*?</\1>|<[^>]+>", _FLAGS)
_V1 = "does base_url lack /v1?"


class Page(NamedTuple):
    """A description of the response for people; `hint` says what to do, `passing` whether a retry may help."""

    what: str
    hint: str
    passing: bool = False


def is_page(head: bytes) -> bool:
    """Whether what came is a page for people."""
    return head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"<"


def page(head: bytes, base_url: str) -> Page:
    """Describes a web page by its title and its first words."""
    text = head.decode("utf-8", "replace")
    title = found[1] if (found := _TITLE.search(text)) else _TAGS.sub(" ", text)
    named = html.unescape(re.sub(r"\s+", " ", title)).strip()[:80]
    called = f' "{named}"' if named else ""
    if _LOGIN.search(text):
        hint = f"log in, or name another address: something on the way to {base_url} wants to know who you are"
        return Page(f"a login page{called}", hint)
    if _GATEWAY.search(text):
        return Page(f"an error page of a proxy{called}", f"look at the server behind {base_url}", passing=True)
    return Page(f"a web page{called}", f"{where(base_url)}: an endpoint answers with JSON")


def words(head: bytes, base_url: str) -> Page:
    """Describes plain text that came instead of an answer."""
    excerpt = re.sub(r"\s+", " ", head.decode("utf-8", "replace")).strip()[:80]
    return Page(f'no answer of a model but "{excerpt}"' if excerpt else "nothing at all", where(base_url), passing=True)


def other(value: dict[str, Any], base_url: str) -> Page:
    """Describes a JSON object without `choices`."""
    keys = ", ".join(map(str, list(value)[:6])) or "nothing in it"
    detail = value.get("detail") or value.get("message") or value.get("msg")
    if isinstance(detail, str) and detail:
        return Page(f"no answer of a model but: {detail[:200]}", where(base_url), passing=True)
    known = {
        "done": "Ollama's own form: base_url ends in /v1 there",
        "output": "the form of OpenAI's /responses: swarmgate needs /chat/completions",
        "stop_reason": "Anthropic's own form: its /v1/chat/completions speaks OpenAI's",
        "candidates": "Gemini's own form: base_url ends in /v1beta/openai there",
        "generated_text": "TGI's own form: base_url ends in /v1 there",
    }
    hint = next((hint_text for key, hint_text in known.items() if key in value), where(base_url))
    return Page(f"JSON without `choices` ({keys})", hint, passing=True)


def where(base_url: str) -> str:
    """The hint what to check first."""
    if lacks_version(base_url):
        return f"{_V1} It says {base_url}: try {base_url.rstrip('/')}/v1"
    return f"check [providers] base_url: it says {base_url}"


def lacks_version(base_url: str) -> bool:
    """Whether nothing in the path of an address is a version such as `v1`, `v1beta` or `v4`, nor `openai`."""
    return re.search(r"/(v\d\w*|openai)(/|$)", urlsplit(base_url).path) is None


def loaded(head: bytes) -> Any:
    """The JSON of a body, None where it is none."""
    try:
        return json.loads(head)
    except (ValueError, RecursionError):
        return None

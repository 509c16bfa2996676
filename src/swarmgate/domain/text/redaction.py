"""Redacts secrets in text: configured keys, well-known shapes of keys, assignments."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from typing import Any

MASK = "[redacted]"
"""What stands where a secret stood."""

# What keys begin with, and how they go on. The beginning is looked for as plain text first: that makes it fast.
_SHAPES = {
    "sk-": r"[A-Za-z0-9_-]{16,}",  # OpenAI, Anthropic, OpenRouter
    "gh": r"[pousr]_[A-Za-z0-9]{20,}",
    "github_pat_": r"[A-Za-z0-9_]{20,}",
    "glpat-": r"[A-Za-z0-9_-]{16,}",
    "AKIA": r"[A-Z0-9]{16}\b",
    "ASIA": r"[A-Z0-9]{16}\b",  # AWS, temporary
    "AIza": r"[A-Za-z0-9_-]{30,}",  # Google
    "xox": r"[abeoprs]-[A-Za-z0-9-]{10,}",  # Slack
    "gsk_": r"[A-Za-z0-9]{20,}",
    "hf_": r"[A-Za-z0-9]{20,}",
    "npm_": r"[A-Za-z0-9]{20,}",
    "pypi-": r"[A-Za-z0-9_-]{30,}",
    # Ours: API keys of the team server, login links, refresh tokens, sessions.
    **dict.fromkeys(("swk_", "swl_", "swr_", "sws_"), r"[A-Za-z0-9_-]{40,}"),
    "eyJ": r"[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",  # JSON web token
}
_PEM = r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?s:.*?)(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"


def _any_case(*words: str) -> str:
    """A pattern of words in any case; the flag for that would have every position of a text tried."""
    return "|".join("".join(f"[{each.upper()}{each}]" if each.isalpha() else each for each in word) for word in words)


_NAMED = _any_case("password", "passwd", "pwd", "secret", "token", "credential")
_NAMED = f"(?:{_NAMED}|(?:{_any_case('api', 'access', 'private')})[_-]?{_any_case('key')})"
_AFTER_NAME = (
    re.compile(rf"((?:{_any_case('bearer', 'basic')})\s+)[A-Za-z0-9._~+/=-]{{8,}}"),
    # user:password@ of a URL
    re.compile(r"(://[^\s/:@\"']{0,100}:)[^\s/@\"']{1,200}(?=@)"),
    # The quotes may be escaped: arguments of tool calls are JSON inside of text.
    re.compile(rf"({_NAMED}\w{{0,20}}(?:\\*[\"'])?\s{{0,4}}[:=]\s{{0,4}}\\*[\"'])[^\"'\\\s]{{6,}}"),
    # `NAME=value` as in .env files; not a call, not a number: `token=next_token()`, `max_tokens=2000000` are code.
    re.compile(rf"({_NAMED}\w{{0,20}}=)(?!\d+\b)(?!\[redacted\])[^\s\"'\\(){{}}\[\],;]{{6,}}+(?!\()"),
)


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """`text` with secrets masked.

    Args:
        text: anything.
        secrets: values to mask wherever they stand, such as configured keys; shorter than 6 characters are ignored.
    """
    for secret in secrets:
        if len(secret) >= 6:  # noqa: PLR2004 - shorter ones would mask ordinary words
            text = text.replace(secret, MASK)
    text = re.sub(_PEM, MASK, text)
    for start, rest in _SHAPES.items():
        if start in text:
            # At the start of a word, or after a line break or tab that JSON has escaped.
            text = re.sub(rf"{start}(?:(?<!\w{start})|(?<=\\[nrt]{start})){rest}", MASK, text)
    for pattern in _AFTER_NAME:
        text = pattern.sub(rf"\g<1>{MASK}", text)
    return text


def masked(value: Any, mask: Callable[[str], str], *, names: Collection[str] = ()) -> Any:
    """The JSON-ready value with secrets masked in its free text; the keys of objects stay, and so does what names.

    Args:
        value: of a record.
        mask: masks the secrets in a text.
        names: the fields that name something, or several.
    """
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, list):
        return [masked(each, mask, names=names) for each in value]
    if isinstance(value, dict):
        return {
            key: each if key in names and _names(each) else masked(each, mask, names=names)
            for key, each in value.items()
        }
    return value


def _names(value: Any) -> bool:
    """Whether that is a name, or several: not whole records."""
    several = value if isinstance(value, list) else [value]
    return all(isinstance(each, str) for each in several)

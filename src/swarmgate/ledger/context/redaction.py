"""Redacts keys in the pages that the ledger writes."""

from __future__ import annotations

import re

from swarmgate.config.base import KEY_SHAPES

MASK = "[redacted]"
"""What stands where a key stood."""

_LONG = 16
_KEY = re.compile(rf"(?<![A-Za-z0-9_])(?:{KEY_SHAPES.pattern})[\\\w-]*")
"""A key to its end, also where markdown has escaped something in it."""


def without_keys(text: str) -> str:
    """The text with what has the shape of a key masked: 16 characters and a digit at least, so that words stay."""
    return _KEY.sub(lambda found: MASK if len(found[0]) >= _LONG and re.search(r"\d", found[0]) else found[0], text)

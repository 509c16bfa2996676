"""Random texts that prove somebody: told once, kept as hashes. By their prefix they are redacted in logs."""

from __future__ import annotations

import hashlib
import secrets

KEY, REFRESH, LINK, COOKIE = "swk_", "swr_", "swl_", "sws_"
"""What an API key, a refresh token, a login link's token and the cookie of a session begin with."""


def new_secret(prefix: str) -> str:
    """A text of 256 random bits."""
    return prefix + secrets.token_urlsafe(32)


def hash_of(secret: str) -> str:
    """What is kept of it. One round is enough: 256 random bits cannot be guessed as a password can."""
    return hashlib.sha256(secret.encode()).hexdigest()

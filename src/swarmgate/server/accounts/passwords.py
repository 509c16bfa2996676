"""Passwords: kept as argon2id hashes, compared in a time that does not tell whether there is an account."""

from __future__ import annotations

import threading
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from swarmgate.errors import UsageError

SHORTEST, LONGEST = 12, 1000
"""Characters of a password."""

_AT_ONCE = threading.Semaphore(2)
"""Hashes at once: each takes 64 MiB, and logins must not take all of the machine's."""


@cache
def _hasher() -> PasswordHasher:
    return PasswordHasher()  # argon2id with the second recommended parameters of RFC 9106


@cache
def _nobodys() -> str:
    return _hasher().hash("the password of nobody")


def check_new(password: str, name: str) -> None:
    """Whether it may become the password of that account.

    Raises:
        UsageError: it is too short, too long, or the name itself.
    """
    if not SHORTEST <= len(password) <= LONGEST:
        raise UsageError(f"A password has {SHORTEST} to {LONGEST} characters.", hint="several words make a good one")
    if name.casefold() in password.casefold() and len(password) < len(name) + SHORTEST:
        raise UsageError("The password is the name of the account and little else.", hint="take another one")


def hashed(password: str) -> str:
    """The hash under which a password is kept."""
    with _AT_ONCE:
        return _hasher().hash(password)


def matches(kept: str | None, password: str) -> bool:
    """Whether it is the password of that hash; where there is none it takes as long, and says no."""
    with _AT_ONCE:
        try:
            _hasher().verify(kept or _nobodys(), password[: LONGEST + 1])
        except (VerificationError, InvalidHashError):
            return False
    return kept is not None


def outdated(kept: str) -> bool:
    """Whether a hash was made with weaker parameters than today's."""
    return _hasher().check_needs_rehash(kept)

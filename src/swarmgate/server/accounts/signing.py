"""The server's secret, `signing.key`: signs access tokens (HS256), and binds other texts to this server."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import secrets
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jwt

from swarmgate.errors import ConfigError, Unauthenticated

ALGORITHM = "HS256"
"""The only one: a token that names another, or none, is refused whatever stands in it."""
ISSUER = "swarmgate"
_REQUIRED = ["iss", "aud", "sub", "exp", "nbf", "iat", "jti"]
_LEEWAY_S = 5
"""Seconds by which a clock that was set back may be behind that of the moment of signing."""
_BYTES = 48
_FOREIGN = 0o077


class Signer:
    """Signs with one secret.

    Args:
        secret: at least 32 bytes.
    """

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    @classmethod
    def at(cls, home: Path) -> Signer:
        """The signer of a server; its secret is made at first, readable by its owner alone.

        Raises:
            ConfigError: the file can be read by others, or holds no secret.
        """
        path = home / "signing.key"
        with contextlib.suppress(FileExistsError):
            _write_once(path, secrets.token_urlsafe(_BYTES).encode())
        if path.stat().st_mode & _FOREIGN:
            raise ConfigError(f"{path} can be read by others", hint=f"chmod 600 {path}, or delete it: all log in anew")
        secret = path.read_bytes().strip()
        if len(secret) < 32:  # noqa: PLR2004 - what HS256 asks for, RFC 7518
            raise ConfigError(
                f"{path} holds no secret of 32 bytes", hint="delete it: a new one is made, all log in anew"
            )
        return cls(secret)

    def sign(self, audience: str, subject: str, lifetime_s: float, **claims: Any) -> str:
        """A token for one audience that lives so many seconds."""
        now = int(time.time())
        stamps = {"iat": now, "nbf": now, "exp": now + int(lifetime_s), "jti": secrets.token_urlsafe(12)}
        return jwt.encode(
            {**claims, **stamps, "iss": ISSUER, "aud": audience, "sub": subject}, self._secret, algorithm=ALGORITHM
        )

    def read(self, token: str, audience: str) -> Mapping[str, Any]:
        """The claims of a token that this server signed for that audience, and that is not over.

        Raises:
            Unauthenticated: it is another one, or over.
        """
        try:
            claims: Mapping[str, Any] = jwt.decode(
                token,
                self._secret,
                algorithms=[ALGORITHM],
                audience=audience,
                issuer=ISSUER,
                leeway=_LEEWAY_S,
                options={"require": _REQUIRED, "strict_aud": True},
            )
        except jwt.PyJWTError:
            raise Unauthenticated("The token is over, revoked or wrong.", hint="log in again") from None
        return claims

    def bound(self, purpose: str, text: str) -> str:
        """A text that only this server can make, for one purpose, out of another."""
        return hmac.new(self._secret, f"{purpose}\0{text}".encode(), hashlib.sha256).hexdigest()


def _write_once(path: Path, content: bytes) -> None:
    """Writes a file that is not there yet; who reads it sees all of it or none."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    new = path.with_name(f".{path.name}-{secrets.token_hex(6)}")
    handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.link(new, path)  # refuses where another process was first
    finally:
        new.unlink()

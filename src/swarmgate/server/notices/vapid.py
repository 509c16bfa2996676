"""The key pair by which push services know this server (VAPID, RFC 8292): made once, kept in the server's home."""

from __future__ import annotations

import base64
import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from cryptography.hazmat.primitives import serialization

if TYPE_CHECKING:
    from py_vapid import Vapid02  # type: ignore[import-untyped]  # it has no stubs

NAME = "vapid.pem"
"""What the file of the private key is called; it is for its owner alone."""
_HOURS_12 = 12 * 3600


class VapidKeys:
    """The keys of one server.

    Args:
        home: the server's folder.
        contact: a `mailto:` or `https:` address that push services find in each message, as the RFC wants it.
    """

    def __init__(self, home: Path, contact: str) -> None:
        self._path, self._contact = home / NAME, contact
        self._keys = self._read()

    @property
    def public(self) -> str:
        """The public key as browsers want it: the uncompressed point, in base64url without padding."""
        point = self._keys.public_key.public_bytes(
            serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint
        )
        return base64.urlsafe_b64encode(point).rstrip(b"=").decode()

    def headers(self, endpoint: str, now: float) -> dict[str, str]:
        """What proves to a push service that this server sends; `now` in seconds since 1970."""
        parts = urlsplit(endpoint)
        claims = {"sub": self._contact, "aud": f"{parts.scheme}://{parts.netloc}", "exp": int(now) + _HOURS_12}
        return dict(self._keys.sign(claims))

    def _read(self) -> Vapid02:
        from py_vapid import Vapid02  # noqa: PLC0415 - late, for start-up time

        if not self._path.exists():
            made = Vapid02()
            made.generate_keys()
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with contextlib.suppress(FileExistsError):  # another process made them in this moment
                descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
                with os.fdopen(descriptor, "wb") as file:
                    file.write(made.private_pem())
        return Vapid02.from_pem(self._path.read_bytes())

"""Recognises the private keys of self-signed test certificates, which are no secrets."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_PEM = re.compile(rb"-----BEGIN ([A-Z ]+)-----\s*([A-Za-z0-9+/=\s]+?)-----END \1-----")
_SHARED = 64
"""Bytes that a key and its certificate have in common at least: a point of a curve; a modulus of RSA has more."""

_LONG = 0x80
_SIGNED_PARTS = 5
_VERSION = 0xA0


def of_key(key: bytes, others: Iterable[bytes]) -> bool:
    """Whether one of the other files holds a certificate of a key in PEM, and each that does is signed by itself."""
    keys = [data for title, data in _decoded(key) if title.endswith("PRIVATE KEY")]
    certificates = [data for other in others for title, data in _decoded(other) if title == "CERTIFICATE"]
    own = [each for each in certificates if any(_same(one, each) for one in keys)]
    return len(keys) == 1 and bool(own) and all(map(_by_itself, own))


def _decoded(content: bytes) -> Iterator[tuple[str, bytes]]:
    for match in _PEM.finditer(content):
        try:
            yield match[1].decode(), base64.b64decode(b"".join(match[2].split()), validate=True)
        except ValueError:
            continue


def _same(key: bytes, certificate: bytes) -> bool:
    return any(key[start : start + _SHARED] in certificate for start in range(len(key) - _SHARED + 1))


def _by_itself(certificate: bytes) -> bool:
    """Whether issuer and subject are the same name (X.509: serial, algorithm, issuer, validity, subject)."""
    parts = [part for part in _parts(_inside(_inside(certificate))) if part[0] != _VERSION]
    return len(parts) > _SIGNED_PARTS and parts[2] == parts[4]


def _parts(content: bytes) -> Iterator[bytes]:
    """The elements of DER, each whole."""
    start = 0
    while start + 2 <= len(content):
        head, size = _size(content[start:])
        if head + size > len(content) - start:
            return
        yield content[start : start + head + size]
        start += head + size


def _inside(element: bytes) -> bytes:
    if len(element) < 2:  # noqa: PLR2004 - a tag and a length
        return b""
    head, size = _size(element)
    return element[head : head + size]


def _size(element: bytes) -> tuple[int, int]:
    """The bytes of tag and length, and the length."""
    if element[1] < _LONG:
        return 2, element[1]
    width = element[1] - _LONG
    return 2 + width, int.from_bytes(element[2 : 2 + width], "big")

"""Converts the hashes of lock files to CycloneDX's form: (algorithm, lower-case hex)."""

from __future__ import annotations

import base64
import binascii
import re

Hash = tuple[str, str]

_LENGTHS = {"md5": 32, "sha1": 40, "sha256": 64, "sha384": 96, "sha512": 128}
_NAMES = {"md5": "MD5", "sha1": "SHA-1", "sha256": "SHA-256", "sha384": "SHA-384", "sha512": "SHA-512"}
_HEX = re.compile(r"[0-9a-fA-F]+")


def labelled(text: str) -> list[Hash]:
    """`sha256:<hex>`; nothing for an algorithm or a length that CycloneDX does not know."""
    algorithm, _, digest = text.partition(":")
    return plain(algorithm.strip(), digest.strip())


def plain(algorithm: str, digest: str) -> list[Hash]:
    """A digest in hexadecimal."""
    name = _NAMES.get(algorithm.lower().replace("-", ""))
    fits = name and len(digest) == _LENGTHS[algorithm.lower().replace("-", "")] and _HEX.fullmatch(digest)
    return [(name, digest.lower())] if name and fits else []


def integrity(text: str) -> list[Hash]:
    """Subresource integrity (W3C SRI), as npm writes it: `sha512-<base64>`, several parted by spaces."""
    found = []
    for each in text.split():
        algorithm, _, digest = each.partition("-")
        found += encoded(algorithm, digest.partition("?")[0])
    return found


def encoded(algorithm: str, digest: str) -> list[Hash]:
    """A digest in base64."""
    try:
        return plain(algorithm, binascii.hexlify(base64.b64decode(digest, validate=True)).decode())
    except (binascii.Error, ValueError):
        return []

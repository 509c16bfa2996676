"""Keeps long addresses under short codes, in memory."""

from __future__ import annotations


class Store:
    """A mapping of codes to addresses."""

    def __init__(self) -> None:
        self._addresses: dict[str, str] = {}

    def put(self, code: str, address: str) -> None:
        """Keep an address; an existing code is not overwritten."""
        if code in self._addresses:
            raise ValueError(f"code {code!r} is taken")
        self._addresses[code] = address

    def get(self, code: str) -> str:
        """The address of a code; KeyError if there is none."""
        return self._addresses[code]

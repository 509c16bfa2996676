"""The width and the colours available to text that is printed for people."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

Piece = tuple[str, str]
"""A text, and its style: colours and weights as rich names them."""


def _plain(pieces: Sequence[Piece]) -> str:
    return "".join(text for text, _ in pieces).rstrip()


@dataclass(frozen=True, slots=True)
class Screen:
    """A terminal or a pipe. `width`: its columns, 0 where nothing is wrapped; `paint` makes a line of its pieces."""

    width: int = 0
    paint: Callable[[Sequence[Piece]], str] = _plain


PIPE = Screen()
"""No terminal: nothing is wrapped or coloured."""

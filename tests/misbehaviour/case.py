"""One scripted misbehaviour: a test says what was tried and what held, and docs/render_misbehaviour.py lists it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

AREAS = ("files", "commands", "loops", "lies", "order", "exploits", "programs")
"""The sections of docs/misbehaviour.md, in their order."""

F = TypeVar("F", bound=Callable[..., object])


def case(area: str, tried: str, held: str) -> Callable[[F], F]:
    """Marks a test as a case of the suite. The page is written from the source text, so all three are literals.

    Args:
        area: one of `AREAS`.
        tried: what the model, program or command does.
        held: what keeps it from its end, and where that stands.

    Raises:
        ValueError: no such area, nothing is said, or what is marked is no test.
    """

    def marked(function: F) -> F:
        name = getattr(function, "__name__", "")
        if area not in AREAS or not (tried.strip() and held.strip()) or not name.startswith("test_"):
            raise ValueError(f"{name}: a case is a test in one of {AREAS}, with both texts")
        return function

    return marked

"""Formats costs, counts, indented text and list items for the views of all patterns."""

from __future__ import annotations

from swarmgate.domain.usage import Usage, cost_in_words


def cost(usage: Usage, seconds: float) -> str:
    """`2 calls, 1,200 tokens, $0.0024, 3.1 s`; an unknown price is said to be unknown."""
    return f"{many(usage.calls, 'call')}, {usage.tokens:,} tokens, {cost_in_words(usage)}, {seconds:.1f} s"


def many(number: int, noun: str) -> str:
    """`1 call`, `2 calls`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def indented(text: str, by: int) -> list[str]:
    """The lines of a text, so many blanks further in."""
    return [f"{' ' * by}{line}".rstrip() for line in text.splitlines()]


def item(text: str, by: int) -> list[str]:
    """A text as an item of a list, so many blanks further in."""
    first, *more = text.splitlines() or [""]
    return [f"{' ' * by}- {first}", *(f"{' ' * (by + 2)}{line}" for line in more)]

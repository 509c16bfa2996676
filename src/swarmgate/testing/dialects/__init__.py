"""Other APIs that the scripted server speaks: Anthropic's messages, OpenAI's responses, Gemini's generateContent.

A dialect translates a request into a `chat/completions` request, and the completion back; what the script says, and its
faults, are the same in all of them. The path of a request tells which it is.
"""

from __future__ import annotations

from swarmgate.testing.dialects import generate_content, messages, responses
from swarmgate.testing.dialects.dialect import Dialect, translated

DIALECTS: tuple[Dialect, ...] = (messages.MESSAGES, responses.RESPONSES, generate_content.GENERATE_CONTENT)
"""The dialects beside `chat/completions` itself."""


def spoken_at(path: str) -> Dialect | None:
    """The dialect of a path; None: none of these."""
    return next((each for each in DIALECTS if each.path.search(path.split("?", maxsplit=1)[0])), None)


__all__ = ["DIALECTS", "Dialect", "spoken_at", "translated"]

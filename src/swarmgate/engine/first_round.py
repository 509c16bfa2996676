"""What the first round of a debate takes at least: its prompts, known before anybody is asked."""

from __future__ import annotations

from swarmgate.council.voices import Voices
from swarmgate.council.voting import brief_of
from swarmgate.council.windows import material_sections, window_of
from swarmgate.domain.debate import Debate, Seat
from swarmgate.llm.endpoint.wire import estimated_tokens


def prompt_tokens(debate: Debate, voices: Voices) -> int:
    """The prompts of all voices in round 1, at a token per 4 characters.

    Raises:
        ConfigError, MissingRequirement: a voice has no model.
    """
    return sum(_tokens(debate, seat, voices) for seat in debate.seats)


def _tokens(debate: Debate, seat: Seat, voices: Voices) -> int:
    brief = brief_of(
        seat, 1, material_sections(debate.question, debate.material), task=debate.task, attempt=debate.attempt
    )
    window = window_of(voices.desk(seat), brief)
    return estimated_tokens(window.size - window.room)

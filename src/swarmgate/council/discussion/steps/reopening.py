"""Asks the moderator to take a discussion up again: what mattered, what is open, what the next round is on."""

from __future__ import annotations

from collections.abc import Sequence

from swarmgate.agents.briefs.brief import Section, cut
from swarmgate.council.discussion.answers.moderation import reopening_of
from swarmgate.council.discussion.findings import Reopening
from swarmgate.council.discussion.model import MODERATOR, DiscussionRound
from swarmgate.council.discussion.steps.participants import Participants, constraints_section
from swarmgate.errors import CouncilRefused


async def reopened(participants: Participants, rounds: Sequence[DiscussionRound], context: str) -> Reopening:
    """How the moderator takes it up after the last round; one that failed says why, and the discussion goes on.

    Args:
        participants: of the discussion, with their agent contexts.
        rounds: those that are whole.
        context: where the discussion stands, in words.

    Raises:
        BudgetExhausted, Stopped, MissingRequirement: as they come.
    """
    after, constraints = len(rounds), constraints_section(rounds[-1])
    size = participants.spare(MODERATOR, "reopen", (constraints,))
    left = Section("Where it was left", cut(context, size, "...") if size else "", "Made by swarmgate.")
    form = reopening_of()
    try:
        result, _ = await participants.ask(
            MODERATOR, "reopen", rounds=rounds, number=0, sections=(constraints, left), read=lambda _: form
        )
    except CouncilRefused as error:
        return Reopening(after=after, failed=error.message)
    return Reopening(after=after, failed=result.failed, **(result.value or {}), **result.took)

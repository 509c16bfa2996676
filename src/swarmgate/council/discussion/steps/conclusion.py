"""Asks the historian (in lightweight mode the moderator) for the conclusion of a discussion."""

from __future__ import annotations

from collections.abc import Sequence

from swarmgate.agents.briefs.brief import Section, cut, one_line
from swarmgate.council.discussion.answers.synthesis import Checks, conclusion_of
from swarmgate.council.discussion.argument.agreement import agreed_by
from swarmgate.council.discussion.argument.conditions import checked_conditions, declared_conditions
from swarmgate.council.discussion.argument.evidence import Evidence
from swarmgate.council.discussion.findings import Conclusion
from swarmgate.council.discussion.model import HISTORIAN, MODERATOR, Cast, DiscussionRound
from swarmgate.council.discussion.steps.participants import Participants, constraints_section
from swarmgate.errors import CouncilFailed


async def concluded(participants: Participants, rounds: Sequence[DiscussionRound]) -> Conclusion:
    """What is concluded from all rounds.

    Raises:
        CouncilFailed: twice, no conclusion could be read; the rounds are on record.
        CouncilRefused: the discussion does not fit the author's window.
        BudgetExhausted, Stopped, MissingRequirement: as they come.
    """
    author = HISTORIAN if HISTORIAN in participants.fixed else MODERATOR
    constraints = (constraints_section(rounds[-1]),) if rounds else ()
    spare = participants.spare(author, "conclude", constraints)
    sections = (*constraints, _conditions(rounds, participants.cast, spare))
    form = conclusion_of(checks_of(participants, rounds))
    result, _ = await participants.ask(
        author, "conclude", rounds=rounds, number=0, sections=sections, read=lambda _: form
    )
    if result.value is None:
        raise CouncilFailed(f"the {author} gave no conclusion: {result.failed}")
    return result.value.model_copy(update={"author": author, **result.took})


def checks_of(participants: Participants, rounds: Sequence[DiscussionRound]) -> Checks:
    """What a conclusion of these rounds is held to."""
    cast = participants.cast
    return Checks(
        ids=frozenset(each.id for held in rounds for each in held.messages if not each.failed),
        names=participants.names,
        agreed_by=lambda cites: agreed_by(rounds, cast, cites),
        evidence=Evidence(rounds),
        conditions=lambda claims: checked_conditions(rounds, cast, claims),
    )


def _conditions(rounds: Sequence[DiscussionRound], cast: Cast, size: int) -> Section:
    """What would change the experts' minds, as they said it: for each it is to be looked up whether it came up."""
    declared = declared_conditions(rounds, cast)
    text = "\n".join(f"{each.author} ({each.source}): {one_line(each.text)}" for each in declared)
    return Section(
        "What would change minds", cut(text, size, "...") if size else "", "Look up whether it came up, and where."
    )

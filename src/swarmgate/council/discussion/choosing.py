"""What comes after a round: the user's choice, the moderator's recommendation, and the bounds that hold for both."""

from __future__ import annotations

from datetime import UTC, datetime

from swarmgate.domain.council_limits import TOPIC, sized, within
from swarmgate.domain.council_limits import Limit as Bounds
from swarmgate.domain.discussion import (
    Assessment,
    Choice,
    ChoiceKind,
    DiscussionRecord,
    DiscussionRound,
    Recommendation,
    Step,
)

_DIRECTIONS = {
    ChoiceKind.DEEP_DIVE: ("Go deeper into", "what divides you most"),
    ChoiceKind.DIFFERENT_ANGLE: ("Take a different angle", "one that nobody has taken yet"),
}


def assessment_of_round(held: DiscussionRound) -> Assessment | None:
    """The moderator's assessment; None: it failed."""
    return next((each.assessment for each in held.messages if each.step is Step.ASSESS), None)


def bound_choice(record: DiscussionRecord) -> Choice | None:
    """The end that the bounds put to a discussion after its last round; None: there is something to choose."""
    number = len(record.rounds)
    over = number >= record.discussion.rounds
    return Choice(after=number, kind=ChoiceKind.SYNTHESIZE, by="bounds") if over else None


def checked_choice(choice: Choice, record: DiscussionRecord) -> Choice:
    """The choice, for the last round.

    Raises:
        CouncilRefused: it injects nothing, or its text is too long.
    """
    if choice.kind is ChoiceKind.INJECT or choice.text:
        sized("choice.text", choice.text, TOPIC)
    if choice.constraint:
        sized("choice.constraint", choice.constraint, TOPIC)
    within("choice.after", choice.after, Bounds(least=len(record.rounds), most=len(record.rounds)))
    return choice


def is_over(record: DiscussionRecord) -> bool:
    """Whether what is left is the conclusion."""
    chosen = _last(record)
    return record.partial is None and chosen is not None and resolved(chosen, record).kind is ChoiceKind.SYNTHESIZE


def is_chosen(record: DiscussionRecord) -> bool:
    """Whether it is decided what comes after the last round."""
    return not record.rounds or _last(record) is not None


def resolved(choice: Choice, record: DiscussionRecord) -> Choice:
    """The choice with what the moderator recommends where it is followed.

    It ends only after the least rounds, and not where a constraint was given for what is to come.
    """
    if choice.kind is not ChoiceKind.FOLLOW:
        return choice
    assessment = assessment_of_round(record.rounds[choice.after - 1])
    wanted = assessment.recommendation if assessment else Recommendation.CONTINUE
    goes_on = choice.after < record.discussion.least or bool(choice.constraint)
    too_early = wanted is Recommendation.SYNTHESIZE and goes_on
    if assessment is None or wanted is Recommendation.CONTINUE or too_early:
        return choice
    return choice.model_copy(update={"kind": ChoiceKind(wanted.value), "text": choice.text or assessment.focus})


def next_round(record: DiscussionRecord) -> DiscussionRound:
    """The round after those of the record, with the direction and the constraints that the choices before it gave."""
    chosen = [resolved(each, record) for each in record.choices]
    last = chosen[-1] if chosen else None
    words, otherwise = _DIRECTIONS.get(last.kind, ("", "")) if last else ("", "")
    return DiscussionRound(
        number=len(record.rounds) + 1,
        direction=f"{words}: {last.text or otherwise}" if last and words else "",
        constraints=tuple(filter(None, map(_constraint, chosen))),
        started_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
    )


def _constraint(choice: Choice) -> str:
    return choice.text if choice.kind is ChoiceKind.INJECT else choice.constraint


def _last(record: DiscussionRecord) -> Choice | None:
    return next((each for each in record.choices if each.after == len(record.rounds)), None)

"""Builds a `Review` from `submit_verdict`: refuses contradictory verdicts, drops findings without a quote."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from swarmgate.agents.briefs.brief import bullets, cut, one_line
from swarmgate.agents.conversation.turn import Ending, Refused
from swarmgate.agents.roles.citations import Material, checked
from swarmgate.agents.tools.arguments import SubmitVerdict
from swarmgate.domain.review.evidence import Criterion, Remark, Review
from swarmgate.domain.review.finding import Severity

_GRAVE = frozenset({Severity.CRITICAL, Severity.HIGH})
"""Who finds one of these does not approve."""

_LENGTH = 80
"""Characters of a finding's message by which it is meant."""


def review_of(call: SubmitVerdict, criteria: Sequence[Criterion] = ()) -> Review:
    """Converts a `submit_verdict` call into a review.

    Raises:
        Refused: approved in spite of a critical or high finding, or rejected without a reason.
    """
    review = Review(
        verdict=call.verdict,
        summary=call.summary,
        findings=tuple(finding.remark() for finding in call.findings),
        criteria=tuple(criteria),
    )
    grave = next((each for each in review.findings if each.severity in _GRAVE), None)
    if review.approved and grave:
        raise Refused(
            f"APPROVED does not go with an open {grave.severity} finding ({grave.message}). "
            "Submit REJECTED, or lower the severity if the finding does not have to be mended now."
        )
    if not review.approved and not review.summary and not review.findings:
        raise Refused("REJECTED needs a reason: give a summary and at least one finding that can be acted upon.")
    return review


def cited(
    material: Material | None,
    *,
    on_dropped: Callable[[Review, str], None],
    objection: Callable[[Remark], str] = lambda _finding: "",
) -> Callable[[SubmitVerdict], Review]:
    """Ends a reviewing turn: findings without a quote are returned once, and then dropped.

    An APPROVED with a critical or high finding is refused whether that cites something or not: it contradicts itself.
    A REJECTED of which no finding is left stays a rejection, for the reason that its summary gives.

    Args:
        material: what findings may quote; None: nobody asks.
        on_dropped: hears of a verdict that lost findings, and why the first of them cites nothing.
        objection: what else is wrong with a finding, sent back once; after that the finding stands as it is.
    """
    asked = False

    def judge(call: SubmitVerdict) -> Review:
        nonlocal asked
        review, why = review_of(call), tuple[str, ...]()
        if material is not None:
            review, why = checked(review, material)
        objections = [f"{meant(finding)}: {text}" for finding, text in zip(review.dropped, why, strict=True)]
        objections += [f"{meant(finding)}: {text}" for finding in review.findings if (text := objection(finding))]
        if objections and not asked:
            asked = True
            raise Refused(
                f"these findings cannot stand:\n{bullets(objections)}\n"
                "Each finding needs a `file` and a `quote`: a line that stands in the change or in that file, copied "
                "exactly; of something that is missing, the line where it should be. Submit again with these mended "
                "or left out; a finding that cites nothing is dropped."
            )
        if review.dropped:
            on_dropped(review, why[0])
        return review

    return judge


def meant(finding: Remark) -> str:
    """The finding by the beginning of its message."""
    return f'"{cut(one_line(finding.message), _LENGTH, "...")}"'


def signed(ending: Ending[Review]) -> Review:
    """The review with the model that gave it."""
    return ending.value.model_copy(update={"model": ending.model})

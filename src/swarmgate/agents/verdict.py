"""What the three judging roles share: from a `submit_verdict` call to a `Review`, and when a verdict is refused."""

from __future__ import annotations

from collections.abc import Sequence

from swarmgate.agents.arguments import SubmitVerdict
from swarmgate.agents.turn import Ending, Refused
from swarmgate.domain.evidence import Criterion, Review
from swarmgate.domain.finding import Severity


def review_of(call: SubmitVerdict, criteria: Sequence[Criterion] = ()) -> Review:
    """The verdict that a call states.

    Raises:
        Refused: approved in spite of a critical finding, or rejected without a reason.
    """
    review = Review(
        verdict=call.verdict,
        summary=call.summary,
        findings=tuple(finding.remark() for finding in call.findings),
        criteria=tuple(criteria),
    )
    critical = [finding.message for finding in review.findings if finding.severity is Severity.CRITICAL]
    if review.approved and critical:
        raise Refused(
            f"APPROVED does not go with an open critical finding ({critical[0]}). "
            "Submit REJECTED, or lower the severity if the finding does not have to be mended now."
        )
    if not review.approved and not review.summary and not review.findings:
        raise Refused("REJECTED needs a reason: give a summary and at least one finding that can be acted upon.")
    return review


def signed(ending: Ending[Review]) -> Review:
    """The review with the model that gave it."""
    return ending.value.model_copy(update={"model": ending.model})

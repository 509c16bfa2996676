"""Tests the words for what is concluded: confidence claimed and computed, and what is said against an insight."""

from __future__ import annotations

import pytest

from swarmgate.council.discussion.findings import ConcludedInsight, Conclusion, EvidenceWeight, Level, Quoted
from swarmgate.council.discussion.view.entries import concluded, confidence

WEIGHT = EvidenceWeight(cited=2, countered=1, unanswered=0, confidence=Level.HIGH)
COUNTED = "2 messages for it, 1 against it, 0 of them unanswered"


@pytest.mark.parametrize(
    ("claimed", "reason", "weight", "told"),
    [
        (None, "", None, []),
        (Level.LOW, "", None, ["Confidence: low"]),
        (Level.LOW, "no data.", None, ["Confidence: low (no data)"]),
        (None, "", WEIGHT, [f"Confidence: high: {COUNTED}"]),
        (Level.HIGH, "two traces", WEIGHT, [f"Confidence: high (two traces): {COUNTED}"]),
        (Level.LOW, "", WEIGHT, [f"Confidence: low, says the historian; high by its evidence: {COUNTED}"]),
    ],
)
def test_both_confidences_are_told_where_they_differ(
    claimed: Level | None, reason: str, weight: EvidenceWeight | None, told: list[str]
) -> None:
    assert confidence(claimed, reason, weight, "historian") == told


@pytest.mark.parametrize(
    ("refuted", "answered", "told"),
    [
        (None, False, "Against it: r1-msg-005: no"),
        (False, True, "Against it: r1-msg-005: no (not refuted)"),
        (True, True, "Against it: r1-msg-005: no (refuted)"),
        (True, False, "Against it: r1-msg-005: no (refuted, though no message answers it)"),
    ],
)
def test_a_view_that_is_called_refuted_is_told_to_be_unanswered(
    refuted: bool | None,  # noqa: FBT001 - a case
    answered: bool,  # noqa: FBT001 - a case
    told: str,
) -> None:
    view = Quoted(cites=("r1-msg-005",), summary="no", refuted=refuted, answered=answered)
    made = Conclusion(executive_summary="So.", insights=(ConcludedInsight(text="new", dissenting_views=(view,)),))
    (group,) = concluded(made)
    assert group.entries[0].details == [told]

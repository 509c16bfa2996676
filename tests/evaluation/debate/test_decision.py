"""Tests the rule that decides whether a debate is worth its cost."""

from __future__ import annotations

import pytest

from swarmgate.evaluation.debate.decision import decide
from swarmgate.evaluation.debate.experiment_arms import Arm
from swarmgate.evaluation.debate.statistics import Comparison


def compared(lift: float, low: float, high: float, items: int = 100) -> Comparison:
    return Comparison(
        first=Arm.DEBATE, second=Arm.PARALLEL, items=items, lift=lift, interval=(low, high), only_first=0,
        only_second=0, p=1.0, equal_calls=True,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("comparison", "decision", "sure"),
    [
        (compared(0.20, 0.12, 0.28), "use", True),
        (compared(0.10, 0.02, 0.18), "use", False),
        (compared(0.0999, 0.02, 0.18), "defer", False),
        (compared(0.0, -0.08, 0.08), "defer", True),
        (compared(-0.3, -0.4, -0.2), "defer", True),
        (compared(0.20, 0.05, 0.35), "use", False),
        (compared(1.0, 1.0, 1.0, items=29), "use", False),
        (compared(1.0, 1.0, 1.0, items=30), "use", True),
    ],
)
def test_the_rule(comparison: Comparison, decision: str, *, sure: bool) -> None:
    found = decide(comparison)
    assert found is not None
    assert (found.decision, found.sure) == (decision, sure)
    assert found.told == f"{decision} debate"
    assert ("too few to tell" in found.why) is not sure


def test_how_many_items_would_tell() -> None:
    # The interval reaches 0.2 down and has to reach 0.1 at most: half as wide, four times the items.
    found = decide(compared(0.20, 0.0, 0.4, items=50))
    assert found is not None
    assert found.needed == 201
    assert "about 201 items of this kind" in found.why
    near = decide(compared(0.1001, -0.1, 0.3))
    assert near is not None
    assert near.needed is None
    assert "many more items" in near.why


def test_one_item_decides_nothing() -> None:
    assert decide(compared(1.0, 1.0, 1.0).model_copy(update={"interval": None})) is None

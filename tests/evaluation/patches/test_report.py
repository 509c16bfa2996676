"""Tests the counts, rates and comparisons of replayed patches, and the page."""

from __future__ import annotations

import pytest

from swarmgate.evaluation.patches.arms import Arm
from swarmgate.evaluation.patches.dataset import HUMAN, Label
from swarmgate.evaluation.patches.page import page
from swarmgate.evaluation.patches.report import exact, lines, of_rows
from swarmgate.evaluation.patches.rows import Objection, Row


def _row(number: int, label: Label, blocked: str = "", arm: Arm = Arm.GATES, **more: object) -> Row:
    objections = (Objection(rule="lint_check: F821", place="a.py:3", message="<name> is not there"),)
    made = Row(
        id=f"p-{number}", repo="o/r", model="m", label=label, half="held", arm=arm, key=f"k{number}", blocked=blocked,
        objections=objections if blocked else (), seconds=1.0,
    )  # fmt: skip
    return made.model_copy(update=more)


ROWS = (
    _row(1, "wrong", "gates: lint_check"),
    _row(2, "wrong"),
    _row(3, "right", "gates: lint_check"),
    _row(4, "right"),
    _row(5, "right", trouble="no clone of o/r"),
    _row(6, "right", "gates: lint_check", model=HUMAN),
    _row(1, "wrong", "gates: lint_check", Arm.TESTS),
    _row(2, "wrong", "tests", Arm.TESTS),
    _row(3, "right", "gates: lint_check", Arm.TESTS),
    _row(4, "right", "", Arm.TESTS),
)


def test_rates_count_what_was_judged_and_human_fixes_apart() -> None:
    found = of_rows(ROWS)
    whole = next(each for each in found.arms if each.arm is Arm.GATES and each.half == "all")
    assert (whole.catch, whole.false, whole.youden) == (0.5, 0.5, 0.0)
    assert whole.catch_interval == pytest.approx((0.0945, 0.9055), abs=1e-3)
    human = next(each for each in found.models if each.name == HUMAN)
    assert (human.catch, human.false) == (None, 1.0)
    rule = next(each for each in found.rules if each.arm is Arm.GATES)
    assert (rule.name, rule.score.tp, rule.score.fp) == ("lint_check: F821", 1, 2)
    assert found.untried == {"gates: no clone of o/r": 1}


def test_arms_are_compared_over_the_same_patches() -> None:
    compared = of_rows(ROWS).compared[0]
    assert (compared.patches, compared.only_first, compared.only_second, compared.p) == (4, 0, 1, 1.0)
    assert exact(1, 9) == pytest.approx(22 / 1024)


def test_the_terminal_and_the_page_name_each_false_block() -> None:
    found = of_rows(ROWS)
    text = "\n".join(lines(found))
    assert "blocked, though right: gates p-3 (m): lint_check: F821 a.py:3" in text
    html = page(found)
    assert "&lt;name&gt; is not there" in html
    assert "<script" not in html

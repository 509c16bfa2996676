"""The report's files: the picture, the page and the tables."""

from __future__ import annotations

import base64
import re
import struct

import pytest
from tests.evaluation.debate.simulated import items

from swarmgate.domain.debate import Tally
from swarmgate.errors import BudgetExhausted
from swarmgate.evaluation.debate.arms import Arm, Setup
from swarmgate.evaluation.debate.fixtures import Fixtures
from swarmgate.evaluation.debate.page import page
from swarmgate.evaluation.debate.plot import png
from swarmgate.evaluation.debate.report import DebateReport, lines, report_of
from swarmgate.evaluation.debate.running import Run
from swarmgate.evaluation.debate.statistics import Judgement

NASTY = '<script>alert(1)</script> & "quotes"'


def reported(number: int = 4, arms: tuple[Arm, ...] = tuple(Arm), **stop: object) -> tuple[DebateReport, Fixtures]:
    known = tuple(item.model_copy(update={"reason": NASTY, "category": NASTY}) for item in items(number))
    judgements = [
        Judgement(
            item=item.id, label=item.label, category=item.category, repeat=1, arm=arm, turns=1,
            approved=(item.label == "good") is (arm is Arm.DEBATE), tally=Tally(approve=1),
        )
        for item in known
        for arm in arms
    ]  # fmt: skip
    run = Run(planned=number, judgements=judgements, done=number, **stop)  # type: ignore[arg-type]  # `stopped`
    setup = Setup(models=("l/a",), arms=arms, repeats=1)
    fixtures = Fixtures(known, ("a warning",))
    return report_of(
        run, fixtures, setup, name="abc", date="2026-11-21", asked=5, path="f.jsonl", digest="0" * 64
    ), fixtures  # fmt: skip


def test_the_picture_is_a_png_and_the_same_for_the_same_numbers() -> None:
    report, _ = reported()
    picture = png(report.arms, report.comparisons)
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", picture[16:24])
    assert width > height > 300
    assert picture == png(report.arms, report.comparisons)


@pytest.mark.parametrize("arms", [(Arm.SINGLE,), (Arm.PARALLEL, Arm.DEBATE), (Arm.DEBATE,)])
def test_the_picture_of_fewer_arms_and_of_a_single_item(arms: tuple[Arm, ...]) -> None:
    report, _ = reported(number=1, arms=arms)
    assert png(report.arms, report.comparisons).startswith(b"\x89PNG")
    assert report.decision is None
    assert report.undecided


def test_the_page_needs_nothing_beside_it_and_escapes_what_others_wrote() -> None:
    report, known = reported()
    picture = png(report.arms, report.comparisons)
    text = page(report, known.items, picture)
    assert "<script" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;quotes&quot;" in text
    (embedded,) = re.findall(r'src="data:image/png;base64,([^"]+)"', text)
    assert base64.b64decode(embedded) == picture
    assert re.findall(r'(?:src|href)="(?!data:)', text) == []
    assert "use debate" in text
    assert "good items approved" in text


def test_the_tables_name_what_they_count() -> None:
    report, _ = reported()
    text = "\n".join(lines(report))
    for told in (
        "good items approved (true-negative rate)",
        "bad items rejected (true-positive rate, recall)",
        "rejected items that are bad (precision)",
        "parse failures (ballots without a verdict)",
        "debate against parallel, equal calls: lift +100.0 points",
        "McNemar: 4 items right by debate alone, 0 by parallel alone, p = 0.125",
        "Rule: ",
        "Decision: use debate (NOT SURE)",
        "warning: a warning",
    ):
        assert told in text
    assert report.categories[0].accuracy[Arm.DEBATE] == 1.0


def test_a_run_that_was_stopped_is_partial_and_decides_nothing() -> None:
    report, _ = reported(stopped=BudgetExhausted("$1.00 of $1.00 are spent"))
    assert (report.exit_code, report.decision, report.undecided) == (4, None, "the run is not complete")
    text = "\n".join(lines(report))
    assert "PARTIAL: 4 of 4 judged by every arm: $1.00 of $1.00 are spent" in text
    assert "Decision:" not in text


def test_calls_that_endpoints_refused_leave_nothing_to_decide() -> None:
    report, known = reported()
    judgements = [each.model_copy(update={"refused": 1}) for each in report.judgements]
    run = Run(planned=4, judgements=judgements, done=4)
    again = report_of(
        run, known, report.setup, name="abc", date="2026-11-21", asked=5, path="f.jsonl", digest="0" * 64
    )  # fmt: skip
    assert "endpoints refused 12 calls of 12 turns" in again.undecided

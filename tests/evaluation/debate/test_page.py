"""Tests the report files of the debate experiment: plot, HTML page and tables."""

from __future__ import annotations

import base64
import re
import struct

import pytest
from tests.evaluation.debate.simulated import items

from swarmgate.domain.review.votes import Tally
from swarmgate.errors import BudgetExhausted
from swarmgate.evaluation.debate.experiment_arms import Arm, Setup
from swarmgate.evaluation.debate.fixtures import Fixtures
from swarmgate.evaluation.debate.page import page
from swarmgate.evaluation.debate.plot import png
from swarmgate.evaluation.debate.report import DebateReport, lines, report_of
from swarmgate.evaluation.debate.runs import Run
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
    fixtures = Fixtures(known, ("a warning",), "0" * 64)
    return counted(run, fixtures, Setup(models=("l/a",), arms=arms, repeats=1)), fixtures


def counted(run: Run, fixtures: Fixtures, setup: Setup) -> DebateReport:
    return report_of(run, fixtures, setup, name="abc", date="2026-11-21", asked=5, path="f.jsonl")


@pytest.fixture(scope="module")
def whole() -> tuple[DebateReport, Fixtures, bytes]:
    """A report with its fixtures and its picture, which takes half a second to draw."""
    report, fixtures = reported()
    return report, fixtures, png(report.arms, report.comparisons)


Whole = tuple[DebateReport, Fixtures, bytes]


@pytest.mark.slow
def test_the_picture_is_a_png_and_the_same_for_the_same_numbers(whole: Whole) -> None:
    report, _, picture = whole
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", picture[16:24])
    assert width > height > 300
    assert picture == png(report.arms, report.comparisons)


@pytest.mark.slow
@pytest.mark.parametrize("arms", [(Arm.SINGLE,), (Arm.PARALLEL, Arm.DEBATE), (Arm.DEBATE,)])
def test_the_picture_of_fewer_arms_and_of_a_single_item(arms: tuple[Arm, ...]) -> None:
    report, _ = reported(number=1, arms=arms)
    assert png(report.arms, report.comparisons).startswith(b"\x89PNG")
    assert report.decision is None
    assert report.undecided


def test_the_page_needs_nothing_beside_it_and_escapes_what_others_wrote(whole: Whole) -> None:
    report, known, picture = whole
    text = page(report, known.items, picture)
    assert "<script" not in text
    assert text.count("&lt;script&gt;alert(1)&lt;/script&gt; &amp; &#34;quotes&#34;") > len(known.items)
    (embedded,) = re.findall(r'src="data:image/png;base64,([^"]+)"', text)
    assert base64.b64decode(embedded) == picture
    assert re.findall(r'(?:src|href)="(?!data:)', text) == []
    assert "use debate" in text
    assert "good items approved" in text


def test_half_a_character_and_what_looks_like_a_template_are_text_on_the_page(whole: Whole) -> None:
    report, known, _ = whole
    items = [each.model_copy(update={"reason": "Half \ud83d\u202e of {{ 7 * 7 }} '\">"}) for each in known.items]
    text = page(report.model_copy(update={"id": "\udc80<b>"}), items, b"")
    assert text.count("Half \ufffd\ufffd of {{ 7 * 7 }} &#39;&#34;&gt;") == len(items)
    assert "<title>swarm eval debate \ufffd&lt;b&gt;</title>" in text
    assert text.encode("utf-8")
    assert "<img" not in text


def test_a_report_of_nothing_has_a_page() -> None:
    report = counted(Run(planned=4, judgements=[], done=0), Fixtures(()), Setup(models=("l/a",), repeats=1))
    text = page(report, (), b"")
    assert "Decision: none." in text
    assert "<table" not in text


def test_the_tables_name_what_they_count(whole: Whole) -> None:
    report, *_ = whole
    text = "\n".join(lines(report))
    for told in (
        "good items approved (true-negative rate)",
        "bad items rejected (true-positive rate, recall)",
        "rejected items that are bad (precision)",
        "ties of ballots (confidence decided)",
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
    assert "Decision: none." in text
    assert "Decision: use" not in text


def with_lost(whole: Whole, arm: Arm, number: int, **lost: object) -> DebateReport:
    """The report of 40 judgements by each arm of which so many of one arm lost something."""
    report, known, _ = whole
    judgements = [
        each.model_copy(update={"repeat": repeat, **(lost if each.arm is arm and repeat * 4 <= number else {})})
        for each in report.judgements
        for repeat in range(1, 11)
    ]
    return counted(Run(planned=40, judgements=judgements, done=40), known, report.setup)


@pytest.mark.parametrize("arm", list(Arm))
@pytest.mark.parametrize(
    ("lost", "told"),
    [
        ({"refused": 1}, "{arm}: endpoints refused 4 calls of 40 turns, or were too slow"),
        ({"tally": Tally(failed=1)}, "{arm}: 4 of 40 ballots could not be read"),
        ({"tally": Tally(abstain=1)}, "{arm}: 4 of 40 judgements came to no verdict"),
    ],
)
def test_more_than_a_twentieth_lost_in_any_one_arm_leaves_nothing_to_decide(
    whole: Whole, arm: Arm, lost: dict[str, object], told: str
) -> None:
    found = with_lost(whole, arm, 4, **lost)
    assert told.format(arm=arm) in found.undecided
    assert found.decision is None
    assert "Decision: none." in lines(found)
    assert with_lost(whole, arm, 0, **lost).decision is not None


def test_a_twentieth_is_not_more_than_a_twentieth(whole: Whole) -> None:
    found = with_lost(whole, Arm.DEBATE, 4, refused=1, turns=11)  # 4 of 36 + 4 x 11
    assert found.undecided == ""
    assert found.decision is not None


@pytest.mark.parametrize("label", ["good", "bad"])
def test_items_of_one_label_decide_nothing(label: str) -> None:
    report, known = reported(number=80)
    kept = [item for item in known.items if item.label == label]
    judgements = [each for each in report.judgements if each.label == label]
    found = counted(Run(planned=40, judgements=judgements, done=40), Fixtures(tuple(kept)), report.setup)
    assert found.decision is None
    assert found.undecided.startswith(f"all items are {label}: ")
    assert found.comparisons, "the numbers are shown all the same"

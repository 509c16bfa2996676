"""Tests the tables of a gate evaluation."""

from __future__ import annotations

from swarmgate.evaluation import report
from swarmgate.evaluation.case import Case
from swarmgate.evaluation.gate_runs import Judged
from swarmgate.evaluation.releases import Block, Change


def _judged(category: str, *, expected: bool, found: bool, trouble: str = "") -> Judged:
    return Judged(Case("sast_scan", category, expected, {}, place=f"{category}.py"), found, trouble)


def test_a_table_counts_by_category_and_lists_mistakes() -> None:
    judged = [
        *(_judged("sqli", expected=True, found=True) for _ in range(3)),
        _judged("sqli", expected=True, found=False),
        *(_judged("sqli", expected=False, found=False) for _ in range(4)),
        _judged("xss", expected=True, found=True),
        _judged("xss", expected=False, found=True, trouble="semgrep is not installed"),
    ]
    made = report.of_set("web", judged)
    assert [row.category for row in made.rows] == ["sqli", "xss"]
    assert made.rows[0].youden == 0.75
    assert made.mean_youden == 0.375
    assert made.total.score.cases == 10
    text = report.lines(report.EvaluationReport(sets=(made,)))
    assert text == [
        "web              cases    hit  false missed  recall     FPR   prec.      F1  Youden",
        "sast_scan sqli       8      3      0      1   0.750   0.000   1.000   0.857   0.750",
        "sast_scan xss        2      1      1      0   1.000   1.000   0.500   0.667   0.000",
        "all                 10      4      1      1   0.800   0.200   0.800   0.800   0.600",
        "mean Youden index of the categories: 0.375",
        "  could not judge: sast_scan: semgrep is not installed",
        "  missed: sast_scan sqli sqli.py",
        "  false alarm: sast_scan xss xss.py",
        "",
    ]


def test_a_long_list_of_mistakes_is_cut_and_counted() -> None:
    made = report.of_set("web", (_judged("sqli", expected=True, found=False) for _ in range(30)))
    text = report.lines(report.EvaluationReport(sets=(made,)))
    assert "  and 10 more; --json lists all" in text
    assert len(made.wrong) == 30


def test_blocked_changes_are_counted_once_and_listed_by_gate() -> None:
    change, fine = Change("a-1 -> a-2", "x.py", b"1", b"2"), Change("a-1 -> a-2", "y.py", b"1", b"2")
    blocks = tuple(Block(change, gate, "1 new", ("x.py:1 rule: bad",)) for gate in ("syntax_check", "lint_check"))
    made = report.of_releases([(change, blocks), (fine, ())])
    assert (made.changes, made.blocked, len(made.blocks)) == (2, 1, 2)
    text = report.lines(report.EvaluationReport(sets=(), releases=made, not_measured=("owasp=PATH",)))
    assert text[0] == "releases: 1 of 2 changes blocked (95% interval 0.095 to 0.905)"
    assert "a-1 -> a-2 x.py: lint_check: 1 new: x.py:1 rule: bad" in text[2]
    assert "  owasp=PATH" in text

"""Tests the drift report."""

from __future__ import annotations

from swarmgate.automation.drift.report import DriftReport, Place, Signal, SignalKind


def test_a_place_is_told_as_a_line_of_a_file_or_a_position_of_the_ledger() -> None:
    places = {
        "a.md:3": Place(file="a.md", line=3),
        "a.md": Place(file="a.md"),
        "ledger seq 7, brief of task 1.1": Place(seq=7, what="brief of task 1.1"),
        ".swarm/plan.md:9, task 2.1, title": Place(file=".swarm/plan.md", line=9, what="task 2.1, title"),
        "": Place(),
    }
    assert {told: str(place) for told, place in places.items()} == {told: told for told in places}


def test_a_signal_is_one_line_with_both_places() -> None:
    signal = Signal(
        kind=SignalKind.CONTRADICTION,
        decision="D1",
        text="Use a",
        place=Place(file="context.md", line=4),
        other="Use b",
        other_place=Place(file="plan.md", line=8),
        subject="s",
        why="two\nchoices",
        advice="choose",
        confidence=0.9,
    )
    assert signal.line == "contradiction: D1 (context.md:4) and (plan.md:8): two choices"
    alone = signal.model_copy(update={"other_place": Place(), "decision": "", "kind": SignalKind.UNCOVERED})
    assert alone.line == "uncovered: requirement (context.md:4): two choices"


def test_a_report_goes_to_json_and_back() -> None:
    report = DriftReport(left_out=2, notes=("passed over: x",))
    assert DriftReport.model_validate_json(report.model_dump_json()) == report

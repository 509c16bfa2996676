from __future__ import annotations

import pytest

from swarmgate.domain.review.finding import Finding, GateReport, GateResult, GateStatus, Severity, Standing, Unchecked


@pytest.mark.parametrize(
    ("status", "required", "blocks"),
    [
        (GateStatus.PASS, True, False),
        (GateStatus.SKIP, True, False),
        (GateStatus.FAIL, True, True),
        (GateStatus.FAIL, False, True),
        (GateStatus.ERROR, True, True),
        (GateStatus.ERROR, False, False),
    ],
)
def test_fail_blocks_and_a_required_gate_that_broke(
    status: GateStatus,
    required: bool,  # noqa: FBT001 - parametrized
    blocks: bool,  # noqa: FBT001 - parametrized
) -> None:
    result = GateResult(gate="g", status=status, required=required)
    assert result.blocks is blocks


def test_a_report_in_which_nothing_was_looked_at_is_no_pass() -> None:
    skipped = GateReport(tree="t", results=(GateResult(gate="g", status=GateStatus.SKIP, reason="no files"),))
    assert not skipped.passed
    assert skipped.reason == "no gate looked at anything"
    assert not GateReport(tree="t", results=()).passed


def test_the_reason_of_a_report_is_the_first_new_finding_with_its_place() -> None:
    old = Finding(rule="r", path="a.py", line=1, message="old", new=False)
    new = Finding(rule="r", path="a.py", line=7, column=3, message="new")
    failed = GateResult(gate="g", status=GateStatus.FAIL, findings=(old, new), reason="2 findings")
    passed = GateResult(gate="p", status=GateStatus.PASS)
    report = GateReport(tree="t", results=(passed, failed))
    assert report.reason == "a.py:7:3 r: new"
    assert failed.new_findings == (new,)
    assert not report.passed
    assert GateReport(tree="t", results=(passed,)).reason == ""


def test_what_is_accepted_or_mild_does_not_block() -> None:
    lived_with = Finding(rule="r", path="a.py", line=1, message="lived with", accepted="later")
    mild = Finding(rule="r", path="a.py", line=2, message="mild", severity=Severity.LOW)
    severe = Finding(rule="r", path="a.py", line=3, message="severe", severity=Severity.HIGH)
    failed = GateResult(gate="g", status=GateStatus.FAIL, findings=(lived_with, mild, severe))
    assert failed.new_findings == (mild, severe)
    assert failed.blocking_findings == (severe,)
    assert GateReport(tree="t", results=(failed,)).reason == "a.py:3 r: severe"
    assert [GateReport(tree="t", results=each).verdict for each in ((failed,), ())] == ["rejected", "nothing judged"]


def test_severities_rise() -> None:
    assert [severity.rank for severity in Severity] == [0, 1, 2, 3, 4]


def test_the_reason_names_a_finding_that_another_gate_tells() -> None:
    told = Finding(rule="r", path="a.py", line=3, message="weak", also=("lint",))
    lint = GateResult(gate="lint", status=GateStatus.FAIL, reason="1 new; 1 told by sast")
    sast = GateResult(gate="sast", status=GateStatus.FAIL, findings=(told,))
    assert GateReport(tree="t", results=(lint, sast)).reason == "a.py:3 r: weak"
    broken = GateResult(gate="lint", status=GateStatus.ERROR, reason="no ruff", findings=(told,))
    assert GateReport(tree="t", results=(broken,)).reason == "no ruff"


def test_the_reason_is_the_worst_of_all_gates() -> None:
    mild = Finding(rule="F401", path="a.py", line=1, message="unused", severity=Severity.MEDIUM)
    worst = Finding(rule="sql", path="b.py", line=9, message="SQL", severity=Severity.CRITICAL)
    told = [
        GateResult(gate=name, status=GateStatus.FAIL, findings=(each,)) for name, each in (("l", mild), ("s", worst))
    ]
    broken = GateResult(gate="types", status=GateStatus.ERROR, reason="no mypy")
    assert GateReport(tree="t", results=(broken, *told)).reason == "b.py:9 sql: SQL"
    assert GateReport(tree="t", results=(*told[:1], broken)).reason == "a.py:1 F401: unused"


def test_a_report_of_before_can_be_read() -> None:
    kept = (
        '{"tree": "t", "results": [{"gate": "g", "status": "FAIL", "reason": "1 new",'
        ' "findings": [{"rule": "r", "path": "a.py", "line": 1, "message": "m"}]}]}'
    )
    report = GateReport.model_validate_json(kept)
    assert (report.unchecked, report.summary) == ((), "rejected: a.py:1 r: m")
    assert report.counts == {Standing.BLOCKS: 1}


def test_each_finding_has_one_standing() -> None:
    new = Finding(rule="r", path="a.py", message="m")
    found = {
        Standing.BLOCKS: new,
        Standing.INFORMS: new.model_copy(update={"severity": Severity.LOW}),
        Standing.ACCEPTED: new.model_copy(update={"accepted": "later", "new": False}),
        Standing.OLD: new.model_copy(update={"new": False}),
    }
    result = GateResult(gate="g", status=GateStatus.FAIL, findings=tuple(found.values()))
    assert [result.standing(each) for each in found.values()] == [*found]
    assert result.blocking_findings == (new,)


def test_the_summary_names_what_was_not_checked_once_and_by_reason() -> None:
    missing = tuple(Unchecked(what=what, why="go is not installed") for what in ("build", "types", "build"))
    quiet = Unchecked(what="types", why="nobody configures any", asked=False)
    done = GateResult(gate="a", status=GateStatus.PASS)
    report = GateReport(
        tree="t",
        results=(
            done,
            GateResult(gate="b", status=GateStatus.SKIP, unchecked=(*missing, quiet)),
            GateResult(gate="c", status=GateStatus.ERROR, required=False, reason="it broke"),
        ),
    )
    assert report.summary == "passed; not checked: build, types (go is not installed), c (it broke)"
    required = GateResult(gate="b", status=GateStatus.ERROR, reason="types: no tool", unchecked=(
        Unchecked(what="types", why="no tool"),
    ))  # fmt: skip
    assert GateReport(tree="t", results=(done, required)).summary == "rejected: types: no tool"

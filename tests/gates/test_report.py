"""The report as text."""

from __future__ import annotations

from swarmgate.domain.finding import Finding, GateReport, GateResult, GateStatus, Severity
from swarmgate.gates.report import PATCH_LINES, lines

NEW = Finding(rule="R", path="a\n\x1b[31m.py", line=2, severity=Severity.HIGH, message="bad", suggestion="mend")
OLD = Finding(rule="R", path="b.py", line=1, message="old", new=False)


def test_gates_then_findings_then_verdict() -> None:
    results = (
        GateResult(gate="lint_fix", status=GateStatus.PASS, files=2, seconds=0.0123, fixed=("a.py",)),
        GateResult(gate="lint", status=GateStatus.FAIL, reason="1 new", findings=(OLD, NEW), files=2),
        GateResult(gate="x", status=GateStatus.SKIP, reason="nothing", required=False),
    )
    assert lines(GateReport(tree="0123456789abcdef", results=results, seconds=0.5), "a change") == [
        "judged: a change",
        "",
        "PASS   lint_fix  2 files, 0 new, 0 old, 12 ms  fixed 1: a.py",
        "FAIL   lint      2 files, 1 new, 1 old, 0 ms  1 new",
        "SKIP   x         0 files, 0 new, 0 old, 0 ms  nothing  optional",
        "",
        "lint: a\\n\\x1b[31m.py:2: high R: bad -> mend",
        "",
        "1 that stood there before the change: --format json lists them",
        "",
        "rejected: a\\n\\x1b[31m.py:2 R: bad (500 ms, tree 0123456789ab)",
    ]


def test_passed_and_nothing_judged() -> None:
    report = GateReport(tree="0" * 40, results=(GateResult(gate="d", status=GateStatus.PASS, files=1),))
    assert lines(report)[-1] == "passed (0 ms, tree 000000000000)"
    report = GateReport(tree="0" * 40, results=(GateResult(gate="d", status=GateStatus.SKIP, reason="no"),))
    assert lines(report)[-1] == "nothing judged: no gate looked at anything (0 ms, tree 000000000000)"


def test_what_was_fixed_is_shown_and_bounded() -> None:
    patch = "diff --git a/x b/x\nindex 1..2\n--- a/x\n+++ b/x\n" + "+\tline\x1b\n" * 100
    result = GateResult(gate="fix", status=GateStatus.PASS, files=1, fixed=("x",), patch=patch)
    text = lines(GateReport(tree="0", results=(result,)))
    start = text.index("fix changed:")
    assert text[start + 1 : start + 4] == ["--- a/x", "+++ b/x", "+   line\\x1b"]
    assert text[start + PATCH_LINES + 1] == "[... 42 more lines; all of it: --format json ...]"


def test_accepted_ones_are_counted_and_many_old_ones_not_listed() -> None:
    accepted = NEW.model_copy(update={"accepted": "later", "path": "c.py"})
    found = (accepted, *(OLD.model_copy(update={"line": n}) for n in range(1, 10)))
    result = GateResult(gate="g", status=GateStatus.PASS, findings=found, files=1, reason="1 accepted")
    text = "\n".join(lines(GateReport(tree="0", results=(result,), notes=("this change edits ruff.toml",))))
    assert "1 files, 0 new, 9 old, 0 ms  1 accepted" in text
    assert "c.py" not in text
    assert "b.py" not in text
    assert "9 that stood there before the change: --format json lists them" in text
    assert "note: this change edits ruff.toml" in text


def test_who_else_saw_it() -> None:
    seen = NEW.model_copy(update={"also": ("lint_check", "sast_scan")})
    result = GateResult(gate="g", status=GateStatus.FAIL, findings=(seen,), files=1)
    assert any(
        line.endswith("[also seen by lint_check, sast_scan]") for line in lines(GateReport(tree="0", results=(result,)))
    )


def test_what_blocks_stands_before_what_informs_and_of_that_ten_are_shown() -> None:
    low = [NEW.model_copy(update={"path": f"m{n}.py", "severity": Severity.LOW}) for n in range(12)]
    first = GateResult(gate="a", status=GateStatus.PASS, findings=tuple(low), files=1)
    second = GateResult(gate="b", status=GateStatus.FAIL, findings=(NEW,), files=1)
    text = lines(GateReport(tree="0", results=(first, second)))
    assert text.index("b: a\\n\\x1b[31m.py:2: high R: bad -> mend") < text.index("a: m0.py:2: low R: bad -> mend")
    assert sum(line.startswith("a: m") for line in text) == 10
    assert "and 2 more that inform: --format json lists them" in text


def test_gates_that_were_not_selected_are_left_out() -> None:
    asked = GateResult(gate="diff", status=GateStatus.PASS, files=1)
    other = GateResult(gate="a_longer_name", status=GateStatus.SKIP, reason="not selected")
    assert lines(GateReport(tree="0", results=(other, asked)))[0] == "PASS   diff  1 files, 0 new, 0 old, 0 ms"

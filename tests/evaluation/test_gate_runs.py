"""Tests the run of a gate on labelled cases."""

from __future__ import annotations

import pytest

from swarmgate.domain.review.finding import Severity
from swarmgate.errors import UsageError
from swarmgate.evaluation import gate_runs
from swarmgate.evaluation.case import Case

_BROKEN, _FINE = b"def f(:\n", b"def f():\n    return 1\n"


def _case(after: bytes, *, expected: bool = True, gate: str = "syntax_check", **more: object) -> Case:
    return Case(gate, "any", expected, {"a.py": after}, **more)  # type: ignore[arg-type]  # keys of the test's choice


def test_cases_of_one_name_do_not_disturb_each_other() -> None:
    cases = [_case(_BROKEN), _case(_FINE), _case(_BROKEN)]
    assert [each.found for each in gate_runs.judge(cases)] == [True, False, True]


def test_every_batch_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate_runs, "BATCH", 2)
    cases = [_case(_BROKEN), _case(_FINE), _case(_BROKEN), _case(_BROKEN), _case(_FINE)]
    assert [each.found for each in gate_runs.judge(cases)] == [True, False, True, True, False]


def test_more_findings_of_a_rule_than_a_report_lists_are_all_counted() -> None:
    assert all(each.found for each in gate_runs.judge(_case(_BROKEN) for _ in range(60)))


def test_what_stood_there_before_is_no_hit() -> None:
    cases = [_case(_BROKEN, before={"a.py": _BROKEN}), _case(_BROKEN, before={"a.py": _FINE})]
    assert [each.found for each in gate_runs.judge(cases)] == [False, True]


def test_a_file_of_before_can_be_gone_after() -> None:
    case = Case("syntax_check", "any", False, {"b.py": _FINE}, {"a.py": _BROKEN})
    assert [each.found for each in gate_runs.judge([case])] == [False]


def test_a_case_writes_nothing_outside_of_its_folder() -> None:
    with pytest.raises(UsageError, match="stays below its folder"):
        list(gate_runs.judge([Case("syntax_check", "any", False, {"../../escaped.py": _FINE})]))


def test_a_finding_must_fit_the_label() -> None:
    cases = [
        _case(_BROKEN, rules=("python-",)),
        _case(_BROKEN, rules=("json-",)),
        _case(_BROKEN, line=1),
        _case(_BROKEN, line=2),
        _case(_BROKEN, cwes=frozenset({"CWE-89"})),
        _case(_BROKEN, severity=Severity.CRITICAL),
    ]
    assert [each.found for each in gate_runs.judge(cases)] == [True, False, True, False, False, True]

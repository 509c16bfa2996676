"""Tests which finding on an edited line is an old one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from swarmgate.domain.review.finding import Finding, GateStatus, Severity
from swarmgate.gates.sast import edited_lines
from swarmgate.gates.source.file import Revision, SourceFile

if TYPE_CHECKING:
    Project = Any


def compared(language: str, old: str, new: str, *, severity: Severity = Severity.HIGH) -> tuple[bool, bool]:
    """Whether a finding on the first line with a call is the old one, and whether the base would be looked at."""
    source = SourceFile(Revision("a", language, old.encode()), Revision("a", language, new.encode()), frozenset())

    def finding(text: str, severity: Severity) -> Finding:
        line, row = next((n, row) for n, row in enumerate(text.split("\n"), 1) if "danger" in row)
        return Finding(
            rule="r", path="a", line=line, column=row.index("danger") + 1, severity=severity, message="m", suggestion=""
        )

    now, was = finding(new, severity), finding(old, Severity.HIGH)
    return edited_lines.same_call(source)(now, was), edited_lines.may_be_old(source, [now])


@pytest.mark.parametrize(
    ("language", "old", "new"),
    [
        ("go", "err = danger(path, 0777) // rwx", "err = danger(path, 0777)"),
        ("go", "danger(w, r.URI + x, 301)", "danger(w, r.URI + x, http.StatusMoved)"),
        ("go", "toUrl := f(x)\ndanger(w, toUrl, 301)", "toURL := f(x)\ndanger(w, toURL, 301)"),
        ("python", "danger(a)  # noqa", "danger(a)"),
        ("javascript", "danger(a, b); f()", "danger(a, b); g()"),
        ("go", "if danger(a) {", "if danger(a) { // why"),
    ],
)
def test_an_edit_beside_the_point_leaves_it_old(language: str, old: str, new: str) -> None:
    assert compared(language, old, new) == (True, True)


@pytest.mark.parametrize(
    ("language", "old", "new"),
    [
        ("python", 'danger("ls")', "danger(name)"),
        ("python", "danger(quote(name))", "danger(name)"),
        ("python", "danger(name)", "danger(request.args)"),
        ("python", "danger(safe)\nprint(value)", "danger(value)\nprint(value)"),
        ("python", "safe = clean(x)\ndanger(safe)", "raw = x\ndanger(raw)"),
        ("python", 'danger(f"{a} x")', 'danger(f"{b} x")'),
        ("python", "danger(a, b)", "danger(b, a)"),
        ("python", "danger(\n    one,\n)", "danger(\n    two(x),\n)"),
        ("python", "danger(a) + one()", "danger(a) + two()"),
        ("go", "danger(path, 0755)", "danger(path, 0777)"),
        ("python", "danger(a, b)", "danger(a, b, shell=True)"),
    ],
)
def test_an_edit_that_may_make_it_reachable_is_new(language: str, old: str, new: str) -> None:
    assert not compared(language, old, new)[0]


def test_one_that_became_more_severe_is_new() -> None:
    assert compared("python", "danger(a) # x", "danger(a)", severity=Severity.CRITICAL) == (False, True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "status"),
    [
        ("eval(value)  # noqa", "eval(value)", GateStatus.PASS),
        ('eval("1")', "eval(value)", GateStatus.FAIL),
        ("eval(int(value))", "eval(value)", GateStatus.FAIL),
    ],
)
def test_the_gate_asks_the_base_of_an_edited_line(project: Project, old: str, new: str, status: GateStatus) -> None:
    head = 'from flask import request\n@app.route("/x")\ndef view():\n    value = request.args.get("v")\n    '
    project.commit_files({"a.py": f"{head}{old}\n"})
    project.write("a.py", f"{head}{new}\n")
    assert project.gate("sast_scan").status is status

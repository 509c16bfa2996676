"""Tests that every error of a command ends as a message and an exit code, as JSON where asked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer

from swarmgate.errors import EndpointFailed, PlanError
from swarmgate.terminal.terminal import boundary

CASES = [
    (EndpointFailed("it is down", hint="start it"), 5, "it is down"),
    (PlanError("the plan is broken", problems=("Task 1.1 is LARGE",)), 2, "the plan is broken"),
    (PermissionError(13, "Permission denied", "/some/file"), 2, "/some/file: Permission denied"),
    (KeyboardInterrupt(), 130, "Nothing is lost"),
    (RuntimeError("oops"), 70, "a bug: RuntimeError: oops"),
]


@pytest.mark.parametrize(("error", "exits", "told"), CASES)
@pytest.mark.parametrize("as_json", [True, False])
def test_every_error_is_told_in_the_form_that_was_asked_for(
    error: BaseException, exits: int, told: str, *, as_json: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(typer.Exit) as ended, boundary(as_json):
        raise error
    assert ended.value.exit_code == exits
    out, err = capsys.readouterr()
    if as_json:
        data = json.loads(out)
        assert (data["exit_code"], err) == (exits, "")
        assert told in data["message"]
    else:
        assert told in err
        assert out == ""


def test_a_bug_leaves_a_report(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit), boundary(as_json=True):
        raise RuntimeError("oops")
    report = Path(json.loads(capsys.readouterr().out)["hint"].rpartition(" ")[2])
    assert "RuntimeError: oops" in report.read_text()
    report.unlink()


def test_a_result_is_json_or_lines(capsys: pytest.CaptureFixture[str]) -> None:
    for as_json, shown in ((True, '{\n  "a": 1\n}\n'), (False, "line\n")):
        with boundary(as_json) as terminal:
            terminal.note("on the side")
            terminal.result({"a": 1}, ["line"])
        out, err = capsys.readouterr()
        assert out == shown
        assert err == ("" if as_json else "on the side\n")

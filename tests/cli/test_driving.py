"""Signals in a process of its own, as JSON: stdout holds one object, stderr holds lines of JSON alone."""

from __future__ import annotations

import json
import signal

import pytest
from tests.project import Project, event_lines, plan, rule, until

pytestmark = pytest.mark.suite("unittest")


def test_stopping_at_once_is_told_in_json(project: Project) -> None:
    project.planned(plan("1.1"), rule("coder", "code", {"fault": {"kind": "hang"}}))
    process = project.start("run", "--json")
    until(lambda: project.briefs("coder", "code"))
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    told = ""
    while "safe point" not in told:
        told = process.stderr.readline()
    assert json.loads(told)["kind"] == "notice"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert json.loads(out)["error"] == "STOPPED"
    assert "INTERRUPTED" in event_lines(err)[-2]["text"]

"""Tests signals to a running verb with `--json`: one object on stdout, lines of JSON on stderr."""

from __future__ import annotations

import json
import signal

import pytest
from tests.project import Project, event_lines, plan, rule, until

from swarmgate.domain.events.event import RunPaused

pytestmark = pytest.mark.suite("unittest")


@pytest.mark.slow
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
    ended = [line["text"] for line in event_lines(err) if line["kind"] == "event"]  # workers beside it tell notices
    assert "INTERRUPTED" in ended[-2]
    assert ended[-1].startswith("paused")


@pytest.mark.slow
@pytest.mark.parametrize("as_json", [False, True])
def test_progress_that_nobody_reads_any_more_does_not_end_the_run(project: Project, *, as_json: bool) -> None:
    """As in `swarm run 2>&1 | head -3`."""
    project.planned()
    process = project.start("run", *(["--json"] if as_json else []))
    assert process.stderr is not None
    process.stderr.readline()
    process.stderr.close()
    process.stderr = None
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 3
    assert "phase_approval" in out or "waits for your approval" in out
    assert not project.events(RunPaused)

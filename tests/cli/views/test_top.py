"""Tests `swarm top`: what a run in another process does, until that ends."""

from __future__ import annotations

import json
import signal

import pytest
from tests.project import Project, call, plan, rule, until

pytestmark = pytest.mark.suite("unittest")

_LONG = {
    "tool_calls": [call("write_file", path="src/calc/part_1.1.py", content="X = 1\n")],
    "text": "Parts come first.",
}


def test_nothing_is_running(project: Project) -> None:
    project.play()
    assert project.swarm("top").stdout.startswith("Nothing is running.\nNext:\n")
    assert project.json("top") == {"run": None}


@pytest.mark.slow
def test_it_shows_what_the_run_does_and_how_that_ended(project: Project) -> None:
    project.planned(plan("1.1"), rule("coder", "code", _LONG, {"fault": {"kind": "hang"}}))
    run = project.start("run")
    until(lambda: "write_file" in json.dumps(project.json("top")))
    live = project.json("top")["run"]
    assert live["pid"] == run.pid
    edit = next(each for each in live["items"] if "write_file" in each["text"])
    assert (edit["task"], edit["place"], edit["of"]) == ("1.1", 1, 1)
    assert "+X = 1" in edit["detail"]
    top = project.start("top", "--verbose")
    assert top.stderr is not None
    told = ""
    while "+X = 1" not in told:
        line = top.stderr.readline()
        assert line, told
        told += line
    assert "task 1 of 1: the coder works" in told
    assert "Parts come first." in told
    for _ in range(2):
        run.send_signal(signal.SIGINT)
        until(lambda: "safe point" in json.dumps(project.json("top")) or run.poll() is not None)
    out, err = top.communicate(timeout=60)
    assert top.returncode == 0, err
    assert "paused" in out
    assert "swarm run" in out
    run.communicate(timeout=60)


@pytest.mark.slow
def test_ctrl_c_ends_the_look_and_not_the_run(project: Project) -> None:
    project.planned(plan("1.1"), rule("coder", "code", {"fault": {"kind": "hang"}}))
    run = project.start("run")
    until(lambda: project.json("top")["run"] is not None)
    top = project.start("top")
    assert top.stderr is not None
    top.stderr.readline()
    top.send_signal(signal.SIGINT)
    _, err = top.communicate(timeout=60)
    assert top.returncode == 130
    assert "The run goes on" in err
    assert run.poll() is None
    run.kill()
    run.communicate(timeout=60)
    until(lambda: project.json("top")["run"] is None)

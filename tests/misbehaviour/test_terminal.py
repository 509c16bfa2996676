"""What agents say and do is shown on the user's terminal: nothing of it steers that, and no secret stands there."""

from __future__ import annotations

import pytest
from tests.misbehaviour.case import case
from tests.misbehaviour.conftest import SECRET
from tests.project import Project, call, part, rule
from tests.pseudo_terminal import at_terminal

_EVIL = "\x1b]0;owned\x07\x1b[2Jsteered \u202eback\u202c [red]not markup[/red]"
_KEY = "sk-abcdefghijklmnopqrstuvwxyz0123456789"


@pytest.mark.slow
@pytest.mark.suite("unittest")
@case(
    "lies",
    "words, files and output of an agent hold what steers a terminal, turns text around, or is a key",
    "each such character is replaced and each secret masked before it is shown, and in `.swarm/runtime/progress.json`",
)
def test_what_agents_say_does_not_steer_the_terminal(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", SECRET)
    calls = [
        call("write_file", path="src/calc/part_1.1.py", content=part("1") + f"# {_EVIL} {_KEY}\n"),
        call("run_command", command=f"printf '{_EVIL} {_KEY} {SECRET}'; false"),
        call("write_file", path="src/calc/part_1.1.py", content=part("1")),
        call("finish", summary=_EVIL),
    ]
    project.planned(
        rule("coder", "code", {"text": f"{_EVIL} {SECRET}", "tool_calls": calls}),
        providers__local={"api_key_env": "SOME_KEY"},
    )
    shown, exits = at_terminal(
        project.root, "run", "--verbose", typed=[("Approve, revise or stop?", "s\n")], SOME_KEY=SECRET
    )
    assert exits == 3
    assert "task 1 of 1: 1.1 Part 1.1" in shown
    assert "not markup" in shown
    assert "steered" in shown
    kept = project.folder.progress.read_text()
    for text in (shown, kept):
        assert not [each for each in ("\x1b]", "\x07", "\x1b[2J", "\u202e", _KEY, SECRET) if each in text]

"""What no file and no wire takes, in every answer of every role: a run goes its way, and no bug ends it."""

from __future__ import annotations

import json

import pytest
from tests.misbehaviour.case import case
from tests.project import GOAL, Project, Rule, call, part, rule, save, task, verdict

from swarmgate.domain.events import event as ev
from swarmgate.domain.guard import Effect

pytestmark = pytest.mark.suite("unittest")

HALF = "\ud800"
HOSTILE = {
    "halves of characters": f"{HALF} a\udfffb",
    "what steers a terminal": "a\0b \x1b[2J\x07\x9b\x85\u2028\x7f \u202eevil\u202c \u2066x\u2069",
}


def _everywhere(text: str) -> list[Rule]:
    """A script in which every role says `text` wherever it can say anything, and the work is done all the same."""
    planned = task("1.1", description=text, acceptance=[f"part 1.1 has a value {text}"])
    mapped = [{"criterion": "1", "tests": ["test_start"]}, {"criterion": text, "tests": ["test_start"]}]
    finding = {"severity": "low", "file": text, "quote": text, "message": f"m {text}", "suggestion": text}
    looks = [
        call("read_file", path=text),
        call("search", pattern=text),
        call("list_files", glob=text),
        call("run_command", command=f"echo '{text}'"),
        call(text),
        call("write_file", path=f"notes/{text}.md", content="x"),
    ]
    works = [
        call("write_file", path="src/calc/part_1.1.py", content=part("1.1")),
        call("write_file", path="src/calc/text.md", content=text),
        call("finish", summary=text),
    ]
    declares = [call("declare_scope", files=["src/calc/part_1.1.py"]), call("delegate", instructions=f"Do it. {text}")]
    return [
        rule("architect", "plan", {"text": text, "tool_calls": [save(planned, title=f"Parts {text}")]}),
        rule("critic", "review_plan", [verdict(summary=f"fine {text}")]),
        rule("architect", "delegate", declares),
        rule("coder", "code", looks, works),
        rule("reviewer", "review", [call("submit_verdict", verdict="APPROVED", summary=text, findings=[finding])]),
        rule("test_engineer", "test", [verdict(summary=f"t {text}", criteria=mapped)]),
        rule("architect", "close_phase", [call("close_phase", summary=f"s {text}", decisions=[text], lessons=[text])]),
    ]


@pytest.mark.slow
@case(
    "loops",
    "every role says halves of characters (lone surrogates), NULs and controls wherever it can say anything",
    "U+FFFD stands for each half, on record (rule `unicode`); the work is done",
)
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_the_work_is_done_whatever_is_said(project: Project, text: str) -> None:
    project.play(*_everywhere(text), scope={"enforce": "off"})
    project.swarm("plan", GOAL, exits=3)
    project.swarm("approve")
    project.swarm("run", exits=3)
    for verb in (["show", "1.1"], ["history"], ["failures"], ["status"], ["verify"]):
        json.loads(project.swarm(*verb, "--json").stdout)
        assert project.swarm(*verb).stdout.encode()
    notes = [event.note for event in project.events(ev.GuardActed)]
    assert any(note.rule == "unicode" and note.effect is Effect.NOTED for note in notes) == (HALF in text)
    assert not set("\u202a\u202e\u2066\x1b") & set((project.root / ".swarm/plan.md").read_text())
    assert (project.root / "src/calc/text.md").read_text() == text.replace(HALF, "\ufffd").replace("\udfff", "\ufffd")

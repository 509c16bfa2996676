"""Crash test: kill -9 at random moments of an orchestration, each resumed; nothing may be lost or doubled.

    python benchmarks/orchestration_crash.py [KILLS] [SEED]

Target: 50 of 50. The harness: `council_crash.py`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from council_crash import Case, main

DESCRIPTION = """
[[steps]]
id = "look"
kind = "map"
items = ["upload", "restart", "rotation"]
at_once = 2
[steps.step]
kind = "ask"
participant = "reader"
text = "What breaks in {item}?"
[steps.reduce]
kind = "ask"
participant = "editor"
text = "Sum it up."

[[steps]]
id = "both"
kind = "parallel"
[[steps.steps]]
id = "notes"
kind = "critique"
task = "Write the notes of {look}."
iterations = 2
[[steps.steps]]
id = "vote"
kind = "decide"
question = "Shall it ship, after {look}?"
participants = ["ann", "bob"]

[[steps]]
id = "repair"
kind = "ask"
participant = "editor"
text = "Mend {notes}."
when = { step = "notes", field = "passed", equals = true }

[[steps]]
id = "tell"
kind = "ask"
participant = "editor"
text = "Tell of {notes} and {vote}."
"""


def rule(step: str, text: str, **match: str) -> dict[str, Any]:
    return {"match": {"role": "participant", "step": step, **match}, "replies": [{"text": text}]}


def rules() -> list[dict[str, Any]]:
    """The notes are never good enough; all agree."""
    scores = dict.fromkeys(("correctness", "completeness", "clarity"), 0.5)
    return [
        rule("dispatch", "{{participant}} has looked."),
        rule("generate", "version 1"),
        rule("improve", "version {{round}}"),
        rule("evaluate", json.dumps({"scores": scores, "suggestions": ["say more"]})),
        rule("contribute", json.dumps({"agreement": 0.9, "stand": "agree"})),
        rule("facilitate", json.dumps({"proposal": "Ship it.", "openPoints": []})),
    ]


def begin(place: Path, name: str) -> tuple[str, ...]:
    """A file, which gives it its id."""
    path = place / f"{name}.toml"
    path.write_text(f'id = "{name}"\n{DESCRIPTION}')
    return (str(path),)


def result_of(record: dict[str, Any]) -> Any:
    """How each step ended, with what it gave."""

    def ended(step: dict[str, Any]) -> Any:
        return step["id"], step["part"], step["status"], step["fields"], step["text"], list(map(ended, step["parts"]))

    return record["status"], [ended(step) for step in record["steps"]]


if __name__ == "__main__":
    main(Case("orchestration", "orchestrate", rules(), begin, result_of))

"""kill -9 at random moments of an orchestration, each resumed to its end: no pattern lost, none done twice.

    python benchmarks/orchestration_crash.py [KILLS] [SEED]

A map over five items, two voices at once, a decision and what follows from it: each pattern has a record of its own,
which is killed and resumed along with the whole. Target: 50 of 50. The harness: `council_crash.py`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from council_crash import Case, main

STEPS = """
[[steps]]
id = "risks"
kind = "map"
items = ["upload", "restart", "clock", "disk", "network"]
at_once = 2
step = { kind = "ask", participant = "critic", text = "What breaks in {item}?" }
reduce = { kind = "ask", participant = "editor", text = "Put it together." }
[[steps]]
id = "both"
kind = "parallel"
[[steps.steps]]
id = "first"
kind = "ask"
participant = "ann"
text = "Look at {risks}."
[[steps.steps]]
id = "second"
kind = "ask"
participant = "bob"
text = "Look at {risks}, too."
[[steps]]
id = "vote"
kind = "decide"
question = "Does it stand, after {both}?"
participants = ["ann", "bob"]
cache = false
[[steps]]
id = "tell"
kind = "ask"
participant = "editor"
text = "Tell of {vote}."
when = { step = "vote", field = "consensus", equals = true }
"""


def rules() -> list[dict[str, Any]]:
    """Everybody says something; all agree."""
    agrees = json.dumps({"agreement": 0.9, "stand": "agree"})
    proposes = json.dumps({"proposal": "It stands.", "openPoints": []})
    said = {"dispatch": "{{participant}} has looked.", "contribute": agrees, "facilitate": proposes}
    return [
        {"match": {"role": "participant", "step": step}, "replies": [{"text": text}]} for step, text in said.items()
    ]


def begin(folder: Path, name: str) -> Sequence[str]:
    """A file, which gives it its id."""
    file = folder / f"{name}.toml"
    file.write_text(f'id = "{name}"\n{STEPS}')
    return ("hold", str(file))


def comes_to(shown: dict[str, Any]) -> Any:
    """How every step and every part of it ended, and what it gave."""
    return [_told(step) for step in shown["steps"]]


def problem(shown: dict[str, Any]) -> str:
    """Whether it is over, and every pattern was done under a record of its own."""
    if shown["status"] != "complete" or shown["outcome"]["steps"] != shown["steps"]:
        return f"it is {shown['status']}"
    records = [each["record"] for step in shown["steps"] for each in (step, *step["parts"]) if each["record"]]
    return "" if len(records) == len(set(records)) else f"done twice: {records}"


def _told(step: dict[str, Any]) -> Any:
    kept = {key: step[key] for key in ("id", "kind", "part", "item", "status", "why", "fields", "text")}
    return kept | {"parts": [_told(part) for part in step["parts"]]}


if __name__ == "__main__":
    main(Case("orchestration", "orchestrate", rules(), begin, comes_to, problem))

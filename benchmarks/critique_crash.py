"""Crash test: kill -9 at random moments of a critique of 4 iterations, each resumed; nothing may be lost.

    python benchmarks/critique_crash.py [KILLS] [SEED]

Target: 50 of 50. The harness: `council_crash.py`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from council_crash import Case, main

ITERATIONS = 4


def rule(step: str, text: str, **match: str) -> dict[str, Any]:
    return {"match": {"role": "participant", "step": step, **match}, "replies": [{"text": text}]}


def rules() -> list[dict[str, Any]]:
    """Every version is another one; the second evaluation cannot be read, and the third is the best."""
    scores = [
        rule("evaluate", json.dumps({"scores": {"truth": score}, "suggestions": ["say more"]}), round=str(number))
        for number, score in ((1, 0.3), (3, 0.6), (4, 0.5))
    ]
    written = [rule("generate", "version 1"), rule("improve", "version {{round}}")]
    return [*written, *scores, rule("evaluate", "It is fine.", round="2")]


def begin(place: Path, name: str) -> tuple[str, ...]:
    """A file, which gives it its id."""
    path = place / f"{name}.toml"
    criteria = '[[criteria]]\nname = "truth"\n[[criteria]]\nname = "said"\ncommand = "grep -q version notes.md"\n'
    path.write_text(f'id = "{name}"\ntask = "Say it."\ntarget = "notes.md"\niterations = {ITERATIONS}\n{criteria}')
    return (str(path),)


def result_of(record: dict[str, Any]) -> Any:
    """The iterations without their times, and the outcome."""
    timed = {"started_at", "seconds", "usage"}
    iterations = [{key: value for key, value in each.items() if key not in timed} for each in record["iterations"]]
    outcome = {key: record["outcome"][key] for key in ("best", "version", "mean", "passed", "ended_by", "improvement")}
    calls = record["outcome"]["usage"]["calls"]
    return {"status": record["status"], "iterations": iterations, "outcome": outcome, "calls": calls}


def problem(record: dict[str, Any]) -> str:
    """Each iteration once, with its own version."""
    numbers = [each["number"] for each in record["iterations"]]
    return "" if numbers == list(range(1, ITERATIONS + 1)) else f"iterations: {numbers}"


if __name__ == "__main__":
    main(Case("critique", "critique", rules(), begin, result_of, problem))

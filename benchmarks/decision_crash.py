"""Crash test: kill -9 at random moments of a decision of 3 rounds with a draft, each resumed; nothing may be lost.

    python benchmarks/decision_crash.py [KILLS] [SEED]

Target: 50 of 50. The harness: `council_crash.py`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from council_crash import Case, main

SEATS = ("ann", "bob", "cy")
LEVELS = {"ann": (0.8, 0.8, 0.8), "bob": (0.2, 0.4, 0.6)}
"""What each says in each round; cy cannot be read in the second one."""


def rule(step: str, text: str, **match: str) -> dict[str, Any]:
    return {"match": {"role": "participant", "step": step, **match}, "replies": [{"text": text}]}


def stance(level: float) -> str:
    return json.dumps({"agreement": level, "stand": "agree" if level > 0.5 else "disagree"})


def rules() -> list[dict[str, Any]]:
    """Everybody agrees in the third round."""
    answers = [
        rule("contribute", stance(level), participant=who, round=str(number))
        for who, levels in LEVELS.items()
        for number, level in enumerate(levels, start=1)
    ]
    scores = dict.fromkeys(("correctness", "completeness", "clarity"), 0.9)
    return [
        rule("contribute", stance(0.7)),
        rule("contribute", "85%", participant="cy", round="2"),
        rule("facilitate", '{"proposal": "We do it, in round {{round}}.", "openPoints": []}'),
        rule("generate", "What cy worked out."),
        rule("evaluate", json.dumps({"scores": scores, "suggestions": []})),
        *answers,
    ]


def begin(place: Path, name: str) -> tuple[str, ...]:
    """A file, which gives it its id."""
    path = place / f"{name}.toml"
    seats = "".join(f'[[participants]]\nid = "{who}"\n' for who in SEATS)
    path.write_text(f'id = "{name}"\nquestion = "Do we?"\nstrategy = "unanimous"\nrounds = 4\n{seats}critique = 1\n')
    return (str(path),)


def result_of(record: dict[str, Any]) -> Any:
    """The rounds without their times, and the outcome."""
    timed = {"started_at", "seconds", "usage", "preparing", "prepared"}

    def lasting(part: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in part.items() if key not in timed}

    rounds = [
        {
            **lasting(each),
            "contributions": [lasting(part) for part in each["contributions"]],
            "synthesis": lasting(each["synthesis"]),
        }
        for each in record["rounds"]
    ]
    counting = [part for each in record["rounds"] for part in each["contributions"] if not part["excluded"]]
    calls = [part["usage"]["calls"] for part in counting]  # who is excluded is asked anew by each process
    outcome = {key: value for key, value in lasting(record["outcome"]).items() if key != "id"}
    return {"rounds": rounds, "calls": calls, "outcome": outcome}


def problem(record: dict[str, Any]) -> str:
    """Each participant once in every round."""
    named = [[part["participant"] for part in each["contributions"]] for each in record["rounds"]]
    return "" if named == [list(SEATS)] * 3 else f"who spoke: {named}"


if __name__ == "__main__":
    main(Case("decision", "decide", rules(), begin, result_of, problem))

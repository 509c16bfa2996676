"""Crash test: kill -9 at random moments of a debate of 3 rounds, each resumed; nothing may be lost or doubled.

    python benchmarks/debate_crash.py [KILLS] [SEED]

After each resume: every message of every round once, the tally and the verdict of a debate that nobody killed, and the
ledger counts each call that was answered once. Target: 50 of 50.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from council_crash import Case, main

SEATS, ROUNDS = 4, 3
MESSAGES = [f"r{n}-msg-{seat:03d}" for n in range(1, ROUNDS + 1) for seat in range(1, SEATS + 1)]


def rules() -> list[dict[str, Any]]:
    """Every voice has something new to say each round; half of them approve; the architect rejects."""

    def rule(role: str, step: str, text: str, **match: str) -> dict[str, Any]:
        return {"match": {"role": role, "step": step, **match}, "replies": [{"text": text}]}

    claims = json.dumps({"claims": [{"text": "{{participant}} on {{round}}", "stance": "for", "evidence": "x"}]})
    votes = [
        rule(
            "participant",
            "debate",
            "FINAL_VERDICT: "
            + json.dumps({"verdict": word, "confidence": 0.8, "reasons": [{"text": "so", "cites": ["r1-msg-001"]}]}),
            round=str(ROUNDS),
            participant=f"v{n}",
        )
        for n, word in enumerate(("APPROVE", "REJECT") * (SEATS // 2))
    ]
    weighed = {"verdict": "REJECT", "summary": "weighed", "reasons": [{"text": "so", "cites": ["r3-msg-002"]}]}
    return [
        rule("participant", "debate", claims),
        *votes,
        rule("architect", "synthesize", json.dumps({**weighed, "confidence": 0.9, "dissent": []})),
    ]


def begin(folder: Path, name: str) -> Sequence[str]:
    """The debate as a file."""
    file = folder / f"{name}.toml"
    voices = "".join(f'[[participants]]\nid = "v{n}"\n' for n in range(SEATS))
    file.write_text(f'question = "Well?"\nid = "{name}"\nrounds = {ROUNDS}\n{voices}')
    return ("hold", str(file))


def result_of(record: dict[str, Any]) -> Any:
    """How it ended, what everybody said, and what of it was new."""
    texts = [(each["text"], each["claims"], each["ballot"]) for held in record["rounds"] for each in held["speeches"]]
    new = [held["novelty"] for held in record["rounds"]]
    return record["outcome"]["verdict"], record["outcome"]["tally"], record["outcome"]["usage"]["calls"], texts, new


def problem(record: dict[str, Any]) -> str:
    """Whether a message is missing, or there twice."""
    named = [speech["id"] for held in record["rounds"] for speech in held["speeches"]]
    return "" if named == MESSAGES else f"messages: {named}"


if __name__ == "__main__":
    main(Case("debate", "debate", rules(), begin, result_of, problem, latency_s=0.05))

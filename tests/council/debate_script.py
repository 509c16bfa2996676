"""A scripted debate for tests: every participant makes a new claim each round and votes as the test says."""

from __future__ import annotations

import json
from typing import Any

from tests.project import Rule, rule


def speech(text: str = "claim of {{participant}} in round {{round}}") -> str:
    claims = {"claims": [{"text": text, "stance": "for", "evidence": "the code"}]}
    return f"I hold this.\n```json\n{json.dumps(claims)}\n```"


def ballot(word: str = "APPROVE", *cites: str, confidence: float = 0.8) -> str:
    reasons = [{"text": f"{{{{participant}}}} says {word}", "cites": list(cites)}]
    return "FINAL_VERDICT: " + json.dumps({"verdict": word, "confidence": confidence, "reasons": reasons})


def synthesis(word: str = "APPROVE", *cites: str) -> Rule:
    told = {"verdict": word, "confidence": 0.9, "summary": "weighed", "dissent": []}
    return rule("architect", "synthesize", {"text": json.dumps({**told, "reasons": [{"text": "so", "cites": cites}]})})


def debating(*, last: int = 2, votes: dict[str, str] | None = None, **more: Any) -> tuple[Rule, ...]:
    """Speeches in every round but the `last`, ballots in that; `votes` by participant, else APPROVE."""
    own = (
        rule("participant", "debate", {"text": ballot(word, "r1-msg-001")}, round=str(last), participant=who)
        for who, word in (votes or {}).items()
    )
    return (
        rule("participant", "debate", {"text": speech()}, **more),
        rule("participant", "debate", {"text": ballot("APPROVE", "r1-msg-001")}, round=str(last), **more),
        synthesis("APPROVE", "r1-msg-001"),
        *own,
    )

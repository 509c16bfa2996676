"""A server with a registered repository whose participants a script plays, and requests of the reference."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from tests.project import Project, Rule, rule
from tests.server import conftest

from swarmgate.server.accounts.model import Role

AGENTS = "/api/v1/agents"
REGISTRY: dict[str, Any] = {"agents__guard": {"role": "security expert", "model": "local/guard", "system": "OF-GUARD"}}

CRITERIA = [
    {"name": "Is it brief?", "description": "Short", "weight": 0.25, "threshold": 0.5},
    {"name": "truth", "description": "All of it is so", "weight": 0.75, "threshold": 0.8},
]
"""Criteria, of which the first has a name that no id can be."""


def scores(number: int, brevity: float, truth: float) -> Rule:
    """How an evaluator judges the version of an iteration."""
    listed = {"Is-it-brief": {"score": brevity, "reason": "B"}, "truth": {"score": truth, "reason": "T"}}
    told = {"scores": listed, "suggestions": [f"SUGGESTION-{number}"]}
    return rule("participant", "evaluate", {"text": json.dumps(told)}, round=str(number))


def stands(who: str, level: float, **match: str) -> Rule:
    """Where a participant stands."""
    body = json.dumps({"agreement": level, "stand": "agree" if level >= 0.5 else "disagree"})
    return rule("participant", "contribute", {"text": f"{who} says so.\n{body}"}, participant=who, **match)


def says(who: str, text: str) -> Rule:
    """What a participant answers that is asked."""
    return rule("participant", "dispatch", {"text": text}, participant=who)


WRITES = (
    rule("participant", "generate", {"text": "version 1"}),
    rule("participant", "improve", {"text": "version {{round}}"}),
)
PROPOSES = rule("participant", "facilitate", {"text": json.dumps({"proposal": "Plan {{round}}.", "openPoints": []})})


def critique(**more: Any) -> dict[str, Any]:
    """The body of a self-critique."""
    config = {"maxIterations": 3, "qualityThreshold": 0.8, "criteria": CRITERIA, **more.pop("config", {})}
    return {"agentId": "claude", "prompt": "Say what it does.", "config": config, **more}


def discussion(**more: Any) -> dict[str, Any]:
    """The body of a discussion."""
    participants = [
        {"id": "The operator", "agentId": "claude", "role": "operator"},
        {"agentId": "guard", "role": "law"},
    ]
    config = {"maxRounds": 3, "consensusStrategy": "unanimous", **more.pop("config", {})}
    return {"topic": "Do we move?", "participants": participants, "config": config, **more}


def play(project: Project, *rules: Rule, **tables: dict[str, Any]) -> None:
    """Says what participants answer, with the agents of the registry."""
    conftest.play(project, *rules, **REGISTRY, **tables)


@pytest.fixture
def operator(account: Callable[..., httpx.Client], repo: str, project: Project) -> httpx.Client:
    """A client that may begin councils in the repository."""
    play(project)
    return account("ada", Role.OPERATOR, repo)

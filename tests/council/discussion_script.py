"""A scripted discussion for tests, in the smallest lightweight form: two experts, a moderator, a contrarian."""

from __future__ import annotations

import json
from typing import Any

from tests.project import Project, Rule, rule

EXPERTS: list[dict[str, str]] = [
    {
        "id": name,
        "name": f"The {name}",
        "expertise": f"what the {name} knows",
        "thinkingStyle": "step by step",
        "bias": "own work first",
        "replyTendency": "short",
        "stakes": "the pager",
        "blindSpots": "the rest",
    }
    for name in ("security", "operations")
]
CAST: dict[str, Any] = {
    "experts": EXPERTS,
    "tensions": [{"between": ["security", "operations"], "axis": "safety against speed", "description": "who waits"}],
}
PERSONAS = """# who discusses
[[experts]]
id = "security"
name = "Security"
expertise = "keys"
thinkingStyle = "worst case first"

[[experts]]
id = "operations"
name = "Operations"
expertise = "pagers"
blind_spots = "auditors"

[[tensions]]
between = ["security", "operations"]
axis = "safety against speed"
"""
"""The same as a file, with both spellings of keys."""

ASSESSED = {
    "genuineDisagreement": 4,
    "evidenceQuality": 3,
    "steelManning": 3,
    "novelInsights": 2,
    "positionEvolution": 2,
    "overall": 3,
    "summary": "Both want rotation and differ in who does it: a machine is fast and quiet, a person sees what it does "
    "not. Nobody has counted yet what a rotation costs, so that the quarrel is about a number.",
    "agreements": ["Keys rotate."],
    "activeDisagreements": ["Who rotates them."],
    "openQuestions": ["What does a rotation cost?"],
    "keyTakeaway": "It is about a number.",
    "recommendation": "synthesize",
    "recommendationReason": "nobody has the number",
}
CONCLUDED = {
    "executiveSummary": "Rotate the keys, by a machine.\n"
    + "That a person looks at each rotation was countered, because nobody has the time and a look finds little. " * 5,
    "agreements": [
        {"text": "Keys rotate.", "resolvedBy": "argument", "cites": ["r1-msg-004"]},
        {"text": "A machine does it.", "resolvedBy": "majority", "cites": ["r1-msg-005"]},
    ],
    "minorityReport": [{"text": "People should look at each rotation.", "cites": ["r1-msg-005"]}],
    "openQuestions": ["What does a rotation cost?"],
}


REOPENED = {
    "tension": "safety against speed",
    "question": "What does a rotation cost?",
    "settled": "that keys rotate",
    "topic": "Who looks at a rotation",
    "framing": "count the cases",
}


def says(step: str, prose: str, data: Any, **match: Any) -> Rule:
    """What a voice answers in a step: prose, and one JSON object."""
    return rule("participant", step, {"text": f"{prose}\n```json\n{json.dumps(data)}\n```"}, **match)


def without_models(project: Project) -> None:
    """No role has a model from now on."""
    kept = project.folder.config.read_text("utf-8")
    project.folder.config.write_text(kept.replace('[roles.default]\nmodel = "local/senior"\n', ""), "utf-8")


def discussing() -> tuple[Rule, ...]:
    """Everything goes well: security counters operations, operations moves, the moderator goes to the synthesis."""
    links = [{"to": "r1-msg-002", "kind": "counters", "steelMan": "Nobody should wait for a key."}]
    moved = {"kind": "minor", "reason": "the attack holds", "cites": ["r1-msg-006"]}
    return (
        says("experts", "", CAST),
        says(
            "position",
            "",
            {
                "position": "{{participant}} first",
                "confidence": 0.7,
                "wouldChangeIf": "a number",
                "keyRisk": "an outage",
            },
        ),
        says("frame", "", {"faultLines": [{"between": ["security"], "axis": "speed"}], "disagreementBudget": 4}),
        says("argue", "Rotate.", {"links": links}, participant="security"),
        says("argue", "Wait.", {"links": [{"to": "r1-msg-001", "kind": "counters", "steelMan": "Leaks hurt us all."}]}),
        says("attack", "Who looks?", {"links": [{"to": "r1-msg-004", "kind": "counters", "steelMan": "It is safe."}]}),
        says("respond", "So be it.", {"links": [{"to": "r1-msg-006", "kind": "responds_to"}], "shift": moved}),
        says("analogy", "Locks.", {"links": [{"to": "r1-msg-004", "kind": "extends"}]}),
        rule("participant", "ask", {"text": "What could go wrong with r1-msg-004?"}),
        says("assess", "", ASSESSED),
        rule("participant", "record", {"text": "Operations moved, by r1-msg-006."}),
        says("conclude", "", CONCLUDED),
        says("reopen", "", REOPENED),
    )

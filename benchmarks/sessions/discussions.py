"""Scripted sessions of `swarm discuss`."""

from __future__ import annotations

import signal
from typing import Any

from sessions.session import (
    DEAD,
    MUCH,
    USED,
    Call,
    Edit,
    Rule,
    Session,
    cut,
    fails,
    fenced,
    hangs,
    looks,
    rule,
    swarm,
)

SEATS = ("security", "operations", "audit", "contrarian", "cross-domain", "moderator", "historian")
TOPIC = "How often do keys rotate?"
SHORT = ("--mode", "lightweight")


def expert(name: str) -> dict[str, str]:
    """A generated expert."""
    return {
        "id": name,
        "name": f"The {name}",
        "expertise": f"what {name} knows",
        "thinkingStyle": "step by step",
        "bias": "own work first",
        "replyTendency": "short",
        "stakes": "the pager",
        "blindSpots": "the rest",
    }


PERSONAS = """[[experts]]
id = "security"
name = "Security"
expertise = "keys"
thinkingStyle = "worst case first"
model = "local/senior"

[[experts]]
id = "operations"
name = "Operations"
expertise = "pagers"
blind_spots = "auditors"

[[tensions]]
between = ["security", "operations"]
axis = "safety against speed"
"""
ASSESSED = {
    **dict.fromkeys(("genuineDisagreement", "evidenceQuality", "steelManning", "novelInsights"), 3),
    "positionEvolution": 2,
    "overall": 3,
    "summary": "Both want rotation and differ in who does it. " * 5,
    "agreements": ["Keys rotate."],
    "activeDisagreements": ["Who rotates them."],
    "insights": [{"text": "A machine can do it.", "source": ["r1-msg-004"]}],
    "openQuestions": ["What does a rotation cost?"],
}
CONCLUDED = {
    "executiveSummary": "Rotate the keys, by a machine. " * 20,
    "insights": [{"text": "A machine can do it.", "cites": ["r1-msg-004"], "dissent": "Not at night."}],
    "agreements": [
        {"text": "Keys rotate.", "resolvedBy": "argument", "cites": ["r1-msg-004"]},
        {"text": "A machine does it.", "resolvedBy": "majority", "cites": ["r1-msg-005"]},
    ],
    "minorityReport": [{"text": "People should look at each rotation.", "cites": ["r1-msg-005"]}],
    "unresolvedDebates": [{"topic": "Who pays", "why": "no numbers", "cites": ["r1-msg-099"]}],
    "positionEvolution": "Operations moved.",
    "openQuestions": ["What does a rotation cost?"],
    "recommendations": [{"text": "Begin with one key.", "cites": ["r1-msg-009"]}],
    "metaObservations": "Few numbers.",
}


def counter(to: str) -> dict[str, str]:
    """A link that counters a message."""
    return {"to": to, "kind": "counters", "steelMan": "Nobody should wait for a key."}


def says(step: str, prose: str, data: Any, usage: Rule = USED, **match: str) -> Rule:
    """What a voice answers in a step."""
    return rule(step, fenced(prose, data), usage=usage, **match)


def discussing(*experts: str, usage: Rule = USED, recommends: str = "synthesize") -> tuple[Rule, ...]:
    """A discussion in which security counters operations, and operations moves."""
    cast = [expert(each) for each in experts or ("security", "operations")]
    lines = [{"between": ["security", "operations"], "axis": "safety against speed", "description": "who waits"}]
    moved = {"kind": "minor", "reason": "the attack holds", "cites": ["r1-msg-006"]}
    place = {
        "position": "{{participant}} first",
        "confidence": 0.7,
        "wouldChangeIf": "a number",
        "keyRisk": "an outage",
    }
    return (
        says("experts", "", {"experts": cast, "tensions": lines}, usage),
        says("position", "", place, usage),
        says("frame", "", {"faultLines": lines, "disagreementBudget": 4}, usage),
        says("argue", "Wait.", {"links": [counter("r1-msg-001")]}, usage),
        says("argue", "Rotate.", {"links": [counter("r1-msg-002")]}, usage, participant="security"),
        says("attack", "Who looks?", {"links": [counter("r1-msg-004")]}, usage),
        says("respond", "So be it.", {"links": [{"to": "r1-msg-006", "kind": "responds_to"}], "shift": moved}, usage),
        says("analogy", "Locks.", {"links": [{"to": "r1-msg-004", "kind": "extends"}]}, usage),
        rule("ask", "What could go wrong with r1-msg-004?", usage=usage),
        says("assess", "", {**ASSESSED, "recommendation": recommends}, usage),
        rule("record", "Operations moved, by r1-msg-006.", usage=usage),
        says("conclude", "", CONCLUDED, usage),
    )


NORMAL = discussing()
BY_STEP = {each["match"]["step"]: each for each in NORMAL}
CAST = ".swarm/discussions/{id}/personas/proposed.json"
BAD = {
    "key.toml": PERSONAS.replace("thinkingStyle", "thinkingStile"),
    "axis.toml": PERSONAS.replace("axis", "axes"),
    "twice.toml": PERSONAS.replace('"operations"', '"security"'),
    "fixed.toml": PERSONAS.replace('"operations"', '"moderator"'),
    "syntax.toml": PERSONAS.replace("name = ", "name = = "),
    "one.toml": PERSONAS.partition('[[experts]]\nid = "operations"')[0],
}


def session(name: str, rules: tuple[Rule, ...], *calls: Call | Edit, settings: str = "") -> Session:
    """A session of discussions."""
    return Session(f"discuss-{name}", rules, calls, {"personas.toml": PERSONAS, **BAD}, settings, SEATS)


SESSIONS = (
    session(
        "lightweight",
        NORMAL,
        swarm("discuss", "list"),
        swarm("discuss", TOPIC, *SHORT, "--yes", "--file", "AGENTS.md", "--tokens", "90000", "--timeout", "60"),
        *looks("discuss", "--all"),
        swarm("discuss", "show", "{id}", "--html", "{out}/page.html", "--export", "{out}/all"),
        swarm("discuss", "resume", "{id}"),
        swarm("discuss", "resume", "{id}", "--choose", "follow", exits=2),
        swarm("verify"),
        swarm("history"),
    ),
    session(
        "standard",
        NORMAL,
        swarm("discuss", TOPIC, "--yes", "--diff", "HEAD", "--model", "contrarian=local/senior"),
        swarm("discuss", "show", "{id}"),
        swarm("discuss", "show", "{id}", "--html", "{out}/page.html"),
        swarm("metrics"),
    ),
    session(
        "deep",
        discussing("security", "operations", "audit", recommends="different-angle"),
        swarm("discuss", TOPIC, "--mode", "deep", "--rounds", "4", "--yes"),
        swarm("discuss", "show", "{id}"),
        swarm("discuss", "show", "{id}", "--html", "{out}/page.html"),
    ),
    session(
        "personas",
        NORMAL,
        swarm(
            "discuss", TOPIC, *SHORT, "--yes", "--personas", "{in}/personas.toml", "--model", "security=local/junior"
        ),
        swarm("discuss", "show", "{id}"),
    ),
    session(
        "prepared-edited-resumed",
        NORMAL,
        swarm("discuss", TOPIC, *SHORT, exits=3),
        swarm("discuss", "show", "{id}"),
        Edit(CAST, '"stakes"', '"stake"'),
        swarm("discuss", "resume", "{id}", "--yes", exits=2),
        Edit(CAST, '"stake"', '"stakes"'),
        Edit(CAST, "the pager", "the audit"),
        swarm("discuss", "resume", "{id}", exits=3),
        swarm("discuss", "resume", "{id}", "--yes"),
        swarm("discuss", "show", "{id}"),
    ),
    session(
        "prepared-other-mode",
        NORMAL,
        swarm("discuss", TOPIC, *SHORT, exits=3),
        swarm(
            "discuss",
            "resume",
            "{id}",
            "--mode",
            "standard",
            "--personas",
            "{in}/personas.toml",
            "--yes",
            "--constraint",
            "No new service.",
            "--choose",
            "pause",
            exits=3,
        ),
        swarm("discuss", "resume", "{id}", "--mode", "deep", exits=2),
        swarm("discuss", "resume", "{id}", "--choose", "deep-dive=the cost", "--choose", "synthesize"),
        swarm("discuss", "show", "{id}"),
    ),
    session(
        "steered",
        discussing(recommends="deep-dive"),
        swarm(
            "discuss",
            TOPIC,
            "--yes",
            "--constraint",
            "By May.",
            "--choose",
            "different-angle=time",
            "--choose",
            "pause",
            "--choose",
            "follow",
            exits=3,
        ),
        swarm("discuss", "list"),
        swarm("discuss", "resume", "{id}", "--choose", "synthesize", "--choose", "pause"),
        swarm("discuss", "show", "{id}"),
        swarm("discuss", TOPIC, "--yes"),
    ),
    session(
        "cached",
        NORMAL,
        swarm("discuss", TOPIC, *SHORT, "--yes"),
        swarm("discuss", TOPIC, *SHORT, "--yes"),
        swarm("discuss", TOPIC, *SHORT, "--yes", "--no-cache"),
        swarm("discuss", "list"),
        swarm("metrics"),
    ),
    session(
        "in-sqlite",
        NORMAL,
        swarm("discuss", TOPIC, *SHORT, "--yes"),
        swarm("discuss", "show", "{id}"),
        swarm("discuss", "show", "{id}", "--export", "{out}/all"),
        settings='\n[council]\nstore = "sqlite"\n',
    ),
    session(
        "events",
        NORMAL,
        swarm("discuss", TOPIC, *SHORT, "--yes", "--events"),
        swarm("discuss", TOPIC, *SHORT, "--yes", "--rounds", "1", "--events"),
    ),
    session(
        "at-a-terminal",
        NORMAL,
        Call(
            ("discuss", TOPIC, *SHORT, "--interactive"),
            exits=3,
            typed=(
                ("[p]ause: ", "x"),
                ("[p]ause: ", "y"),
                ("after position (Enter: nothing, /pause): ", "Look at cost."),
                ("after frame (Enter: nothing, /pause): ", ""),
                ("after argue (Enter: nothing, /pause): ", "/pause"),
            ),
        ),
        swarm("discuss", "list"),
    ),
    session(
        "voice-fails",
        (*NORMAL, rule("argue", {"fault": {"kind": "500"}}, participant="operations")),
        swarm("discuss", TOPIC, *SHORT, "--yes"),
        swarm("discuss", "show", "{id}"),
    ),
    session(
        "no-experts",
        (*NORMAL[1:], rule("experts", "I cannot think of any.")),
        swarm("discuss", TOPIC, *SHORT, "--yes", exits=5),
        swarm("discuss", "show", "{id}"),
    ),
    session(
        "all-fail-resumed",
        (*NORMAL, *(fails(BY_STEP["position"], participant=name) for name in ("security", "operations"))),
        swarm("discuss", TOPIC, *SHORT, "--yes", exits=5),
        swarm("discuss", "list"),
        swarm("discuss", "resume", "{id}"),
        swarm("discuss", "show", "{id}"),
    ),
    session(
        "endpoint-dead-resumed",
        NORMAL,
        swarm("discuss", TOPIC, *SHORT, "--yes", "--personas", "{in}/personas.toml", exits=5, environ=DEAD),
        swarm("discuss", "list"),
        swarm("discuss", "resume", "{id}"),
        swarm("discuss", "show", "{id}"),
    ),
    session(
        "budget-resumed",
        discussing(usage=MUCH),
        swarm("discuss", TOPIC, *SHORT, "--yes", "--tokens", "20000", exits=4),
        swarm("discuss", "list"),
        swarm("discuss", "resume", "{id}", exits=4),
        swarm("discuss", "resume", "{id}", "--tokens", "2000000"),
        swarm("discuss", "show", "{id}"),
    ),
    session(
        "killed-resumed",
        (*NORMAL, hangs(BY_STEP["assess"], round="1")),
        cut("discuss", TOPIC, "--yes", step="assess", round="1"),
        swarm("discuss", "list"),
        swarm("discuss", "resume", "{id}", "--yes"),
        swarm("discuss", "show", "{id}"),
        swarm("discuss", "show", "{id}", "--html", "{out}/page.html"),
        swarm("verify"),
    ),
    session(
        "interrupted-resumed",
        (*NORMAL, hangs(BY_STEP["conclude"])),
        cut("discuss", TOPIC, *SHORT, "--yes", by=signal.SIGINT, step="conclude"),
        swarm("discuss", "list"),
        swarm("discuss", "resume", "{id}"),
        swarm("discuss", "show", "{id}"),
    ),
    session(
        "bad-input",
        NORMAL,
        *(swarm("discuss", TOPIC, *SHORT, "--yes", "--personas", f"{{in}}/{name}", exits=2) for name in BAD),
        swarm("discuss", TOPIC, "--mode", "depe", exits=2),
        swarm("discuss", TOPIC, "--rounds", "11", "--yes", exits=2),
        swarm("discuss", TOPIC, "--choose", "deep", exits=2),
        swarm("discuss", TOPIC, "--model", "historan=local/senior", exits=2),
        swarm("discuss", TOPIC, "--model", "historian=locla/senior", exits=2),
        swarm("discuss", TOPIC, "--timeout", "901", exits=2),
        swarm("discuss", TOPIC, "--interactive", exits=2),
        swarm("discuss", "  ", exits=2),
        swarm("discuss", "shw", exits=2),
        swarm("discuss", "show", "20261121-224500-3f2a", exits=2),
        swarm("discuss", "resume", "20261121-224500-3f2a", exits=2),
    ),
)

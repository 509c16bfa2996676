"""Tests the structured-discussion document's forms: the gate of a round, its record, the synthesis, the resumption.

The keys are those of the document, the sentences are not.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.council.discussion_script import says
from tests.project import Project, Rule, plain, rule
from tests.sources.test_discussion_voices import NAMES, TOPIC, discussing

from swarmgate.engine import Swarm

SUMMARY = (
    "Both would undo a failed order step by step, and differ in who leads: one place that sees it all, or events "
    "that nobody owns. The attack on undoing itself changed the first view, which now has a breaker; the second stands."
)
GATE: dict[str, Any] = {
    "qualityScore": {
        "genuineDisagreement": 4,
        "evidenceQuality": 2,
        "steelManning": 3,
        "novelInsights": 3,
        "positionEvolution": 4,
        "overall": 2,
    },
    "summary": SUMMARY,
    "agreements": [{"point": "No locks across services", "supporters": list(NAMES[:2]), "strength": "strong"}],
    "activeDisagreements": [
        {
            "point": "Who leads an order",
            "positions": [
                {"stance": "one conductor", "advocates": [NAMES[0]]},
                {"stance": "events alone", "advocates": [NAMES[1]]},
            ],
        }
    ],
    "insights": [{"insight": "Undoing can fail as well", "novelty": "high", "source": "r1-msg-006"}],
    "openQuestions": ["How many services can one conductor lead?"],
    "positionShifts": [{"expert": NAMES[0], "trigger": "r1-msg-006"}],
    "recommendation": "deep-dive",
    "recommendationReason": "Who leads decides how an outage is found",
}
SYNTHESIS: dict[str, Any] = {
    "executiveSummary": "Undo orders step by step, led by one place, with a breaker in front of what is undone. " * 7,
    "insights": [
        {
            "title": "Undoing fails as well",
            "description": "What undoes a payment needs its own way out.",
            "confidence": "high",
            "confidenceReason": "it moved an expert",
            "supportingEvidence": [{"messageId": "r1-msg-006", "summary": "nobody says what follows a failed undo"}],
            "dissentingViews": [{"messageId": "r1-msg-005", "summary": "events need no undo", "refuted": False}],
        }
    ],
    "agreements": [{"point": "No locks across services", "supporters": list(NAMES[:2]), "strength": "strong"}],
    "minorityReport": [
        {
            "position": "Events alone",
            "advocate": NAMES[1],
            "reason": "the order cannot be seen in them",
            "stillValid": True,
            "note": "it is cheaper below five services",
        }
    ],
    "unresolvedDebates": [
        {
            "topic": "Who owns time-outs",
            "positions": [
                {"stance": "the conductor", "advocates": [NAMES[0]], "arguments": ["one place to look"]},
                {"stance": "each service", "advocates": [NAMES[1]], "arguments": ["it knows its load"]},
            ],
            "whyUnresolved": "nobody has traces",
        }
    ],
    "positionEvolution": [
        {"expert": NAMES[0], "journey": ["a conductor", "one with a breaker"], "keyTurningPoints": ["r1-msg-006"]}
    ],
    "openQuestions": [
        {"question": "How many services?", "whyOpen": "no measurement", "suggestedApproach": "a load test with ten"}
    ],
    "recommendations": [
        {"action": "Put a breaker in", "confidence": "medium", "risk": "it opens too early", "prerequisite": "metrics"}
    ],
    "metaObservations": "Numbers were missing throughout.",
}
REOPENING = {
    "mostProductiveTension": "sight of the order against loose coupling",
    "mostImportantOpenQuestion": "How many services can one conductor lead?",
    "resolvedTensions": "that undoing needs a way out",
    "nextTopic": "The limit of a conductor",
    "framing": "Compare five services with fifty.",
}


def rules(**gate: Any) -> tuple[Rule, ...]:
    """All voices, with the moderator's gate, the synthesis and the resumption in the document's JSON."""
    others = [each for each in discussing() if each["match"]["step"] not in ("assess", "conclude")]
    better = {**GATE["qualityScore"], "evidenceQuality": 4, "overall": 4}
    return (
        *others,
        rule("participant", "assess", {"text": json.dumps({**GATE, **gate})}),
        says("assess", "", {**GATE, **gate, "qualityScore": better, "recommendation": "synthesize"}, round="2"),
        rule("participant", "conclude", {"text": json.dumps(SYNTHESIS)}),
        rule("participant", "reopen", {"text": json.dumps(REOPENING)}),
    )


def texts(folder: Path) -> dict[str, str]:
    """What people read of a discussion."""
    names = (
        *("progress.md", "context/summary.md", "artifacts/synthesis.md", "artifacts/open-questions.md"),
        *("artifacts/position-evolution.md", "artifacts/discussion.html"),
    )
    return {name: (folder / name).read_text("utf-8") for name in names}


@pytest.mark.slow
def test_the_gate_and_the_synthesis_of_the_document_are_kept_and_shown_as_words(project: Project) -> None:
    project.play(*rules())
    done = project.swarm("discuss", TOPIC, "--name", "saga", "--yes")
    record = Swarm(project.root).council.discussion_record("saga")
    folder = project.folder.discussions / "saga"
    assert (record.status, len(record.rounds)) == ("complete", 2)
    steps = [each.headers["STEP"] for each in project.requests]
    assert (steps.count("assess"), steps.count("conclude")) == (2, 1), "nothing was asked for once more"

    told = plain(done.stderr)
    warning = "the quality of round 1 is 2 of 5, below 3. Cause: claims stand without scenarios, numbers or code. Next"
    assert warning in told
    assert warning in (folder / "progress.md").read_text("utf-8")
    assert warning in json.loads((folder / "rounds/001.json").read_text("utf-8"))["warnings"][0]
    assert warning in project.briefs("participant", "frame", round="2")[0]
    assert "the quality of round 2" not in told

    shown = {**texts(folder), "show": plain(project.swarm("discuss", "show", "saga").stdout), "end": plain(done.stdout)}
    for name in ("artifacts/synthesis.md", "artifacts/discussion.html", "show", "end"):
        flat = " ".join(shown[name].replace("\\", "").split())
        for expected in (
            "Undoing fails as well",
            "high, says the historian (it moved an expert); low by its evidence: 1 message for it, 1 against it",
            "What undoes a payment needs its own way out.",
            "events need no undo (not refuted)",
            "Strong, supported by database-expert, api-designer",
            "Advocate: api-designer",
            "It still holds",
            "Why it matters: it is cheaper below five services",
            "each service (api-designer): it knows its load",
            "Why: nobody has traces",
            "Why it is open: no measurement",
            "How to go about it: a load test with ten",
            "Risk: it opens too early",
            "First: metrics",
            "database-expert: a conductor",
            "Numbers were missing throughout.",
        ):
            assert expected in flat, (name, expected)
    for name, text in shown.items():
        assert not re.search(r"""[{\[]\s*["'](?:point|stance|insight|question|title|action)["']""", text), name
    assert "a load test with ten" in shown["artifacts/open-questions.md"]
    assert "a conductor -> one with a breaker" in shown["artifacts/position-evolution.md"].replace("\\", "")
    assert (
        "agreement 1: it cites no message, which shows neither an argument nor a majority"
        in shown["artifacts/synthesis.md"]
    )
    for name in ("artifacts/synthesis.md", "artifacts/discussion.html", "show"):
        assert "Both would undo a failed order step by step" in shown[name], name
        assert "Who leads decides how an outage is found" in shown[name], name


@pytest.mark.slow
def test_the_record_of_a_round_has_the_keys_of_the_document(project: Project) -> None:
    project.play(*rules())
    project.swarm("discuss", TOPIC, "--name", "saga", "--yes", "--rounds", "1")
    found = json.loads((project.folder.discussions / "saga/rounds/001.json").read_text("utf-8"))
    assert (found["roundId"], found["topic"], found["mode"]) == (1, TOPIC, "standard")
    assert found["timestamp"].startswith("20")
    assert {"from": "r1-msg-006", "to": "r1-msg-001", "relation": "counters"} in found["argumentGraph"]
    (shift,) = found["positionShifts"]
    assert (shift["expert"], shift["trigger"]) == (NAMES[0], "r1-msg-006")
    assert shift["to"] == "An orchestrator with breakers."
    assert shift["from"].startswith("database-expert: a saga")
    assert shift["reasoning"] == "cascades were not in my picture"
    gate = found["synthesis"]
    assert gate["qualityScore"] == GATE["qualityScore"]
    assert (gate["summary"], gate["recommendation"]) == (SUMMARY, "deep-dive")
    assert gate["recommendationReason"] == GATE["recommendationReason"]
    assert gate["agreements"] == GATE["agreements"]
    assert gate["activeDisagreements"][0]["positions"][1]["advocates"] == [NAMES[1]]
    assert found["metadata"]["messageCount"] == len(found["messages"]) == 11
    assert found["metadata"]["referenceCount"] == len(found["argumentGraph"])
    fixed = {"moderator", "contrarian", "historian", "cross-domain"}
    assert set(found["metadata"]["participants"]) == {*NAMES[:2], *fixed}
    assert found["measured"]["counters"] == 3


@pytest.mark.slow
def test_a_checkpoint_and_what_the_moderator_opens_after_it(project: Project) -> None:
    project.play(*rules())
    paused = project.swarm("discuss", TOPIC, "--name", "saga", "--yes", "--choose", "pause", exits=3)
    assert "swarm discuss resume saga" in paused.stdout
    folder = project.folder.discussions / "saga"
    context = (folder / "context/summary.md").read_text("utf-8")
    assert 1_500 <= len(context) <= 3_000
    titles = (
        *("Topic", "Progress, the newest round first", "Where it stands", "Positions now", "Open disagreements"),
        *("To address next", "Quality over the rounds", "Tensions"),
    )
    assert [each for each in titles if f"## {each}\n" not in context] == []
    done = project.swarm("discuss", "resume", "saga", "--yes")
    brief = project.briefs("participant", "reopen")[0]
    for expected in ("Who leads an order", "Positions now", "strict schemas against loose coupling", SUMMARY[:60]):
        assert expected in brief
    assert "reopen: moderator proposes: The limit of a conductor" in plain(done.stderr)
    record = Swarm(project.root).council.discussion_record("saga")
    assert record.reopenings[0].tension == REOPENING["mostProductiveTension"]
    assert record.reopenings[0].settled == REOPENING["resolvedTensions"]
    second = json.loads((folder / "rounds/002.json").read_text("utf-8"))
    assert second["topic"] == "The limit of a conductor"
    assert second["direction"] == "The limit of a conductor\nCompare five services with fifty."
    assert "Compare five services with fifty." in project.briefs("participant", "position", round="2")[0]

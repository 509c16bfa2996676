"""Scripted sessions of `swarm debate`."""

from __future__ import annotations

import json
import signal
from typing import Any

from sessions.session import DEAD, DOWN, MUCH, USED, Call, Rule, Session, cut, fails, fenced, hangs, rule, swarm

SEATS = ("advocate", "challenger", "operator", "chair")


def speech(text: str = "claim of {{participant}} in round {{round}}", usage: Rule = USED, **match: str) -> Rule:
    """An argument of one claim."""
    claims = {"claims": [{"text": text, "stance": "for", "evidence": "src/cache.py"}]}
    return rule("debate", fenced("I hold this.", claims), usage=usage, **match)


def ballot(word: str, last: int = 2, **match: Any) -> Rule:
    """A vote in the last round."""
    reasons = [{"text": f"{{{{participant}}}} says {word}", "cites": ["r1-msg-001"]}]
    vote = {"verdict": word, "confidence": 0.8, "reasons": reasons}
    return rule("debate", "FINAL_VERDICT: " + json.dumps(vote), round=str(last), **match)


def synthesis(word: str = "APPROVE", *cites: str) -> Rule:
    """The architect's verdict."""
    reasons = [{"text": "so it is", "cites": list(cites or ("r1-msg-001",))}]
    verdict = {"verdict": word, "confidence": 0.9, "summary": "Weighed.", "reasons": reasons, "dissent": []}
    return rule("synthesize", json.dumps(verdict), role="architect")


def debating(last: int = 2, usage: Rule = USED, **votes: str) -> tuple[Rule, ...]:
    """Speeches, votes in the `last` round (APPROVE where none is named), a synthesis that approves."""
    own = (ballot(word, last, participant=who) for who, word in votes.items())
    return (speech(usage=usage), ballot("APPROVE", last), synthesis(), *own)


CHAIR = rule(
    "moderate", json.dumps({"order": ["challenger", "advocate"], "ask": {"advocate": "What about two processes?"}})
)
ASK = "Is the cache safe?"
THREE = ("--participant", "advocate", "--participant", "challenger=local/senior", "--participant", "operator")
FILE = """question = "Is the cache safe?"
id = "from-a-file"
rounds = 3
order = "fixed"
material = "Three workers, three caches."

[moderator]
id = "chair"
model = "local/senior"

[[participants]]
id = "advocate"
brief = "You defend it."

[[participants]]
id = "challenger"
model = "local/senior"
"""
BAD = {
    "rounds.toml": FILE.replace("rounds = 3", "rounds = 6"),
    "key.toml": FILE.replace("material", "materal"),
    "syntax.toml": FILE.replace("rounds = 3", "rounds = = 3"),
    "twice.toml": FILE.replace('"challenger"', '"advocate"'),
    "provider.toml": FILE.replace("local/senior", "locla/senior"),
}


def session(name: str, rules: tuple[Rule, ...], *calls: Call, **more: str) -> Session:
    """A session of debates."""
    return Session(f"debate-{name}", rules, calls, {"debate.toml": FILE, **BAD}, more.get("settings", ""), SEATS)


SESSIONS = (
    session(
        "approves",
        debating(),
        swarm("debate", "list"),
        swarm("debate", ASK),
        swarm("debate", "show", "{id}"),
        swarm("debate", "show", "{id}", "--html", "{out}/debate.html"),
        swarm("debate", "resume", "{id}"),
        swarm("metrics"),
        swarm("verify"),
        swarm("history"),
    ),
    session(
        "rejects",
        (
            *debating(challenger="REJECT", operator="REJECT")[:2],
            synthesis("REJECT", "r1-msg-002"),
            ballot("REJECT", participant="challenger"),
            ballot("REJECT", participant="operator"),
        ),
        swarm("debate", ASK, *THREE, exits=1),
        swarm("debate", "show", "{id}"),
        swarm("debate", "show", "{id}", "--html", "{out}/debate.html"),
    ),
    session(
        "majority",
        debating(challenger="REJECT", operator="ABSTAIN"),
        swarm("debate", ASK, *THREE, "--no-synthesis", exits=1),
        swarm("debate", "show", "{id}"),
        swarm("metrics", "--pattern", "debate"),
    ),
    session(
        "from-a-file",
        (*debating(last=3), CHAIR),
        swarm("debate", "{in}/debate.toml"),
        swarm("debate", "show", "from-a-file", "--html", "{out}/debate.html"),
        swarm("debate", "show", "from-a-fil", exits=2),
        swarm("debate", "{in}/debate.toml", exits=2),
    ),
    session(
        "moderator-fails",
        (*debating(last=3), rule("moderate", DOWN)),
        swarm("debate", ASK, "--rounds", "3", "--moderator", "chair=local/senior", "--order", "rotate"),
        swarm("debate", "show", "{id}"),
    ),
    session(
        "converges",
        (speech("the cache has no lock"), *(ballot("APPROVE", last) for last in (3, 4, 5)), synthesis()),
        swarm("debate", ASK, "--rounds", "5"),
        swarm("debate", "show", "{id}"),
    ),
    session(
        "about-files",
        debating(),
        swarm("debate", ASK, "--file", "docs/design.md", "--diff", "HEAD", "--tokens", "90000", "--usd", "2"),
        swarm("debate", ASK, "--file", "docs/desing.md", exits=2),
        swarm("debate", "show", "{id}"),
    ),
    session(
        "voice-fails",
        (*debating(), rule("debate", "I approve of it.", participant="operator", round="2")),
        swarm("debate", ASK, *THREE),
        swarm("debate", "show", "{id}"),
    ),
    session(
        "synthesis-fails",
        (*debating()[:2], rule("synthesize", "It is fine, I think.", role="architect")),
        swarm("debate", ASK, exits=5),
        swarm("debate", "show", "{id}"),
    ),
    session(
        "all-fail-resumed",
        (
            *debating(),
            fails(speech(), participant="advocate", round="1"),
            fails(speech(), participant="challenger", round="1"),
        ),
        swarm("debate", ASK, exits=5),
        swarm("debate", "list"),
        swarm("debate", "resume", "{id}"),
        swarm("debate", "show", "{id}"),
    ),
    session(
        "endpoint-dead-resumed",
        debating(),
        swarm("debate", ASK, exits=5, environ=DEAD),
        swarm("debate", "list"),
        swarm("debate", "resume", "{id}"),
        swarm("debate", "show", "{id}"),
    ),
    session(
        "budget-resumed",
        debating(last=3, usage=MUCH),
        swarm("debate", ASK, "--rounds", "3", "--tokens", "20000", exits=4),
        swarm("debate", "list"),
        swarm("debate", "resume", "{id}", exits=4),
        swarm("debate", "resume", "{id}", "--tokens", "900000"),
        swarm("debate", "show", "{id}"),
        swarm("debate", ASK, "--usd", "0", exits=4),
    ),
    session(
        "killed-file-resumed",
        (*debating(last=3), CHAIR, hangs(synthesis(), step="synthesize")),
        cut("debate", "{in}/debate.toml", step="synthesize"),
        swarm("debate", "list"),
        swarm("debate", "show", "from-a-file"),
        swarm("debate", "resume", "from-a-file"),
        swarm("debate", "show", "from-a-file"),
        swarm("verify"),
    ),
    session(
        "interrupted-resumed",
        (*debating(last=3), CHAIR, hangs(CHAIR, round="2")),
        cut("debate", "{in}/debate.toml", by=signal.SIGINT, step="moderate", round="2"),
        swarm("debate", "list"),
        swarm("debate", "resume", "from-a-file"),
        swarm("debate", "show", "from-a-file"),
    ),
    session(
        "bad-input",
        debating(),
        *(swarm("debate", f"{{in}}/{name}", exits=2) for name in BAD),
        swarm("debate", ASK, "--rounds", "6", exits=2),
        swarm("debate", ASK, "--participant", "a", exits=2),
        swarm("debate", ASK, "--participant", "a b", "--participant", "c", exits=2),
        swarm("debate", ASK, "--order", "random", exits=2),
        swarm("debate", ASK, "--tokens", "0", exits=2),
        swarm("debate", "  ", exits=2),
        swarm("debate", "lst", exits=2),
        swarm("debate", "nowhere.toml", exits=2),
        swarm("debate", "show", "20261121-224500-3f2a", exits=2),
        swarm("debate", "resume", "20261121-224500-3f2a", exits=2),
    ),
)

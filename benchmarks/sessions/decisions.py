"""Scripted sessions of `swarm decide`."""

from __future__ import annotations

import json
import signal
from typing import Any

from sessions.discussions import NORMAL as DISCUSSING
from sessions.session import (
    DEAD,
    MUCH,
    USED,
    Call,
    Edit,
    Rule,
    Session,
    cut,
    fenced,
    hangs,
    looks,
    rule,
    swarm,
)

SEATS = ("ann", "bob", "cyd", "builder", "operator", "user", "security", "operations", "contrarian")
ASK = "Do we do it?"
SUMS_UP = rule("facilitate", json.dumps({"proposal": "We do it.", "openPoints": ["who pays"]}))


def says(body: Any, usage: Rule = USED, **match: str) -> Rule:
    """A contribution that ends with its typed answer."""
    return rule("contribute", fenced("It is like this for {{participant}}.", body), usage=usage, **match)


def level(agreement: float, stand: str, usage: Rule = USED, **match: str) -> Rule:
    """How far somebody agrees."""
    return says({"agreement": agreement, "stand": stand}, usage, **match)


YES, NO = level(0.9, "agree"), level(0.2, "disagree", participant="bob")
WAVERS = (
    YES,
    level(0.2, "disagree", participant="bob", round="1"),
    level(0.6, "agree", participant="bob", round="2"),
    SUMS_UP,
)
THREE = ("--participant", "ann", "--participant", "bob=local/senior", "--participant", "cyd")
STORES = ("--option", "SQLite", "--option", "Postgres", "--option", "Redis")
FILE = """question = "Do we do it?"
id = "from-a-file"
strategy = "weighted"
threshold = 0.6
rounds = 2
files = ["AGENTS.md"]
facilitator = "chair=local/senior"

[[participants]]
id = "ann"
role = "builder"
perspective = "You build it."
system = "You are short."

[[participants]]
id = "bob"
weight = 0.5
model = "local/senior"
"""
PREPARED = """question = "Do we do it?"

[[participants]]
id = "ann"
discussion = "lightweight"

[[participants]]
id = "bob"
critique = 2

[[participants]]
id = "cyd"
"""
BAD = {
    "rounds.toml": FILE.replace("rounds = 2", "rounds = 0"),
    "type.toml": FILE.replace("rounds = 2", 'rounds = "2"'),
    "key.toml": FILE.replace("rounds = 2", "rouns = 2"),
    "strategy.toml": FILE.replace('"weighted"', '"wieghted"'),
    "threshold.toml": FILE.replace('"weighted"', '"majority"'),
    "weight.toml": FILE.replace("weight = 0.5", "weight = 5"),
    "twice.toml": FILE.replace('id = "bob"', 'id = "ann"'),
    "missing.toml": FILE.replace('id = "bob"\n', ""),
    "nests.toml": FILE.replace("weight = 0.5", "participants = []"),
    "file.toml": FILE.replace("AGENTS.md", "AGENT.md"),
    "syntax.toml": FILE.replace("rounds = 2", "rounds = = 2"),
}
JUDGED = (
    rule("generate", "version 1"),
    rule("improve", "version {{round}}"),
    rule("evaluate", json.dumps({"scores": [{"criterion": "clarity", "score": 0.9}], "suggestions": []})),
)


def session(name: str, rules: tuple[Rule, ...], *calls: Call | Edit, settings: str = "") -> Session:
    """A session of decisions."""
    return Session(
        f"decide-{name}", rules, calls, {"decision.toml": FILE, "prepared.toml": PREPARED, **BAD}, settings, SEATS
    )


SESSIONS = (
    session(
        "majority",
        (YES, level(0.2, "disagree", participant="operator"), SUMS_UP),
        swarm("decide", "list"),
        swarm("decide", ASK),
        *looks("decide", "--all"),
        swarm("decide", "resume", "{id}"),
        swarm("metrics"),
        swarm("verify"),
        swarm("history"),
    ),
    session("unanimous", WAVERS, swarm("decide", ASK, *THREE, "--strategy", "unanimous"), *looks("decide")),
    session(
        "supermajority",
        (YES, NO, SUMS_UP),
        swarm("decide", ASK, *THREE, "--strategy", "supermajority"),
        swarm("decide", ASK, *THREE, "--strategy", "supermajority", "--threshold", "0.9", exits=1),
        swarm("decide", "show", "{id}"),
    ),
    session(
        "weighted",
        (YES, NO, SUMS_UP),
        swarm("decide", ASK, *THREE, "--strategy", "weighted", "--weight", "bob=0.1", "--threshold", "0.8"),
        swarm("decide", "show", "{id}"),
        swarm("decide", ASK, *THREE, "--strategy", "weighted", "--weight", "ann=0", "--rounds", "1", exits=1),
    ),
    session(
        "facilitator",
        (*WAVERS, rule("facilitate", json.dumps({"proposal": "Do it in May.", "openPoints": []}), participant="bob")),
        swarm("decide", ASK, *THREE, "--strategy", "facilitator", "--facilitator", "bob"),
        swarm("decide", "show", "{id}"),
    ),
    session(
        "approval",
        (says({"approves": ["SQLite"]}), says({"approves": ["B"]}, participant="bob"), SUMS_UP),
        swarm("decide", "Which store?", *THREE, "--strategy", "approval", *STORES, "--file", "docs/design.md"),
        swarm("decide", "show", "{id}"),
    ),
    session(
        "ranked",
        (
            says({"ranking": ["SQLite", "Redis"]}),
            says({"ranking": ["B", "A"]}, participant="bob"),
            says({"ranking": ["MySQL"]}, participant="cyd"),
            SUMS_UP,
        ),
        swarm(
            "decide",
            "Which store?",
            *THREE,
            "--strategy",
            "ranked",
            *STORES,
            "--rounds",
            "2",
            "--facilitator",
            "ann",
            exits=1,
        ),
        swarm("decide", "show", "{id}"),
        swarm("metrics", "--pattern", "decision"),
    ),
    session(
        "nothing-moves",
        (YES, NO, SUMS_UP),
        swarm("decide", ASK, *THREE, "--strategy", "unanimous", "--rounds", "5", exits=1),
        swarm("decide", "show", "{id}"),
    ),
    session(
        "from-a-file",
        (YES, SUMS_UP),
        swarm("decide", "{in}/decision.toml", "--rounds", "1", "--weight", "ann=0.25"),
        swarm("decide", "show", "from-a-file"),
        swarm("decide", "show", "from-a-fil", exits=2),
        swarm("decide", "list"),
    ),
    session(
        "prepared-by-others",
        (*DISCUSSING, *JUDGED, YES, SUMS_UP),
        swarm("decide", "{in}/prepared.toml"),
        *looks("decide", "--all"),
        swarm("discuss", "list", "--all"),
        swarm("discuss", "show", "{id}.ann"),
        swarm("metrics"),
    ),
    session(
        "cached",
        (YES, SUMS_UP),
        swarm("decide", ASK, "--participant", "ann"),
        swarm("decide", ASK, "--participant", "ann"),
        swarm("decide", ASK, "--participant", "ann", "--no-cache"),
        swarm("decide", "list"),
        settings='\n[council]\nstore = "sqlite"\n',
    ),
    session(
        "somebody-excluded",
        (YES, rule("contribute", "I am 90% for it.", participant="bob"), SUMS_UP),
        swarm("decide", ASK, *THREE),
        swarm("decide", "show", "{id}"),
    ),
    session(
        "all-excluded",
        (rule("contribute", "I am for it."), SUMS_UP),
        swarm("decide", ASK, *THREE, exits=5),
        swarm("decide", "list"),
        swarm("decide", "resume", "{id}", exits=5),
    ),
    session(
        "facilitator-fails",
        (YES, rule("facilitate", {"fault": {"kind": "500"}})),
        swarm("decide", ASK, *THREE),
        swarm("decide", "show", "{id}"),
    ),
    session(
        "endpoint-dead-resumed",
        (YES, SUMS_UP),
        swarm("decide", ASK, *THREE, exits=5, environ=DEAD),
        swarm("decide", "list"),
        swarm("decide", "resume", "{id}"),
    ),
    session(
        "budget-resumed",
        (level(0.9, "agree", MUCH), level(0.2, "disagree", MUCH, participant="bob"), SUMS_UP),
        swarm("decide", ASK, *THREE, "--strategy", "unanimous", "--tokens", "20000", exits=4),
        swarm("decide", "list"),
        swarm("decide", "resume", "{id}", exits=4),
        swarm("decide", "resume", "{id}", "--tokens", "2000000", exits=1),
        swarm("decide", "show", "{id}"),
        swarm("decide", "Well?", "--tokens", "10", exits=4),
    ),
    session(
        "killed-file-resumed",
        (YES, hangs(SUMS_UP)),
        cut("decide", "{in}/decision.toml", step="facilitate"),
        swarm("decide", "show", "from-a-file"),
        swarm("decide", "resume", "from-a-file"),
        swarm("decide", "show", "from-a-file"),
        swarm("verify"),
    ),
    session(
        "interrupted-resumed",
        (YES, hangs(SUMS_UP)),
        cut("decide", ASK, *THREE, by=signal.SIGINT, step="facilitate"),
        swarm("decide", "list"),
        swarm("decide", "resume", "{id}"),
        swarm("decide", "show", "{id}"),
    ),
    session(
        "bad-input",
        (YES, SUMS_UP),
        *(swarm("decide", f"{{in}}/{name}", exits=2) for name in BAD),
        swarm("decide", ASK, "--strategy", "majorty", exits=2),
        swarm("decide", ASK, "--weight", "ann", exits=2),
        swarm("decide", ASK, "--option", "A", exits=2),
        swarm("decide", ASK, "--strategy", "facilitator", exits=2),
        swarm("decide", ASK, "--strategy", "ranked", "--option", "A", exits=2),
        swarm("decide", ASK, "--participant", "a b", exits=2),
        swarm("decide", "  ", exits=2),
        swarm("decide", "shwo", exits=2),
        swarm("decide", "show", "20261121-224500-3f2a", exits=2),
        swarm("decide", "resume", "20261121-224500-3f2a", exits=2),
    ),
)

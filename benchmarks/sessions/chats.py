"""Scripted sessions of `swarm chat`."""

from __future__ import annotations

import signal

from sessions.session import DEAD, DOWN, MUCH, USED, Call, Rule, Session, call, cut, hangs, rule, swarm

TALK = """id = "talk"
messages = 20

[[agents]]
id = "ada"
model = "local/senior"
system = "You look at locks."

[[agents]]
id = "bob"

[initial]
from = "moderator"
to = "ada"
content = "Is it safe?"
"""
MODERATED = TALK.replace("messages = 20", 'messages = 20\nmoderator = "lead"') + '\n[[agents]]\nid = "lead"\n'
BAD = {
    "key.toml": TALK.replace("messages", "mesages"),
    "ttl.toml": TALK.replace("messages = 20", "ttl_s = 0"),
    "twice.toml": TALK.replace('"bob"', '"ada"'),
    "stranger.toml": TALK.replace('to = "ada"', 'to = "eve"'),
    "initial.toml": TALK.partition("[initial]")[0],
    "syntax.toml": "[[agents]\n",
    "provider.toml": TALK.replace("local/senior", "locla/senior"),
}
FILES = {
    "talk.toml": TALK,
    "moderated.toml": MODERATED,
    "one.toml": TALK.replace("messages = 20", "messages = 1"),
    "ttl.toml": TALK.replace("messages = 20", "ttl_s = 2"),
    "other.toml": TALK.replace('"talk"', '"other"'),
    **{f"bad-{name}": text for name, text in BAD.items()},
}
READ = rule("chat", "Read.")


def says(who: str, heard: str, to: str, content: str, usage: Rule = USED) -> Rule:
    """Who heard something sends a message."""
    sent = [call("send_message", to=to, content=content)]
    return rule("chat", sent, "Said.", participant=who, contains=heard, usage=usage)


ASKS = says("ada", "Is it safe?", "bob", "What do you think?")
ENDS = rule("chat", [call("synthesize", summary="It is safe.")], participant="bob", contains="What do you think?")


def session(name: str, rules: tuple[Rule, ...], *calls: Call, settings: str = "") -> Session:
    """A session of chats; one agent speaks at a time."""
    return Session(f"chat-{name}", rules, calls, FILES, settings, ("ada", "bob", "lead"))


TALKED = swarm("chat", "show", "talk")

SESSIONS = (
    session(
        "synthesis",
        (READ, ASKS, ENDS),
        swarm("chat", "list"),
        swarm("chat", "{in}/talk.toml"),
        TALKED,
        swarm("chat", "resume", "talk", exits=2),
        swarm("chat", "{in}/talk.toml", exits=2),
        swarm("chat", "show", "talks", exits=2),
        swarm("metrics"),
        swarm("verify"),
        swarm("history"),
    ),
    session("quiet", (READ, ASKS), swarm("chat", "{in}/talk.toml"), TALKED),
    session(
        "moderated",
        (
            READ,
            ASKS,
            says("bob", "What do you think?", "all", "Safe."),
            rule("chat", [call("synthesize", summary="Safe, says bob.")], participant="lead", contains="Safe."),
        ),
        swarm("chat", "{in}/moderated.toml"),
        TALKED,
    ),
    session("messages-used-up", (READ, ASKS), swarm("chat", "{in}/one.toml"), TALKED),
    session(
        "time-used-up",
        (READ, {**ASKS, "replies": [{"fault": {"kind": "hang"}}]}),
        swarm("chat", "{in}/ttl.toml"),
        TALKED,
    ),
    session(
        "all-fail",
        (rule("chat", [call("nonsense")]),),
        swarm("chat", "{in}/talk.toml", exits=5),
        TALKED,
    ),
    session(
        "endpoint-dead-resumed",
        (READ, ASKS, ENDS),
        swarm("chat", "{in}/talk.toml", exits=5, environ=DEAD),
        TALKED,
        swarm("chat", "resume", "talk"),
        TALKED,
    ),
    session(
        "budget-resumed",
        (READ, says("ada", "Is it safe?", "bob", "What do you think?", MUCH), ENDS),
        swarm("chat", "{in}/talk.toml", exits=4, environ={"SWARM_BUDGET__TOKENS": "12000"}),
        TALKED,
        swarm("chat", "resume", "talk"),
        TALKED,
    ),
    session(
        "killed-resumed",
        (READ, ASKS, hangs(ENDS)),
        cut("chat", "{in}/talk.toml", step="chat", participant="bob"),
        TALKED,
        swarm("chat", "resume", "talk"),
        TALKED,
        swarm("verify"),
    ),
    session(
        "interrupted-resumed",
        (READ, ASKS, hangs(ENDS)),
        cut("chat", "{in}/talk.toml", by=signal.SIGINT, step="chat", participant="bob"),
        TALKED,
        swarm("chat", "resume", "talk"),
        TALKED,
    ),
    session(
        "bad-input",
        (READ, rule("chat", DOWN, participant="eve")),
        *(swarm("chat", f"{{in}}/bad-{name}", exits=2) for name in BAD),
        swarm("chat", "{in}/nowhere.toml", exits=2),
        swarm("chat", "shw", exits=2),
        swarm("chat", "show", "20261121-224500-3f2a", exits=2),
        swarm("chat", "resume", "20261121-224500-3f2a", exits=2),
    ),
)

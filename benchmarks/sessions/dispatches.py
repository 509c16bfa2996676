"""Scripted sessions of `swarm dispatch`."""

from __future__ import annotations

from sessions.debates import ballot, debating, speech, synthesis
from sessions.session import DEAD, DOWN, MUCH, Call, Rule, Session, cut, hangs, looks, rule, swarm

SEATS = ("reviewer", "newcomer", "critic", "architect", "coder", "for-redis", "for-memory")
LOOKS = rule("dispatch", "{{participant}} has looked.")
SINGLE = 'mode = "single"\n[[tasks]]\nrole = "reviewer"\ntext = "Which errors can it raise?"\n'
PARALLEL = """mode = "parallel"

[[tasks]]
role = "reviewer"
text = "Which errors can it raise?"

[[tasks]]
participant = "newcomer"
model = "local/senior"
folder = "docs"
text = "What does the documentation leave out?"

[[tasks]]
role = "critic"
text = "What breaks first?"
"""
CHAIN = """mode = "chain"

[[tasks]]
role = "architect"
text = "List the assumptions."

[[tasks]]
role = "critic"
text = "Which are not kept? {previous}"

[[tasks]]
role = "coder"
text = "What is the smallest change?"
"""
DEBATE = """mode = "debate"
rounds = 3
question = "Should the cache move to Redis?"

[[tasks]]
participant = "for-redis"
text = "Argue from the outage."

[[tasks]]
participant = "for-memory"
model = "local/senior"
text = "Argue from operation."
"""
FILES = {"single.toml": SINGLE, "parallel.toml": PARALLEL, "chain.toml": CHAIN, "debate.toml": DEBATE}
BAD = {
    "mode.toml": PARALLEL.replace('"parallel"', '"paralel"'),
    "role.toml": PARALLEL.replace('"critic"', '"critc"'),
    "key.toml": PARALLEL.replace("folder", "foldr"),
    "folder.toml": PARALLEL.replace('"docs"', '"../docs"'),
    "rounds.toml": "rounds = 2\n" + PARALLEL,
    "previous.toml": CHAIN.replace("List the", "{previous} List the"),
    "many.toml": SINGLE.replace('"single"', '"parallel"') + '[[tasks]]\nrole = "coder"\ntext = "x"\n' * 8,
    "two.toml": SINGLE + '[[tasks]]\nrole = "coder"\ntext = "x"\n',
    "none.toml": 'mode = "single"\n',
    "syntax.toml": SINGLE.replace('"single"', '"single'),
}


def session(name: str, rules: tuple[Rule, ...], *calls: Call, settings: str = "") -> Session:
    """A session of dispatches."""
    return Session(f"dispatch-{name}", rules, calls, {**FILES, **BAD}, settings, SEATS)


SESSIONS = (
    session(
        "single",
        (LOOKS,),
        swarm("dispatch", "list"),
        swarm("dispatch", "{in}/single.toml"),
        swarm("dispatch", "show", "{id}"),
        swarm("dispatch", "--mode", "single", "{in}/single.toml"),
        swarm("metrics"),
    ),
    session("parallel", (LOOKS,), swarm("dispatch", "--mode", "parallel", "{in}/parallel.toml"), *looks("dispatch")),
    session(
        "parallel-one-fails",
        (LOOKS, rule("dispatch", DOWN, participant="newcomer")),
        swarm("dispatch", "{in}/parallel.toml", exits=1),
        swarm("dispatch", "show", "{id}"),
        swarm("verify"),
    ),
    session("chain", (LOOKS,), swarm("dispatch", "{in}/chain.toml"), *looks("dispatch"), swarm("history")),
    session(
        "chain-stops",
        (LOOKS, rule("dispatch", DOWN, participant="critic")),
        swarm("dispatch", "{in}/chain.toml", exits=1),
        swarm("dispatch", "show", "{id}"),
        swarm("metrics", "--pattern", "dispatch"),
    ),
    session(
        "debate",
        debating(last=3),
        swarm("dispatch", "{in}/debate.toml"),
        swarm("dispatch", "show", "{id}"),
        swarm("debate", "show", "{id}"),
        swarm("metrics"),
    ),
    session(
        "debate-rejects",
        (speech(), ballot("REJECT"), synthesis("REJECT")),
        swarm("dispatch", "--rounds", "2", "{in}/debate.toml", exits=1),
        swarm("dispatch", "show", "{id}"),
    ),
    session(
        "endpoint-dead", (LOOKS,), swarm("dispatch", "{in}/single.toml", exits=5, environ=DEAD), *looks("dispatch")
    ),
    session(
        "budget",
        (rule("dispatch", "{{participant}} has looked.", usage=MUCH),),
        swarm("dispatch", "{in}/chain.toml", exits=4),
        swarm("dispatch", "show", "{id}"),
        settings="\n[council]\ntotal_tokens = 12000\n",
    ),
    session(
        "killed",
        (LOOKS, hangs(LOOKS, participant="critic")),
        cut("dispatch", "{in}/chain.toml", step="dispatch", participant="critic"),
        swarm("dispatch", "list"),
        swarm("metrics"),
    ),
    session(
        "bad-input",
        (LOOKS,),
        *(swarm("dispatch", f"{{in}}/{name}", exits=2) for name in BAD),
        swarm("dispatch", "--mode", "chain", "{in}/single.toml", exits=2),
        swarm("dispatch", "{in}/nowhere.toml", exits=2),
        swarm("dispatch", "shw", exits=2),
        swarm("dispatch", exits=2),
        swarm("dispatch", "show", "20261121-224500-3f2a", exits=2),
        swarm("dispatch", "{in}/single.toml"),
        swarm("dispatch", "show", "{id}x", exits=2),
    ),
)

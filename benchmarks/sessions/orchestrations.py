"""Scripted sessions of `swarm orchestrate`, and of several patterns in one project."""

from __future__ import annotations

import signal

from sessions.chats import ASKS, ENDS, READ, TALK
from sessions.critiques import making, scored
from sessions.debates import debating
from sessions.decisions import SUMS_UP, YES
from sessions.discussions import NORMAL as DISCUSSING
from sessions.dispatches import SINGLE
from sessions.session import DEAD, DOWN, MUCH, Call, Edit, Rule, Session, cut, fails, hangs, rule, swarm

LOOKS = rule("dispatch", "{{participant}} has looked.")
SEATS = ("advocate", "challenger", "reviewer", "test_engineer", "a", "b", "c", "security", "operations", "ann", "bob")
CRITERIA = '[{ name = "truth", description = "It is so." }]'
EVERYTHING = f"""title = "Everything"

[[steps]]
id = "ask"
kind = "ask"
role = "reviewer"
text = "Look."

[[steps]]
id = "tasks"
kind = "dispatch"
mode = "parallel"
tasks = [{{ participant = "a", text = "Look." }}, {{ participant = "b", text = "Look, too." }}]

[[steps]]
id = "debate"
kind = "debate"
question = "Is it ready, given {{tasks}}?"
files = ["docs/design.md"]

[[steps]]
id = "talk"
kind = "discuss"
topic = "What of {{debate}}?"
mode = "lightweight"

[[steps]]
id = "choice"
kind = "decide"
question = "Do we do {{talk}}?"
participants = ["ann", "bob"]

[[steps]]
id = "text"
kind = "critique"
task = "Write up {{choice}}."
criteria = {CRITERIA}
when = {{ step = "choice", field = "consensus", equals = true }}

[[steps]]
id = "never"
kind = "ask"
participant = "c"
text = "Why?"
when = {{ step = "text", field = "mean", at_most = 0.1 }}
"""
MAP = """title = "Risks"
tokens = 400_000

[[steps]]
id = "risks"
kind = "map"
items = ["a restart", "a full disk", "two uploads"]
at_once = 1
least = 3
[steps.step]
kind = "ask"
participant = "a"
text = "What of {item}?"
[steps.reduce]
kind = "ask"
participant = "b"
text = "The worst first."

[[steps]]
id = "looks"
kind = "parallel"
at_once = 1
[[steps.steps]]
id = "review"
kind = "ask"
role = "reviewer"
text = "Which of {risks} are handled?"
[[steps.steps]]
id = "tests"
kind = "ask"
role = "test_engineer"
text = "Which of {risks} does a test show? {{risk}}"

[[steps]]
id = "verdict"
kind = "debate"
question = "Is it ready, given {review} and {tests}?"

[[steps]]
id = "repair"
kind = "ask"
role = "architect"
text = "Repair it: {verdict}"
when = { step = "verdict", field = "verdict", equals = "REJECT" }
[[steps.otherwise]]
id = "release"
kind = "ask"
participant = "c"
text = "Two sentences: {verdict}"
"""
PYTHON = '''"""Two voices."""

from swarmgate.council.orchestration import sequence, step

print("told")
first = step("ask", "a", participant="a", text="Go.")
orchestration = sequence(first, step("ask", "b", participant="b", text="On {a}."))
'''
ABC = "".join(f'[[steps]]\nid = "{name}"\nkind = "ask"\nparticipant = "{name}"\ntext = "Go."\n\n' for name in "abc")
GROUP = """[[steps]]
id = "both"
kind = "parallel"
at_once = 1
[[steps.steps]]
id = "a"
kind = "ask"
participant = "a"
text = "Go."
[[steps.steps]]
id = "b"
kind = "ask"
participant = "b"
text = "Go."

[[steps]]
id = "c"
kind = "ask"
participant = "c"
text = "What is in its way: {both}"
when = { step = "both", field = "failed", at_least = 1 }
"""
BAD = {
    "kind.toml": ABC.replace('"ask"', '"aks"', 1),
    "key.toml": ABC.replace("text", "txt", 1),
    "twice.toml": ABC.replace('id = "b"', 'id = "a"'),
    "rounds.toml": MAP.replace('kind = "debate"', 'kind = "debate"\nrounds = 6'),
    "later.toml": ABC.replace("Go.", "Go on {c}.", 1),
    "field.toml": MAP.replace('field = "verdict"', 'field = "verdct"'),
    "syntax.toml": ABC.replace("kind =", "kind = =", 1),
    "raises.py": '"""Steps."""\nraise ValueError("no")\n',
    "nothing.py": '"""Nothing."""\n',
}
FILES = {
    "everything.toml": EVERYTHING,
    "map.toml": MAP,
    "steps.py": PYTHON,
    "abc.toml": ABC,
    "group.toml": GROUP,
    "single.toml": SINGLE,
    "talk.toml": TALK,
    **{f"bad-{name}": text for name, text in BAD.items()},
}
GOOD = scored(truth=0.9, correctness=0.9, completeness=0.9, clarity=0.9)
ALL = (*debating(), *DISCUSSING, *making(GOOD), YES, SUMS_UP, LOOKS)


def session(name: str, rules: tuple[Rule, ...], *calls: Call | Edit, settings: str = "") -> Session:
    """A session of orchestrations."""
    return Session(name, rules, calls, FILES, settings, SEATS)


SESSIONS = (
    session(
        "orchestrate-everything",
        ALL,
        swarm("orchestrate", "list"),
        swarm("orchestrate", "{in}/everything.toml", "--dry-run"),
        swarm("orchestrate", "{in}/everything.toml"),
        swarm("orchestrate", "show", "{id}"),
        *(
            swarm(verb, "list", *more)
            for verb, more in (
                ("debate", ()),
                ("dispatch", ()),
                ("discuss", ()),
                ("discuss", ("--all",)),
                ("decide", ("--all",)),
                ("critique", ("--all",)),
            )
        ),
        swarm("debate", "show", "{id}.debate"),
        swarm("orchestrate", "resume", "{id}"),
        swarm("metrics"),
        swarm("verify"),
        swarm("history"),
    ),
    session(
        "orchestrate-map",
        (*debating(), LOOKS),
        swarm("orchestrate", "{in}/map.toml", "--dry-run", "--tokens", "9000", "--usd", "0.5"),
        swarm("orchestrate", "{in}/map.toml"),
        swarm("orchestrate", "show", "{id}"),
    ),
    session(
        "orchestrate-python",
        (LOOKS,),
        swarm("orchestrate", "{in}/steps.py", "--dry-run"),
        swarm("orchestrate", "{in}/steps.py"),
        swarm("orchestrate", "show", "{id}"),
    ),
    session(
        "orchestrate-failed-resumed",
        (
            LOOKS,
            fails(LOOKS, participant="a", contains="What of a full disk?"),
            *debating(),
        ),
        swarm("orchestrate", "{in}/map.toml", exits=1),
        swarm("orchestrate", "list"),
        swarm("orchestrate", "resume", "{id}"),
        swarm("orchestrate", "show", "{id}"),
    ),
    session(
        "orchestrate-failure-waited-for",
        (LOOKS, rule("dispatch", DOWN, participant="a")),
        swarm("orchestrate", "{in}/group.toml", exits=1),
        swarm("orchestrate", "show", "{id}"),
    ),
    session(
        "orchestrate-endpoint-dead-resumed",
        (LOOKS,),
        swarm("orchestrate", "{in}/abc.toml", exits=5, environ=DEAD),
        swarm("orchestrate", "list"),
        swarm("orchestrate", "resume", "{id}"),
        swarm("orchestrate", "show", "{id}"),
    ),
    session(
        "orchestrate-budget-resumed",
        (rule("dispatch", "{{participant}} has looked.", usage=MUCH),),
        swarm("orchestrate", "{in}/abc.toml", "--tokens", "12000", exits=4),
        swarm("orchestrate", "list"),
        swarm("orchestrate", "resume", "{id}", exits=4),
        swarm("orchestrate", "resume", "{id}", "--tokens", "900000"),
        swarm("orchestrate", "show", "{id}"),
    ),
    session(
        "orchestrate-killed-resumed",
        (LOOKS, hangs(LOOKS, participant="b")),
        cut("orchestrate", "{in}/abc.toml", step="dispatch", participant="b"),
        swarm("orchestrate", "list"),
        swarm("orchestrate", "resume", "{id}"),
        swarm("orchestrate", "show", "{id}"),
        swarm("verify"),
    ),
    session(
        "orchestrate-interrupted-resumed",
        (*ALL, hangs(SUMS_UP)),
        cut("orchestrate", "{in}/everything.toml", by=signal.SIGINT, step="facilitate"),
        swarm("orchestrate", "list"),
        swarm("orchestrate", "resume", "{id}"),
        swarm("orchestrate", "show", "{id}"),
    ),
    session(
        "orchestrate-bad-input",
        (LOOKS,),
        *(swarm("orchestrate", f"{{in}}/bad-{name}", exits=2) for name in BAD),
        swarm("orchestrate", "{in}/nowhere.toml", exits=2),
        swarm("orchestrate", "res", exits=2),
        swarm("orchestrate", "show", "20261121-224500-3f2a", exits=2),
        swarm("orchestrate", "resume", "20261121-224500-3f2a", exits=2),
    ),
    session(
        "all-patterns-in-one-project",
        (*ALL, READ, ASKS, ENDS),
        swarm("metrics"),
        swarm("debate", "Is the cache safe?"),
        swarm("dispatch", "{in}/single.toml"),
        swarm("chat", "{in}/talk.toml"),
        swarm("critique", "Write it.", "--criterion", "truth=It is so."),
        swarm("decide", "Do we do it?", "--participant", "ann", "--participant", "bob"),
        swarm("critique", "show", "{id}", exits=2),
        swarm("discuss", "How often do keys rotate?", "--mode", "lightweight", "--yes"),
        *(swarm(verb, "show", "{id}", exits=2) for verb in ("decide", "debate", "chat", "dispatch", "orchestrate")),
        *(
            swarm(verb, "list")
            for verb in ("debate", "dispatch", "chat", "discuss", "decide", "critique", "orchestrate")
        ),
        swarm("metrics"),
        swarm("metrics", "--pattern", "discuss"),
        swarm("metrics", "--pattern", "chta", exits=2),
        swarm("status"),
        swarm("verify"),
    ),
)

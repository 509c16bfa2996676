"""Scripted sessions of `swarm critique`."""

from __future__ import annotations

import json
import signal

from sessions.session import DEAD, MUCH, USED, Call, Edit, Rule, Session, cut, hangs, looks, rule, swarm

TASK = "Write it."
CRITERIA = ("--criterion", "truth=It is so.", "--criterion", "style:0.5:0.6=It reads well.")


def scored(*suggestions: str, **scores: float) -> str:
    """An evaluation."""
    listed = [{"criterion": name, "score": score, "reason": f"{name} so"} for name, score in scores.items()]
    return json.dumps({"scores": listed, "suggestions": suggestions})


def making(*evaluations: str, usage: Rule = USED) -> tuple[Rule, ...]:
    """Versions `version N`, judged one after the other; the last evaluation holds for all later ones."""
    return (
        rule("generate", "version 1", usage=usage),
        rule("improve", "version {{round}}", usage=usage),
        rule("evaluate", evaluations[-1], usage=usage),
        *(rule("evaluate", each, usage=usage, round=str(number)) for number, each in enumerate(evaluations, start=1)),
    )


GOOD, POOR = scored(truth=0.9, style=0.9), scored("shorter", truth=0.4, style=0.4)
FILE = """task = "Write the entry."
id = "from-a-file"
name = "changelog"
files = ["AGENTS.md"]
target = "NEWS.md"
iterations = 4
stop = 0.85

[[criteria]]
name = "accuracy"
description = "Every statement can be found."
rubric = "1.0: all of them; 0.0: several are wrong."
weight = 1.0
threshold = 0.9

[[criteria]]
name = "length"
description = "At most 40 lines."
weight = 0.3
command = "test $(wc -l < NEWS.md) -le 40"
"""
BAD = {
    "iterations.toml": FILE.replace("iterations = 4", "iterations = 11"),
    "type.toml": FILE.replace("iterations = 4", 'iterations = "4"'),
    "key.toml": FILE.replace("iterations = 4", "itrations = 4"),
    "weight.toml": FILE.replace("weight = 0.3", "weight = 7"),
    "twice.toml": FILE.replace('name = "length"', 'name = "Accuracy"'),
    "gate.toml": FILE.replace("command = ", 'gate = "sintax_check"\n# '),
    "target.toml": FILE.replace('target = "NEWS.md"', ""),
    "syntax.toml": FILE.replace("iterations = 4", "iterations = = 4"),
}


def session(name: str, rules: tuple[Rule, ...], *calls: Call | Edit, settings: str = "") -> Session:
    """A session of critiques."""
    files = {"critique.toml": FILE, "draft.md": "A first draft.\n", **BAD}
    return Session(f"critique-{name}", rules, calls, files, settings)


SESSIONS = (
    session(
        "passes",
        making(GOOD),
        swarm("critique", "list"),
        swarm("critique", TASK, *CRITERIA),
        *looks("critique", "--all"),
        swarm("critique", "resume", "{id}"),
        swarm("metrics"),
        swarm("verify"),
        swarm("history"),
    ),
    session(
        "best-is-not-last",
        making(scored("shorter", truth=0.6, style=0.4), scored(truth=0.9, style=0.5), scored(truth=0.2, style=7)),
        swarm("critique", TASK, *CRITERIA, "--out", "{out}/best.txt", exits=1),
        swarm("critique", "show", "{id}"),
        swarm("critique", TASK, *CRITERIA, exits=1),
        swarm("critique", TASK, *CRITERIA, "--out", "{out}/best.txt", exits=2),
        swarm("critique", TASK, *CRITERIA, "--no-cache", "--out", "{out}/best.txt", "--force", exits=1),
        swarm("critique", "resume", "{id}", "--out", "{out}/again.txt", exits=1),
        swarm("critique", "list"),
    ),
    session(
        "draft-and-programs",
        making(scored(truth=0.7), scored(truth=0.95)),
        swarm(
            "critique",
            TASK,
            "--criterion",
            "truth=It is so.",
            "--draft",
            "{in}/draft.md",
            "--target",
            "docs/new.md",
            "--command",
            "grep -q version docs/new.md",
            "--command",
            "grep -q . AGENTS.md",
            "--iterations",
            "4",
            "--model",
            "local/senior",
            "--evaluator",
            "local/junior",
            "--file",
            "AGENTS.md",
            "--timeout",
            "60",
            "--stop",
            "0.9",
            "--out",
            "{out}/new.md",
        ),
        swarm("critique", "show", "{id}"),
    ),
    session(
        "gate",
        (rule("generate", '"""A module."""\n\nVALUE = (\n'), rule("improve", '"""A module."""\n\nVALUE = 1\n')),
        swarm("critique", TASK, "--target", "src/new.py", "--gate", "syntax_check"),
        swarm("critique", "show", "{id}"),
    ),
    session(
        "learns",
        making(scored(truth=0.9, style=0.1)),
        swarm("critique", TASK, *CRITERIA, "--name", "notes", "--iterations", "1", exits=1),
        swarm("critique", TASK, *CRITERIA, "--name", "notes", "--iterations", "1", "--adaptive", exits=1),
        swarm("critique", TASK, *CRITERIA, "--name", "new", "--iterations", "1", "--adaptive", exits=1),
        swarm("critique", "show", "{id}"),
        swarm("metrics", "--pattern", "critique"),
    ),
    session(
        "from-a-file",
        making(scored(accuracy=0.95)),
        swarm("critique", "{in}/critique.toml", "--tokens", "90000", "--usd", "2"),
        swarm("critique", "show", "from-a-file"),
        swarm("critique", "show", "from-a-fil", exits=2),
        swarm("critique", "{in}/critique.toml"),
    ),
    session(
        "iteration-fails",
        making("I give it 9/10.", GOOD),
        swarm("critique", TASK, *CRITERIA),
        swarm("critique", "show", "{id}"),
    ),
    session(
        "never-judged",
        making("I give it 9/10."),
        swarm("critique", TASK, "--iterations", "2", exits=5),
        swarm("critique", "show", "{id}"),
    ),
    session(
        "time-used-up-resumed",
        (*making(POOR, GOOD), hangs(rule("evaluate", GOOD), round="2")),
        swarm("critique", TASK, *CRITERIA, exits=1),
        swarm("critique", "list"),
        swarm("critique", "resume", "{id}"),
        swarm("critique", "show", "{id}"),
        settings="\n[council]\nwhole_s = 5\n",
    ),
    session(
        "endpoint-dead-resumed",
        making(GOOD),
        swarm("critique", TASK, *CRITERIA, exits=5, environ=DEAD),
        swarm("critique", "list"),
        swarm("critique", "resume", "{id}"),
    ),
    session(
        "budget-resumed",
        making(POOR, GOOD, usage=MUCH),
        swarm("critique", TASK, *CRITERIA, "--tokens", "12000", exits=4),
        swarm("critique", "list"),
        swarm("critique", "resume", "{id}", exits=4),
        swarm("critique", "resume", "{id}", "--tokens", "2000000"),
        swarm("critique", "show", "{id}"),
    ),
    session(
        "killed-resumed",
        (
            *making(scored(accuracy=0.5), scored(accuracy=0.95)),
            hangs(rule("evaluate", scored(accuracy=0.95)), round="2"),
        ),
        cut("critique", "{in}/critique.toml", step="evaluate", round="2"),
        swarm("critique", "show", "from-a-file"),
        swarm("critique", "list"),
        swarm("critique", "resume", "from-a-file"),
        swarm("critique", "show", "from-a-file"),
        swarm("verify"),
    ),
    session(
        "interrupted-resumed",
        (*making(POOR, GOOD), hangs(rule("improve", "version {{round}}"), round="2")),
        cut("critique", TASK, *CRITERIA, by=signal.SIGINT, step="improve", round="2"),
        swarm("critique", "list"),
        swarm("critique", "resume", "{id}"),
        swarm("critique", "show", "{id}"),
    ),
    session(
        "bad-input",
        making(GOOD),
        *(swarm("critique", f"{{in}}/{name}", exits=2) for name in BAD),
        swarm("critique", TASK, "--iterations", "0", exits=2),
        swarm("critique", TASK, "--stop", "2", exits=2),
        swarm("critique", TASK, "--criterion", "truth", exits=2),
        swarm("critique", TASK, "--gate", "lint_chek", "--target", "a.py", exits=2),
        swarm("critique", TASK, "--command", "true", "--target", "../a.py", exits=2),
        swarm("critique", TASK, "--adaptive", exits=2),
        swarm("critique", TASK, "--draft", "nowhere.md", exits=2),
        swarm("critique", TASK, "--out", ".swarm/ledger.jsonl", "--force", exits=2),
        swarm("critique", TASK, "--evaluator", "nobody/x", exits=2),
        swarm("critique", "shw", exits=2),
        swarm("critique", "show", "20261121-224500-3f2a", exits=2),
        swarm("critique", "resume", "20261121-224500-3f2a", exits=2),
    ),
)

"""The table of verbs, in the order in which a project needs them; none is loaded to be listed."""

from __future__ import annotations

from typing import NamedTuple


class Verb(NamedTuple):
    """A verb: the folder of its file, which has a `command`, or an `app` where it has verbs below it; its line of help.

    The line is the first of its help: `swarm --help` prints it without loading the verb. A test holds both the same.
    """

    folder: str
    line: str


VERBS = {
    "init": Verb("work", "Make .swarm/ in this repository: settings, gates and prompts to override, the ledger."),
    "plan": Verb("work", "Have the architect plan a goal and the critic review the plan."),
    "approve": Verb("work", "Approve what waits for you: the plan, or the checkpoint of a phase."),
    "run": Verb("work", "Work task by task until it is your turn: a phase checkpoint, a blocked task, a question."),
    "answer": Verb("work", "Answer what an agent asks you about its task or the plan."),
    "revise": Verb(
        "work", "Have the architect change the plan as you say; the critic reviews it, then it waits for your approval."
    ),
    "top": Verb(
        "views",
        "Show what the run in another process does: its task, its words, edits and commands; it ends with that run.",
    ),
    "stop": Verb("work", "Ask the running `swarm run` to stop at its next safe point."),
    "pr": Verb("work", "Push the goal's branch and open a pull request that says what was done and what proves it."),
    "status": Verb(
        "views", "Show where the work stands: phases, the running task, tokens and cost, and what you can do next."
    ),
    "cost": Verb("views", "Show tokens and money by task, role, model, phase and day."),
    "show": Verb(
        "views", "Show one task: its criteria, every attempt with who rejected it and why, and what you may do."
    ),
    "history": Verb("views", "Show what happened, in order: every recorded event in words."),
    "failures": Verb(
        "views",
        "Show every rejection of all goals and runs, grouped by who rejected and by what the messages have in common.",
    ),
    "verify": Verb("views", "Walk the ledger's chain and compare it with the plan files, the evidence and git."),
    "retry": Verb("work", "Have a blocked or rejected task tried again, on the tree as it stands."),
    "skip": Verb("work", "Give a task up."),
    "undo": Verb("work", "Take a task back: revert its commit and have it done again."),
    "override": Verb("work", "Overrule the last rejection of a task."),
    "abandon": Verb("work", "End the goal before its work is done; its branch stays."),
    "gates": Verb(
        "checks", "Run the quality gates by hand, list and explain them, accept findings, look for their tools."
    ),
    "sbom": Verb("checks", "List the components of the project as a software bill of materials: CycloneDX JSON."),
    "guard": Verb("checks", "Ask the guards what they would do."),
    "dispatch": Verb(
        "council",
        "Have voices that only read work on tasks: swarm dispatch --mode MODE TASKS.toml (see: swarm "
        "dispatch hold --help).",
    ),
    "debate": Verb(
        "council", 'Hold a debate: swarm debate "QUESTION", or swarm debate FILE.toml (see: swarm debate hold --help).'
    ),
    "chat": Verb("council", "Hold a swarm chat: swarm chat FILE.toml (see: swarm chat hold --help)."),
    "discuss": Verb("council", 'Hold a discussion: swarm discuss "TOPIC" (see: swarm discuss hold --help).'),
    "decide": Verb(
        "council",
        'Have several decide: swarm decide "QUESTION", or swarm decide FILE.toml (see: swarm decide hold --help).',
    ),
    "critique": Verb(
        "council",
        'Make something and improve it: swarm critique "TASK", or swarm critique FILE.toml (see: swarm '
        "critique hold --help).",
    ),
    "orchestrate": Verb(
        "council",
        "Do the steps of a file one after the other: swarm orchestrate FILE (see: swarm orchestrate hold --help).",
    ),
    "metrics": Verb(
        "views",
        "Print, pattern by pattern: executions, convergence rate, mean rounds, scores, duration, tokens and cost.",
    ),
    "sync": Verb(
        "background", "Take hand edits of plan.md and plan.json into the plan, and bring both files up to date."
    ),
    "watch": Verb("background", "Take hand edits of the plan in, and do what `[automation]` and `[hooks]` switch on."),
    "automation": Verb(
        "background", "Show what happens beside the loop, and switch it on or off in .swarm/config.toml."
    ),
    "events": Verb(
        "views",
        "Show the events of the ledger and of automation in order of time: when, which file, who, the type, in words.",
    ),
    "hooks": Verb("background", "List your commands on events ([hooks] in .swarm/config.toml), or try one."),
    "preflight": Verb(
        "checks",
        "Look whether a phase can begin: tree, branch, plan, evidence, tools, models, budget, disk, "
        "lint, secrets, tests.",
    ),
    "evidence": Verb(
        "views",
        "Show how complete the evidence of every attempt is: swarm evidence [TASK] (see: swarm evidence show --help).",
    ),
    "drift": Verb("views", "Compare the decisions on record with what came after them."),
    "handoff": Verb(
        "views",
        "Write and print one page on where the work stands: goal, decisions, failures, next step, how to run, risks.",
    ),
    "report": Verb("views", "Write one HTML page: timeline, cost, rejections, criteria and tests, changes, evidence."),
    "eval": Verb(
        "checks", "Measure how often the gates are right, and whether debates are worth their cost, on labelled data."
    ),
    "doctor": Verb(
        "checks", "Check git, settings, models, endpoints, guards, gates' tools, tests, .swarm/ and the ledger."
    ),
    "agents": Verb(
        "checks", "Coding agents of the command line as roles: which are known, and whether one works here."
    ),
    "demo": Verb("work", "Show the main job: plan, approve, run, a rejected and an escalated attempt, a checkpoint."),
}

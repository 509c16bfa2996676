"""The table of verbs, by what they are for, in the order in which a project needs them; none is loaded to be listed."""

from __future__ import annotations

from typing import Literal, NamedTuple

Group = Literal["Start", "Work", "Decide", "Look", "Gates", "Council", "Background", "Team", "Measure"]
"""What a verb is for: its heading in `swarm --help`, which has them in the order in which the table does."""

WIDEST = 63
"""Characters of a line of help, so that it is one line at 80 columns beside the longest name."""


class Verb(NamedTuple):
    """A verb: the folder of its file, which has a `command`, or an `app` where it has verbs below it; group and line.

    The folder is one of `face`; that of another face than the command line is found by its name, when the verb is used.
    The line is the first sentence of its help: `swarm --help` prints it without loading the verb. A test holds both the
    same, and the line at `WIDEST`.
    """

    folder: str
    group: Group
    line: str
    face: str = "cli"

    def module(self, name: str) -> str:
        """The module of the verb of that name."""
        return f"swarmgate.{self.face}.{self.folder}.{name}"


VERBS = {
    "init": Verb("work", "Start", "Make .swarm/ in this folder: settings, gates, the ledger."),
    "doctor": Verb("checks", "Start", "Check settings, models, tools, tests and the ledger."),
    "agents": Verb("checks", "Start", "List coding agents that can be roles, and test one here."),
    "demo": Verb("work", "Start", "Show the whole loop on a small project with scripted models."),
    "docs": Verb("views", "Start", "Read the pages that come with this installation."),
    "plan": Verb("work", "Work", "Have the architect plan a goal and the critic review the plan."),
    "run": Verb("work", "Work", "Work task by task until it is your turn."),
    "stop": Verb("work", "Work", "Ask the running `swarm run` to stop at its next safe point."),
    "pr": Verb("work", "Work", "Push the goal's branch and open a pull request for it."),
    "approve": Verb("work", "Decide", "Approve what waits for you: the plan, or a phase's checkpoint."),
    "answer": Verb("work", "Decide", "Answer what an agent asks you about its task or the plan."),
    "revise": Verb("work", "Decide", "Have the architect change the plan as you say."),
    "retry": Verb("work", "Decide", "Have a blocked or rejected task tried again."),
    "skip": Verb("work", "Decide", "Give a task up."),
    "undo": Verb("work", "Decide", "Take a task back: revert its commit and have it done again."),
    "override": Verb("work", "Decide", "Overrule the last rejection of a task."),
    "abandon": Verb("work", "Decide", "End the goal before its work is done; its branch stays."),
    "status": Verb("views", "Look", "Show where the work stands, and what you can do next."),
    "top": Verb("views", "Look", "Show what the run in another process does."),
    "cost": Verb("views", "Look", "Show tokens and money by task, role, model, phase and day."),
    "show": Verb("views", "Look", "Show one task: criteria, attempts, who rejected it and why."),
    "history": Verb("views", "Look", "Show what happened, in order: every recorded event in words."),
    "failures": Verb("views", "Look", "Show every rejection, grouped by who rejected and why."),
    "verify": Verb("views", "Look", "Compare the ledger's chain with plan, evidence and git."),
    "attest": Verb("views", "Look", "Show, verify and restore statements about tasks' commits."),
    "evidence": Verb("views", "Look", "Show how complete the evidence of every attempt is."),
    "drift": Verb("views", "Look", "Compare the decisions on record with what came after them."),
    "handoff": Verb("views", "Look", "Write one page on where the work stands, for somebody else."),
    "report": Verb("views", "Look", "Write one HTML page about the goal, with plots and changes."),
    "gates": Verb("checks", "Gates", "Run the quality gates by hand, explain them, accept findings."),
    "sbom": Verb("checks", "Gates", "List the components of the project as CycloneDX JSON."),
    "guard": Verb("checks", "Gates", "Ask the guards what they would do."),
    "hook": Verb("verbs", "Gates", "Hold sessions of Claude Code, Codex and others to the gates.", "agent_hooks"),
    "mcp": Verb("verbs", "Gates", "Serve this project to a coding agent as tools, over stdin.", "mcp"),
    "lsp": Verb("verbs", "Gates", "Serve an editor: findings of unsaved texts, and tasks of plan.md.", "lsp"),
    "dispatch": Verb("council", "Council", "Have voices that only read work on tasks."),
    "debate": Verb("council", "Council", "Have several voices argue a question in rounds, and vote."),
    "chat": Verb("council", "Council", "Have agents write to each other until one of them ends it."),
    "discuss": Verb("council", "Council", "Have experts with opposing interests discuss a topic."),
    "decide": Verb("council", "Council", "Have several decide a question, by a vote or by consensus."),
    "critique": Verb("council", "Council", "Make something, judge it and improve it."),
    "orchestrate": Verb("council", "Council", "Run the steps of a file: in order, at once, under a condition."),
    "watch": Verb("background", "Background", "Take hand edits of the plan in as they are made."),
    "sync": Verb("background", "Background", "Take hand edits of plan.md and plan.json into the plan."),
    "automation": Verb("background", "Background", "Show what happens beside the loop, and switch it on or off."),
    "events": Verb("views", "Background", "Show the events of ledger and automation in order of time."),
    "hooks": Verb("background", "Background", "List your commands on events, or try one."),
    "preflight": Verb("checks", "Background", "Check whether a phase can begin."),
    "serve": Verb("verbs", "Team", "Serve your projects to your team, or to yourself, in a browser.", "server"),
    "server": Verb("verbs", "Team", "Operate the team server: accounts, keys, repositories, backups.", "server"),
    "worker": Verb("verbs", "Team", "Work on the goals of a fleet, one after the other.", "fleet"),
    "fleet": Verb("verbs", "Team", "Hand goals to workers on many machines, and see to them.", "fleet"),
    "metrics": Verb("views", "Measure", "Show what councils came to: rounds, convergence, tokens, cost."),
    "eval": Verb("checks", "Measure", "Measure on labelled data how often gates and debates are right."),
}

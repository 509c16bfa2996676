"""The table of the tools: what each is for, what it takes and answers, and what it changes."""

from __future__ import annotations

from typing import Any, NamedTuple

from swarmgate.domain.base import Frozen
from swarmgate.domain.spending.cost import CostReport
from swarmgate.engine.reports.status import StatusReport, TaskReport
from swarmgate.gates.explain import Explained
from swarmgate.mcp import answers, arguments


class Tool(NamedTuple):
    """A tool.

    Attributes:
        name: also the name of the method of a backend.
        title: for people.
        description: for the model that chooses.
        takes: its arguments.
        gives: its result.
        listed: the field of the result that is spread over pages; empty: there is one page.
        whole: where all of a result can be read that was cut.
        changes: it may change files or the record, or spend money.
        asks_models: it reaches the endpoints of the settings.
    """

    name: str
    title: str
    description: str
    takes: type[Frozen]
    gives: type[Frozen]
    listed: str = ""
    whole: str = ""
    changes: bool = False
    asks_models: bool = False

    @property
    def input_schema(self) -> dict[str, Any]:
        """The JSON schema of its arguments."""
        schema: dict[str, Any] = _without(self.takes.model_json_schema(), "title")
        return schema

    @property
    def output_schema(self) -> dict[str, Any]:
        """The JSON schema of what it answers, without words: the list of tools must stay below 20,000 tokens."""
        answer: type[Frozen] = answers.Answer[self.gives]  # type: ignore[name-defined]  # chosen by the table
        schema: dict[str, Any] = _without(answer.model_json_schema(mode="serialization"), "title", "description")
        return schema


def _without(schema: Any, *words: str) -> Any:
    """The schema without these keywords; a property may have the name of one."""
    if isinstance(schema, list):
        return [_without(each, *words) for each in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {name: each for name, each in schema.items() if not (name in words and isinstance(each, str))}
    return {name: _without(each, *words) for name, each in kept.items()}


_ALL = (
    Tool(
        "gates_run",
        "Run the quality gates",
        "Judge the change in the work tree with the project's quality gates: syntax, imports, lint, placeholders, "
        "weakened tests, weaknesses, secrets, budgets. Findings that block come first. Call it before you say that "
        "work is done. With fix, what is safe to mend is mended in the files first.",
        arguments.GatesRun,
        answers.Judged,
        listed="findings",
        whole="swarm gates run --json",
        changes=True,
    ),
    Tool(
        "gates_explain",
        "Explain a rule",
        "Say what a rule or a gate means, how bad it is, how to mend what it finds, and how to suppress it.",
        arguments.GatesExplain,
        Explained,
        whole="swarm gates explain RULE",
    ),
    Tool(
        "guard_check",
        "Check a command line",
        "Say how a command line is read, which rules would refuse it and why, and what to do instead. Nothing is run.",
        arguments.GuardCheck,
        answers.CommandJudged,
        whole="swarm guard explain COMMAND",
    ),
    Tool(
        "status",
        "Where the work stands",
        "Say where goal, phases and tasks stand, what is waited for, what was spent, and what can be done next.",
        arguments.Nothing,
        StatusReport,
        listed="phases",
        whole="swarm status --json",
    ),
    Tool(
        "show",
        "One task",
        "Show one task: criteria, attempts, who rejected it and why.",
        arguments.Show,
        TaskReport,
        listed="attempts",
        whole="swarm show TASK --json",
    ),
    Tool(
        "failures",
        "Every rejection",
        "Show every rejection of all tasks, grouped by who rejected and why, with likely causes.",
        arguments.Nothing,
        answers.Failures,
        listed="groups",
        whole="swarm failures --json",
    ),
    Tool(
        "history",
        "What happened",
        "Tell every recorded event in words, in order, of the project or of one task.",
        arguments.History,
        answers.History,
        listed="lines",
        whole="swarm history --json",
    ),
    Tool(
        "verify",
        "Audit the record",
        "Walk the ledger's chain and compare it with plan, evidence and git. Nothing is changed.",
        arguments.Nothing,
        answers.Verified,
        listed="checks",
        whole="swarm verify --json",
    ),
    Tool(
        "cost",
        "Tokens and money",
        "Show tokens and money by task, role, model, phase and day.",
        arguments.Nothing,
        CostReport,
        listed="tasks",
        whole="swarm cost --json",
    ),
    Tool(
        "debate",
        "Hold a debate",
        "Have several models argue a question in rounds and vote: APPROVE or REJECT, with reasons and dissent. Spends "
        "tokens of the project's own models, up to the budgets of its settings.",
        arguments.Debate,
        answers.Debated,
        listed="reasons",
        whole="swarm debate show ID --json",
        changes=True,
        asks_models=True,
    ),
    Tool(
        "discuss",
        "Hold a discussion",
        "Have experts with opposing interests discuss a topic to a synthesis; nobody votes. Spends tokens as debate.",
        arguments.Discuss,
        answers.Discussed,
        whole="swarm discuss show ID --json",
        changes=True,
        asks_models=True,
    ),
    Tool(
        "decide",
        "Decide a question",
        "Have several models decide a question by a vote or by consensus, or honestly to none. Spends tokens as "
        "debate.",
        arguments.Decide,
        answers.Decided,
        whole="swarm decide show ID --json",
        changes=True,
        asks_models=True,
    ),
    Tool(
        "plan",
        "Plan a goal",
        "Have the architect plan a goal and the critic review the plan; it ends where the plan waits for a person's "
        "approval. This tool does not approve it.",
        arguments.Plan,
        answers.Worked,
        whole="swarm status --json",
        changes=True,
        asks_models=True,
    ),
    Tool(
        "run",
        "Work on the plan",
        "Work task by task on the approved plan until it is a person's turn: code, gates, review, tests, one commit a "
        "task. It may take hours; cancel it and nothing is lost. This tool approves nothing.",
        arguments.Run,
        answers.Worked,
        whole="swarm status --json",
        changes=True,
        asks_models=True,
    ),
)

TOOLS = {each.name: each for each in _ALL}
"""The tools by name, in the order in which they are listed."""

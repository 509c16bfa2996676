"""What waits for a person: approvals, questions, and everything that needs somebody."""

from __future__ import annotations

from typing import Literal

from swarmgate.domain.plan.plan import Plan
from swarmgate.domain.review.evidence import TestRun
from swarmgate.domain.review.finding import GateReport
from swarmgate.domain.usage import Usage
from swarmgate.engine.reports.checkpoint import Checkpoint
from swarmgate.engine.reports.goal_page.page import ShownChange
from swarmgate.server.services.views.view import View


class TaskProof(View):
    """What a task changed, and what was measured of it: the evidence of the attempt that was taken."""

    task: str
    title: str
    attempt: int
    commit: str
    change: ShownChange
    gates: GateReport | None = None
    """The gates over its final tree; None: the evidence is gone."""
    tests: TestRun | None = None


class ApprovalSummary(View):
    """One approval in a list."""

    id: str
    """`<goal>-plan-<seq>` or `<goal>-phase-<n>-<seq>`: it names the ledger position that was looked at."""
    goal: str
    repo: str
    what: Literal["plan", "phase"]
    phase: int
    """0 of a plan."""
    title: str
    seq: int
    since: str
    """UTC, ISO 8601."""
    failed: bool = False
    """Whether a revision of the plan failed: what can be approved is the plan as it was."""


class ApprovalView(ApprovalSummary):
    """What waits for approval, with all that is to be known to decide it."""

    plan: Plan
    checkpoint: Checkpoint | None = None
    """Of a phase."""
    objections: tuple[str, ...] = ()
    """What the critic, or the reviewers of the phase, still object to."""
    proofs: tuple[TaskProof, ...] = ()
    """Of a phase, a task each."""
    usage: Usage = Usage()
    """Of the phase; of a plan, what planning took."""
    drift: tuple[str, ...] = ()
    """Where it contradicts decisions on record."""


class QuestionView(View):
    """A question of an agent or of the architect to the user."""

    id: str
    """`<goal>-q<number>`."""
    goal: str
    repo: str
    number: int
    text: str
    role: str
    task: str = ""
    """The task at whose work it was asked; empty: it is about the plan."""
    attempt: int = 0
    options: tuple[str, ...] = ()
    why: str = ""
    assumption: str = ""
    """What is assumed where nobody answers."""
    open: bool
    """Whether it waits for an answer now."""
    answer: str = ""
    declined: bool = False
    by: str = ""
    time: str = ""
    """When it was answered (UTC, ISO 8601)."""
    seq: int
    """Ledger position."""


class Way(View):
    """One way out: what can be done about what waits."""

    do: Literal["approve", "revise", "answer", "retry", "skip", "override", "run", "plan", "resume", "settings"]
    text: str
    """In words; of `settings` what has to be changed on the server's machine."""


NeedKind = Literal[
    "approval", "question", "blocked_task", "phase_rejected", "planning_failed", "limit", "budget", "failed_run",
    "council",
]  # fmt: skip
"""Why somebody is needed."""


class NeedView(View):
    """Something that waits for a person that this account may decide."""

    id: str
    """Of the approval or question; else `<goal>-<kind>-<seq>`."""
    kind: NeedKind
    goal: str
    repo: str
    title: str
    """Of the goal."""
    text: str
    """What waits, in a line."""
    detail: tuple[str, ...] = ()
    task: str = ""
    phase: int = 0
    council: str = ""
    since: str
    """UTC, ISO 8601."""
    until: str = ""
    """When it goes on by itself (UTC, ISO 8601); empty: it does not."""
    seq: int
    ways: tuple[Way, ...] = ()

"""What is on record: ledger, evidence, cost, gates, councils, agents."""

from __future__ import annotations

from typing import Any, Literal

from swarmgate.automation.capabilities import CapabilityReport
from swarmgate.automation.drift.report import DriftReport
from swarmgate.automation.handoff.page import Handoff
from swarmgate.domain.evidence.report import EvidenceReport
from swarmgate.domain.metrics import PatternMetrics
from swarmgate.domain.preflight import PreflightReport
from swarmgate.domain.review.finding import GateReport
from swarmgate.domain.spending.cost import CostReport, CostRow
from swarmgate.domain.usage import Usage
from swarmgate.gates.explain import Explained
from swarmgate.server.services.views.view import View


class EntryView(View):
    """One line of the ledger."""

    seq: int
    time: str
    actor: str
    type: str
    text: str
    """In words; empty: it is told nobody."""
    event: dict[str, Any]
    """As it is on record, without keys."""


class CheckView(View):
    """One check of the audit; `problems` are empty where everything fits."""

    name: str
    looked_at: str
    problems: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


class AuditView(View):
    """The audit of a ledger: its chain, plan files, evidence and commits."""

    goal: str
    seq: int
    head: str
    """Hash of the newest line."""
    passed: bool
    checks: tuple[CheckView, ...]


class EvidenceView(View):
    """How complete the evidence is."""

    goal: str
    seq: int
    report: EvidenceReport


class EvidenceFile(View):
    """One file of evidence."""

    name: str
    size: int
    """Bytes."""
    sha256: str
    """As the ledger has it; empty: it names none."""
    standing: str
    """`present`, `changed`, `archived` or `missing`."""


class EvidenceFiles(View):
    """The files of one attempt."""

    goal: str
    task: str
    attempt: int
    seq: int
    files: tuple[EvidenceFile, ...]


class EvidenceContent(View):
    """The content of one file of evidence, as text without keys."""

    name: str
    sha256: str
    media_type: str
    text: str


class CostView(View):
    """What was used by one goal, or by all of a repository, or by all that the account may see."""

    repo: str = ""
    goal: str = ""
    by: str
    """The table: `day`, `model`, `role`, `phase` or `task`."""
    total: CostRow
    rows: tuple[CostRow, ...]
    goals: dict[str, Usage] = {}  # noqa: RUF012 - frozen by pydantic, which copies it
    """By goal, where several are added up."""


class GoalCost(View):
    """All tables of one goal."""

    goal: str
    seq: int
    report: CostReport


class GateView(View):
    """A gate of a project: what it is, whether it runs, and its tools."""

    id: str
    title: str
    on: bool
    why: str = ""
    """Why it is off."""
    required: bool
    severity: str
    tools: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    """Tools that it needs and that are not here."""
    source: str = ""


class RuleView(View):
    """What a rule means, how to mend what it finds, and how to suppress it."""

    rule: Explained


class GateRunView(View):
    """What the gates said of the work tree of a goal."""

    goal: str
    about: str
    """What was judged."""
    verdict: str
    """`passed`, `rejected`, or `nothing judged`."""
    report: GateReport


class DriftView(View):
    """Decisions on record against what came after them: `swarm drift`."""

    goal: str
    seq: int
    report: DriftReport


class HandoffView(View):
    """Where the work stands, for somebody else: `swarm handoff`."""

    goal: str
    seq: int
    handoff: Handoff


class DoctorView(View):
    """Whether everything is there that the work needs: `swarm doctor`."""

    goal: str
    passed: bool
    checks: tuple[CheckView, ...]


class PreflightView(View):
    """Whether a phase can begin: `swarm preflight`."""

    goal: str
    report: PreflightReport


class AutomationView(View):
    """What happens beside the loop: `swarm automation`."""

    goal: str
    report: CapabilityReport


class SbomView(View):
    """The components of the project as a CycloneDX document: `swarm sbom`."""

    goal: str
    components: int
    unreadable: tuple[str, ...] = ()
    """Files that are missing in it, and why."""
    document: dict[str, Any]


class MetricsView(View):
    """What is on record of councils, by pattern, and `total` last: `swarm metrics`."""

    patterns: tuple[PatternMetrics, ...]


class AgentView(View):
    """An agent of the settings of a repository, or a role with its model."""

    repo: str
    name: str
    kind: Literal["role", "agent"]
    role: str = ""
    model: str = ""
    family: str = ""
    description: str = ""
    problem: str = ""
    """Why it cannot speak; empty: it can."""


class CouncilSummary(View):
    """One council in a list."""

    id: str
    pattern: str
    status: str
    """`queued`, `working`, `prepared`, `open`, `paused`, `complete`, `failed` or `damaged`."""
    title: str
    repo: str
    goal: str = ""
    """The goal in whose folder its record is; empty: it belongs to the repository alone."""
    by: str = ""
    began: str = ""


class CouncilView(CouncilSummary):
    """One council: what `swarm VERB show --json` says of it, and what may be done with it."""

    who: tuple[str, ...] = ()
    rounds: int = 0
    most: int = 0
    usage: Usage = Usage()
    seconds: float = 0.0
    why: str = ""
    """Why it stands still."""
    summary: str = ""
    waits: bool = False
    """Whether it waits for an answer of a person."""
    waits_for: tuple[str, ...] = ()
    """The people whose votes a decision waits for."""
    data: dict[str, Any] = {}  # noqa: RUF012 - frozen by pydantic, which copies it
    problem: str = ""


class UtteranceView(View):
    """One event of a council's transcript."""

    seq: int
    time: str
    type: str
    who: str = ""
    round: int = 0
    text: str = ""
    data: dict[str, Any] = {}  # noqa: RUF012 - frozen by pydantic, which copies it


class ArgumentGraph(View):
    """Who said what for or against what in a council."""

    council: str
    nodes: tuple[dict[str, Any], ...] = ()
    edges: tuple[dict[str, Any], ...] = ()
    svg: str = ""


class VotesView(View):
    """The votes of a council, by round."""

    council: str
    votes: tuple[dict[str, Any], ...] = ()

"""Ledger events of a run: start, pauses, the tree, model usage, guard reports and turn measurements."""

from enum import StrEnum
from typing import Literal

from pydantic import Field

from swarmgate.domain.base import Frozen, Line, Text
from swarmgate.domain.guard import GuardNote, Turn
from swarmgate.domain.usage import Allowance, Usage


class PauseReason(StrEnum):
    """Why a run ended before the work did. Each one can be resumed by `swarm run`."""

    STOPPED = "stopped"
    INTERRUPTED = "interrupted"
    BUDGET = "budget"
    LIMIT = "limit"
    ENDPOINT = "endpoint"
    PREFLIGHT = "preflight"
    QUESTION = "question"
    ERROR = "error"


class WorkStarted(Frozen):
    """The branch of the work was made at commit `base`."""

    type: Literal["work_started"] = "work_started"
    branch: str
    base: str


class RunStarted(Frozen):
    """`swarm run` took up the work, under these rules. `sandbox` is what confines commands.

    `record` says what is on record from here on: from 2 on the SHA-256 of every file of evidence, and an anchor in git
    whenever a writer ends. `place` tells the repository on this disk apart from its clones and copies. `decline`:
    nobody is there to answer an agent's questions.
    """

    type: Literal["run_started"] = "run_started"
    pid: int
    host: str
    max_rejections: int = 2
    critic_rounds: int = 2
    budget_usd: float | None = None
    budget_tokens: int | None = None
    adversarial: Literal["auto", "always", "off"] = "off"
    sandbox: str = ""
    budget_seconds: float | None = None
    budgets: dict[Literal["run", "phase", "task"], Allowance] = Field(default_factory=dict)
    record: int = 1
    place: str = ""
    review_tests: bool = False
    validators: int = 0
    phase_gate: bool = False
    phase_tests: bool = False
    architect_overrides_budget: bool = False
    decline: bool = False


class RunPaused(Frozen):
    """The run ended before the work did. `between_steps` is True when no step was cut short.

    `until` is when the limit ends that paused it, or that it waited for when it was stopped (UTC, ISO 8601); empty
    where there was none.
    """

    type: Literal["run_paused"] = "run_paused"
    reason: PauseReason
    detail: Text = ""
    between_steps: bool = False
    until: Line = ""


class TreeRestored(Frozen):
    """The files were brought back to what the last recorded step left; what differed is kept at `kept`."""

    type: Literal["tree_restored"] = "tree_restored"
    tree: str
    paths: tuple[str, ...] = ()
    kept: str = ""


class UsageRecorded(Frozen):
    """What the model calls of one step used; `task` is empty outside tasks.

    The role `swarmgate` has seconds only: the time between the calls, in which gates, tests and commands ran.
    `source` names the debate, dispatch or chat that was held beside the runs; `counted` is then the number of the last
    of its calls that is on record with this. `models` says what of it each model used; empty: not on record.
    """

    type: Literal["usage_recorded"] = "usage_recorded"
    role: str
    task: str = ""
    usage: Usage
    models: dict[str, Usage] = Field(default_factory=dict)
    source: str = ""
    counted: int = 0


class LeaseTaken(Frozen):
    """A worker of a fleet took the goal: from here on only what it records counts, until a higher `epoch` is taken.

    `epoch` rises by one each time. `worker` names it, `version` is the swarmgate that it runs.
    """

    type: Literal["lease_taken"] = "lease_taken"
    epoch: int = Field(ge=1)
    worker: Line
    version: Line = ""


class BudgetReserved(Frozen):
    """What may be used at any time beyond what is on record; it takes the place of the one before.

    It ends with the run. A worker that is gone leaves it behind: it counts against the budget of the project from the
    next lease on.
    """

    type: Literal["budget_reserved"] = "budget_reserved"
    usage: Usage
    task: str = ""


class RecordSealed(Frozen):
    """A council's record is over: line `seq` of its journal is the last, and `head` is the hash of that, in hex."""

    type: Literal["record_sealed"] = "record_sealed"
    record: str
    pattern: str
    seq: int
    head: str = Field(pattern=r"^[0-9a-f]{64}$")


class LedgerRepaired(Frozen):
    """A torn last line was cut off; its bytes are kept at `kept`."""

    type: Literal["ledger_repaired"] = "ledger_repaired"
    kept: str
    size: int


class LocksRemoved(Frozen):
    """Locks that a git command of swarmgate left when it was killed; `command` is what it was in the middle of."""

    type: Literal["locks_removed"] = "locks_removed"
    locks: tuple[str, ...]
    command: Line


class LedgerRestored(Frozen):
    """Lines that the ledger had lost came back from git's folder: it ended at line `lost`, and ends at `seq` again.

    `kept` is where the file lies that stood there; empty: there was none.
    """

    type: Literal["ledger_restored"] = "ledger_restored"
    lost: int
    seq: int
    kept: str = ""


class LedgerAdopted(Frozen):
    """The user goes on with the ledger as it is, though other lines were on record: up to line `seq` with that `hash`.

    `kept` is where the newest of those lines are; the anchors of all of them stay in git, below `refs`.
    """

    type: Literal["ledger_adopted"] = "ledger_adopted"
    seq: int
    hash: str
    kept: str
    refs: str = ""


class GuardActed(Frozen):
    """A guard noticed something that an agent did, and what it did about it. `task` is empty outside tasks."""

    type: Literal["guard_acted"] = "guard_acted"
    task: str = ""
    note: GuardNote


class TurnEnded(Frozen):
    """A role's turn is over: what it took. `task` is empty outside tasks."""

    type: Literal["turn_ended"] = "turn_ended"
    task: str = ""
    turn: Turn


class GuidanceGiven(Frozen):
    """A subject matter expert answered. `phase` and `task` are those of the work that asked; 0 and empty outside."""

    type: Literal["guidance_given"] = "guidance_given"
    domain: Line
    question: Text
    answer: Text
    phase: int = 0
    task: str = ""
    model: str = ""


class PhaseEstimated(Frozen):
    """What a phase is expected to use, from the `basis` tasks that were completed before it.

    `usd` is None where a price is unknown; all are 0 without a basis.
    """

    type: Literal["phase_estimated"] = "phase_estimated"
    phase: int
    tasks: int
    basis: int = 0
    tokens: int = 0
    usd: float | None = 0.0
    seconds: float = 0.0

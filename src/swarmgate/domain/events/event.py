"""The event union of the ledger: frozen and tagged. The state is a fold over it (`fold.fold`)."""

from typing import Annotated, TypeAlias, get_args

from pydantic import Field

from swarmgate.domain import base
from swarmgate.domain.base import Frozen
from swarmgate.domain.events.debate import DebateKept, DebateWeighed
from swarmgate.domain.events.planning import (
    Culprit,
    EditRefused,
    GoalAbandoned,
    GoalSet,
    PhaseApproved,
    PhaseClosed,
    PhaseOverridden,
    PhaseRegressed,
    PhaseRetried,
    PhaseReviewed,
    PhaseStage,
    PlanAmended,
    PlanApproved,
    PlanningFailed,
    PlanReviewed,
    PlanSaved,
    ProjectInitialised,
    QuestionAnswered,
    QuestionsAsked,
    RevisionRequested,
)
from swarmgate.domain.events.run import (
    BudgetReserved,
    GuardActed,
    GuidanceGiven,
    LeaseTaken,
    LedgerAdopted,
    LedgerRepaired,
    LedgerRestored,
    LocksRemoved,
    PauseReason,
    PhaseEstimated,
    RecordSealed,
    RunPaused,
    RunStarted,
    TreeRestored,
    TurnEnded,
    UsageRecorded,
    WorkStarted,
)
from swarmgate.domain.events.task import (
    AdversarialTestsWritten,
    AttemptInterrupted,
    AttemptKind,
    AttemptRejected,
    ChangeCaptured,
    CommitMoved,
    EvidenceKept,
    EvidenceSetAside,
    GatesRun,
    RejectionOverridden,
    ReviewGiven,
    SecurityReviewGiven,
    TaskBlocked,
    TaskCompleted,
    TaskDelegated,
    TaskQuestionAsked,
    TaskReopened,
    TaskRetried,
    TaskSkipped,
    TaskUndone,
    TestsReviewed,
    TestsRun,
    TestsWritten,
)

__all__ = [
    "EVENTS",
    "AdversarialTestsWritten",
    "AttemptInterrupted",
    "AttemptKind",
    "AttemptRejected",
    "BudgetReserved",
    "ChangeCaptured",
    "CommitMoved",
    "Culprit",
    "DebateKept",
    "DebateWeighed",
    "EditRefused",
    "Entry",
    "Event",
    "EvidenceKept",
    "EvidenceSetAside",
    "GatesRun",
    "GoalAbandoned",
    "GoalSet",
    "GuardActed",
    "GuidanceGiven",
    "LeaseTaken",
    "LedgerAdopted",
    "LedgerRepaired",
    "LedgerRestored",
    "LocksRemoved",
    "PauseReason",
    "PhaseApproved",
    "PhaseClosed",
    "PhaseEstimated",
    "PhaseOverridden",
    "PhaseRegressed",
    "PhaseRetried",
    "PhaseReviewed",
    "PhaseStage",
    "PlanAmended",
    "PlanApproved",
    "PlanReviewed",
    "PlanSaved",
    "PlanningFailed",
    "ProjectInitialised",
    "QuestionAnswered",
    "QuestionsAsked",
    "RecordSealed",
    "RejectionOverridden",
    "ReviewGiven",
    "RevisionRequested",
    "RunPaused",
    "RunStarted",
    "SecurityReviewGiven",
    "TaskBlocked",
    "TaskCompleted",
    "TaskDelegated",
    "TaskQuestionAsked",
    "TaskReopened",
    "TaskRetried",
    "TaskSkipped",
    "TaskUndone",
    "TestsReviewed",
    "TestsRun",
    "TestsWritten",
    "TreeRestored",
    "TurnEnded",
    "UsageRecorded",
    "WorkStarted",
]

Event = Annotated[
    ProjectInitialised
    | GoalSet
    | GoalAbandoned
    | QuestionsAsked
    | QuestionAnswered
    | PlanSaved
    | PlanningFailed
    | PlanReviewed
    | PlanApproved
    | RevisionRequested
    | PlanAmended
    | EditRefused
    | WorkStarted
    | RunStarted
    | RunPaused
    | TreeRestored
    | TaskDelegated
    | TaskQuestionAsked
    | ChangeCaptured
    | GatesRun
    | ReviewGiven
    | SecurityReviewGiven
    | TestsWritten
    | AdversarialTestsWritten
    | TestsReviewed
    | TestsRun
    | AttemptRejected
    | AttemptInterrupted
    | TaskCompleted
    | CommitMoved
    | TaskReopened
    | TaskUndone
    | TaskBlocked
    | TaskRetried
    | TaskSkipped
    | RejectionOverridden
    | PhaseReviewed
    | PhaseRegressed
    | PhaseRetried
    | PhaseOverridden
    | PhaseClosed
    | PhaseApproved
    | UsageRecorded
    | GuardActed
    | TurnEnded
    | GuidanceGiven
    | PhaseEstimated
    | DebateKept
    | DebateWeighed
    | EvidenceKept
    | EvidenceSetAside
    | LedgerRepaired
    | RecordSealed
    | LedgerRestored
    | LedgerAdopted
    | LocksRemoved
    | LeaseTaken
    | BudgetReserved,
    Field(discriminator="type"),
]
"""One event. The `type` tag tells which."""

EVENTS: dict[str, type[Frozen]] = {kind.model_fields["type"].default: kind for kind in get_args(get_args(Event)[0])}
"""The kinds of event by their tag."""


Entry: TypeAlias = base.Entry[Event]
"""An event of the ledger with its place."""

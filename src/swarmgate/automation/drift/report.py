"""The records of a drift report: the decision, the text that contradicts it, and where both stand.

A decision is *superseded* once a later one says that it takes its place; only open ones are compared. How texts are
compared: `automation.drift`.
"""

from __future__ import annotations

from enum import StrEnum

from swarmgate.domain.base import Frozen, Line

MOST_SIGNALS = 5
"""As many signals are shown: what nobody reads warns nobody."""


class DecisionStatus(StrEnum):
    """Whether a decision holds."""

    OPEN = "open"
    SUPERSEDED = "superseded"
    REJECTED = "rejected"
    """Considered, and not taken."""


class TextKind(StrEnum):
    """What kind of text a decision is compared with."""

    PLAN = "plan"
    BRIEF = "brief"
    """The architect's instructions for a task."""
    ANSWER = "answer"
    """An answer of a subject matter expert."""
    DEPENDENCY = "dependency"
    DECISION = "decision"
    REQUIREMENT = "requirement"


class Place(Frozen):
    """Where a text stands: a file with its line (from 1; 0 where it has none), or a line of the ledger.

    `what` names the part in words, such as `task 2.1, acceptance`.
    """

    file: str = ""
    line: int = 0
    seq: int = 0
    what: Line = ""

    def __str__(self) -> str:
        at = f"{self.file}:{self.line}" if self.line else self.file
        return ", ".join(filter(None, (at or (f"ledger seq {self.seq}" if self.seq else ""), self.what)))


class Decision(Frozen):
    """A decision on record. `phase` and `goal` are 0 where unknown; `by` is the id of the one that replaced it."""

    id: str
    text: Line
    status: DecisionStatus = DecisionStatus.OPEN
    phase: int = 0
    goal: int = 0
    place: Place
    by: str = ""


class SignalKind(StrEnum):
    """What drifted, the gravest first."""

    CONTRADICTION = "contradiction"
    UNCOVERED = "uncovered"
    """A requirement that no task covers."""
    STALE = "stale"
    """An open decision that nothing in the newest phases touched."""


class Signal(Frozen):
    """One signal of drift: two texts with their places, and why they do not fit.

    `decision` is the id of the decision; empty for a requirement. `other` is empty where something is *missing*.
    `confidence` lies between 0 and 1 and orders signals of one kind; it is no probability.
    """

    kind: SignalKind
    decision: str = ""
    text: Line
    place: Place
    other: Line = ""
    other_place: Place = Place()
    other_kind: TextKind | None = None
    subject: Line
    why: Line
    advice: Line
    confidence: float

    @property
    def line(self) -> str:
        """The signal on one line."""
        other = f" ({self.other_place})" if str(self.other_place) else ""
        first = f"{self.kind.value}: {self.decision or 'requirement'} ({self.place})"
        return f"{first}{' and' + other if other else ''}: {self.why}"


class Compared(Frozen):
    """How much was compared: open and closed decisions, and the other texts by kind."""

    decisions: int = 0
    superseded: int = 0
    plan: int = 0
    briefs: int = 0
    answers: int = 0
    dependencies: int = 0
    requirements: int = 0


class DriftReport(Frozen):
    """The best signals, at most `MOST_SIGNALS`; `left_out` counts the others. `notes` name what could not be read."""

    signals: tuple[Signal, ...] = ()
    left_out: int = 0
    compared: Compared = Compared()
    decisions: tuple[Decision, ...] = ()
    notes: tuple[Line, ...] = ()

    @property
    def drifted(self) -> bool:
        """Whether something does not fit; a decision that is only not touched any more may well hold."""
        return any(each.kind is not SignalKind.STALE for each in self.signals)

"""What was used, by task, role, model, phase and day: a fold over the recorded usage, with what is not recorded yet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, NamedTuple

from pydantic import computed_field

from swarmgate.domain.base import Frozen, Line
from swarmgate.domain.events.event import Entry, UsageRecorded
from swarmgate.domain.state.state import Planning, State
from swarmgate.domain.transitions.fold import fold
from swarmgate.domain.usage import Usage

By = Literal["task", "role", "model", "phase", "day"]

COUNCILS = "councils"
"""Debates, discussions and the like that were held beside the runs belong to no task and no phase."""
OUTSIDE = "outside of tasks"
"""Planning, and reviews and summaries of whole phases."""
NOT_RECORDED = "not on record"
"""The model of usage that an older version recorded."""


class CostRow(Frozen):
    """What one task, role, model, phase or day used; `unsettled` is the part that is not on record yet."""

    name: Line
    usage: Usage = Usage()
    unsettled: Usage = Usage()

    @computed_field  # type: ignore[prop-decorator]  # pydantic's own form
    @property
    def tokens(self) -> int:
        """Prompt and completion."""
        return self.usage.tokens

    def plus(self, usage: Usage, *, settled: bool) -> CostRow:
        """The row with more usage."""
        more = self.unsettled if settled else self.unsettled + usage
        return CostRow(name=self.name, usage=self.usage + usage, unsettled=more)


class CostReport(Frozen):
    """`swarm cost`. Each table adds up to the total, but that of models has no time between the calls.

    Tasks and phases of earlier goals say of which goal they are. Days are those of UTC.
    """

    total: CostRow = CostRow(name="total")
    tasks: tuple[CostRow, ...] = ()
    roles: tuple[CostRow, ...] = ()
    models: tuple[CostRow, ...] = ()
    phases: tuple[CostRow, ...] = ()
    days: tuple[CostRow, ...] = ()

    def by(self, what: By) -> tuple[CostRow, ...]:
        """One of the tables."""
        return {
            "task": self.tasks,
            "role": self.roles,
            "model": self.models,
            "phase": self.phases,
            "day": self.days,
        }[what]


class Charge(NamedTuple):
    """Usage, and what it is counted to. `goal` is 0 before the first; `phase` is 0 while a plan is made."""

    goal: int
    phase: int
    task: str
    role: str
    day: str
    usage: Usage
    models: Mapping[str, Usage]
    council: bool = False
    settled: bool = True

    def name(self, what: By, goals: int) -> str:
        """What it is counted to, in a project of so many goals."""
        of_goal = f"goal {self.goal}, " if self.goal != goals else ""
        match what:
            case "task":
                return COUNCILS if self.council else of_goal + (f"task {self.task}" if self.task else OUTSIDE)
            case "phase":
                return COUNCILS if self.council else of_goal + (f"phase {self.phase}" if self.phase else "planning")
            case "role":
                return self.role
            case "day":
                return self.day or NOT_RECORDED
            case "model":
                raise ValueError("a charge may be of several models")


def recorded(entries: Iterable[Entry]) -> Iterator[Charge]:
    """The usage on record."""
    state = State()
    for entry in entries:
        if isinstance(event := entry.event, UsageRecorded):
            yield charge(state, event, day=entry.time[:10])
        state = fold(state, [entry])


def charge(state: State, event: UsageRecorded, *, day: str, settled: bool = True) -> Charge:
    """What a record of usage is counted to at a state; the rule for phases is that of the budget of a phase."""
    return Charge(
        goal=state.goals,
        phase=state.current_phase if state.planning is Planning.APPROVED else 0,
        task=event.task,
        role=event.role,
        day=day,
        usage=event.usage,
        models=event.models,
        council=bool(event.source),
        settled=settled,
    )


def report(charges: Iterable[Charge], goals: int) -> CostReport:
    """The tables over all charges, each in the order in which its rows first were charged; days in their order."""
    found = tuple(charges)
    total = CostRow(name="total")
    for each in found:
        total = total.plus(each.usage, settled=each.settled)
    return CostReport(
        total=total,
        tasks=_table((each.name("task", goals), each.usage, each.settled) for each in found),
        roles=_table((each.name("role", goals), each.usage, each.settled) for each in found),
        models=_table(row for each in found for row in _of_models(each)),
        phases=_table((each.name("phase", goals), each.usage, each.settled) for each in found),
        days=tuple(
            sorted(
                _table((each.name("day", goals), each.usage, each.settled) for each in found), key=lambda row: row.name
            )
        ),
    )


def _of_models(each: Charge) -> Iterator[tuple[str, Usage, bool]]:
    for model, usage in each.models.items():
        yield model or NOT_RECORDED, usage, each.settled
    if each.usage.calls and not each.models:
        yield NOT_RECORDED, each.usage, each.settled


def _table(rows: Iterable[tuple[str, Usage, bool]]) -> tuple[CostRow, ...]:
    found: dict[str, CostRow] = {}
    for name, usage, settled in rows:
        found[name] = found.get(name, CostRow(name=name)).plus(usage, settled=settled)
    return tuple(found.values())

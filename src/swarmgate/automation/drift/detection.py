"""Detects decision drift: compares all decisions with all texts and returns the strongest signals first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from swarmgate.automation.drift.compared_texts import decision_text, follows
from swarmgate.automation.drift.comparison import Index, LaterText, Match
from swarmgate.automation.drift.decisions import settled
from swarmgate.automation.drift.gaps import requirements, stale, uncovered
from swarmgate.automation.drift.report import (
    MOST_SIGNALS,
    Compared,
    Decision,
    DecisionStatus,
    DriftReport,
    Place,
    Signal,
    SignalKind,
    TextKind,
)
from swarmgate.automation.drift.tokens import content, tokens
from swarmgate.domain.state.state import State

_ORDER = {SignalKind.CONTRADICTION: 0, SignalKind.UNCOVERED: 1, SignalKind.STALE: 2}
MOST = 2_000
"""As many decisions are compared, the newest."""
_STALE, _LEAST_UNCOVERED = 0.3, 0.5
_LINE_WIDTH = 300


@dataclass(frozen=True, slots=True)
class Material:
    """Everything that is compared.

    Attributes:
        state: the fold.
        decisions: all on record, in the order in which they were taken; the user's own last.
        laters: plan, briefs, answers and dependencies.
        spec: the text that says what is wanted, and its place.
        notes: what could not be read.
    """

    state: State
    decisions: tuple[Decision, ...] = ()
    laters: tuple[LaterText, ...] = ()
    spec: tuple[str, Place] = ("", Place())
    notes: tuple[str, ...] = field(default=())


def detect(material: Material) -> DriftReport:
    """The report; pure, and the same for the same material."""
    state = material.state
    decisions = settled(material.decisions[-MOST:])
    open_ = _distinct(each for each in decisions if each.status is DecisionStatus.OPEN)
    asked = list(requirements(*material.spec))
    contradictions = list(_contradictions(open_, material.laters, state))
    reported = {each.decision for each in contradictions}
    quiet = [each for each in open_ if each.id not in reported]
    signals = [*contradictions, *_uncovered(asked, state), *_stale(quiet, material.laters, state)]
    best = _best_first(signals)
    count = {kind: sum(each.kind is kind for each in material.laters) for kind in TextKind}
    compared = Compared(
        decisions=sum(each.status is DecisionStatus.OPEN for each in decisions),
        superseded=sum(each.status is not DecisionStatus.OPEN for each in decisions),
        plan=count[TextKind.PLAN],
        briefs=count[TextKind.BRIEF],
        answers=count[TextKind.ANSWER],
        dependencies=count[TextKind.DEPENDENCY],
        requirements=len(asked),
    )
    return DriftReport(
        signals=tuple(best[:MOST_SIGNALS]),
        left_out=max(0, len(best) - MOST_SIGNALS),
        compared=compared,
        decisions=decisions,
        notes=(*material.notes, *_left_out(len(material.decisions))),
    )


def _left_out(count: int) -> list[str]:
    if count <= MOST:
        return []
    more = f"{count:,} decisions on record: the newest {MOST:,} were compared, {count - MOST:,} older ones left out"
    return [f"{more}. Close or remove what does not hold any more."]


def _distinct(decisions: Iterable[Decision]) -> list[Decision]:
    """The decisions, each text once: as it was decided first."""
    first: dict[str, Decision] = {}
    for each in decisions:
        first.setdefault(" ".join(each.text.casefold().split()).rstrip("."), each)
    return list(first.values())


def _contradictions(decisions: Sequence[Decision], laters: Sequence[LaterText], state: State) -> Iterator[Signal]:
    index, among = Index(), list[Match]()
    for decision in decisions:
        among += index.against(decision_text(decision))
        index.add(decision)
    best: dict[tuple[str, str], Match] = {}
    for later in laters:
        for found in index.against(later):
            key = (found.decision.id, later.about)
            old = best.get(key)
            better = old is None or found.conflict.confidence > old.conflict.confidence
            if better and follows(found.decision, later, state):
                best[key] = found
    yield from map(_contradiction, (*best.values(), *among))


def _contradiction(found: Match) -> Signal:
    decision, later = found.decision, found.later
    return Signal(
        kind=SignalKind.CONTRADICTION,
        decision=decision.id,
        text=_cut(decision.text),
        place=decision.place,
        other=_cut(later.text),
        other_place=later.place,
        other_kind=later.kind,
        subject=found.conflict.subject,
        why=found.conflict.why,
        advice=_advice(decision, later),
        confidence=found.conflict.confidence,
    )


def _advice(decision: Decision, later: LaterText) -> str:
    write = f"write under `## Decisions` in .swarm/context.md: `- ... replaces {decision.id}`"
    change = {
        TextKind.PLAN: f"change task {later.about} (edit .swarm/plan.md, or: swarm revise)",
        TextKind.BRIEF: f"tell the architect with: swarm retry {later.about} --note",
        TextKind.ANSWER: "correct the answer in .swarm/context.md",
        TextKind.DEPENDENCY: f"take {later.text} out of {later.place.file}",
        TextKind.DECISION: f"say which of the two holds: {decision.id} or {later.about.removeprefix('decision ')}",
    }[later.kind]
    return f"The decision stands: {change}. It does not any more: {write}."


def _uncovered(asked: Sequence[tuple[str, Place]], state: State) -> Iterator[Signal]:
    if not asked or state.plan is None:
        return
    tasks = [
        content(
            tokens(
                " ".join((task.title, task.description, *task.acceptance, *task.files, phase.name)).replace("_", " ")
            )
        )
        for _, phase in state.plan.numbered
        for task in phase.tasks
    ]
    for text, place, share in uncovered(asked, tasks):
        yield Signal(
            kind=SignalKind.UNCOVERED,
            text=_cut(text),
            place=place,
            subject=", ".join(sorted(content(tokens(text)))[:5]),
            why=f"no task speaks of it: {share:.0%} of its words stand in the plan",
            advice='Add a task for it: swarm revise "...". Or say in the specification that it is out of scope.',
            confidence=max(0.0, _LEAST_UNCOVERED + (0.5 - share) / 2),
        )


def _stale(decisions: Sequence[Decision], laters: Sequence[LaterText], state: State) -> Iterator[Signal]:
    for decision, (one, two) in stale(decisions, laters, state):
        yield Signal(
            kind=SignalKind.STALE,
            decision=decision.id,
            text=_cut(decision.text),
            place=decision.place,
            subject=", ".join(sorted(content(tokens(decision.text)))[:5]),
            why=f"nothing in the plan and the briefs of the phases {one} and {two} touches it",
            advice="It holds: nothing to do. It does not any more: "
            f"write `- ... replaces {decision.id}` in .swarm/context.md.",
            confidence=_STALE,
        )


def _best_first(signals: Sequence[Signal]) -> list[Signal]:
    """By kind and sureness; the further ones of a decision come after the first of each other one."""
    ranked = sorted(signals, key=lambda each: (_ORDER[each.kind], -each.confidence))
    seen: dict[tuple[SignalKind, str], int] = {}
    keyed = []
    for number, each in enumerate(ranked):
        key = (each.kind, each.decision or str(each.place) + each.text)
        turn = seen[key] = seen.get(key, -1) + 1
        keyed.append((_ORDER[each.kind], turn, number, each))
    return [each for *_, each in sorted(keyed, key=lambda row: row[:3])]


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LINE_WIDTH else f"{line[: _LINE_WIDTH - 3]}..."

"""Reads the labelled pairs of a decision and a later text, and runs the drift detector on one."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from swarmgate.automation.drift.comparison import LaterText
from swarmgate.automation.drift.detection import Material, detect
from swarmgate.automation.drift.report import Decision, Place, SignalKind, TextKind
from swarmgate.domain.state.state import State

PAIRS = Path(__file__).resolve().parents[3] / "benchmarks" / "drift_pairs.jsonl"
_HERE = Place(file="context.md", line=1)


@dataclass(frozen=True)
class Pair:
    """One labelled pair."""

    id: str
    split: str
    label: str
    kind: str
    decision: str
    later: str
    note: str

    @property
    def contradicts(self) -> bool:
        return self.label == "contradiction"


def pairs() -> tuple[Pair, ...]:
    return tuple(Pair(**json.loads(line)) for line in PAIRS.read_text(encoding="utf-8").splitlines())


def contradicted(pair: Pair) -> bool:
    """Whether the detector signals a contradiction between the two texts of a pair."""
    return alarmed(pair.decision, pair.later, TextKind(pair.kind))


def alarmed(decision: str, later: str, kind: TextKind = TextKind.PLAN) -> bool:
    first = Decision(id="D1", text=decision, place=_HERE)
    if kind is TextKind.DECISION:
        material = Material(State(), (first, Decision(id="D2", text=later, place=_HERE)))
    else:
        material = Material(State(), (first,), (LaterText(kind, later, Place(file="plan.md", line=2)),))
    return any(signal.kind is SignalKind.CONTRADICTION for signal in detect(material).signals)

"""Metrics of the council for each pattern: a pure fold over the recorded events."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, get_args

from swarmgate.domain.base import Frozen, Line
from swarmgate.domain.usage import Usage

PatternName = Literal["debate", "dispatch", "chat", "discussion", "decision", "critique", "orchestration", "unknown"]
PATTERNS: tuple[PatternName, ...] = get_args(PatternName)
"""In the order in which they are told; `unknown` is a damaged record that does not say what it is of."""


class Execution(Frozen):
    """One execution, as its record has it; None: the pattern has no such thing, or the record does not say it yet.

    `converged`: it ended by itself, before its bounds did it: by consensus, by convergence, or with thresholds that are
    met. `score` is 0 to 1: of a decision its score, of a critique the mean of its best version, of a debate whether it
    was unanimous. `why`: what is damaged.
    `part_of`: the id of the decision or orchestration that counts its usage as its own; empty: of none.
    """

    pattern: PatternName
    id: str
    status: Literal["complete", "failed", "open", "damaged"]
    converged: bool | None = None
    rounds: int | None = None
    score: float | None = None
    improvement: float | None = None
    usage: Usage = Usage()
    seconds: float | None = None
    why: Line = ""
    part_of: str = ""


class PatternMetrics(Frozen):
    """What is on record of one pattern; rates and means are of those executions that have the value, None of no one.

    `parts` are those executions that were a part of a decision or orchestration, which counts their usage as its own:
    `total` counts nothing twice. `usage` is of all executions, `seconds` the mean duration.
    """

    pattern: PatternName | Literal["total"]
    executions: int = 0
    complete: int = 0
    failed: int = 0
    open: int = 0
    damaged: tuple[Line, ...] = ()
    parts: int = 0
    convergence_rate: float | None = None
    rounds: float | None = None
    score: float | None = None
    improvement: float | None = None
    seconds: float | None = None
    usage: Usage = Usage()


def measured(executions: Iterable[Execution]) -> tuple[PatternMetrics, ...]:
    """The metrics of every pattern that there is an execution of, and last `total`; nothing where there is none."""
    found = tuple(executions)
    if not found:
        return ()
    parts = _parts(found)
    each = (_of(name, [one for one in found if one.pattern == name], parts) for name in PATTERNS)
    whole = [one for one in found if (one.pattern, one.id) not in parts]
    counted = _of("total", found, parts).model_copy(update={"usage": sum((one.usage for one in whole), Usage())})
    only_counts = {"convergence_rate": None, "rounds": None, "score": None, "improvement": None, "seconds": None}
    return (*(one for one in each if one.executions), counted.model_copy(update=only_counts))


def _parts(executions: Sequence[Execution]) -> frozenset[tuple[str, str]]:
    """Those that are a part of another one that is on record, and whole: a damaged one counts nothing as its own."""
    wholes = {each.id for each in executions if each.status != "damaged"}
    return frozenset((each.pattern, each.id) for each in executions if each.part_of in wholes)


def _of(
    name: PatternName | Literal["total"], executions: Sequence[Execution], parts: frozenset[tuple[str, str]]
) -> PatternMetrics:
    statuses = [each.status for each in executions]
    return PatternMetrics(
        pattern=name,
        executions=len(executions),
        complete=statuses.count("complete"),
        failed=statuses.count("failed"),
        open=statuses.count("open"),
        damaged=tuple(f"{each.id}: {each.why}" for each in executions if each.status == "damaged"),
        parts=sum((each.pattern, each.id) in parts for each in executions),
        convergence_rate=_mean(each.converged for each in executions),
        rounds=_mean(each.rounds for each in executions),
        score=_mean(each.score for each in executions),
        improvement=_mean(each.improvement for each in executions),
        seconds=_mean(each.seconds for each in executions),
        usage=sum((each.usage for each in executions), Usage()),
    )


def _mean(values: Iterable[float | None]) -> float | None:
    known = [float(each) for each in values if each is not None]
    return sum(known) / len(known) if known else None

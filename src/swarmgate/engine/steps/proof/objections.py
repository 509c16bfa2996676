"""Records of objections against a change, as found by the checks of its proof."""

from __future__ import annotations

from collections.abc import Sequence

from swarmgate.domain.base import Frozen
from swarmgate.domain.guard import Effect
from swarmgate.domain.review.evidence import Proof, Remark
from swarmgate.domain.review.finding import Severity
from swarmgate.domain.review.stage import Judge

_LISTED = 5


class Objection(Frozen):
    """Why the change is not proven: who says so, in one line, and what is told to whoever works next."""

    stage: Judge
    reason: str
    remarks: tuple[Remark, ...] = ()


class Answer(Frozen):
    """The proof where there is one, what speaks against it in a fixed order, and what else is said, with its effect."""

    proof: Proof | None = None
    objections: tuple[Objection, ...] = ()
    notes: tuple[tuple[Effect, str], ...] = ()


def objected(stage: Judge, reason: str, advice: str = "") -> Answer:
    """The answer that consists of one objection, with advice for whoever works next."""
    remark = Remark(severity=Severity.HIGH, message=reason, suggestion=advice)
    return Answer(objections=(Objection(stage=stage, reason=reason, remarks=(remark,)),))


def listed(names: Sequence[str]) -> str:
    """The first of some names, and how many more there are."""
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more

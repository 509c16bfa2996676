"""State of an orchestration: which parts of a step are due, and the results of composed steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, NamedTuple

from swarmgate.council.orchestration.model import Leaf, MapStep, Orchestration, ParallelStep, Step, Value
from swarmgate.council.orchestration.references import joined
from swarmgate.council.orchestration.results import OrchestrationOutcome, StepResult
from swarmgate.council.orchestration.validation import handled, inside
from swarmgate.domain.base import Frozen
from swarmgate.domain.usage import Usage

REDUCE = "reduce"

Key = tuple[str, int]
"""The name of a pattern in a step, and of a map the number of its item, from 1."""


class Ended(Frozen):
    """A pattern of the step `step` came to its end, or failed: `result`, with what this try of it used and took."""

    type: Literal["ended"] = "ended"
    step: str
    result: StepResult

    @property
    def usage(self) -> Usage:
        """The usage since the last event of the pattern."""
        return self.result.usage


class Do(NamedTuple):
    """A pattern of the step `step` is done; `part` is the number of the item of a map, from 1."""

    step: str
    name: str
    part: int = 0

    @property
    def key(self) -> Key:
        """What it is known by within its step."""
        return self.name, self.part


@dataclass(frozen=True)
class State:
    """How far an orchestration is.

    `steps` are whole. `ended` are the patterns of the next one that ended, `spent` what the failed ones of them used
    that are tried again. `failed` is the step that stopped all of it. `begins`: nothing of the next step was done in
    this session.
    """

    asked: Orchestration
    steps: tuple[StepResult, ...] = ()
    ended: Mapping[Key, StepResult] = field(default_factory=dict)
    spent: Mapping[Key, Usage] = field(default_factory=dict)
    failed: StepResult | None = None
    begins: bool = True

    @property
    def step(self) -> Step | None:
        """The step that is next, or under way; None: all are whole, or one has stopped it."""
        left = self.asked.steps[len(self.steps) :]
        return left[0] if left and not self.failed else None

    @property
    def known(self) -> dict[str, StepResult]:
        """What texts and conditions may refer to, by id: of each whole step and those in it whose turn did not come."""
        found: dict[str, StepResult] = {}
        for step, result in zip(self.asked.steps, self.steps, strict=False):
            found |= {each.id: each for each in result.parts if not each.part}
            for each in inside(step):
                if each.id and each.id not in found:
                    found[each.id] = _skipped(each, "its turn did not come")
            found[step.id] = result
        others = self.step.otherwise if self.step else ()
        return found | {each.id: self.ended[each.id, 0] for each in others if (each.id, 0) in self.ended}


def outcome_of(state: State) -> OrchestrationOutcome | None:
    """How it ended; None: it has not."""
    if state.step is not None:
        return None
    steps = (*state.steps, *((state.failed,) if state.failed else ()))
    return OrchestrationOutcome(
        id=state.asked.id,
        title=state.asked.title,
        steps=steps,
        failed=state.failed.id if state.failed else "",
        usage=sum((each.usage for each in steps), Usage()),
        seconds=sum(each.seconds for each in steps),
    )


def under_way(state: State) -> StepResult | None:
    """The step at work with what of it has ended, or the one that failed; None: nothing of it has."""
    if state.step is None or not state.ended:
        return state.failed
    return _with_parts(state.step, "open", [state.ended[key] for key in sorted(state.ended)])


def place(orchestration: str, step: str, part: int = 0) -> str:
    """The id of the record of a pattern: `nightly.verdict`, and of the seventh item of a map `nightly.risks.007`."""
    return f"{orchestration}.{step}{f'.{part:03d}' if part else ''}"


def pattern_of(step: Step, do: Do) -> tuple[Leaf, str | None]:
    """The pattern that is meant, and the item of a map that it is for."""
    if isinstance(step, MapStep) and do.part:
        return step.step, step.items[do.part - 1]
    if isinstance(step, MapStep) and step.reduce and do.name == f"{step.id}.{REDUCE}":
        return step.reduce, None
    inner = step.steps if isinstance(step, ParallelStep) else () if isinstance(step, MapStep) else (step,)
    return next(each for each in (*inner, *step.otherwise) if each.id == do.name), None


_Progress = tuple[tuple[Do, ...], StepResult | None]
"""What of a step is not done yet; or how it ended, where nothing is left."""


def advanced(state: State) -> State:
    """The state with all steps that are whole now."""
    waited = handled(state.asked)
    while (step := state.step) is not None:
        _, result = progress_of(state, step)
        if result is None:
            return state
        if result.status == "failed" and waited.isdisjoint({step.id, *(each.id for each in inside(step))}):
            return replace(state, failed=result)
        whole = result if result.started_at else result.model_copy(update={"started_at": _end_of(state.steps)})
        state = replace(state, steps=(*state.steps, whole), ended={}, spent={}, begins=True)
    return state


def _end_of(steps: Sequence[StepResult]) -> str:
    """When the newest of the steps ended; one that is skipped then took no time."""
    return max((_spelled(end) for each in steps[-1:] for _, end in _times(each)), default="")


def _times(result: StepResult) -> list[tuple[datetime, datetime]]:
    """When each of the patterns in it began and ended."""
    if result.parts or not result.started_at:
        return [time for each in result.parts for time in _times(each)]
    began = datetime.fromisoformat(result.started_at)
    return [(began, began + timedelta(seconds=result.seconds))]


def _covered(times: Sequence[tuple[datetime, datetime]]) -> float:
    """The seconds in which something was at work; `times` are in the order of their beginnings."""
    took, end = 0.0, datetime.min.replace(tzinfo=UTC)
    for began, ended in times:
        took += max(0.0, (ended - max(began, end)).total_seconds())
        end = max(end, ended)
    return took


def _spelled(time: datetime) -> str:
    return time.isoformat(timespec="milliseconds")


def progress_of(state: State, step: Step) -> _Progress:
    """What of a step is due; or how it ended, where nothing is left."""
    known = state.known
    if why := skip_reason(step, known):
        return _otherwise(state, step, why, known) if step.otherwise else ((), _skipped(step, why))
    match step:
        case ParallelStep():
            skipped = {each.id: _skipped(each, why) for each in step.steps if (why := skip_reason(each, known))}
            actions = [Do(step.id, each.id) for each in step.steps]
            parts = [skipped.get(each.name) or state.ended.get(each.key) for each in actions]
            return _group(step, actions, parts)
        case MapStep():
            return _map(state, step)
        case _:
            found = state.ended.get((step.id, 0))
            return ((), found) if found else ((Do(step.id, step.id),), None)


def skip_reason(step: Step, known: Mapping[str, StepResult]) -> str:
    """Why a step is not due; empty: it is."""
    if step.when is None or step.when.holds(known[step.when.step].outcome):
        return ""
    return f"{step.when}: that does not hold"


def _otherwise(state: State, step: Step, why: str, known: dict[str, StepResult]) -> _Progress:
    """What is done in the place of a step, one after the other, up to the first that fails."""
    parts: list[StepResult] = []
    waited = handled(state.asked)
    for other in step.otherwise:
        unmet = skip_reason(other, known)
        result = _skipped(other, unmet) if unmet else state.ended.get((other.id, 0))
        if result is None:
            return (Do(step.id, other.id),), None
        known[other.id] = result
        parts.append(result)
        if result.status == "failed" and other.id not in waited:
            why = f"{result.label}: {result.why}"
            return (), _with_parts(step, "failed", parts, why=why, text=joined(tuple(parts)))
    return (), _with_parts(step, "skipped", parts, why=why, text=joined(tuple(parts)))


def _map(state: State, step: MapStep) -> _Progress:
    actions = [Do(step.id, step.id, part) for part in range(1, len(step.items) + 1)]
    due, mapped = _group(step, actions, [state.ended.get(each.key) for each in actions])
    if mapped is None or mapped.status == "failed" or step.reduce is None:
        return due, mapped
    reducing = Do(step.id, f"{step.id}.{REDUCE}")
    reduced = state.ended.get(reducing.key)
    if reduced is None:
        return (reducing,), None
    status = "failed" if reduced.status == "failed" else "done"
    why = f"{reduced.id}: {reduced.why}" if reduced.why else ""
    parts = [*mapped.parts, reduced]
    return (), _with_parts(step, status, parts, why=why, text=reduced.text, fields=mapped.fields)


def _group(step: ParallelStep | MapStep, actions: Sequence[Do], found: Sequence[StepResult | None]) -> _Progress:
    """A group is done if enough of it are, or nothing failed."""
    due = tuple(do for do, each in zip(actions, found, strict=True) if each is None)
    parts = [each for each in found if each]
    if due:
        return due, None
    done, failed = sum(each.status == "done" for each in parts), [each for each in parts if each.status == "failed"]
    fields: dict[str, Value] = {"done": done, "failed": len(failed), "total": len(parts)}
    status = "failed" if failed and done < step.least else "done"
    reasons = "; ".join(f"{each.label}: {each.why}" for each in failed)
    why = f"{done}/{len(parts)} done: {reasons}" if failed else ""
    return (), _with_parts(step, status, parts, why=why, text=joined(tuple(parts)), fields=fields)


def members(step: ParallelStep | MapStep) -> tuple[str, ...]:
    """The names of the concurrent members of a group."""
    if isinstance(step, ParallelStep):
        return tuple(each.id for each in step.steps)
    return tuple(f"{step.id}.{part}" for part in range(1, len(step.items) + 1))


def _skipped(step: Step, why: str) -> StepResult:
    return StepResult(id=step.id, kind=step.kind, status="skipped", why=why)


def _with_parts(
    step: Step,
    status: Any,
    parts: Sequence[StepResult],
    *,
    why: str = "",
    text: str = "",
    fields: Mapping[str, Value] | None = None,
) -> StepResult:
    """A step of several patterns; it took the time in which any of them was at work."""
    times = sorted(time for each in parts for time in _times(each))
    return StepResult(
        id=step.id,
        kind=step.kind,
        status=status,
        why=why,
        text=text,
        fields=dict(fields or {}),
        parts=tuple(parts),
        usage=sum((each.usage for each in parts), Usage()),
        started_at=_spelled(times[0][0]) if times else "",
        seconds=_covered(times),
    )

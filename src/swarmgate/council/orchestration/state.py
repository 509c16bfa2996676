"""How far an orchestration is: the patterns that are done, and what follows from them step by step.

Only patterns are on record. How a group, a map or a step with another in its place ended is counted from them anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from immutables import Map

from swarmgate.council.orchestration.bounds import handled, inside
from swarmgate.council.orchestration.model import Leaf, MapStep, Orchestration, ParallelStep, Step, Value
from swarmgate.council.orchestration.results import OrchestrationOutcome, StepResult
from swarmgate.council.orchestration.texts import joined
from swarmgate.domain.usage import Usage

REDUCE = "reduce"


class Key(NamedTuple):
    """A pattern in an orchestration: the step's name, and of an item of a map its number from 1."""

    name: str
    part: int = 0

    def __str__(self) -> str:
        return f"{self.name}.{self.part}" if self.part else self.name


@dataclass(frozen=True)
class Due:
    """A pattern that is to be done.

    Attributes:
        key: which.
        step: as described.
        at: the id of its record.
        item: of a map; None: it is in none.
        given: what it gets without a reference: the outputs that `reduce` works on.
    """

    key: Key
    step: Leaf
    at: str
    item: str | None = None
    given: str = ""


@dataclass(frozen=True)
class State:
    """The patterns that came to an end, failed ones too, and what each of them used, with all its tries."""

    asked: Orchestration
    ended: Map[Key, StepResult] = Map()  # noqa: RUF009 - it never changes
    used: Map[Key, Usage] = Map()  # noqa: RUF009 - as above


@dataclass
class Walk:
    """What the steps came to so far.

    Attributes:
        done: the steps that are over, in order.
        at_work: the one that goes on, as far as it is, or that failed; None: nothing of it is done.
        failed: the name of the step that stopped it; empty: none did.
        due: the patterns that are to be done now.
        begun: what is done at once in the step at work; nothing: it is one pattern.
        results: of every step that stands before, by its name, those inside of others too.
    """

    done: list[StepResult] = field(default_factory=list)
    at_work: StepResult | None = None
    failed: str = ""
    due: Sequence[Due] = ()
    begun: tuple[Key, ...] = ()
    results: MutableMapping[str, StepResult] = field(default_factory=dict)


def walked(state: State) -> Walk:
    """Every step up to the first that is not over, or that failed with nobody waiting for that."""
    walk, asked = Walk(), state.asked
    waited_for = handled(asked)
    for step in asked.steps:
        found = _Step(asked.id, state.ended, walk.results, waited_for, _end(walk.done)).found(step)
        walk.begun = found.begun
        failed = found.result.status == "failed" and waited_for.isdisjoint(
            {step.id, *(each.id for each in inside(step))}
        )
        if found.due or failed:
            walk.due, walk.failed = found.due, step.id if failed else ""
            walk.at_work = found.result if failed or found.result.parts else None
            return walk
        walk.done.append(found.result)
        _know(step, found.result, walk.results)
    walk.begun = ()
    return walk


def taken_up(state: State) -> State:
    """What failed in the step at work is tried again; what it used still counts."""
    at_work = walked(state).at_work
    again = [each for each in (at_work, *at_work.parts) if each.status == "failed"] if at_work else []
    ended = state.ended
    for key in (Key(each.id, each.part) for each in again):
        ended = ended.delete(key) if key in ended else ended
    return replace(state, ended=ended)


def outcome(state: State, walk: Walk) -> OrchestrationOutcome:
    """How it ended."""
    steps = (*walk.done, *([walk.at_work] if walk.failed and walk.at_work else []))
    return OrchestrationOutcome(
        id=state.asked.id,
        title=state.asked.title,
        steps=steps,
        failed=walk.failed,
        usage=sum((each.usage for each in steps), Usage()),
        seconds=sum(each.seconds for each in steps),
    )


def place(orchestration: str, step: str, part: int | str = "") -> str:
    """The id of the record of a step: under that of the orchestration, a dot, and the name of the step.

    `nightly.verdict` is that of the step `verdict`, `nightly.risks.007` of the seventh item of the map `risks`, and
    `nightly.risks.reduce` of what their outputs came to.

    Args:
        orchestration: its id.
        step: the name of the step.
        part: the number of an item, or `REDUCE`.
    """
    ending = f".{part:03d}" if isinstance(part, int) else f".{part}" if part else ""
    return f"{orchestration}.{step}{ending}"


class _Found(NamedTuple):
    """How a step stands: its result, `open` while patterns of it are due, and what is done at once in it."""

    result: StepResult
    due: Sequence[Due] = ()
    begun: tuple[Key, ...] = ()


@dataclass
class _Step:
    """What a step of the sequence comes to."""

    id: str
    ended: Mapping[Key, StepResult]
    results: MutableMapping[str, StepResult]
    waited_for: frozenset[str]
    since: str

    def found(self, step: Step) -> _Found:
        if why := self._unmet(step):
            return self._otherwise(step, why) if step.otherwise else _Found(self._skipped(step, why))
        match step:
            case ParallelStep():
                return self._at_once(step, [self._member(each) for each in step.steps], self._group)
            case MapStep():
                return self._map(step)
            case _:
                found = self._leaf(Due(Key(step.id), step, place(self.id, step.id)))
                return _Found(found) if isinstance(found, StepResult) else _Found(_open(step), (found,))

    def _unmet(self, step: Step) -> str:
        """Why a step is not due; empty: it is."""
        if step.when is None or step.when.holds(self.results[step.when.step].outcome):
            return ""
        return f"{step.when}: that does not hold"

    def _skipped(self, step: Step, why: str) -> StepResult:
        return StepResult(id=step.id, kind=step.kind, status="skipped", why=why, started_at=self.since)

    def _leaf(self, due: Due) -> StepResult | Due:
        return self.ended.get(due.key, due)

    def _member(self, step: Leaf) -> StepResult | Due:
        if why := self._unmet(step):
            return StepResult(id=step.id, kind=step.kind, status="skipped", why=why)
        return self._leaf(Due(Key(step.id), step, place(self.id, step.id)))

    def _otherwise(self, step: Step, why: str) -> _Found:
        """What is done in the place of a step, one after the other, up to the first that fails."""
        parts: list[StepResult] = []
        for other in step.otherwise:
            found = self._member(other)
            if isinstance(found, Due):
                return _Found(self._with_parts(step, "open", parts), (found,))
            self.results[other.id] = found
            parts.append(found)
            if found.status == "failed" and other.id not in self.waited_for:
                return _Found(
                    self._with_parts(
                        step, "failed", parts, why=f"{found.label}: {found.why}", text=joined(tuple(parts))
                    )
                )
        return _Found(self._with_parts(step, "skipped", parts, why=why, text=joined(tuple(parts))))

    def _map(self, step: MapStep) -> _Found:
        work = [
            self._leaf(Due(Key(step.id, part), step.step, place(self.id, step.id, part), item))
            for part, item in enumerate(step.items, start=1)
        ]
        mapped = self._at_once(step, work, self._group)
        if mapped.due or mapped.result.status == "failed" or step.reduce is None:
            return mapped
        key, at = Key(f"{step.id}.{REDUCE}"), place(self.id, step.id, REDUCE)
        reduced = self._leaf(Due(key, step.reduce, at, given=joined(mapped.result.parts)))
        if isinstance(reduced, Due):
            return _Found(self._with_parts(step, "open", mapped.result.parts), (reduced,), mapped.begun)
        status = "failed" if reduced.status == "failed" else "done"
        why = f"{reduced.id}: {reduced.why}" if reduced.why else ""
        parts, fields = [*mapped.result.parts, reduced], mapped.result.fields
        return _Found(
            self._with_parts(step, status, parts, why=why, text=reduced.text, fields=fields), (), mapped.begun
        )

    def _at_once(
        self,
        step: ParallelStep | MapStep,
        work: Sequence[StepResult | Due],
        comes_to: Callable[[ParallelStep | MapStep, list[StepResult]], StepResult],
    ) -> _Found:
        """All of a group, so many at once."""
        begun = tuple(each.key if isinstance(each, Due) else Key(each.id, each.part) for each in work)
        parts = [each for each in work if isinstance(each, StepResult)]
        if due := [each for each in work if isinstance(each, Due)][: step.at_once]:
            whole = sorted(parts, key=lambda each: (each.id, each.part))
            return _Found(self._with_parts(step, "open", whole), due, begun)
        return _Found(comes_to(step, parts), (), begun)

    def _group(self, step: ParallelStep | MapStep, parts: list[StepResult]) -> StepResult:
        """A group is done if enough of it are, or nothing failed."""
        ends = [each.status for each in parts]
        done, failed = ends.count("done"), [each for each in parts if each.status == "failed"]
        fields: dict[str, Value] = {"done": done, "failed": len(failed), "total": len(parts)}
        why = "; ".join(f"{each.label}: {each.why}" for each in failed)
        status = "failed" if failed and done < step.least else "done"
        told = f"{done}/{len(parts)} done: {why}" if failed else ""
        return self._with_parts(step, status, parts, why=told, text=joined(tuple(parts)), fields=fields)

    def _with_parts(
        self,
        step: Step,
        status: Any,
        parts: Iterable[StepResult],
        *,
        why: str = "",
        text: str = "",
        fields: Mapping[str, Value] | None = None,
    ) -> StepResult:
        inner = tuple(parts)
        began = min((each.started_at for each in inner if each.started_at), default=self.since)
        return StepResult(
            id=step.id,
            kind=step.kind,
            status=status,
            why=why,
            text=text,
            fields=dict(fields or {}),
            parts=inner,
            usage=sum((each.usage for each in inner), Usage()),
            started_at=began,
            seconds=_between(began, _end(inner)),
        )


def _open(step: Step) -> StepResult:
    return StepResult(id=step.id, kind=step.kind, status="open")


def _know(step: Step, result: StepResult, results: MutableMapping[str, StepResult]) -> None:
    """What later steps may refer to: this one and those inside of it, those too whose turn did not come."""
    results.update({each.id: each for each in result.parts if not each.part})
    for each in inside(step):
        if each.id and each.id not in results:
            why = "its turn did not come"
            results[each.id] = StepResult(id=each.id, kind=each.kind, status="skipped", why=why)
    results[step.id] = result


def _end(results: Iterable[StepResult]) -> str:
    """When the last one of them ended, in UTC, as ISO 8601 has it; empty: there is none."""
    ends = (
        datetime.fromisoformat(each.started_at) + timedelta(seconds=each.seconds) for each in results if each.started_at
    )
    return max((end.isoformat(timespec="milliseconds") for end in ends), default="")


def _between(began: str, ended: str) -> float:
    if not (began and ended):
        return 0.0
    return max(0.0, (datetime.fromisoformat(ended) - datetime.fromisoformat(began)).total_seconds())

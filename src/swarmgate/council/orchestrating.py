"""Carries out an orchestration: step by step, each on record as it ends, so that a killed one goes on where it was.

    rounds/001.json     how the first step ended; one that fails stays in `.partial` and is tried again on resume
    result.json         how all of it ended

The patterns themselves keep records of their own, named after the orchestration: `<id>.<step>`, `<id>.<map>.007` for
the seventh item and `<id>.<map>.reduce`. What stands in those is not asked, and paid, again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from pydantic import ValidationError

from swarmgate.council.orchestration.bounds import checked, handled, inside
from swarmgate.council.orchestration.model import Leaf, MapStep, Orchestration, ParallelStep, Step, Value
from swarmgate.council.orchestration.places import PATTERN, REDUCE, place
from swarmgate.council.orchestration.results import OrchestrationOutcome, OrchestrationRecord, StepResult
from swarmgate.council.orchestration.texts import filled, joined
from swarmgate.council.orchestration_runner import Came, Runner, run
from swarmgate.council.records import Manifest, Records
from swarmgate.council.stream import (
    Completed,
    Contributed,
    Erred,
    PatternEvent,
    RoundCompleted,
    RoundStarted,
    Started,
    StepStarted,
)
from swarmgate.domain.usage import Allowance, Usage
from swarmgate.errors import BudgetExhausted, CouncilRefused, LedgerWriteFailed, Stopped, SwarmError

RESULT = "result.json"
_SHOWN = 500
"""Characters of an output that an event shows."""

_ITEM = 60
"""Characters of an item behind the name of its part."""

Doing = Callable[[], Coroutine[Any, Any, StepResult]]
"""Begins a part of a step."""


async def orchestrate(
    orchestration: Orchestration,
    *,
    runner: Runner,
    records: Records,
    on_event: Callable[[PatternEvent], None],
    allowance: Allowance,
) -> OrchestrationOutcome:
    """Does the steps that are not on record yet.

    Stops at the first that fails (`OrchestrationOutcome.failed`), but for one whose failure a later one waits for.

    Args:
        orchestration: with its id, and with the items of every map.
        runner: does the patterns.
        records: keeps them.
        on_event: is told what happens.
        allowance: what it may use, to be kept.

    Raises:
        CouncilRefused: it cannot be carried out, or another record has its id.
        BudgetExhausted: what bounds the whole is used up; it goes on once there is more.
        LedgerError: its record is damaged, or cannot be written.
    """
    checked(orchestration)
    request = orchestration.model_dump(mode="json", exclude_unset=True)
    records.begin(Manifest(id=orchestration.id, pattern="orchestration", request=request))
    records.change(orchestration.id, allowance=allowance)
    ended = records.sealed(orchestration.id, RESULT, OrchestrationOutcome)
    return ended or await _Performance(orchestration, runner, records, on_event).whole()


def record(records: Records, id: str) -> OrchestrationRecord:  # noqa: A002 - the field's name
    """All that is kept of an orchestration.

    Raises:
        CouncilRefused: there is none of that id.
        LedgerError: its record is damaged.
    """
    manifest = records.manifest(id, PATTERN)
    steps = records.rounds(id, StepResult)
    status = manifest.status if manifest.status in {"complete", "failed"} else "open"
    try:
        orchestration = Orchestration.model_validate(manifest.request)
    except ValidationError as error:
        raise CouncilRefused(f"The record of the orchestration {id} is of another version: {error}") from None
    return OrchestrationRecord(
        orchestration=orchestration,
        began=manifest.created_at,
        status=status,
        why=manifest.why,
        steps=steps,
        partial=records.partial(id, len(steps) + 1, StepResult),
        outcome=records.sealed(id, RESULT, OrchestrationOutcome),
    )


class _Performance:
    """One sitting of an orchestration."""

    def __init__(
        self, orchestration: Orchestration, runner: Runner, records: Records, on_event: Callable[[PatternEvent], None]
    ) -> None:
        self._asked = orchestration
        self._id = orchestration.id
        self._runner = runner
        self._records = records
        self._tell = on_event
        self._done = list(records.rounds(self._id, StepResult))
        self._results: dict[str, StepResult] = {}
        self._number = 0
        self._handled = handled(orchestration)
        self._before: Mapping[tuple[str, int], StepResult] = {}
        self._parts: dict[tuple[str, int], StepResult] = {}
        for step, result in zip(orchestration.steps, self._done, strict=False):
            self._know(step, result)

    async def whole(self) -> OrchestrationOutcome:
        """Does every step that is left."""
        steps, title = self._asked.steps, self._asked.title
        self._records.change(self._id, status="open", why="")
        kinds = tuple(step.id for step in steps)
        resumed = bool(self._done)
        self._say(Started, title=title or self._id, who=kinds, most=len(steps), resumed=resumed)
        for number, step in enumerate(steps, start=1):
            if number <= len(self._done):
                continue
            self._say(RoundStarted, number=number, most=len(steps), title=f"{step.id}, {step.kind}")
            result = await self._top(number, step)
            if result.status == "failed" and self._handled.isdisjoint(_names(step)):
                return self._stopped(number, result)
            self._records.keep_round(self._id, number, result)
            self._done.append(result)
            self._know(step, result)
            so_far = self._outcome(self._done)
            self._records.change(self._id, usage=so_far.usage, seconds=so_far.seconds)
            self._say(RoundCompleted, number=number, what=_what(result))
        return self._complete()

    # --- steps ---

    async def _top(self, number: int, step: Step) -> StepResult:
        """A step of the sequence; what of it is on record from an earlier sitting is not done again."""
        kept = self._records.partial(self._id, number, StepResult)
        self._number = number
        self._before = {(each.id, each.part): each for each in (kept.parts if kept else ()) if each.status == "done"}
        self._parts = {}
        began, started_at = time.monotonic(), _now()
        result = await self._result(step)
        seconds = result.seconds or time.monotonic() - began
        return result.model_copy(update={"started_at": result.started_at or started_at, "seconds": seconds})

    async def _result(self, step: Step) -> StepResult:
        if (why := self._unmet(step)) and not step.otherwise:
            return StepResult(id=step.id, kind=step.kind, status="skipped", why=why)
        if why:
            return await self._otherwise(step, why)
        match step:
            case ParallelStep():
                work = [(each.id, 0, partial(self._member, each)) for each in step.steps]
                return self._group(step, await self._at_once(step, work))
            case MapStep():
                return await self._map(step)
            case _:
                return await self._leaf(step, place(self._id, step.id))

    def _unmet(self, step: Step) -> str:
        """Why a step is not due; empty: it is."""
        if step.when is None or step.when.holds(self._results[step.when.step].outcome):
            return ""
        return f"{step.when}: that does not hold"

    async def _otherwise(self, step: Step, why: str) -> StepResult:
        """What is done in the place of a step, one after the other, up to the first that fails."""
        parts: list[StepResult] = []
        for other in step.otherwise:
            result = await self._kept(step, other.id, 0, partial(self._member, other))
            self._results[other.id] = result
            parts.append(result)
            if result.status == "failed" and other.id not in self._handled:
                break
        failed = next((each for each in parts if each.status == "failed" and each.id not in self._handled), None)
        told = f"{failed.label}: {failed.why}" if failed else why
        return self._with_parts(step, "failed" if failed else "skipped", parts, why=told, text=joined(tuple(parts)))

    async def _member(self, step: Leaf) -> StepResult:
        if why := self._unmet(step):
            return StepResult(id=step.id, kind=step.kind, status="skipped", why=why)
        return await self._leaf(step, place(self._id, step.id))

    async def _map(self, step: MapStep) -> StepResult:
        def doing(part: int, item: str) -> Doing:
            return partial(self._leaf, step.step, place(self._id, step.id, part), named=step.id, part=part, item=item)

        work = [(step.id, part, doing(part, item)) for part, item in enumerate(step.items, start=1)]
        mapped = self._group(step, await self._at_once(step, work))
        if mapped.status == "failed" or step.reduce is None:
            return mapped
        name, at = f"{step.id}.{REDUCE}", place(self._id, step.id, REDUCE)
        reducing = partial(self._leaf, step.reduce, at, named=name, given=joined(mapped.parts))
        reduced = await self._kept(step, name, 0, reducing)
        parts = [*mapped.parts, reduced]
        status = "failed" if reduced.status == "failed" else "done"
        why = f"{reduced.id}: {reduced.why}" if reduced.why else ""
        return self._with_parts(step, status, parts, why=why, text=reduced.text, fields=mapped.fields)

    def _group(self, step: ParallelStep | MapStep, parts: list[StepResult]) -> StepResult:
        """A group is done if enough of it are, or nothing failed."""
        ends = [each.status for each in parts]
        done, failed = ends.count("done"), [each for each in parts if each.status == "failed"]
        fields: dict[str, Value] = {"done": done, "failed": len(failed), "total": len(parts)}
        why = "; ".join(f"{each.label}: {each.why}" for each in failed)
        status = "failed" if failed and done < step.least else "done"
        told = f"{done}/{len(parts)} done: {why}" if failed else ""
        return self._with_parts(step, status, parts, why=told, text=joined(tuple(parts)), fields=fields)

    async def _at_once(self, step: ParallelStep | MapStep, work: Sequence[tuple[str, int, Doing]]) -> list[StepResult]:
        """Does all, so many at once; what ends all of it is raised when the others are through."""
        self._say(StepStarted, number=self._number, step=step.id, who=tuple(_called(*each[:2]) for each in work))
        room = asyncio.Semaphore(step.at_once)

        async def one(name: str, part: int, does: Doing) -> StepResult:
            async with room:
                return await self._kept(step, name, part, does)

        found = await asyncio.gather(*(one(*each) for each in work), return_exceptions=True)
        for each in found:
            if isinstance(each, BaseException):
                raise each
        return [each for each in found if isinstance(each, StepResult)]

    async def _kept(self, step: Step, name: str, part: int, does: Doing) -> StepResult:
        """A part of a step, from its record or done now; then on record with the parts before it."""
        result = self._before.get((name, part)) or await does()
        self._parts[name, part] = result
        open_step = self._with_parts(step, "open", [self._parts[key] for key in sorted(self._parts)])
        self._records.keep_partial(self._id, self._number, open_step)
        return result

    async def _leaf(
        self, step: Leaf, at: str, *, named: str = "", part: int = 0, item: str | None = None, given: str = ""
    ) -> StepResult:
        """One pattern; where it fails, the result says why."""
        name, began, started_at = named or step.id, time.monotonic(), _now()
        came, why = Came(), ""
        try:
            came = await run(self._runner, filled(step, self._results, item=item, given=given), at)
        except (BudgetExhausted, LedgerWriteFailed, Stopped):
            raise
        except SwarmError as error:
            why = error.message
        except ValidationError as error:
            why = f"with the texts put in it cannot be asked: {error.errors(include_url=False)[0]['msg']}"
        result = StepResult(
            id=name,
            kind=step.kind,
            part=part,
            item=item or "",
            status="failed" if why else "done",
            why=why,
            fields=came.fields,
            text=came.text,
            record=came.record or at,
            usage=self._runner.used(at),
            started_at=started_at,
            seconds=time.monotonic() - began,
        )
        self._heard(result)
        return result

    # --- what it comes to ---

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
        return StepResult(
            id=step.id,
            kind=step.kind,
            status=status,
            why=why,
            text=text,
            fields=dict(fields or {}),
            parts=inner,
            usage=sum((each.usage for each in inner), Usage()),
        )

    def _know(self, step: Step, result: StepResult) -> None:
        """What later steps may refer to: this one and those inside of it, those too whose turn did not come."""
        self._results |= {each.id: each for each in result.parts if not each.part}
        for each in inside(step):
            if each.id and each.id not in self._results:
                why = "its turn did not come"
                self._results[each.id] = StepResult(id=each.id, kind=each.kind, status="skipped", why=why)
        self._results[step.id] = result

    def _stopped(self, number: int, result: StepResult) -> OrchestrationOutcome:
        self._records.keep_partial(self._id, number, result)
        outcome = self._outcome((*self._done, result), failed=result.id)
        why = f"the step `{result.id}` failed: {result.why}"
        self._records.change(self._id, status="failed", why=why, usage=outcome.usage, seconds=outcome.seconds)
        self._say(Erred, code="STEP_FAILED", why=why, hint=f"Go on with: swarm orchestrate resume {self._id}")
        return outcome

    def _complete(self) -> OrchestrationOutcome:
        outcome = self._outcome(self._done)
        self._records.seal(self._id, RESULT, outcome)
        self._records.change(self._id, status="complete", usage=outcome.usage, seconds=outcome.seconds)
        brief = outcome.model_dump(mode="json")
        what = f"{len(outcome.steps)} steps, {len(outcome.failures)} failures"
        self._say(Completed, what=what, outcome=brief, usage=outcome.usage, seconds=outcome.seconds)
        return outcome

    def _outcome(self, steps: Iterable[StepResult], *, failed: str = "") -> OrchestrationOutcome:
        ended = tuple(steps)
        return OrchestrationOutcome(
            id=self._id,
            title=self._asked.title,
            steps=ended,
            failed=failed,
            usage=sum((each.usage for each in ended), Usage()),
            seconds=sum(each.seconds for each in ended),
        )

    def _heard(self, result: StepResult) -> None:
        self._say(
            Contributed,
            number=self._number,
            step=result.kind,
            who=f"{result.label} ({' '.join(result.item.split())[:_ITEM]})" if result.item else result.label,
            what=_fields(result) or result.status,
            text=result.text[:_SHOWN],
            failed=result.why if result.status == "failed" else "",
            usage=result.usage,
        )

    def _say(self, kind: type[Any], **fields: Any) -> None:
        self._tell(kind(pattern=PATTERN, id=self._id, **fields))


def _names(step: Step) -> set[str]:
    return {step.id, *(each.id for each in inside(step))}


def _what(result: StepResult) -> str:
    """What a step comes to, in a few words."""
    fields = _fields(result)
    return f"{result.label} {result.status}{f' ({fields})' if fields else ''}"


def _fields(result: StepResult) -> str:
    """The typed outcomes that say something."""
    told = ((name, str(value).lower() if isinstance(value, bool) else value) for name, value in result.fields.items())
    return ", ".join(f"{name} {value}" for name, value in told if value != "")


def _called(name: str, part: int) -> str:
    return f"{name}.{part}" if part else name


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")

"""The loop of self-critique: a version is made, judged and improved; the best one is the result, not the last one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Literal

from swarmgate.agents.desk import ignore
from swarmgate.council.critique.briefs import EVALUATOR
from swarmgate.council.critique.checks import Checks
from swarmgate.council.critique.iterating import Work, seated, summary
from swarmgate.council.critique.requests import critique_of
from swarmgate.council.records import Manifest, Records
from swarmgate.council.stream import Completed, Converged, Erred, PatternEvent, RoundCompleted, Started
from swarmgate.council.voices import Voices
from swarmgate.domain.critique import Critique, CritiqueOutcome, Iteration
from swarmgate.domain.critique_rules import best, improvement, unchanged, version_of
from swarmgate.domain.debate import Seat
from swarmgate.domain.usage import Usage
from swarmgate.errors import CouncilFailed, SwarmError

RESULT = "result.json"
"""The name under which the outcome is sealed."""

_TITLE = 400

End = Literal["passed", "iterations", "timeout", "unchanged"]


async def improve(
    critique: Critique,
    *,
    voices: Voices,
    records: Records,
    checks: Checks | None = None,
    on_event: Callable[[PatternEvent], None] = ignore,
) -> CritiqueOutcome:
    """Make, judge and improve until it is good enough; or go on after the last whole iteration on record.

    A finished critique is given at once. `checks` judges by commands and gates; None: no criterion asks for that.

    Raises:
        CouncilRefused: it does not fit a voice's window; another record has its id.
        CouncilFailed: no version was made, or none could be judged. That is on record.
        ConfigError, MissingRequirement: a voice has no model or no key.
        BudgetExhausted, Stopped: as they come; the whole iterations so far are on record.
    """
    work = seated(critique, voices, records, checks, on_event)
    there = records.begin(manifest_of(critique))
    finished = records.sealed(critique.id, RESULT, CritiqueOutcome)
    if finished is not None:
        return _complete(records, finished)
    if there.status == "failed":
        records.change(critique.id, status="open", why="")
    done = list(records.rounds(critique.id, Iteration))
    who, title = (critique.who, EVALUATOR), critique.task[:_TITLE]
    work.told(Started, title=title, who=who, most=critique.iterations, resumed=bool(done))
    try:
        return await _to_its_end(work, done)
    except SwarmError as error:
        if isinstance(error, CouncilFailed):
            records.change(critique.id, status="failed", why=error.message, usage=_used(work, done))
        work.told(Erred, code=error.code, why=error.message, hint=error.hint)
        raise


async def prepared(
    seat: Seat,
    task: str,
    *,
    iterations: int,
    voices: Voices,
    records: Records,
    id: str,  # noqa: A002 - the field's name
    tokens: int,
    timeout_s: float,
    material: str = "",
    on_event: Callable[[PatternEvent], None] = ignore,
) -> tuple[str, Usage]:
    """What a participant says after it criticised itself: for a decision, before it contributes.

    The seat makes and judges its text with its own model, after the default criteria, and the best version is given. It
    is on record as a critique of its own, `id`; called again with the same request it goes on, or gives what it gave.

    Args:
        seat: who speaks; its name stands on the wire, its system text in the system message.
        task: what is asked of it, at most 4,000 characters.
        iterations: at most so many versions, 1 to 10.
        voices: where its desk is from.
        records: where it is kept.
        id: of the record.
        tokens: of one step.
        timeout_s: seconds of one step.
        material: what the task is about.
        on_event: told what happens.

    Returns:
        The text, and what it took.

    Raises:
        SwarmError: as `improve`.
    """
    critique = critique_of(
        id=id,
        task=task,
        material=material,
        iterations=iterations,
        who=seat.id,
        model=seat.model,
        system=seat.system,
        tokens=tokens,
        timeout_s=timeout_s,
    )
    outcome = await improve(critique, voices=voices, records=records, on_event=on_event)
    return outcome.version, outcome.usage


def manifest_of(critique: Critique) -> Manifest:
    """How the record of a critique begins."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    return Manifest(id=critique.id, pattern="critique", request=critique.model_dump(mode="json"), created_at=now)


async def _to_its_end(work: Work, done: list[Iteration]) -> CritiqueOutcome:
    critique, end = work.critique, None
    try:
        async with asyncio.timeout(critique.whole_s) as clock:
            while (end := _end(critique, done)) is None:
                iteration = await work.iteration(done)
                work.records.keep_round(critique.id, iteration.number, iteration)
                done.append(iteration)
                found = iteration.evaluation
                what = summary(critique.criteria, found) if found else iteration.failed
                work.told(RoundCompleted, number=iteration.number, what=what, score=found.mean if found else None)
    except TimeoutError:
        if not clock.expired():
            raise
        end = "timeout"
    outcome = _outcome(work, done, end)
    work.records.seal(critique.id, RESULT, outcome)
    _complete(work.records, outcome)
    _tell(work, outcome)
    return outcome


def _complete(records: Records, outcome: CritiqueOutcome) -> CritiqueOutcome:
    """The outcome, once the manifest says that there is one: a kill may have come in between."""
    if records.manifest(outcome.id).status != "complete":
        records.change(outcome.id, status="complete", why="", usage=outcome.usage, seconds=outcome.seconds)
    return outcome


def _end(critique: Critique, done: Sequence[Iteration]) -> End | None:
    last = done[-1].evaluation if done else None
    if last and last.passed:
        return "passed"
    if unchanged(done):
        return "unchanged"
    return "iterations" if len(done) >= critique.iterations else None


def _outcome(work: Work, done: Sequence[Iteration], end: End) -> CritiqueOutcome:
    """The best version.

    Raises:
        CouncilFailed: no version was judged.
    """
    top = best(done)
    if top is None or top.evaluation is None:
        why = "; ".join(dict.fromkeys(each.failed for each in done))
        late = f"; its {work.critique.whole_s:g} s are over" if end == "timeout" else ""
        raise CouncilFailed(
            f"no version was judged in {len(done)} whole iterations{late}{f': {why}' if why else ''}",
            hint="look at the model of the evaluator, and at the programs that commands and gates need",
        )
    return CritiqueOutcome(
        id=work.critique.id,
        best=top.number,
        version=version_of(done, top.number),
        mean=top.evaluation.mean,
        passed=top.evaluation.passed,
        ended_by=end,
        improvement=improvement(done),
        iterations=len(done),
        usage=_used(work, done),
        seconds=round(sum(each.seconds for each in done), 4),
    )


def _used(work: Work, done: Sequence[Iteration]) -> Usage:
    return sum((each.usage for each in done), work.making)


def _tell(work: Work, outcome: CritiqueOutcome) -> None:
    why = {"passed": "every criterion is met, and the mean", "unchanged": "nothing changes any more"}
    if outcome.ended_by in why:
        work.told(Converged, number=outcome.iterations, why=why[outcome.ended_by])
    judged = f"the mean is {outcome.mean:.2f}, {'' if outcome.passed else 'not '}good enough"
    what = f"version {outcome.best} of {outcome.iterations} is the best one: {judged}"
    told = outcome.model_dump(mode="json")
    work.told(Completed, what=what, outcome=told, usage=outcome.usage, seconds=outcome.seconds)

"""The loop of self-critique: a version is made, judged and improved; the best one is the result, not the last one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from swarmgate.agents.desk import ignore
from swarmgate.council.critique.briefs import EVALUATOR
from swarmgate.council.critique.checks import Checks
from swarmgate.council.critique.iterating import Work, seated, summary
from swarmgate.council.critique.outcome import RESULT, completed, end_of, manifest_of, outcome_of, paused
from swarmgate.council.critique.requests import critique_of
from swarmgate.council.records import Manifest, Records
from swarmgate.council.stream import Completed, Converged, Erred, PatternEvent, RoundCompleted, Started
from swarmgate.council.voices import Voices
from swarmgate.domain.council_limits import WHOLE_SECONDS
from swarmgate.domain.critique import Critique, CritiqueOutcome, Iteration
from swarmgate.domain.debate import Seat
from swarmgate.domain.usage import Usage
from swarmgate.errors import CouncilFailed, SwarmError
from swarmgate.llm.limits.worktime import WorkTime

_TITLE = 400


async def improve(
    critique: Critique,
    *,
    voices: Voices,
    records: Records,
    checks: Checks | None = None,
    manifest: Manifest | None = None,
    on_event: Callable[[PatternEvent], None] = ignore,
) -> CritiqueOutcome:
    """Make, judge and improve until it is good enough; or go on after the last whole iteration on record.

    A finished critique is given at once. One whose time is over is paused, with the best so far as the outcome of this
    sitting; called again, it goes on.

    Args:
        critique: what is made.
        voices: makes the desks.
        records: where it is kept.
        checks: judges by commands and gates; None: no criterion asks for that.
        manifest: as what its record is begun; None: with the request alone.
        on_event: told what happens.

    Raises:
        CouncilRefused: it does not fit a voice's window; another record has its id.
        CouncilFailed: no version was made, or none could be judged; that is on record. Or none was judged in time.
        ConfigError, MissingRequirement: a voice has no model or no key.
        BudgetExhausted, Stopped: as they come; the whole iterations so far are on record.
    """
    work = seated(critique, voices, records, checks, on_event)
    there = records.begin(manifest or manifest_of(critique))
    finished = records.sealed(critique.id, RESULT, CritiqueOutcome)
    if finished is not None:
        return completed(records, finished)
    if there.status != "open":
        records.change(critique.id, status="open", why="")
    done = list(records.rounds(critique.id, Iteration))
    who, title = (critique.who, EVALUATOR), critique.task[:_TITLE]
    work.told(Started, title=title, who=who, most=critique.iterations, resumed=bool(done))
    try:
        return await _to_its_end(work, done)
    except SwarmError as error:
        if isinstance(error, CouncilFailed) and records.manifest(critique.id).status != "paused":
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
    whole_s: float = WHOLE_SECONDS.most,
    threshold: float = 0.7,
    stop: float = 0.8,
    part_of: str = "",
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
        whole_s: seconds of all of it, after which its text is the best so far.
        threshold: the score, 0 to 1, that each criterion must reach.
        stop: the weighted mean that is good enough, 0 to 1.
        part_of: the id of the record that it is made for; its own manifest names that.
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
        whole_s=whole_s,
        threshold=threshold,
        stop=stop,
    )
    begun = manifest_of(critique, part_of=part_of)
    outcome = await improve(critique, voices=voices, records=records, manifest=begun, on_event=on_event)
    return outcome.version, outcome.usage


async def _to_its_end(work: Work, done: list[Iteration]) -> CritiqueOutcome:
    critique, records, end = work.critique, work.records, None
    clock = WorkTime()
    try:
        async with clock.limited(critique.whole_s):
            while (end := end_of(critique, done)) is None:
                iteration = await work.iteration(done)
                records.keep_round(critique.id, iteration.number, iteration)
                done.append(iteration)
                found = iteration.evaluation
                what = summary(critique.criteria, found) if found else iteration.failed
                work.told(RoundCompleted, number=iteration.number, what=what, score=found.mean if found else None)
    except TimeoutError:
        if not clock.expired:
            raise
        end = "timeout"
        paused(records, critique, _used(work, done))
    outcome = outcome_of(critique, done, end, used=_used(work, done))
    if end != "timeout":
        records.seal(critique.id, RESULT, outcome)
        completed(records, outcome)
    _tell(work, outcome)
    return outcome


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

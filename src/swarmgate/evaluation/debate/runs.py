"""Runs the arms of the debate experiment over the items until all are judged or the budget is used up."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from swarmgate.config.council import Council
from swarmgate.council.context import CouncilContext
from swarmgate.council.debate.model import Debate, Round, Speech, tally
from swarmgate.council.debate.rules import RULES
from swarmgate.council.debate.steps import DEBATING
from swarmgate.council.debate.voting import vote
from swarmgate.council.participants.contexts import ContextFactory
from swarmgate.council.participants.question import concurrently
from swarmgate.council.records.store import Records
from swarmgate.domain.review.votes import Tally, Vote
from swarmgate.errors import BudgetExhausted, CouncilFailed, EndpointFailed, SwarmError
from swarmgate.evaluation.debate.cache import Meter
from swarmgate.evaluation.debate.experiment_arms import (
    WHOLE,
    Arm,
    Job,
    Part,
    Setup,
    ballots_of,
    debate_of,
    jobs,
    material,
    question,
)
from swarmgate.evaluation.debate.fixtures import Item
from swarmgate.evaluation.debate.statistics import Judgement
from swarmgate.evaluation.debate.window_check import check_all_fit
from swarmgate.journal.documents import FileDocuments

AT_ONCE = 4
"""Items that are judged at the same time; within one, the participants of a round speak at once."""

DOWN = 6
"""Calls that fail for good with no answer in between from which an endpoint counts as down."""

_ORDER = (Arm.DEBATE, Arm.PARALLEL, Arm.SINGLE)
"""The debate first: how many turns it took is how many ballots the parallel arm gets."""


class Seated(Protocol):
    """Makes the participants of one judgement, whose calls `meter` counts."""

    def __call__(self, arm: Arm, *, repeat: int, seed: int, meter: Meter) -> ContextFactory:
        """The participants."""


@dataclass
class Run:
    """What was judged, and why the run ended before its end.

    Every item in `judgements` was judged by every arm in that repeat: pairs are whole also where the run is not.
    `planned` and `done` count items times repeats; `stopped` is the error that ended the run.
    """

    planned: int
    judgements: list[Judgement] = field(default_factory=list)
    done: int = 0
    stopped: SwarmError | None = None
    _silence: int = 0

    def check_answered(self, meter: Meter) -> None:
        """Looks at what one judgement took.

        Raises:
            EndpointFailed: call after call fails: it is not the models that are measured then.
        """
        self._silence = 0 if meter.calls else self._silence + len(meter.refused)
        if self._silence >= DOWN:
            raise EndpointFailed(
                f"{self._silence} calls in a row failed for good, the last one with: {meter.refused[-1]}",
                hint="Mend that and run the same command again: what was answered is kept and not asked again.",
            )


async def run(
    items: Sequence[Item],
    setup: Setup,
    seated: Seated,
    council: Council,
    *,
    on_progress: Callable[[Run], None],
    at_once: int = AT_ONCE,
    part: Part = WHOLE,
) -> Run:
    """Has every arm judge every item of a part in every repeat.

    Args:
        items: all that could be judged.
        setup: what is run.
        seated: makes the participants.
        council: the bounds of a debate.
        on_progress: hears of each item that all arms are done with.
        at_once: items that are judged at the same time.
        part: of the items; all where nothing else is said.

    Raises:
        UsageError: an item does not fit a model's window; nothing was asked yet.
        SwarmError: what ends a run for another reason than an empty budget or an endpoint that is down.
    """
    todo = list(jobs(items, setup, part))
    check_all_fit(todo, setup, council, seated(Arm.DEBATE, repeat=1, seed=setup.seed, meter=Meter()))
    found, left = Run(planned=len(todo)), iter(todo)
    workers = [
        asyncio.create_task(_work(left, setup, seated, council, found, on_progress))
        for _ in range(min(at_once, len(todo)))
    ]
    try:
        await asyncio.gather(*workers)
    finally:
        for each in workers:
            each.cancel()
    found.judgements.sort(key=lambda each: (each.item, each.repeat, each.arm))
    return found


async def _work(
    left: Iterator[Job], setup: Setup, seated: Seated, council: Council, found: Run, on_progress: Callable[[Run], None]
) -> None:
    """Takes one item after the other, until there is none left or any worker was stopped."""
    for job in left:
        try:
            judged = await _judged(job, setup, seated, council, found)
        except (BudgetExhausted, EndpointFailed) as error:
            found.stopped = found.stopped or error
            return
        found.judgements += judged
        found.done += 1
        on_progress(found)
        if found.stopped:
            return


@dataclass(frozen=True)
class _Verdict:
    """What came of one judgement: see `Judgement`."""

    approved: bool
    tally: Tally
    turns: int
    tied: bool = False
    silent: int = 0
    failed: str = ""


async def _judged(job: Job, setup: Setup, seated: Seated, council: Council, found: Run) -> list[Judgement]:
    """The item by every arm."""
    judged, ballots = list[Judgement](), setup.turns
    for arm in (each for each in _ORDER if each in setup.arms):
        meter = Meter()
        contexts = seated(arm, repeat=job.repeat, seed=setup.seed, meter=meter)
        if arm is Arm.DEBATE:
            verdict = await _debated(debate_of(job, setup, council), contexts)
            ballots = verdict.turns
        else:
            verdict = await _balloted(job, setup, contexts, 1 if arm is Arm.SINGLE else ballots)
        found.check_answered(meter)
        judged.append(_judgement(job, arm, verdict, meter))
    return judged


async def _debated(debate: Debate, contexts: ContextFactory) -> _Verdict:
    try:
        rounds = await _held(debate, contexts)
    except CouncilFailed as error:
        # Nobody gave anything that counts. The other arm gets the ballots of a whole debate all the same.
        seats = len(debate.seats)
        return _Verdict(
            approved=False, tally=Tally(failed=seats), turns=seats * debate.rounds, failed=error.message
        )  # fmt: skip
    return _counted(
        rounds[-1].speeches,
        turns=sum(len(each.speeches) for each in rounds),
        silent=sum(bool(speech.failed) for each in rounds if not each.final for speech in each.speeches),
    )


async def _held(debate: Debate, contexts: ContextFactory) -> tuple[Round, ...]:
    """The rounds of a debate that nobody keeps: it always begins anew, and participants that answered answer the same.

    Raises:
        CouncilFailed: nobody gave anything that counts.
    """
    nowhere = Records(FileDocuments(Path(os.devnull)), clean=lambda value: value)
    context, state = CouncilContext(contexts, nowhere, own={}), RULES.begin(debate)
    while steps := RULES.next(state):
        for events in await concurrently([DEBATING.do(step, state, context) for step in steps]):
            for event in events:
                state = RULES.apply(state, event)
    return state.rounds


async def _balloted(job: Job, setup: Setup, contexts: ContextFactory, number: int) -> _Verdict:
    asked = (
        vote(contexts.agent(seat), seat, question=question(job.item), material=material(job.item))
        for seat in ballots_of(job, setup, number)
    )
    return _counted(await asyncio.gather(*asked), turns=number)


def _counted(speeches: Iterable[Speech], *, turns: int, silent: int = 0) -> _Verdict:
    """The majority; of a tie the side of the higher sum of confidences; where these are equal, rejected.

    The same in every arm. Where every tie rejects, six ballots are right no more often than five: the parallel arm,
    whose number is even wherever rounds are, would have paid for one in vain. A ballot that nobody can read is against
    approval with all confidence.
    """
    spoken = tuple(speeches)
    counted = tally(spoken)
    tied = 0 < counted.approve == counted.reject + counted.failed
    approved = _leaning(spoken) > 0 if tied else counted.verdict is Vote.APPROVE
    return _Verdict(approved=approved, tally=counted, turns=turns, tied=tied, silent=silent)


def _leaning(speeches: Iterable[Speech]) -> float:
    """The confidence for approval less that against it."""
    side = {Vote.APPROVE: 1, Vote.REJECT: -1, Vote.ABSTAIN: 0}
    return round(sum(side[each.ballot.vote] * each.ballot.confidence if each.ballot else -1 for each in speeches), 9)


def _judgement(job: Job, arm: Arm, verdict: _Verdict, meter: Meter) -> Judgement:
    item = job.item
    return Judgement(
        item=item.id, label=item.label, category=item.category, repeat=job.repeat, arm=arm, approved=verdict.approved,
        tally=verdict.tally, tied=verdict.tied, turns=verdict.turns, silent=verdict.silent, failed=verdict.failed,
        calls=meter.calls, refused=len(meter.refused), usage=meter.usage, seconds=meter.seconds, wait=meter.wait,
    )  # fmt: skip

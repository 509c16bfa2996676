"""A decision: rounds of concurrent contributions, a count, and the facilitator's synthesis of each.

Contributions are blind within a round. It ends on consensus, where two rounds are the same, after the last round, or
when the time of the sitting is up: then with what there is, and it can go on later.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeVar

from swarmgate.agents.brief import cut, one_line
from swarmgate.agents.desk import Desk, ignore
from swarmgate.council.asking import Heard, ask, bounded, together
from swarmgate.council.consensus.answers import MOST_TEXT, PROPOSAL, Said, form_of
from swarmgate.council.consensus.brief import (
    CONTRIBUTE,
    FACILITATE,
    check_windows,
    contribution_brief,
    facilitation_brief,
    facilitator_of,
    proposal_after,
    stand_of,
    voice_of,
)
from swarmgate.council.consensus.outcome import RESULT, Ended, completed, ended, flawless, manifest_of, outcome_of
from swarmgate.council.consensus.page import outcome_page
from swarmgate.council.consensus.request import check
from swarmgate.council.consensus.spent import preparing_of, since, so_far, used
from swarmgate.council.records import Manifest, Records
from swarmgate.council.stream import (
    Completed,
    Contributed,
    Converged,
    Erred,
    PatternEvent,
    RoundCompleted,
    RoundStarted,
    Started,
    StepStarted,
)
from swarmgate.council.voices import Voices
from swarmgate.domain.consensus import (
    Contribution,
    Decision,
    DecisionOutcome,
    DecisionPart,
    DecisionRound,
    DecisionSeat,
    Proposal,
)
from swarmgate.domain.consensus_rules import converged, count
from swarmgate.domain.debate import message_id
from swarmgate.domain.usage import Usage
from swarmgate.errors import CouncilFailed, LedgerError, ModelError, SwarmError
from swarmgate.llm.limits.worktime import WorkTime

PAGE = "artifacts/outcome.md"

PREPARE = "prepare"

T = TypeVar("T")

_TITLE, _GIST = 200, 300
_TIME_IS_UP = "the time of the whole decision was up"


class Prepared(NamedTuple):
    """What a participant speaks from: a text, the id of the record that it comes from, and what all of that took.

    `failed` says why there is none; what it took counts all the same.
    """

    text: str = ""
    record: str = ""
    usage: Usage = Usage()
    failed: str = ""


Prepare = Callable[[DecisionSeat, Decision, int], Awaitable[Prepared]]
"""What a participant speaks from, first in this round: of a discussion or a critique; what is on record is given again.

Where it failed, or raises a `ModelError`, the participant is excluded from the round; all else ends the sitting.
"""


async def nothing(_seat: DecisionSeat, _decision: Decision, _number: int) -> Prepared:
    """Nobody prepares."""
    return Prepared()


async def decide(
    decision: Decision,
    *,
    voices: Voices,
    records: Records,
    prepare: Prepare = nothing,
    manifest: Manifest | None = None,
    on_event: Callable[[PatternEvent], None] = ignore,
) -> DecisionOutcome:
    """Hold a decision, or go on with it after what is whole; a finished one is given at once.

    Args:
        decision: what is decided.
        voices: makes the desks.
        records: where it is kept.
        prepare: gives what participants with `discussion` or `critique` speak from.
        manifest: as what its record is begun; None: with the request alone.
        on_event: hears what happens.

    Raises:
        CouncilRefused: it cannot be held as asked; another record has its id.
        CouncilFailed: nobody said anything that counts in a round. That is on record; taken up again, it is asked anew.
        BudgetExhausted, Stopped, MissingRequirement: as they come; the whole rounds so far are on record.
    """
    check(decision)
    sitting = _seated(decision, voices, records, prepare, on_event)
    records.begin(manifest or manifest_of(decision))
    done = records.sealed(decision.id, RESULT, DecisionOutcome)
    if done is not None:
        return completed(records, done)
    try:
        with sitting.worked.running():
            return await sitting.whole()
    except SwarmError as error:
        with suppress(LedgerError):  # that of the damage that ends it is told, not that of looking again
            spent = so_far(records, decision, records.rounds(decision.id, DecisionRound))
            told: dict[str, Any] = {"status": "failed", "why": error.message}
            records.change(decision.id, usage=spent, **(told if isinstance(error, CouncilFailed) else {}))
        on_event(Erred(pattern="decision", id=decision.id, code=error.code, why=error.message, hint=error.hint))
        raise


# --- inside ---


def _seated(
    decision: Decision, voices: Voices, records: Records, prepare: Prepare, on_event: Callable[[PatternEvent], None]
) -> _Sitting:
    """Everybody with a desk under the bounds of one step.

    Raises:
        CouncilRefused: question and material do not fit somebody's window.
        ConfigError, MissingRequirement: somebody has no model.
    """
    tokens, timeout_s = decision.tokens, decision.timeout_s
    desks = {
        each.id: bounded(voices.desk(voice_of(each)), tokens=tokens, timeout_s=timeout_s)
        for each in decision.participants
    }
    chair = bounded(voices.desk(facilitator_of(decision)), tokens=tokens, timeout_s=timeout_s)
    named = [(f"participant {name}", desk) for name, desk in desks.items()]
    check_windows(decision, [*named, (f"the facilitator {decision.facilitator}", chair)])
    return _Sitting(decision, desks, chair, records, prepare, on_event)


@dataclass
class _Sitting:
    """One decision with the desks of all who take part, until it ends or the time is up."""

    decision: Decision
    desks: dict[str, Desk]
    chair: Desk
    records: Records
    prepare: Prepare
    on_event: Callable[[PatternEvent], None]
    worked: WorkTime = field(default_factory=WorkTime, init=False)
    deadline: float = field(init=False)
    prepared: dict[str, Prepared] = field(default_factory=dict, init=False)

    async def whole(self) -> DecisionOutcome:
        """All rounds that are left, and the outcome on record."""
        decision, name = self.decision, self.decision.id
        rounds = list(self.records.rounds(name, DecisionRound))
        self.records.change(name, status="open", why="")
        self.deadline = self.worked() + decision.whole_s
        who = tuple(each.id for each in decision.participants)
        title = cut(one_line(decision.question), _TITLE, "...")
        self._tell(Started, title=title, who=who, most=decision.rounds, resumed=bool(rounds))
        why = ended(decision, rounds)
        while why is None:
            held = await self._in_time(self._round(rounds))
            if held is None:
                why = "timeout"
                break
            self.records.keep_round(name, held.number, held)
            rounds.append(held)
            self.records.change(name, usage=used(rounds), seconds=sum(each.seconds for each in rounds))
            self._tell(RoundCompleted, number=held.number, what=held.count.why, score=held.count.score)
            why = ended(decision, rounds)
        return self._closed(rounds, why)

    def _closed(self, rounds: Sequence[DecisionRound], why: Ended) -> DecisionOutcome:
        """The outcome on record, for programs and for people."""
        outcome = outcome_of(self.decision, rounds, why)
        name = self.decision.id
        if why in ("consensus", "convergence"):
            told = (
                outcome.count.why if outcome.count and outcome.consensus else "no stand changed since the round before"
            )
            self._tell(Converged, number=len(rounds), why=told)
        self.records.put(name, PAGE, outcome_page(self.decision, tuple(rounds), outcome))
        if why == "timeout":
            spent = so_far(self.records, self.decision, rounds)
            self.records.change(name, status="paused", why=_TIME_IS_UP, usage=spent, seconds=outcome.seconds)
        else:
            if not flawless(rounds):
                self.records.change(name, request_hash="")  # the next request deserves all voices
            self.records.seal(name, RESULT, outcome)
            completed(self.records, outcome)
        what = "consensus" if outcome.consensus else f"no consensus ({why})"
        told_as = outcome.model_dump(mode="json")
        self._tell(Completed, what=what, outcome=told_as, usage=outcome.usage, seconds=outcome.seconds)
        return outcome

    async def _in_time(self, work: Coroutine[None, None, T]) -> T | None:
        """What the work comes to; None: the time of the sitting was up."""
        clock = WorkTime()
        try:
            async with clock.limited(max(0.0, self.deadline - self.worked())):
                return await work
        except TimeoutError:
            if clock.expired:
                return None
            raise

    async def _round(self, before: Sequence[DecisionRound]) -> DecisionRound:
        """The round after those before.

        Raises:
            CouncilFailed: nobody said anything that counts.
        """
        number, began, started_at = len(before) + 1, time.perf_counter(), datetime.now(UTC)
        self._tell(RoundStarted, number=number, most=self.decision.rounds)
        contributions = await self._contributions(number, before)
        if all(each.excluded for each in contributions):
            raise _silence(number, contributions)
        counted = count(self.decision, contributions)
        held = DecisionRound(
            number=number,
            proposal=proposal_after(before, question=self.decision.question),
            contributions=contributions,
            count=counted,
            converged=bool(before) and not counted.consensus and converged(self.decision, before[-1], contributions),
            started_at=started_at.isoformat(timespec="milliseconds"),
        )
        synthesis = await self._synthesis(before, held)
        return held.model_copy(update={"synthesis": synthesis, "seconds": round(time.perf_counter() - began, 4)})

    async def _contributions(self, number: int, before: Sequence[DecisionRound]) -> tuple[Contribution, ...]:
        """Those of all participants, in their order; what was said before an interruption is not asked for again."""
        name, proposed = self.decision.id, proposal_after(before, question=self.decision.question)
        part = self.records.partial(name, number, DecisionPart)
        heard = {each.participant: each for each in part.contributions} if part else {}

        def keep(said: Contribution) -> None:
            heard[said.participant] = said
            kept = DecisionPart(number=number, proposal=proposed, contributions=tuple(heard.values()))
            self.records.keep_partial(name, number, kept)

        missing = [
            (message_id(number, at), seat)
            for at, seat in enumerate(self.decision.participants, start=1)
            if seat.id not in heard or heard[seat.id].excluded
        ]
        if missing:
            self._tell(StepStarted, number=number, step=CONTRIBUTE, who=tuple(seat.id for _, seat in missing))
        work = [self._contribution(seat, message, before, heard.get(seat.id), keep) for message, seat in missing]
        await together(work)
        return tuple(heard[seat.id] for seat in self.decision.participants)

    async def _contribution(
        self,
        seat: DecisionSeat,
        message: str,
        before: Sequence[DecisionRound],
        excluded: Contribution | None,
        keep: Callable[[Contribution], None],
    ) -> None:
        """One participant's; `excluded`: what came of asking it in this round in an earlier sitting."""
        number, decision = len(before) + 1, self.decision
        prepared = await self._preparation(seat, number)
        if prepared.failed:
            heard: Heard[tuple[str, Said]] = Heard(None, f"its preparation failed: {prepared.failed}")
        else:
            desk = self.desks[seat.id]
            brief = contribution_brief(decision, seat, desk, before, prepared=prepared.text)
            heard = await ask(desk, brief, read=form_of(decision, seat))
        text, typed = heard.value or ("", Said())
        tried = [excluded] if excluded else []
        told = [*(each for held in before for each in held.contributions), *tried]
        own = since(prepared.usage, preparing_of(seat.id, told))
        contribution = Contribution(
            id=message,
            round=number,
            participant=seat.id,
            text=cut(text, MOST_TEXT, " ..."),
            agreement=typed.agreement,
            stand=typed.stand,
            approves=typed.approves,
            ranking=typed.ranking,
            excluded=heard.failed,
            prepared=prepared.record,
            preparing=preparing_of(seat.id, tried) + own,
            **{**heard.took, "usage": sum((each.usage for each in tried), heard.usage + own)},
        )
        keep(contribution)
        self._tell(
            Contributed,
            number=number,
            step=CONTRIBUTE,
            message=message,
            who=seat.id,
            what=stand_of(decision, contribution),
            text=cut(contribution.text, _GIST, "..."),
            failed=contribution.excluded,
            usage=heard.usage,  # what it prepared was told as it was used
        )

    async def _preparation(self, seat: DecisionSeat, number: int) -> Prepared:
        """What a participant speaks from, made before its first contribution; or why there is none."""
        if not (seat.discussion or seat.critique):
            return Prepared()
        if seat.id not in self.prepared:
            self._tell(StepStarted, number=number, step=PREPARE, who=(seat.id,))
            try:
                made = await self.prepare(seat, self.decision, number)
            except ModelError as error:
                return Prepared(failed=error.message)
            if made.failed:
                return made
            self.prepared[seat.id] = made
        return self.prepared[seat.id]

    async def _synthesis(self, before: Sequence[DecisionRound], held: DecisionRound) -> Proposal:
        """What the facilitator makes of a round; it fails alone, and never takes the round with it."""
        decision, seat = self.decision, facilitator_of(self.decision)
        last = ended(decision, (*before, held)) is not None
        brief = facilitation_brief(decision, self.chair, before, held, last=last)
        self._tell(StepStarted, number=held.number, step=FACILITATE, who=(seat.id,))
        heard = await self._unless_late(ask(self.chair, brief, read=PROPOSAL))
        text, points = heard.value or ("", ())
        made = Proposal(text=text, open_points=points, failed=heard.failed, author=seat.id, **heard.took)
        self._tell(
            Contributed,
            number=held.number,
            step=FACILITATE,
            who=seat.id,
            text=cut(text, _GIST, "..."),
            failed=made.failed,
            usage=made.usage,
        )
        return made

    async def _unless_late(self, asking: Coroutine[None, None, Heard[T]]) -> Heard[T]:
        """What is heard in time; the round that was spoken stands without it."""
        left, clock = self.deadline - self.worked(), WorkTime()
        try:
            async with clock.limited(max(0.0, left - _MARGIN)):
                return await asking
        except TimeoutError:
            if clock.expired:
                return Heard(None, _TIME_IS_UP)
            raise

    def _tell(self, event: Callable[..., PatternEvent], **fields: object) -> None:
        self.on_event(event(pattern="decision", id=self.decision.id, **fields))


_MARGIN = 0.05
"""Seconds that are left of a sitting for putting a round on record."""


def _silence(number: int, contributions: Sequence[Contribution]) -> CouncilFailed:
    """The error of a round in which nobody said anything that counts."""
    why = "; ".join(dict.fromkeys(each.excluded for each in contributions))
    return CouncilFailed(
        f"all {len(contributions)} participants failed in round {number}: {why}",
        hint="look at the models of the participants, their exchanges are in .swarm/traces/; taken up again, the "
        "decision asks this round anew",
    )

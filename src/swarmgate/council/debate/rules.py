"""Rules of the debate pattern: which step is due, what an event changes, and the outcome of complete rounds."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar

from swarmgate.council.debate.model import (
    DISPATCH,
    PART,
    Compared,
    Debate,
    DebateRecord,
    Moderated,
    Moderation,
    Outcome,
    Round,
    Speech,
    Spoke,
    Synthesised,
    SynthesisFailed,
    tally,
)
from swarmgate.council.debate.state import (
    Compare,
    DebateState,
    GiveUp,
    Moderate,
    Speak,
    Synthesise,
    brought_nothing,
    check_speech,
    check_synthesis,
    require_due,
    silence,
)
from swarmgate.council.records.lifecycle import Resumed, Standing
from swarmgate.council.records.rules import Rules
from swarmgate.council.views import stream
from swarmgate.domain.base import Frozen
from swarmgate.domain.review.votes import in_words

if TYPE_CHECKING:
    from swarmgate.council.views.events import CouncilEvent

RESULT = "result.json"


class DebateRules(Rules[Debate, DebateState, Outcome]):
    """A debate, as far as it is on record."""

    name: ClassVar[str] = "debate"
    verb: ClassVar[str] = "debate"
    request = Debate
    events: ClassVar[tuple[type[Frozen], ...]] = (Moderated, Spoke, Compared, Synthesised, SynthesisFailed)
    milestones: ClassVar[tuple[type[Frozen], ...]] = (Compared, Synthesised)
    patient: ClassVar[bool] = True
    earlier: ClassVar[str] = "traces/debates/{id}"

    def begin(self, request: Debate) -> DebateState:
        """Nobody has spoken."""
        return DebateState(request)

    def apply(self, state: DebateState, event: Frozen) -> DebateState:
        """The state after one more event; a round that failed as a whole is asked again on resume.

        Raises:
            IllegalMove: it may not stand there.
        """
        match event:
            case Resumed():
                return replace(state, spoken=() if state.silent else state.spoken, failed=None)
            case Moderated():
                require_due(Moderate(event.round) in self.next(state), f"round {event.round} was moderated")
                return replace(state, moderated=event)
            case Spoke():
                check_speech(state, event.speech, due=self.next(state))
                return replace(state, spoken=(*state.spoken, event))
            case Compared():
                require_due(Compare(event.round) in self.next(state), f"round {event.round} is whole")
                return replace(state, rounds=(*state.rounds, state.held(event)), moderated=None, spoken=())
            case Synthesised() | SynthesisFailed():
                require_due(Synthesise(len(state.rounds)) in self.next(state), "it was synthesised")
                if isinstance(event, SynthesisFailed):
                    return replace(state, failed=event)
                check_synthesis(state, event)
                return replace(state, synthesised=event)
        return state

    def next(self, state: DebateState) -> Sequence[Hashable]:
        """The moderator, then every participant of the round that has not spoken, then what is made of them."""
        if state.failed:
            return [GiveUp(state.failed.why, "the rounds are on record; another model is set in [roles.architect]")]
        if state.rounds and state.rounds[-1].final:
            return [Synthesise(len(state.rounds))] if state.debate.parent and not state.synthesised else []
        if state.debate.moderator and state.rounds and not state.moderated:
            return [Moderate(state.number)]
        spoken = {each.speech.seat for each in state.spoken}
        if missing := [Speak(state.number, seat.id) for seat in state.present if seat.id not in spoken]:
            return missing
        return [silence(state)] if state.silent else [Compare(state.number)]

    def outcome(self, standing: Standing[DebateState]) -> Outcome | None:
        """The verdict of the synthesis or, without one, of the majority."""
        state = standing.own
        if self.next(state):
            return None
        rounds, synthesis = state.rounds, state.synthesised.synthesis if state.synthesised else None
        count = tally(rounds[-1].speeches)
        return Outcome(
            id=_goes_by(standing),
            verdict=synthesis.verdict if synthesis else count.verdict,
            decided_by="synthesis" if synthesis else "majority",
            tally=count,
            rounds=len(rounds),
            converged=any(brought_nothing(each) for each in rounds if each.number < state.debate.rounds),
            synthesis=synthesis,
            usage=standing.usage,
            seconds=round(sum(each.seconds for each in rounds) + (synthesis.seconds if synthesis else 0), 4),
        )

    def record(self, standing: Standing[DebateState]) -> DebateRecord:
        """All that is kept of a debate: its whole rounds, and one in which everybody failed."""
        state = standing.own
        return DebateRecord(
            debate=state.debate.model_copy(update={"id": _goes_by(standing)}),
            rounds=(*state.rounds, state.held()) if state.spoken and state.silent else state.rounds,
            outcome=self.outcome(standing),
            failed=standing.why if standing.status == "failed" else "",
        )

    def views(self, standing: Standing[DebateState]) -> Mapping[str, str]:
        """The outcome."""
        outcome = self.outcome(standing)
        return {RESULT: f"{outcome.model_dump_json(indent=1)}\n"} if outcome else {}

    def measures(self, standing: Standing[DebateState]) -> Mapping[str, float | bool | int]:
        """Whether it ended early, after how many rounds, and whether all agreed."""
        outcome = self.outcome(standing)
        if outcome is None:
            return {}
        agreed = float(outcome.tally.unanimous)
        return {"converged": outcome.converged, "rounds": outcome.rounds, "score": agreed}

    # --- what is told ---

    def row(self, standing: Standing[DebateState]) -> dict[str, str]:
        """When it began, for people too; its verdict, and the question."""
        record, began = self.record(standing), f"{standing.created_at[:19].replace('T', ' ')} UTC"
        status = record.outcome.verdict if record.outcome else "failed" if record.failed else "open"
        return {"id": record.debate.id, "began": began, "status": status, "question": record.debate.question}

    def damaged(self, id: str, began: str, why: str) -> dict[str, str]:  # noqa: A002, ARG002 - as of the rules
        """What is damaged stands in the place of the question."""
        return {"id": id, "began": _named_after(id), "status": "damaged", "question": why}

    def title(self, state: DebateState) -> str:
        """The question."""
        return state.debate.question

    def who(self, state: DebateState) -> tuple[str, ...]:
        """The participants."""
        return tuple(seat.id for seat in state.debate.seats)

    def most(self, state: DebateState) -> int:
        """How many rounds there may be."""
        return state.debate.rounds

    def summary(self, standing: Standing[DebateState]) -> str:
        """`APPROVE, 2 for, 1 against`."""
        outcome = self.outcome(standing)
        return f"{outcome.verdict}, {in_words(outcome.tally)}" if outcome else ""

    def progress_of_steps(self, steps: Sequence[Hashable], state: DebateState) -> Iterable[CouncilEvent]:
        """A round."""
        if any(isinstance(each, Speak) for each in steps):
            common = {"pattern": self.name, "id": state.debate.id, "number": state.number, "most": state.debate.rounds}
            yield stream.RoundStarted(**common, title="the vote" if state.final else "")

    def progress_of_event(
        self, event: Frozen, before: Standing[DebateState], after: Standing[DebateState]
    ) -> Iterable[CouncilEvent]:
        """Progress events of a participant, the moderator, the architect, and of a complete round."""
        common = {"pattern": self.name, "id": after.id, "number": before.own.number, "step": ""}
        match event:
            case Spoke(speech=speech):
                details = {"who": speech.seat, "what": _spoke(speech), "failed": speech.failed, "usage": speech.usage}
                yield stream.Contributed(**common, **details)
            case Moderated(round=number, moderation=given):
                kind = "notice" if given.failed else "event"
                text = f"round {number}: the moderator {_moderated(given)}"
                yield stream.Notice(pattern=self.name, id=after.id, kind=kind, text=text, usage=given.usage)
            case Compared(round=number):
                what = _round_summary(after.own.rounds[-1])
                yield stream.RoundCompleted(pattern=self.name, id=after.id, number=number, what=what)
            case Synthesised(synthesis=made) if made:
                weighed = {"pattern": self.name, "id": after.id, "number": 0, "step": "the synthesis"}
                yield stream.Contributed(**weighed, who="", what=made.verdict, usage=made.usage)


RULES = DebateRules()
"""Reads records of debates."""


def _spoke(speech: Speech) -> str:
    if speech.ballot:
        return f"votes {speech.ballot.vote} ({speech.ballot.confidence:.0%} sure)"
    return "" if speech.failed else f"spoke ({len(speech.claims)} claims)"


def _moderated(given: Moderation) -> str:
    if given.failed:
        return f"failed, the order stays: {given.failed}"
    asked = f"; asks {', '.join(given.questions)}" if given.questions else ""
    cut = f"; cuts {', '.join(given.cut)}" if given.cut else ""
    return f"has {', '.join(given.order) or 'no order of its own'}{asked}{cut}"


def _round_summary(held: Round) -> str:
    if held.final:
        return ""
    new = sum(each.new for each in held.novelty)
    told = "; nothing new, so to the vote" if held.converged else ""
    return f"{new} of {len(held.novelty)} claims are new{told}"


def _goes_by(standing: Standing[DebateState]) -> str:
    """The id that users know it by: that of its dispatch, where it is the debate of one."""
    part = standing.own.debate.about == DISPATCH and standing.id == f"{standing.part_of}.{PART}"
    return standing.part_of if part else standing.id


def _named_after(name: str) -> str:
    """When a debate began whose record is damaged, as its id says; empty: it does not."""
    with suppress(ValueError):
        return f"{datetime.strptime(f'{name[:15]}+0000', '%Y%m%d-%H%M%S%z'):%Y-%m-%d %H:%M:%S} UTC"
    return ""

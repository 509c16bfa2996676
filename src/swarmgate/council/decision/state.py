"""State of a decision: the steps that are due, what each event changes, and the outcome.

Contributions are blind within a round: all that are missing are due at once, the synthesis is due behind the last one.
It ends on consensus, where two rounds are the same, or after the last round. When the time of the session is up it is
paused, and can go on later.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, TypeVar

from swarmgate.council.decision.model import (
    Contribution,
    Decision,
    DecisionOutcome,
    DecisionRound,
    DecisionSeat,
    Ended,
    Prepared,
    Proposal,
    Spoke,
    Synthesised,
)
from swarmgate.council.decision.tally import converged, count
from swarmgate.council.records.lifecycle import Resumed, Standing, TimeUp
from swarmgate.domain.base import Frozen
from swarmgate.domain.review.votes import message_id
from swarmgate.domain.usage import Usage
from swarmgate.errors import IllegalMove

PREPARE: Literal["prepare"] = "prepare"
CONTRIBUTE: Literal["contribute"] = "contribute"
FACILITATE: Literal["facilitate"] = "facilitate"

TIME_IS_UP = "the time of the whole decision was up"

F = TypeVar("F", bound=Frozen)


class Step(NamedTuple):
    """What one participant is to do in a round."""

    kind: Literal["prepare", "contribute", "facilitate"]
    round: int
    who: str


@dataclass(frozen=True)
class State:
    """How far a decision is.

    Attributes:
        decision: what is decided.
        rounds: the whole ones.
        round_events: all events of the round at work, those too of participants that were asked in vain.
        contributions: those of the round at work, by participant.
        ready: what participants speak from, by participant.
        quiet: whether no event came since this round, or this session, began.
        late: whether the time of the session is up.
    """

    decision: Decision
    rounds: tuple[DecisionRound, ...] = ()
    round_events: tuple[Spoke | Prepared, ...] = ()
    contributions: Mapping[str, Contribution] = field(default_factory=dict)
    ready: Mapping[str, Prepared] = field(default_factory=dict)
    quiet: bool = True
    late: bool = False

    @property
    def number(self) -> int:
        """Of the round at work."""
        return len(self.rounds) + 1

    @property
    def missing(self) -> tuple[DecisionSeat, ...]:
        """Who has not contributed to the round at work."""
        return tuple(each for each in self.decision.participants if each.id not in self.contributions)

    @property
    def people_missing(self) -> tuple[str, ...]:
        """The people among those, without whom it never ends."""
        return tuple(each.id for each in self.missing if each.human)

    @property
    def silent(self) -> bool:
        """Whether no contribution of the current round counts."""
        return all(each.excluded for each in self.contributions.values())

    @property
    def ended(self) -> Ended | None:
        """Why there is no further round; None: there is one."""
        return ended(self.decision, self.rounds)


def due(state: State) -> tuple[Step, ...]:
    """The steps that are due now."""
    if state.late or state.ended:
        return ()
    number = state.number
    voices = [each for each in state.missing if not each.human]
    now = voices or state.missing[:1]  # people come last, one after the other
    waiting = tuple(Step(PREPARE if _unready(state, each) else CONTRIBUTE, number, each.id) for each in now)
    return waiting or (Step(FACILITATE, number, state.decision.facilitator),)


def applied(state: State, event: Frozen) -> State:
    """The state after one more event.

    Raises:
        IllegalMove: its step was not due.
    """
    match event:
        case Resumed():  # who was asked in vain is asked anew
            contributions = {who: each for who, each in state.contributions.items() if not each.excluded}
            return replace(state, contributions=contributions, quiet=True, late=False)
        case TimeUp():
            late = replace(state, late=True)
            spoken = not state.missing and not state.silent
            return _closed(late, Proposal(failed=TIME_IS_UP, author=state.decision.facilitator)) if spoken else late
        case Spoke():
            return _contributed(_with_event(state, CONTRIBUTE, event), event, event.excluded)
        case Prepared() if event.failed:
            return _contributed(_with_event(state, PREPARE, event), event, f"its preparation failed: {event.failed}")
        case Prepared():
            return replace(_with_event(state, PREPARE, event), ready={**state.ready, event.participant: event})
        case Synthesised():
            _check_due(state, Step(FACILITATE, event.round, state.decision.facilitator))
            return _closed(state, _part(Proposal, event))
        case _:
            raise IllegalMove(f"{type(event).__name__} is no event of a decision.")


def held(state: State) -> DecisionRound:
    """The round at work, all of whose contributions are there, before its synthesis."""
    contributions = tuple(state.contributions[each.id] for each in state.decision.participants)
    counted = count(state.decision, contributions)
    before = state.rounds[-1] if state.rounds else None
    return DecisionRound(
        number=state.number,
        proposal=proposal_after(state.rounds, question=state.decision.question),
        contributions=contributions,
        count=counted,
        converged=before is not None and not counted.consensus and converged(state.decision, before, contributions),
        started_at=state.round_events[0].started_at,
        seconds=max(sum(each.seconds for each in _of(state, who)) for who in state.contributions),
    )


def prepared_so_far(state: State, participant: str) -> Usage:
    """What is counted already of what a participant prepares."""
    rounds = (each.preparing for past in state.rounds for each in past.contributions if each.participant == participant)
    return sum(rounds, _preparing(state, participant))


def proposal_after(rounds: Sequence[DecisionRound], *, question: str = "") -> str:
    """The newest proposal; `question` where there is none yet."""
    made = [each.synthesis.text for each in rounds if each.synthesis and each.synthesis.text]
    return made[-1] if made else (rounds[-1].proposal if rounds else question)


def ended(decision: Decision, rounds: Sequence[DecisionRound]) -> Ended | None:
    """Why there is no further round after these; None: there is one."""
    if not rounds:
        return None
    if rounds[-1].count.consensus:
        return "consensus"
    if rounds[-1].converged:
        return "convergence"
    return "rounds" if len(rounds) >= decision.rounds else None


def outcome_of(standing: Standing[State]) -> DecisionOutcome | None:
    """The outcome, with or without consensus; None: it is running, or was interrupted."""
    if not (standing.over or standing.status == "paused"):
        return None
    state = standing.own
    last = state.rounds[-1] if state.rounds else None
    made = last.synthesis if last and last.synthesis else Proposal()
    agreed = last is not None and last.count.consensus
    choice = last.count.choice if last else ""
    held_on = last.proposal if last else ""
    return DecisionOutcome(
        id=standing.id,
        consensus=agreed,
        ended_by=state.ended or ("waiting" if state.people_missing or not state.late else "timeout"),
        strategy=state.decision.strategy,
        decided=(made.text or choice or held_on) if agreed else "",
        proposed=made.text,
        choice=choice,
        score=last.count.score if last else 0.0,
        bar=state.decision.bar,
        rounds=len(state.rounds),
        count=last.count if last else None,
        open_points=made.open_points,
        excluded={each.participant: each.excluded for each in last.contributions if each.excluded} if last else {},
        usage=standing.usage,
        seconds=standing.seconds,
    )


# --- inside ---


def _unready(state: State, seat: DecisionSeat) -> bool:
    return bool(seat.discussion or seat.critique) and seat.id not in state.ready


def _with_event(state: State, kind: Literal["prepare", "contribute"], event: Spoke | Prepared) -> State:
    _check_due(state, Step(kind, event.round, event.participant))
    return replace(state, round_events=(*state.round_events, event), quiet=False)


def _check_due(state: State, step: Step) -> None:
    if step not in due(state):
        raise IllegalMove(f"{step.who} was not to {step.kind} in round {step.round}.")


def _contributed(state: State, event: Spoke | Prepared, excluded: str) -> State:
    """What a participant said, or why it does not count, with all that it took in this round."""
    who = event.participant
    place = next(at for at, each in enumerate(state.decision.participants, start=1) if each.id == who)
    contribution = _part(
        Contribution,
        event,
        id=message_id(event.round, place),
        excluded=excluded,
        usage=sum((each.usage for each in _of(state, who)), Usage()),
        preparing=_preparing(state, who),
    )
    return replace(state, contributions={**state.contributions, who: contribution})


def _closed(state: State, made: Proposal) -> State:
    """The state after a whole round."""
    whole = held(state)
    whole = whole.model_copy(update={"synthesis": made, "seconds": round(whole.seconds + made.seconds, 4)})
    return replace(state, rounds=(*state.rounds, whole), round_events=(), contributions={}, quiet=True)


def _of(state: State, participant: str) -> list[Spoke | Prepared]:
    return [each for each in state.round_events if each.participant == participant]


def _preparing(state: State, participant: str) -> Usage:
    return sum((each.usage for each in _of(state, participant) if isinstance(each, Prepared)), Usage())


def _part(kind: type[F], event: Frozen, **more: Any) -> F:
    """What the fields of an event and some more make."""
    fields = {name: getattr(event, name) for name in kind.model_fields if hasattr(event, name)}
    return kind.model_validate({**fields, **more})

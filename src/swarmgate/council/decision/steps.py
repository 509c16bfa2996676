"""Decisions: what each step of one asks and does, and all of the pattern."""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import cast

from swarmgate.agents.brief import cut, one_line
from swarmgate.agents.desk import Desk
from swarmgate.council.asking import ask, bounded
from swarmgate.council.context import CouncilContext
from swarmgate.council.decision import preparing, rules, view
from swarmgate.council.decision.answers import MOST_TEXT, Said, proposal, said
from swarmgate.council.decision.brief import (
    check_windows,
    contribution_brief,
    facilitation_brief,
    facilitator_of,
    prompt_tokens,
    voice_of,
)
from swarmgate.council.decision.model import (
    Decision,
    DecisionOutcome,
    DecisionRound,
    DecisionSeat,
    Prepared,
    Spoke,
    Synthesised,
)
from swarmgate.council.decision.request import check
from swarmgate.council.decision.rules import FACILITATE, PREPARE, State, Step
from swarmgate.council.events import CouncilEvent
from swarmgate.council.lifecycle import Standing
from swarmgate.council.pattern import Pattern, Where
from swarmgate.domain.base import Frozen
from swarmgate.domain.debate import Seat, message_id
from swarmgate.errors import ConfigError, CouncilFailed, CouncilRefused, MissingRequirement, ModelError

_TITLE = 200


class Deciding(Pattern[Decision, State, DecisionOutcome]):
    """Several decide on a question, in rounds, to a consensus or honestly to none."""

    name, verb = "decision", "decide"
    request, events, milestones = Decision, (Spoke, Prepared, Synthesised), (Synthesised,)

    # --- pure ---

    def begin(self, request: Decision) -> State:
        """Nobody has said anything."""
        return State(request)

    def apply(self, state: State, event: Frozen) -> State:
        """As `rules.applied`."""
        return rules.applied(state, event)

    def next(self, state: State) -> Sequence[Step]:
        """All contributions that are missing in a round, then its synthesis."""
        return rules.due(state)

    def over(self, state: State) -> bool:
        """Whether there is no further round."""
        return state.ended is not None

    def pause(self, _state: State) -> str:
        """The time of the session was up."""
        return rules.TIME_IS_UP

    def flawless(self, state: State) -> bool:
        """Whether everybody counted in every round, and the facilitator too."""
        return rules.flawless(state)

    def session_s(self, state: State) -> float:
        """As the request says."""
        return state.decision.whole_s

    def outcome(self, standing: Standing[State]) -> DecisionOutcome | None:
        """The consensus, or that there is none; so far, where the time was up."""
        return rules.outcome_of(standing)

    def measures(self, standing: Standing[State]) -> Mapping[str, float | bool]:
        """How many rounds, whether it ended by itself, and the score of the last round."""
        return view.measures(standing)

    # --- what people see ---

    def views(self, standing: Standing[State]) -> Mapping[str, str]:
        """The outcome for programs and for people."""
        return view.views(standing)

    def title(self, state: State) -> str:
        """The question."""
        return cut(one_line(state.decision.question), _TITLE, "...")

    def who(self, state: State) -> tuple[str, ...]:
        """The participants."""
        return tuple(each.id for each in state.decision.participants)

    def most(self, state: State) -> int:
        """As the request says."""
        return state.decision.rounds

    def summary(self, standing: Standing[State]) -> str:
        """Whether there is a consensus."""
        return view.summary(standing)

    def begins(self, steps: Sequence[Hashable], state: State) -> Iterable[CouncilEvent]:
        """A round, and who is asked."""
        return view.begins(cast("Sequence[Step]", steps), state)

    def tells(self, event: Frozen, before: Standing[State], after: Standing[State]) -> Iterable[CouncilEvent]:
        """Each contribution, each whole round, and how it ends."""
        yield from view.tells(event, before, after)
        yield from super().tells(event, before, after)

    # --- steps ---

    def check(self, request: Decision, context: CouncilContext, where: Where) -> None:
        """Insists that everybody has a model, and can read what it is about."""
        check(request)
        preparing.check_ids(request, context.records)
        desks = {}
        for at, seat in enumerate(request.participants):
            desks[f"participant {seat.id}"] = _named(
                context, request, voice_of(seat), where(("participants", at, "model"))
            )
        chair = facilitator_of(request)
        desks[f"the facilitator {chair.id}"] = _named(context, request, chair, where(("facilitator",)))
        check_windows(request, desks.items())

    def needs(self, request: Decision, context: CouncilContext) -> int:
        """The prompts of round 1."""
        return prompt_tokens(request, context.voices)

    async def do(self, step: Hashable, state: State, context: CouncilContext) -> Sequence[Frozen]:
        """One preparation, contribution or synthesis.

        Raises:
            CouncilFailed: nobody said anything that counts in a round; taken up again, it is asked anew.
            BudgetExhausted, Stopped, MissingRequirement: as they come.
        """
        kind, number, who = cast("Step", step)
        if kind == FACILITATE:
            return [await _synthesised(state, context)]
        seat = next(each for each in state.decision.participants if each.id == who)
        doing = _prepared if kind == PREPARE else _spoke
        return [await doing(seat, number, state, context)]


DECISION = Deciding()


# --- inside ---


async def _prepared(seat: DecisionSeat, number: int, state: State, context: CouncilContext) -> Prepared:
    """What a participant speaks from, or why there is none. A model that fails excludes it from the round."""
    began, started_at = time.perf_counter(), _now()
    name, text, failed = preparing.record_id(state.decision, seat), "", ""
    try:
        text = await preparing.prepared(seat, state.decision, context)
    except ModelError as error:
        name, failed = "", error.message
    used = preparing.used(seat, state.decision, context) - rules.prepared_so_far(state, seat.id)
    return Prepared(
        round=number,
        participant=seat.id,
        prepared=name,
        text=text,
        failed=failed,
        usage=used,
        seconds=round(time.perf_counter() - began, 4),
        started_at=started_at,
    )


async def _spoke(seat: DecisionSeat, number: int, state: State, context: CouncilContext) -> Spoke:
    decision, started_at = state.decision, _now()
    desk, ready = _desk(context, decision, voice_of(seat)), state.ready.get(seat.id)
    brief = contribution_brief(decision, seat, desk, state.rounds, prepared=ready.text if ready else "")
    heard = await ask(desk, brief, read=lambda text: (text, said(text, decision, seat)))
    text, typed = heard.value or ("", Said())
    return Spoke(
        id=message_id(number, decision.participants.index(seat) + 1),
        round=number,
        participant=seat.id,
        text=cut(text, MOST_TEXT, " ..."),
        agreement=typed.agreement,
        stand=typed.stand,
        approves=typed.approves,
        ranking=typed.ranking,
        excluded=heard.failed,
        prepared=ready.prepared if ready else "",
        started_at=started_at,
        **heard.took,
    )


async def _synthesised(state: State, context: CouncilContext) -> Synthesised:
    """What the facilitator makes of a round; it fails alone, and never takes the round with it.

    Raises:
        CouncilFailed: there is nothing to make anything of.
    """
    held = rules.held(state)
    if state.silent:
        raise _silence(held)
    decision, seat = state.decision, facilitator_of(state.decision)
    desk = _desk(context, decision, seat)
    last = rules.ended(decision, (*state.rounds, held)) is not None
    heard = await ask(desk, facilitation_brief(decision, desk, state.rounds, held, last=last), read=proposal)
    text, points = heard.value or ("", ())
    return Synthesised(
        round=held.number, text=text, open_points=points, failed=heard.failed, author=seat.id, **heard.took
    )


def _silence(held: DecisionRound) -> CouncilFailed:
    """The error of a round in which nobody said anything that counts."""
    why = "; ".join(dict.fromkeys(each.excluded for each in held.contributions))
    return CouncilFailed(
        f"all {len(held.contributions)} participants failed in round {held.number}: {why}",
        hint="look at the models of the participants, their exchanges are in .swarm/traces/; taken up again, the "
        "decision asks this round anew",
    )


def _desk(context: CouncilContext, decision: Decision, seat: Seat) -> Desk:
    """The desk of a voice under the bounds of one step."""
    return bounded(context.voices.desk(seat), tokens=decision.tokens, timeout_s=decision.timeout_s)


def _named(context: CouncilContext, decision: Decision, seat: Seat, begins: str) -> Desk:
    """The same; what a voice lacks is told with its name, behind `begins`."""
    try:
        return _desk(context, decision, seat)
    except (ConfigError, CouncilRefused, MissingRequirement) as error:
        raise type(error)(f"{begins}{seat.id}: {error.message}", hint=error.hint) from error


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")

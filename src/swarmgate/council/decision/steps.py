"""Executes the steps of a decision: preparation, contributions, synthesis."""

from __future__ import annotations

import time
from collections.abc import Hashable, Sequence
from datetime import UTC, datetime
from typing import cast

from swarmgate.agents.briefs.brief import cut
from swarmgate.agents.context import AgentContext
from swarmgate.council.context import CouncilContext
from swarmgate.council.decision import preparation
from swarmgate.council.decision.answers import PROPOSAL, TypedAnswer, form_of
from swarmgate.council.decision.brief import (
    as_participant,
    check_windows,
    contribution_brief,
    facilitation_brief,
    facilitator_of,
    prompt_tokens,
    voices_of,
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
from swarmgate.council.decision.rules import DecisionRules
from swarmgate.council.decision.state import FACILITATE, PREPARE, State, Step, ended, held, prepared_so_far
from swarmgate.council.decision.user_choices import counted
from swarmgate.council.limits import MOST_TEXT
from swarmgate.council.participants.question import ask, bounded
from swarmgate.council.pattern import Pattern, Where
from swarmgate.domain.base import Frozen
from swarmgate.domain.review.votes import Seat, message_id
from swarmgate.errors import ConfigError, CouncilFailed, CouncilRefused, MissingRequirement, ModelError


class Deciding(DecisionRules, Pattern[Decision, State, DecisionOutcome]):
    """Decisions, with what their steps ask and do."""

    def check(self, request: Decision, context: CouncilContext, where: Where) -> None:
        """Insists that everybody has a model, and can read what it is about."""
        check(request)
        preparation.check_ids(request, context.records)
        agents = []
        for seat, place in voices_of(request):
            name = f"participant {seat.id}" if "model" in place else f"the facilitator {seat.id}"
            agents.append((name, _named(context, request, seat, where(place))))
        check_windows(request, agents)

    def needs(self, request: Decision, context: CouncilContext) -> int:
        """The prompts of round 1."""
        return prompt_tokens(request, context.contexts)

    async def do(self, step: Hashable, state: State, context: CouncilContext) -> Sequence[Frozen]:
        """One preparation, contribution or synthesis.

        Raises:
            CouncilFailed: nobody said anything that counts in a round; taken up again, it is asked anew.
            WaitingForUser: a person is to speak, and nobody is there.
            BudgetExhausted, Stopped, MissingRequirement: as they come.
        """
        kind, number, who = cast("Step", step)
        if kind == FACILITATE:
            return [await _synthesised(state, context)]
        seat = next(each for each in state.decision.participants if each.id == who)
        doing = _asked if seat.human else _prepared if kind == PREPARE else _spoke
        return [await doing(seat, number, state, context)]


DECISION = Deciding()


# --- inside ---


async def _prepared(seat: DecisionSeat, number: int, state: State, context: CouncilContext) -> Prepared:
    """What a participant speaks from, or why there is none. A model that fails excludes it from the round."""
    began, started_at = time.perf_counter(), _now()
    name, text, failed = preparation.record_id(state.decision, seat), "", ""
    try:
        text = await preparation.prepared(seat, state.decision, context)
    except ModelError as error:
        name, failed = "", error.message
    used = preparation.used(seat, state.decision, context) - prepared_so_far(state, seat.id)
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


async def _asked(seat: DecisionSeat, number: int, state: State, context: CouncilContext) -> Spoke:
    """What a person says.

    Raises:
        WaitingForUser: nobody is there.
        CouncilRefused: it is no vote.
    """
    began, started_at, decision = time.perf_counter(), _now(), state.decision
    own = cast("preparation.Preparation", context.own)
    vote = await own.people.vote(decision, seat, state.rounds)
    typed = counted(vote, decision)
    return Spoke(
        id=message_id(number, decision.participants.index(seat) + 1),
        round=number,
        participant=seat.id,
        text=vote.reason,
        agreement=typed.agreement,
        stand=typed.stand,
        approves=typed.approves,
        ranking=typed.ranking,
        seconds=round(time.perf_counter() - began, 4),
        started_at=started_at,
    )


async def _spoke(seat: DecisionSeat, number: int, state: State, context: CouncilContext) -> Spoke:
    decision, started_at = state.decision, _now()
    agent, ready = _agent(context, decision, as_participant(seat)), state.ready.get(seat.id)
    brief = contribution_brief(decision, seat, agent, state.rounds, prepared=ready.text if ready else "")
    result = await ask(agent, brief, read=form_of(decision, seat))
    text, typed = result.value or ("", TypedAnswer())
    return Spoke(
        id=message_id(number, decision.participants.index(seat) + 1),
        round=number,
        participant=seat.id,
        text=cut(text, MOST_TEXT, " ..."),
        agreement=typed.agreement,
        stand=typed.stand,
        approves=typed.approves,
        ranking=typed.ranking,
        excluded=result.failed,
        prepared=ready.prepared if ready else "",
        started_at=started_at,
        **result.took,
    )


async def _synthesised(state: State, context: CouncilContext) -> Synthesised:
    """What the facilitator makes of a round; it fails alone, and never takes the round with it.

    Raises:
        CouncilFailed: there is nothing to make anything of.
    """
    round_ = held(state)
    if state.silent:
        raise _silence(round_)
    decision, seat = state.decision, facilitator_of(state.decision)
    agent = _agent(context, decision, seat)
    last = ended(decision, (*state.rounds, round_)) is not None
    result = await ask(agent, facilitation_brief(decision, agent, state.rounds, round_, last=last), read=PROPOSAL)
    text, points = result.value or ("", ())
    return Synthesised(
        round=round_.number, text=text, open_points=points, failed=result.failed, author=seat.id, **result.took
    )


def _silence(held: DecisionRound) -> CouncilFailed:
    """The error of a round in which nobody said anything that counts."""
    why = "; ".join(dict.fromkeys(each.excluded for each in held.contributions))
    return CouncilFailed(
        f"all {len(held.contributions)} participants failed in round {held.number}: {why}",
        hint="look at the models of the participants, their exchanges are in .swarm/traces/; taken up again, the "
        "decision asks this round anew",
    )


def _agent(context: CouncilContext, decision: Decision, seat: Seat) -> AgentContext:
    """The agent context of a participant under the bounds of one step."""
    return bounded(context.contexts.agent(seat), tokens=decision.tokens, timeout_s=decision.timeout_s)


def _named(context: CouncilContext, decision: Decision, seat: Seat, begins: str) -> AgentContext:
    """The same; what a participant lacks is told with its name, behind `begins`."""
    try:
        return _agent(context, decision, seat)
    except (ConfigError, CouncilRefused, MissingRequirement) as error:
        raise type(error)(f"{begins}{seat.id}: {error.message}", hint=error.hint) from error


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")

"""Rules of the decision pattern: the fold of its record, the steps that are due, and its outcome."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, cast

from swarmgate.agents.briefs.brief import cut, one_line
from swarmgate.council.decision import view
from swarmgate.council.decision.model import Decision, DecisionOutcome, DecisionSummary, Prepared, Spoke, Synthesised
from swarmgate.council.decision.state import TIME_IS_UP, State, Step, applied, due, outcome_of
from swarmgate.council.records.lifecycle import Standing, Status
from swarmgate.council.records.rules import Rules
from swarmgate.council.views.events import CouncilEvent
from swarmgate.domain.base import Frozen
from swarmgate.errors import SwarmError, WaitingForUser

_TITLE = 200


class DecisionRules(Rules[Decision, State, DecisionOutcome]):
    """Several decide on a question, in rounds, to a consensus or honestly to none."""

    name, verb = "decision", "decide"
    request, events, milestones = Decision, (Spoke, Prepared, Synthesised), (Synthesised,)

    def begin(self, request: Decision) -> State:
        """The state before the first contribution."""
        return State(request)

    def apply(self, state: State, event: Frozen) -> State:
        """The state after one more event; on resume failed participants are asked again."""
        return applied(state, event)

    def next(self, state: State) -> Sequence[Step]:
        """All contributions that are missing in a round, then its synthesis."""
        return due(state)

    def over(self, state: State) -> bool:
        """Whether there is no further round."""
        return state.ended is not None

    def pause(self, _state: State) -> str:
        """The time of the session was up."""
        return TIME_IS_UP

    def status_after(self, error: SwarmError, standing: Standing[State]) -> Status:
        """One that waits for a person is paused."""
        return "paused" if isinstance(error, WaitingForUser) else super().status_after(error, standing)

    def progress_of_error(self, error: SwarmError, standing: Standing[State]) -> Iterable[CouncilEvent]:
        """Nothing where a person is waited for: that is no error."""
        return () if isinstance(error, WaitingForUser) else super().progress_of_error(error, standing)

    def is_of_person(self, event: Frozen, state: State) -> bool:
        """Whether it is the contribution of a human seat."""
        people = {each.id for each in state.decision.participants if each.human}
        return isinstance(event, Spoke) and event.participant in people

    def flawless(self, state: State) -> bool:
        """Whether everybody counted in every round, and the facilitator too."""
        spoke = (each.excluded for past in state.rounds for each in past.contributions)
        return not any(spoke) and not any(past.synthesis and past.synthesis.failed for past in state.rounds)

    def session_s(self, state: State) -> float:
        """As the request says."""
        return state.decision.whole_s

    def outcome(self, standing: Standing[State]) -> DecisionOutcome | None:
        """The consensus, or that there is none; so far, where the time was up."""
        return outcome_of(standing)

    def measures(self, standing: Standing[State]) -> Mapping[str, float | bool]:
        """How many rounds, whether it ended by itself, and the score of the last round."""
        state = standing.own
        score = state.rounds[-1].count.score if state.rounds else 0.0
        early = state.ended in ("consensus", "convergence")
        return {"rounds": len(state.rounds), "converged": early, "score": score}

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

    def row(self, standing: Standing[State]) -> DecisionSummary:
        """Whether there is a consensus, by which strategy, on what."""
        return view.summary_of(standing)

    def damaged(self, id: str, began: str, why: str) -> DecisionSummary:  # noqa: A002 - the field's name
        """What is damaged stands in the place of the question."""
        return DecisionSummary(id=id, began=began, status="damaged", strategy="", question=why)

    def data(self, standing: Standing[State]) -> dict[str, Any]:
        """The record."""
        record = view.record_of(standing)
        return {"id": standing.id, "status": record.status, **record.model_dump(mode="json")}

    def lines(self, standing: Standing[State]) -> list[str]:
        """Round by round."""
        return view.record_lines(view.record_of(standing))

    def progress_of_steps(self, steps: Sequence[Hashable], state: State) -> Iterable[CouncilEvent]:
        """A round, and who is asked."""
        return view.progress_of_steps(cast("Sequence[Step]", steps), state)

    def progress_of_event(
        self, event: Frozen, before: Standing[State], after: Standing[State]
    ) -> Iterable[CouncilEvent]:
        """Each contribution, each whole round, and how it ends."""
        yield from view.progress_of_event(event, before, after)
        yield from super().progress_of_event(event, before, after)


RULES = DecisionRules()

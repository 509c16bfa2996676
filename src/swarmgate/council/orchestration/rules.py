"""Rules of the orchestration pattern: which steps are due, and the results of groups of steps.

A step is whole when every pattern in it has ended, or is not due; the next one begins then. The first that fails stops
all of it, but for one whose failure a later step waits for. What failed is due again when the record is taken up, what
is done is not.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from swarmgate.council.orchestration import view
from swarmgate.council.orchestration.model import MapStep, Orchestration, ParallelStep
from swarmgate.council.orchestration.results import OrchestrationOutcome, OrchestrationRecord, StepResult
from swarmgate.council.orchestration.state import (
    Do,
    Ended,
    State,
    advanced,
    members,
    outcome_of,
    progress_of,
    skip_reason,
    under_way,
)
from swarmgate.council.records.lifecycle import Resumed, Standing, Status, Stopped, TimeUp
from swarmgate.council.records.rules import Rules
from swarmgate.council.views import stream
from swarmgate.council.views.events import CouncilEvent
from swarmgate.domain.base import Frozen
from swarmgate.domain.usage import Usage
from swarmgate.errors import IllegalMove, SwarmError

_SHOWN = 500
"""Characters of an output that an event shows."""

_ITEM = 60
"""Characters of an item behind the name of its part."""


class OrchestrationRules(Rules[Orchestration, State, OrchestrationOutcome]):
    """What the record of an orchestration means."""

    name, verb, request = "orchestration", "orchestrate", Orchestration
    events = (Ended,)
    milestones = (Ended,)
    patient = True

    def begin(self, request: Orchestration) -> State:
        """Nothing was done."""
        return advanced(State(request))

    def apply(self, state: State, event: Frozen) -> State:
        """The state after one more event.

        Raises:
            IllegalMove: it is of a pattern that is not due.
        """
        match event:
            case Resumed():
                done = {key: each for key, each in state.ended.items() if each.status == "done"}
                spent = {key: each.usage for key, each in state.ended.items() if key not in done}
                return advanced(replace(state, ended=done, spent={**state.spent, **spent}, failed=None, begins=True))
            case TimeUp():
                return state
            case Ended(step=name, result=result):
                at = Do(name, result.id, result.part)
                if state.step is None or at not in progress_of(state, state.step)[0]:
                    raise IllegalMove(f"The orchestration {state.asked.id} has no {result.label} to do now.")
                whole = result.model_copy(update={"usage": state.spent.get(at.key, Usage()) + result.usage})
                return advanced(replace(state, ended={**state.ended, at.key: whole}, begins=False))
        raise IllegalMove(f"An orchestration has no {type(event).__name__}.")

    def next(self, state: State) -> Sequence[Hashable]:
        """The patterns of the next step that are due, so many at once as it says."""
        if state.step is None:
            return ()
        due, _ = progress_of(state, state.step)
        return due[: state.step.at_once] if isinstance(state.step, (ParallelStep, MapStep)) else due[:1]

    def over(self, state: State) -> bool:
        """Whether every step is whole."""
        return len(state.steps) == len(state.asked.steps)

    def pause(self, state: State) -> str:
        """The step that failed."""
        return f"the step `{state.failed.id}` failed: {state.failed.why}" if state.failed else ""

    def paused(self, state: State) -> Status:  # noqa: ARG002 - there is one reason
        """A step that fails fails all of it."""
        return "failed"

    def outcome(self, standing: Standing[State]) -> OrchestrationOutcome | None:
        """How it ended, also where a step stopped it."""
        return outcome_of(standing.own)

    def views(self, standing: Standing[State]) -> Mapping[str, str]:
        """`result.json`, once it is over."""
        outcome = self.outcome(standing)
        return {"result.json": f"{outcome.model_dump_json(indent=2)}\n"} if outcome and standing.over else {}

    def measures(self, standing: Standing[State]) -> Mapping[str, float | bool]:
        """Steps."""
        return {"rounds": len(standing.own.steps)} if standing.over else {}

    # --- what is shown ---

    def record(self, standing: Standing[State]) -> OrchestrationRecord:
        """All that is kept of it."""
        return OrchestrationRecord(
            orchestration=standing.own.asked,
            began=standing.created_at,
            status="complete" if standing.over else "failed" if standing.status == "failed" else "open",
            why=standing.why,
            steps=standing.own.steps,
            partial=under_way(standing.own),
            outcome=outcome_of(standing.own) if standing.over else None,
        )

    def row(self, standing: Standing[State]) -> dict[str, str]:
        """How it stands, and how many of its steps are done."""
        asked, done = standing.own.asked, len(standing.own.steps)
        title = asked.title or ", ".join(step.id for step in asked.steps)
        row = {"id": standing.id, "began": standing.created_at, "status": self.record(standing).status}
        return {**row, "steps": f"{done}/{len(asked.steps)}", "title": title}

    def damaged(self, id: str, began: str, why: str) -> dict[str, str]:  # noqa: A002, ARG002 - as of the rules
        """What is damaged stands in the place of the title."""
        return {"id": id, "began": "", "status": "damaged", "steps": "", "title": why}

    def data(self, standing: Standing[State]) -> OrchestrationRecord:
        """The record."""
        return self.record(standing)

    def lines(self, standing: Standing[State]) -> list[str]:
        """Step by step."""
        return view.lines(self.record(standing))

    # --- what the user hears ---

    def title(self, state: State) -> str:
        """That of the description, or its id."""
        return state.asked.title or state.asked.id

    def who(self, state: State) -> tuple[str, ...]:
        """The steps."""
        return tuple(each.id for each in state.asked.steps)

    def most(self, state: State) -> int:
        """Steps."""
        return len(state.asked.steps)

    def summary(self, standing: Standing[State]) -> str:
        """How many steps there were, and failures in them."""
        outcome = self.outcome(standing)
        return f"{len(outcome.steps)} steps, {len(outcome.failures)} failures" if outcome else ""

    def progress_of_steps(self, steps: Sequence[Hashable], state: State) -> Iterator[CouncilEvent]:  # noqa: ARG002 - one step's
        """The step, and of a group all that is in it."""
        if not state.begins or state.step is None:
            return
        yield self._round(state, len(state.steps))
        if isinstance(state.step, (ParallelStep, MapStep)) and not skip_reason(state.step, state.known):
            common = {"pattern": self.name, "id": state.asked.id, "number": len(state.steps) + 1}
            yield stream.StepStarted(**common, step=state.step.id, who=members(state.step))

    def progress_of_event(
        self, event: Frozen, before: Standing[State], after: Standing[State]
    ) -> Iterable[CouncilEvent]:
        """Progress events of a finished pattern, of the steps it completes, and of the whole."""
        common, first = {"pattern": self.name, "id": after.id}, len(before.own.steps)
        if isinstance(event, Ended):
            yield stream.Contributed(**common, number=first + 1, **_contribution(event.result))
            for at, result in enumerate(after.own.steps[first:], start=first):
                if at > first:
                    yield self._round(after.own, at)
                yield stream.RoundCompleted(**common, number=at + 1, what=_what(result))
        if isinstance(event, Stopped) and after.own.failed:
            hint = f"Go on with: {self.resume_command(after.id)}"
            yield stream.Erred(**common, code="STEP_FAILED", why=event.why, hint=hint)
        yield from super().progress_of_event(event, before, after)

    def progress_of_error(self, error: SwarmError, standing: Standing[State]) -> Iterable[CouncilEvent]:  # noqa: ARG002 - no error
        """Nothing: the command ends with that error."""
        return ()

    def _round(self, state: State, at: int) -> CouncilEvent:
        step, most = state.asked.steps[at], len(state.asked.steps)
        title = f"{step.id}, {step.kind}"
        return stream.RoundStarted(pattern=self.name, id=state.asked.id, number=at + 1, most=most, title=title)


RULES = OrchestrationRules()


# --- words ---


def _contribution(result: StepResult) -> dict[str, Any]:
    item = f" ({' '.join(result.item.split())[:_ITEM]})" if result.item else ""
    return {
        "step": result.kind,
        "who": f"{result.label}{item}",
        "what": _fields(result) or result.status,
        "text": result.text[:_SHOWN],
        "failed": result.why if result.status == "failed" else "",
        "usage": result.usage,
    }


def _what(result: StepResult) -> str:
    """What a step comes to, in a few words."""
    fields = _fields(result)
    return f"{result.label} {result.status}{f' ({fields})' if fields else ''}"


def _fields(result: StepResult) -> str:
    """The typed outcomes that say something."""
    told = ((name, str(value).lower() if isinstance(value, bool) else value) for name, value in result.fields.items())
    return ", ".join(f"{name} {value}" for name, value in told if value != "")

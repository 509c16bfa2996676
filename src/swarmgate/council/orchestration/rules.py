"""The rules of an orchestration: what its record means, what is due, how it ended, and what the user hears of it."""

# ruff: noqa: ARG002 - an orchestration looks at less than a pattern may
from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

from swarmgate.council import stream
from swarmgate.council.events import CouncilEvent
from swarmgate.council.lifecycle import Completed, Resumed, Standing, Status, Stopped
from swarmgate.council.orchestration.model import Orchestration
from swarmgate.council.orchestration.results import OrchestrationOutcome, OrchestrationRecord, StepResult
from swarmgate.council.orchestration.state import Key, State, Walk, outcome, taken_up, walked
from swarmgate.council.rules import Rules
from swarmgate.domain.base import Frozen
from swarmgate.domain.usage import Usage
from swarmgate.errors import IllegalMove, SwarmError

RESULT = "result.json"
_SHOWN = 500
"""Characters of an output that an event shows."""

_ITEM = 60
"""Characters of an item behind the name of its part."""


class PatternDone(Frozen):
    """A pattern came to its end, or failed. `usage` is what it used since it was last on record: `result` has all."""

    type: Literal["pattern_done"] = "pattern_done"
    result: StepResult
    usage: Usage = Usage()


class DoPattern(NamedTuple):
    """A pattern is done."""

    key: Key


class OrchestrationRules(Rules[Orchestration, State, OrchestrationOutcome]):
    """What the record of an orchestration means."""

    name, verb, request, events = "orchestration", "orchestrate", Orchestration, (PatternDone,)
    milestones = (PatternDone,)
    patient = True

    def begin(self, request: Orchestration) -> State:
        """With nothing done."""
        return State(request)

    def apply(self, state: State, event: Frozen) -> State:
        """The state after one more pattern, or as a process takes it up.

        Raises:
            IllegalMove: that pattern is not due.
        """
        match event:
            case Resumed():
                return taken_up(state)
            case PatternDone(result=result):
                key = Key(result.id, result.part)
                if DoPattern(key) not in self.next(state):
                    raise IllegalMove(f"The step {key} of the orchestration {state.asked.id} is not due.")
                return replace(state, ended=state.ended.set(key, result), used=state.used.set(key, result.usage))
        return state

    def next(self, state: State) -> Sequence[Hashable]:
        """The patterns of the first step that is not over; of a group so many at once."""
        return tuple(DoPattern(due.key) for due in walked(state).due)

    def over(self, state: State) -> bool:
        """Whether no step stopped it."""
        return not walked(state).failed

    def pause(self, state: State) -> str:
        """Which step stopped it, and why."""
        walk = walked(state)
        return f"the step `{walk.failed}` failed: {walk.at_work.why}" if walk.failed and walk.at_work else ""

    def paused(self, state: State) -> Status:
        """A step that fails stops it; it is tried again on resume."""
        return "failed"

    def outcome(self, standing: Standing[State]) -> OrchestrationOutcome | None:
        """How it ended, or which step stopped it."""
        walk = walked(standing.own)
        return outcome(standing.own, walk) if standing.over or walk.failed else None

    def measures(self, standing: Standing[State]) -> Mapping[str, object]:
        """How many steps it had."""
        return {"rounds": len(standing.own.asked.steps)}

    def views(self, standing: Standing[State]) -> Mapping[str, str]:
        """How it ended, once it is over."""
        ended = self.outcome(standing) if standing.over else None
        return {RESULT: ended.model_dump_json(indent=2) + "\n"} if ended else {}

    def title(self, state: State) -> str:
        """Its title, or its id."""
        return state.asked.title or state.asked.id

    def who(self, state: State) -> tuple[str, ...]:
        """Its steps."""
        return tuple(step.id for step in state.asked.steps)

    def most(self, state: State) -> int:
        """How many steps it has."""
        return len(state.asked.steps)

    def tells(self, event: Frozen, before: Standing[State], after: Standing[State]) -> Iterable[CouncilEvent]:
        """Which steps begin, what patterns come to, and which steps are over."""
        told = {"pattern": self.name, "id": after.id}
        walk = walked(after.own)
        match event:
            case Resumed():
                state, resumed = after.own, bool(walk.done)
                title = {"title": self.title(state), "who": self.who(state), "most": self.most(state)}
                yield stream.Started(**told, **title, resumed=resumed)
                yield from self._begins(after.own, walk, len(walk.done))
            case PatternDone(result=result):
                number = len(walked(before.own).done)
                yield stream.Contributed(**told, number=number + 1, **_contribution(result))
                for at in range(number, len(walk.done)):
                    if at > number:
                        yield from self._begins(after.own, walk, at)
                    yield stream.RoundCompleted(**told, number=at + 1, what=_what(walk.done[at]))
                if number < len(walk.done):
                    yield from self._begins(after.own, walk, len(walk.done))
            case Stopped() if walk.failed:
                hint = f"Go on with: {self.goes_on(after.id)}"
                yield stream.Erred(**told, code="STEP_FAILED", why=self.pause(after.own), hint=hint)
            case Completed():
                ended = outcome(after.own, walk)
                what = f"{len(ended.steps)} steps, {len(ended.failures)} failures"
                spent = {"usage": ended.usage, "seconds": ended.seconds}
                yield stream.Completed(**told, what=what, outcome=ended.model_dump(mode="json"), **spent)

    def fails(self, error: SwarmError, standing: Standing[State]) -> Iterable[CouncilEvent]:
        """Nothing: the command ends with that error."""
        return ()

    def _begins(self, state: State, walk: Walk, at: int) -> Iterable[CouncilEvent]:
        """The step at that place, from 0, and what is done at once in it."""
        told, steps = {"pattern": self.name, "id": state.asked.id}, state.asked.steps
        if at >= len(steps):
            return
        title = f"{steps[at].id}, {steps[at].kind}"
        yield stream.RoundStarted(**told, number=at + 1, most=len(steps), title=title)
        if at == len(walk.done) and walk.begun:
            yield stream.StepStarted(**told, number=at + 1, step=steps[at].id, who=tuple(map(str, walk.begun)))


RULES = OrchestrationRules()


def record(standing: Standing[State]) -> OrchestrationRecord:
    """All that is kept of an orchestration."""
    walk, over = walked(standing.own), standing.over
    return OrchestrationRecord(
        orchestration=standing.own.asked,
        began=standing.created_at,
        status="complete" if over else "failed" if walk.failed else "open",
        why=RULES.pause(standing.own),
        steps=tuple(walk.done),
        partial=walk.at_work,
        outcome=outcome(standing.own, walk) if over else None,
    )


def _contribution(result: StepResult) -> dict[str, object]:
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

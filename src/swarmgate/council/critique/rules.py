"""Rules of the critique pattern: the fold of its record, the steps that are due, and the best version as its outcome.

    write -> check, one program after the other -> judge -> write a better one than the best so far -> ...

A draft is the first version. A version that could not be judged is judged again in the next iteration, and one that was
judged before is not judged anew.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from swarmgate.council.critique.model import (
    Checked,
    Criterion,
    Critique,
    CritiqueOutcome,
    CritiqueRecord,
    CritiqueSummary,
    Evaluation,
    Judged,
    Written,
)
from swarmgate.council.critique.scoring import best, improvement, missed, version_of
from swarmgate.council.critique.state import (
    EVALUATOR,
    Check,
    GiveUp,
    Judge,
    State,
    Write,
    checked,
    judged,
    with_version,
    written,
)
from swarmgate.council.critique.view import text_lines
from swarmgate.council.records.lifecycle import Completed, Resumed, Standing, Status, Stopped, TimeUp
from swarmgate.council.records.rules import Rules
from swarmgate.council.views import stream
from swarmgate.council.views.events import CouncilEvent
from swarmgate.domain.base import Frozen
from swarmgate.errors import CouncilFailed, IllegalMove, SwarmError

TIME_IS_UP = "the time of the whole critique was up"

_SHOWN = 400
"""Characters of a task or version that an event shows."""


class CritiqueRules(Rules[Critique, State, CritiqueOutcome]):
    """What the record of a critique means."""

    name, verb, request = "critique", "critique", Critique
    events = (Written, Checked, Judged)
    milestones = (Judged,)
    first = "the first version (its prompt alone)"

    def begin(self, request: Critique) -> State:
        """Nothing was judged, and there may be a draft."""
        return with_version(State(request))

    def apply(self, state: State, event: Frozen) -> State:
        """The state after one more event.

        Raises:
            IllegalMove: it is of another iteration, or nothing that is due.
        """
        match event:
            case Resumed():
                return replace(state, late=False, unmade="", begins=True)
            case TimeUp():
                return replace(state, late=True)
            case Written() if event.number == state.number and state.at is None:
                return written(replace(state, begins=False), event)
            case Checked() if state.at and event.number == state.number:
                return checked(replace(state, begins=False), state.at, event)
            case Judged() if state.at and event.number == state.number:
                return judged(replace(state, begins=False), state.at, event)
        raise IllegalMove(f"The critique {state.asked.id} is at iteration {state.number}: that is not due.")

    def next(self, state: State) -> Sequence[Hashable]:
        """One step, or none."""
        if state.end or state.late:
            return () if best(state.done) else (GiveUp(),)
        if state.unmade:
            return (GiveUp(),)
        if state.at is None:
            return (Write(state.number),)
        programs = state.unjudged()
        return (Check(state.number, programs[0].name) if programs else Judge(state.number),)

    def over(self, state: State) -> bool:
        """Whether there is no further iteration; a critique whose time was up can be resumed."""
        return state.end is not None

    def pause(self, state: State) -> str:  # noqa: ARG002 - there is one reason
        """Its time was up."""
        return TIME_IS_UP

    def session_s(self, state: State) -> float:
        """As the request says."""
        return state.asked.whole_s

    def status_after(self, error: SwarmError, standing: Standing[State]) -> Status:
        """A failure for want of time is a pause."""
        late = isinstance(error, CouncilFailed) and standing.own.late
        return "paused" if late else super().status_after(error, standing)

    def sought(self, request: Critique) -> Critique:
        """The request as it was given, and the weights that it learnt.

        From how many runs they come does not count: every run is one more, and the same weights judge the same.
        """
        given = request.given_weights
        criteria = tuple(
            each.model_copy(update={"weight": given.get(each.name, each.weight)}) for each in request.criteria
        )
        learnt = {each.name: each.weight for each in request.criteria} if request.adaptive else {}
        return request.model_copy(update={"criteria": criteria, "given_weights": learnt, "learnt_from": 0})

    def outcome(self, standing: Standing[State]) -> CritiqueOutcome | None:
        """The best version, at its end or when its time is up."""
        state, end = standing.own, standing.own.end or ("timeout" if standing.own.late else None)
        top = best(state.done)
        if end is None or top is None or top.evaluation is None:
            return None
        return CritiqueOutcome(
            id=standing.id,
            best=top.number,
            version=version_of(state.done, top.number),
            mean=top.evaluation.mean,
            passed=top.evaluation.passed,
            ended_by=end,
            improvement=improvement(state.done),
            iterations=len(state.done),
            usage=standing.usage,
            seconds=round(sum(each.seconds for each in state.done), 4),
        )

    def views(self, standing: Standing[State]) -> Mapping[str, str]:
        """`result.json`, once it is over."""
        outcome = self.outcome(standing)
        return {"result.json": f"{outcome.model_dump_json(indent=2)}\n"} if outcome and standing.over else {}

    def measures(self, standing: Standing[State]) -> Mapping[str, float | bool]:
        """Iterations, whether it passed, the mean of the best version, and what was gained."""
        if (outcome := self.outcome(standing)) is None or not standing.over:
            return {}
        return {
            "rounds": outcome.iterations,
            "converged": outcome.passed,
            "score": outcome.mean,
            "improvement": outcome.improvement,
        }

    def flawless(self, state: State) -> bool:
        """Whether no iteration failed: what failed may not fail again."""
        return not any(each.failed for each in state.done)

    # --- what the user hears ---

    def title(self, state: State) -> str:
        """The beginning of the task."""
        return state.asked.task[:_SHOWN]

    def who(self, state: State) -> tuple[str, ...]:
        """The author and the evaluator."""
        return (state.asked.who, EVALUATOR)

    def most(self, state: State) -> int:
        """Iterations."""
        return state.asked.iterations

    def row(self, standing: Standing[State]) -> CritiqueSummary:
        """How it ended, of what."""
        status, outcome, asked = str(standing.status), self.outcome(standing), standing.own.asked
        if outcome and standing.over:
            status = "passed" if outcome.passed else "not passed"
        return CritiqueSummary(
            id=standing.id, began=standing.created_at, status=status, task=asked.task, name=asked.name
        )

    def record(self, standing: Standing[State]) -> CritiqueRecord:
        """All that is kept of a critique; one whose time was up has the outcome so far, if a version was judged."""
        return CritiqueRecord(
            critique=standing.own.asked,
            status="open" if standing.status == "prepared" else standing.status,
            why=TIME_IS_UP if standing.status == "paused" else standing.why,
            iterations=standing.own.done,
            outcome=self.outcome(standing),
        )

    def damaged(self, id: str, began: str, why: str) -> CritiqueSummary:  # noqa: A002, ARG002 - as of the rules
        """What is damaged stands in the place of the task."""
        return CritiqueSummary(id=id, began="", status="damaged", task=why)

    def data(self, standing: Standing[State]) -> dict[str, Any]:
        """The record."""
        record = self.record(standing)
        return {"id": standing.id, "status": record.status, **record.model_dump(mode="json")}

    def lines(self, standing: Standing[State]) -> list[str]:
        """Every iteration, and the best version."""
        return text_lines(self.record(standing))

    def summary(self, standing: Standing[State]) -> str:
        """Which version is the best one, and whether it is good enough."""
        if (outcome := self.outcome(standing)) is None:
            return ""
        judged = f"the mean is {outcome.mean:.2f}, {'' if outcome.passed else 'not '}good enough"
        return f"version {outcome.best} of {outcome.iterations} is the best one: {judged}"

    def progress_of_steps(self, steps: Sequence[Hashable], state: State) -> Iterator[CouncilEvent]:
        """The iteration, and who is asked."""
        common = {"pattern": self.name, "id": state.asked.id, "number": state.number}
        for step in steps:
            if state.begins and not isinstance(step, GiveUp):
                yield stream.RoundStarted(**common, most=state.asked.iterations)
            match step:
                case Write():
                    name = "improve" if best(state.done) else "generate"
                    yield stream.StepStarted(**common, step=name, who=(state.asked.who,))
                case Check():
                    yield stream.StepStarted(**common, step="check", who=(step.criterion,))
                case Judge():
                    yield stream.StepStarted(**common, step="evaluate", who=(EVALUATOR,))

    def progress_of_event(
        self, event: Frozen, before: Standing[State], after: Standing[State]
    ) -> Iterable[CouncilEvent]:
        """Progress events of finished steps, of iterations and of the whole critique."""
        common = {"pattern": self.name, "id": after.id}
        if contribution := _contribution(event, after.own):
            yield stream.Contributed(**common, **contribution)
        if len(after.own.done) > len(before.own.done):
            last = after.own.done[-1]
            found = last.evaluation
            what = summary(after.own.asked.criteria, found) if found else last.failed
            yield stream.RoundCompleted(**common, number=last.number, what=what, score=found.mean if found else None)
        outcome = self.outcome(after) if isinstance(event, (Completed, Stopped)) else None
        if isinstance(event, Completed) and outcome and (why := _CONVERGED.get(outcome.ended_by)):
            yield stream.Converged(**common, number=outcome.iterations, why=why)
        if isinstance(event, Stopped) and outcome and after.status == "paused":
            data, spent = outcome.model_dump(mode="json"), {"usage": outcome.usage, "seconds": outcome.seconds}
            yield stream.Completed(**common, what=self.summary(after), outcome=data, **spent)
        yield from super().progress_of_event(event, before, after)

    def failure(self, error: CouncilFailed, standing: Standing[State]) -> CouncilFailed:
        """With the command that takes it up, or where there is no iteration left, the one that shows it."""
        left, name = standing.own.number <= standing.own.asked.iterations, standing.id
        way = (
            f"It is taken up again by: {self.resume_command(name)}"
            if left
            else f"All of it: swarm critique show {name}"
        )
        return CouncilFailed(f"the critique {name} failed: {error.message}", hint=f"{error.hint}. {way}")


RULES = CritiqueRules()

_CONVERGED = {"passed": "every criterion is met, and the mean", "unchanged": "nothing changes any more"}


def given_up(state: State) -> CouncilFailed:
    """Why there is no result."""
    if state.unmade:
        return CouncilFailed(f"there is no first version: {state.unmade}", hint="look at the model of the author")
    why = "; ".join(dict.fromkeys(each.failed for each in state.done))
    late = f"; its {state.asked.whole_s:g} s are over" if state.late else ""
    return CouncilFailed(
        f"no version was judged in {len(state.done)} whole iterations{late}{f': {why}' if why else ''}",
        hint="what was made so far is on record"
        if late
        else "look at the model of the evaluator, and at the programs that commands and gates need",
    )


def summary(criteria: Sequence[Criterion], evaluation: Evaluation) -> str:
    """Describes an evaluation in one line."""
    short = missed(criteria, evaluation)
    below = f"; below: {', '.join(short)}" if short else ""
    return f"mean {evaluation.mean:.2f}, {len(criteria) - len(short)} of {len(criteria)} criteria met{below}"


def _contribution(event: Frozen, after: State) -> dict[str, Any]:
    """What a participant or a program said, as the stream tells it."""
    match event:
        case Written():
            what = f"{len(event.version):,} characters" if event.version else ""
            step = "improve" if event.built_on else "generate"
            own = {"step": step, "who": after.asked.who, "what": what, "text": event.version[:_SHOWN]}
        case Checked():
            score = event.score
            own = {"step": "check", "who": event.criterion, "what": f"{score.score:.2f}" if score else ""}
            own |= {"text": score.reason[-_SHOWN:] if score else ""}
        case Judged():
            found = after.done[-1].evaluation
            what = summary(after.asked.criteria, found) if found else ""
            own = {"step": "evaluate", "who": EVALUATOR, "what": what}
        case _:
            return {}
    return {**own, "number": event.number, "failed": event.failed, "usage": event.usage}

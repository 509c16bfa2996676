"""State of a critique: which steps can be due, and what a version, a check and an evaluation change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from swarmgate.council.critique.model import (
    Checked,
    Criterion,
    Critique,
    Iteration,
    Judged,
    Score,
    Written,
)
from swarmgate.council.critique.scoring import evaluated, unchanged, version_of
from swarmgate.domain.usage import Usage
from swarmgate.errors import IllegalMove

EVALUATOR = "evaluator"
"""The name of who judges, on the wire."""

End = Literal["passed", "iterations", "timeout", "unchanged"]


class Write(NamedTuple):
    """The author makes the version of an iteration."""

    number: int


class Check(NamedTuple):
    """A program judges the version of an iteration by a criterion."""

    number: int
    criterion: str


class Judge(NamedTuple):
    """The evaluator judges the version of an iteration."""

    number: int


class GiveUp(NamedTuple):
    """There is no version, or none that was judged: that ends the session."""


@dataclass(frozen=True)
class State:
    """How far a critique is.

    `at` is the iteration whose version is there and not judged yet, `checked` what programs said of it. `unmade` is why
    there is no first version, in this session. `begins`: nothing of the next iteration was done in this session.
    """

    asked: Critique
    done: tuple[Iteration, ...] = ()
    at: Iteration | None = None
    checked: tuple[Score, ...] = ()
    unmade: str = ""
    late: bool = False
    begins: bool = True

    @property
    def number(self) -> int:
        """Of the iteration that is next, or under way."""
        return len(self.done) + 1

    @property
    def end(self) -> End | None:
        """Why there is no further iteration; None: there is one."""
        last = self.done[-1].evaluation if self.done else None
        if last and last.passed:
            return "passed"
        if unchanged(self.done):
            return "unchanged"
        return "iterations" if len(self.done) >= self.asked.iterations else None

    def then(self, iteration: Iteration) -> State:
        """The state after a whole iteration."""
        return with_version(replace(self, done=(*self.done, iteration), at=None, checked=(), begins=True))

    def unjudged(self) -> list[Criterion]:
        """The criteria of programs that did not say anything of the version yet."""
        known = {each.criterion for each in self.checked}
        return [each for each in self.asked.criteria if each.programmatic and each.name not in known]


def with_version(state: State) -> State:
    """With the version of the next iteration where nobody has to make it: the draft, or one that was not judged."""
    asked, done = state.asked, state.done
    if done and done[-1].failed_at == "evaluate":
        return replace(state, at=Iteration(number=state.number, built_on=done[-1].built_on))
    if not done and asked.draft.strip():
        return replace(state, at=Iteration(number=1, version=asked.draft))
    return state


def by_voice(critique: Critique) -> list[Criterion]:
    """The criteria that the evaluator judges by."""
    return [each for each in critique.criteria if not each.programmatic]


def written(state: State, event: Written) -> State:
    """A version that was judged before is not judged again; the first one that is not made ends the session."""
    made = _took(Iteration(number=event.number, built_on=event.built_on, model=event.model), event)
    if event.failed and not event.built_on:
        return replace(state, unmade=event.failed, begins=True)
    if event.failed:
        failed = f"no better version was made: {event.failed}"
        return state.then(made.model_copy(update={"failed": failed, "failed_at": "improve"}))
    made = made.model_copy(update={"version": event.version})
    for each in state.done:
        if each.evaluation and version_of(state.done, each.number) == event.version:
            return state.then(made.model_copy(update={"same_as": each.number, "evaluation": each.evaluation}))
    return replace(state, at=made)


def checked(state: State, at: Iteration, event: Checked) -> State:
    """What could not be checked is no score: the iteration has failed."""
    at = _took(at, event)
    if event.score is None:
        return state.then(_unjudged(at, f"it could not be checked: {event.failed}"))
    state = replace(state, at=at, checked=(*state.checked, event.score))
    return state if state.unjudged() or by_voice(state.asked) else state.then(_evaluated(state, at, ()))


def judged(state: State, at: Iteration, event: Judged) -> State:
    """What could not be judged has failed, and is judged again in the next iteration."""
    at = _took(at, event)
    if event.failed:
        return state.then(_unjudged(at, f"the evaluation failed: {event.failed}"))
    return state.then(_evaluated(state, at, event.scores, event.suggestions, event.model))


def _evaluated(
    state: State, at: Iteration, scores: Sequence[Score], suggestions: tuple[str, ...] = (), model: str = ""
) -> Iteration:
    """The iteration with its evaluation.

    Raises:
        IllegalMove: a criterion has no score.
    """
    asked, known = state.asked, (*state.checked, *scores)
    if {each.criterion for each in known} != {each.name for each in asked.criteria}:
        raise IllegalMove(f"The critique {asked.id} has other criteria than those of iteration {at.number}.")
    found = evaluated(asked.criteria, known, stop=asked.stop, suggestions=suggestions, model=model)
    return at.model_copy(update={"evaluation": found})


def _unjudged(at: Iteration, why: str) -> Iteration:
    return at.model_copy(update={"failed": why, "failed_at": "evaluate"})


def _took(at: Iteration, event: Written | Checked | Judged) -> Iteration:
    """The iteration with what one part of it took."""
    seconds = round(at.seconds + event.seconds, 4)
    usage: Usage = at.usage + event.usage
    return at.model_copy(update={"usage": usage, "seconds": seconds, "started_at": at.started_at or event.started_at})

"""Executes the steps of a critique: the author writes, programs check, the evaluator scores."""

from __future__ import annotations

import time
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from swarmgate.agents.briefs.brief import Brief
from swarmgate.agents.context import AgentContext
from swarmgate.council.context import CouncilContext
from swarmgate.council.critique.answers import evaluation_of, version_in
from swarmgate.council.critique.briefs import (
    evaluation_brief,
    generation_brief,
    improvement_brief,
    prompt_tokens,
    too_large,
)
from swarmgate.council.critique.model import Checked, Critique, CritiqueOutcome, Iteration, Judged, Written
from swarmgate.council.critique.program_checks import Checks, Unchecked
from swarmgate.council.critique.request import critique_of
from swarmgate.council.critique.rules import CritiqueRules, given_up
from swarmgate.council.critique.scoring import best, version_of
from swarmgate.council.critique.state import EVALUATOR, Check, Judge, State, Write, by_voice
from swarmgate.council.limits import WHOLE_SECONDS
from swarmgate.council.participants.contexts import ContextFactory
from swarmgate.council.participants.question import AskResult, ask, bounded
from swarmgate.council.pattern import Pattern, Where
from swarmgate.council.records.lifecycle import Standing
from swarmgate.council.run import run
from swarmgate.domain.base import Frozen
from swarmgate.domain.review.votes import Seat
from swarmgate.domain.usage import Usage
from swarmgate.errors import CouncilRefused


@dataclass(frozen=True)
class Work:
    """The working state of a session: the request and its versions without redaction, and the program checks.

    On record secrets are masked: a version that a program judges, or that is given to the user, is not, as long as the
    session lasts.
    """

    critique: Critique
    checks: Checks | None = None
    versions: dict[int, str] = field(default_factory=dict)

    def whole(self, done: Sequence[Iteration]) -> list[Iteration]:
        """The iterations with their versions to the letter."""
        own = {1: self.critique.draft} if self.critique.draft.strip() else {}
        known = {**own, **self.versions}
        return [
            each.model_copy(update={"version": known.get(each.number, each.version)}) if each.version else each
            for each in done
        ]

    def version(self, state: State) -> str:
        """The version that is to be judged."""
        at = [state.at] if state.at else []
        return version_of(self.whole((*state.done, *at)), state.number)

    def outcome(self, standing: Standing[State]) -> CritiqueOutcome:
        """The outcome, with the best version without redaction.

        Raises:
            CouncilFailed: there is none.
        """
        outcome = CRITIQUE.outcome(standing)
        if outcome is None:
            raise given_up(standing.own)
        version = version_of(self.whole(standing.own.done), outcome.best)
        return outcome.model_copy(update={"version": version})


class Critiquing(CritiqueRules, Pattern[Critique, State, CritiqueOutcome]):
    """One participant makes something, another one judges it, and it is improved. `own` of its context is a `Work`."""

    def check(self, request: Critique, context: CouncilContext, where: Where) -> None:  # noqa: ARG002 - a fixed signature
        """Insists that author and evaluator have a model, that it fits their windows, and that programs can judge.

        Raises:
            CouncilRefused, ConfigError, MissingRequirement: it cannot be held.
        """
        if context.own.checks is None and any(each.programmatic for each in request.criteria):
            raise CouncilRefused("`criteria`: commands and gates judge in a project only, and there is none here")
        first, judged = generation_brief(request), evaluation_brief(request, 1, request.draft)
        for agent, brief in (
            (_author(request, context.contexts), first),
            (_evaluator(request, context.contexts), judged),
        ):
            if why := too_large(agent, brief):
                raise CouncilRefused(
                    f"`material` has {len(request.material):,} characters, `draft` {len(request.draft):,}: {why}",
                    hint="give less, or a model with a larger window ([roles.X] context_tokens)",
                )

    def needs(self, request: Critique, context: CouncilContext) -> int:
        """The prompt of the first version, in tokens; none where there is a draft."""
        return 0 if request.draft else prompt_tokens(request, _author(request, context.contexts))

    async def do(self, step: Hashable, state: State, context: CouncilContext) -> Sequence[Frozen]:
        """Has one participant or one program do its part.

        Raises:
            CouncilFailed: there is no version, or none that was judged.
            BudgetExhausted, Stopped, MissingRequirement: as they come.
        """
        work: Work = context.own
        took = _Took()
        match step:
            case Write():
                event: Written | Checked | Judged = await _written(step, state, work, context.contexts, took)
            case Check():
                event = await _checked(step, state, work, took)
            case Judge():
                event = await _judged(step, state, work, context.contexts, took)
            case _:
                raise given_up(state)
        return [event]


CRITIQUE = Critiquing()


class _Took:
    """When a part began, and how long it took."""

    def __init__(self) -> None:
        self._began = time.perf_counter()
        self._started_at = datetime.now(UTC).isoformat(timespec="milliseconds")

    def __call__(self, result: AskResult[Any] | None = None) -> dict[str, Any]:
        """The fields that all parts share."""
        asked = result.took if result else {}
        failed = " ".join(result.failed.split()) if result else ""
        seconds = round(time.perf_counter() - self._began, 4)
        return {"failed": failed, **asked, "started_at": self._started_at, "seconds": seconds}


async def _written(step: Write, state: State, work: Work, contexts: ContextFactory, took: _Took) -> Written:
    done, top = work.whole(state.done), best(state.done)
    brief = improvement_brief(work.critique, done) if top else generation_brief(work.critique)
    result = await _ask_within_window(_author(work.critique, contexts), brief, read=version_in)
    if result.value is not None:
        work.versions[step.number] = result.value
    built_on = top.number if top else 0
    return Written(number=step.number, version=result.value or "", built_on=built_on, **took(result))


async def _checked(step: Check, state: State, work: Work, took: _Took) -> Checked:
    criterion = next(each for each in work.critique.criteria if each.name == step.criterion)
    named = {"number": step.number, "criterion": step.criterion}
    if work.checks is None:
        raise CouncilRefused("`criteria`: commands and gates judge in a project only, and there is none here")
    try:
        score = await work.checks.check(criterion, work.critique, work.version(state))
    except Unchecked as error:
        return Checked(**named, **{**took(), "failed": " ".join(str(error).split())})
    return Checked(**named, score=score, **took())


async def _judged(step: Judge, state: State, work: Work, contexts: ContextFactory, took: _Took) -> Judged:
    brief = evaluation_brief(work.critique, step.number, work.version(state))
    form = evaluation_of(by_voice(work.critique))
    result = await _ask_within_window(_evaluator(work.critique, contexts), brief, read=form)
    scores, suggestions = result.value or ((), ())
    return Judged(number=step.number, scores=scores, suggestions=suggestions, **took(result))


async def _ask_within_window(agent: AgentContext, brief: Brief, *, read: Any) -> AskResult[Any]:
    """What a participant answers; one that cannot be told so much is not asked."""
    if why := too_large(agent, brief):
        return AskResult(None, why)
    return await ask(agent, brief, read=read)


def _author(critique: Critique, contexts: ContextFactory) -> AgentContext:
    """Who makes the versions.

    Raises:
        ConfigError, MissingRequirement: it has no model, or no key.
    """
    seat = Seat(id=critique.who, model=critique.model, system=critique.system, folder=critique.folder)
    return _bounded(critique, contexts.agent(seat))


def _evaluator(critique: Critique, contexts: ContextFactory) -> AgentContext:
    model = critique.evaluator_model or critique.model
    system, folder = critique.evaluator_system, critique.evaluator_folder
    return _bounded(critique, contexts.agent(Seat(id=EVALUATOR, model=model, system=system, folder=folder)))


def _bounded(critique: Critique, agent: AgentContext) -> AgentContext:
    return bounded(agent, tokens=critique.tokens, timeout_s=critique.timeout_s)


async def prepared(
    seat: Seat,
    task: str,
    *,
    context: CouncilContext,
    id: str,  # noqa: A002 - the field's name
    iterations: int,
    tokens: int,
    timeout_s: float,
    material: str = "",
    whole_s: float = WHOLE_SECONDS.most,
    threshold: float = 0.7,
    stop: float = 0.8,
    part_of: str = "",
) -> tuple[str, Usage]:
    """What a participant says after it criticised itself: for a decision, before it contributes.

    The seat makes and judges its text with its own model, after the default criteria, and the best version is given. It
    is on record as a critique of its own, `id`; called again with the same request it goes on, or gives what it gave.

    Args:
        seat: who speaks; its name stands on the wire, its system text in the system message.
        task: what is asked of it, at most 100,000 characters.
        context: of the session that it is a part of.
        id: of the record.
        iterations: at most so many versions, 1 to 10.
        tokens: of one step.
        timeout_s: seconds of one step.
        material: what the task is about.
        whole_s: seconds of all of it, after which its text is the best so far.
        threshold: the score, 0 to 1, that each criterion must reach.
        stop: the weighted mean that is good enough, 0 to 1.
        part_of: the id of the record that it is made for; its own record names that.

    Returns:
        The text, and what it took.

    Raises:
        CouncilFailed: no version was made, or none could be judged.
        SwarmError: as it comes.
    """
    critique = critique_of(
        id=id,
        task=task,
        material=material,
        iterations=iterations,
        who=seat.id,
        model=seat.model,
        system=seat.system,
        tokens=tokens,
        timeout_s=timeout_s,
        whole_s=whole_s,
        threshold=threshold,
        stop=stop,
    )
    own = replace(context, own=Work(critique))
    CRITIQUE.check(critique, own, lambda _: "")
    record = context.records.begin(CRITIQUE, critique, part_of=part_of)
    await run(CRITIQUE, record, own)
    outcome = own.own.outcome(record.standing)
    return outcome.version, outcome.usage

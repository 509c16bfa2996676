"""One iteration of a critique: a version is made or taken over, and judged by programs and by the evaluator."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from swarmgate.agents.brief import Brief
from swarmgate.agents.desk import Desk
from swarmgate.council.asking import Heard, ask, bounded
from swarmgate.council.critique.answers import evaluation_of, version_in
from swarmgate.council.critique.briefs import EVALUATOR, evaluating, generating, improving, too_large
from swarmgate.council.critique.checks import Checks, Unchecked
from swarmgate.council.records import Records
from swarmgate.council.stream import Contributed, PatternEvent, RoundStarted, StepStarted
from swarmgate.council.voices import Voices
from swarmgate.domain.critique import Criterion, Critique, Evaluation, Iteration, Score
from swarmgate.domain.critique_rules import best, evaluated, missed, version_of
from swarmgate.domain.debate import Seat
from swarmgate.domain.usage import Usage
from swarmgate.errors import CouncilFailed, CouncilRefused

_SHOWN = 400
"""Characters of a version that an event shows."""


@dataclass
class Work:
    """A critique at work. `making` is the use of a version that is not judged yet, `checks` None where none is due."""

    critique: Critique
    author: Desk
    evaluator: Desk
    records: Records
    checks: Checks | None
    on_event: Callable[[PatternEvent], None]
    making: Usage = field(default_factory=Usage)

    def told(self, kind: Callable[..., PatternEvent], **fields: object) -> None:
        """Tells one event."""
        self.on_event(kind(pattern="critique", id=self.critique.id, **fields))

    async def iteration(self, done: Sequence[Iteration]) -> Iteration:
        """The iteration after those that are done.

        Raises:
            CouncilFailed: it is the first version that could not be made.
            BudgetExhausted, Stopped, MissingRequirement: as they come.
        """
        number, began = len(done) + 1, time.perf_counter()
        started_at = datetime.now(UTC).isoformat(timespec="milliseconds")
        self.told(RoundStarted, number=number, most=self.critique.iterations)
        made = self.records.partial(self.critique.id, number, Iteration) or await self._made(number, done)
        self.making = made.usage
        if made.version and made.usage.calls:
            self.records.keep_partial(self.critique.id, number, made)  # what was paid for outlives a kill
        whole = made if made.failed else await self._judged(made, done)
        self.making = Usage()
        seconds = round(time.perf_counter() - began, 4)
        return whole.model_copy(update={"started_at": started_at, "seconds": seconds})

    # --- the version ---

    async def _made(self, number: int, done: Sequence[Iteration]) -> Iteration:
        """The version before where that could not be judged, the draft, a first version, or a better one."""
        if done and done[-1].failed_at == "evaluate":
            return Iteration(number=number, built_on=done[-1].built_on)
        top = best(done)
        if top is not None:
            return await self._improved(number, done, top.number)
        if self.critique.draft.strip():
            return Iteration(number=number, version=self.critique.draft)
        heard = await self._written("generate", number, generating(self.critique))
        if heard.value is None:
            self.making = heard.usage
            raise CouncilFailed(
                f"there is no first version: {heard.failed}",
                hint="look at the model of the author",
            )
        return Iteration(number=number, version=heard.value, model=heard.model, usage=heard.usage)

    async def _improved(self, number: int, done: Sequence[Iteration], top: int) -> Iteration:
        heard = await self._written("improve", number, improving(self.critique, done))
        made = Iteration(number=number, built_on=top, model=heard.model, usage=heard.usage)
        if heard.value is None:
            failed = f"no better version was made: {heard.failed}"
            return made.model_copy(update={"failed": " ".join(failed.split()), "failed_at": "improve"})
        return made.model_copy(update={"version": heard.value})

    async def _written(self, step: str, number: int, brief: Brief) -> Heard[str]:
        who = self.critique.who
        if why := too_large(self.author, brief):
            return Heard(None, why)
        self.told(StepStarted, number=number, step=step, who=(who,))
        heard = await ask(self.author, brief, read=version_in)
        text = heard.value or ""
        what = f"{len(text):,} characters" if text else ""
        said = {"what": what, "text": text[:_SHOWN], "failed": heard.failed, "usage": heard.usage}
        self.told(Contributed, number=number, step=step, who=who, **said)
        return heard

    # --- the evaluation ---

    async def _judged(self, made: Iteration, done: Sequence[Iteration]) -> Iteration:
        """The iteration with its evaluation, or with why there is none."""
        version = made.version or version_of(done, len(done))
        same = (each for each in done if each.evaluation and version_of(done, each.number) == version)
        if known := next(same, None):
            return made.model_copy(update={"same_as": known.number, "evaluation": known.evaluation})
        try:
            checked = await self._checked(made.number, version)
        except Unchecked as error:
            failed = f"it could not be checked: {error}"
            return made.model_copy(update={"failed": " ".join(failed.split()), "failed_at": "evaluate"})
        heard = await self._evaluated(made.number, version, checked)
        usage = made.usage + heard.usage
        if heard.value is None:
            failed = f"the evaluation failed: {' '.join(heard.failed.split())}"
            return made.model_copy(update={"failed": failed, "failed_at": "evaluate", "usage": usage})
        evaluation = heard.value.model_copy(update={"model": heard.model})
        return made.model_copy(update={"evaluation": evaluation, "usage": usage})

    async def _checked(self, number: int, version: str) -> list[Score]:
        """The scores by commands and gates, one after the other.

        Raises:
            Unchecked: one could not be carried out.
        """
        scores = []
        for each in (each for each in self.critique.criteria if each.programmatic and self.checks):
            self.told(StepStarted, number=number, step="check", who=(each.name,))
            contributed = {"number": number, "step": "check", "who": each.name}
            try:
                score = await self.checks.check(each, self.critique, version)  # type: ignore[union-attr]  # see above
            except Unchecked as error:
                self.told(Contributed, **contributed, failed=str(error))
                raise
            self.told(Contributed, **contributed, what=f"{score.score:.2f}", text=score.reason[-_SHOWN:])
            scores.append(score)
        return scores

    async def _evaluated(self, number: int, version: str, checked: Sequence[Score]) -> Heard[Evaluation]:
        """What the evaluator says, put together with what was checked; without a criterion for it nobody is asked."""
        criteria = [each for each in self.critique.criteria if not each.programmatic]
        if not criteria:
            return Heard(self._evaluation(checked))
        brief = evaluating(self.critique, number, version)
        if why := too_large(self.evaluator, brief):
            return Heard(None, why)
        self.told(StepStarted, number=number, step="evaluate", who=(EVALUATOR,))
        form = evaluation_of(criteria).then(lambda given: self._evaluation((*checked, *given[0]), given[1]))
        heard = await ask(self.evaluator, brief, read=form)
        what = summary(self.critique.criteria, heard.value) if heard.value else ""
        said = {"what": what, "failed": heard.failed, "usage": heard.usage}
        self.told(Contributed, number=number, step="evaluate", who=EVALUATOR, **said)
        return heard

    def _evaluation(self, scores: Sequence[Score], suggestions: tuple[str, ...] = ()) -> Evaluation:
        return evaluated(self.critique.criteria, scores, stop=self.critique.stop, suggestions=suggestions)


def seated(
    critique: Critique,
    voices: Voices,
    records: Records,
    checks: Checks | None,
    on_event: Callable[[PatternEvent], None],
) -> Work:
    """A critique whose author and evaluator have a desk each.

    Raises:
        CouncilRefused: it does not fit somebody's window, or nothing carries out the checks that it asks for.
        ConfigError, MissingRequirement: somebody has no model, or no key.
    """
    if checks is None and any(each.programmatic for each in critique.criteria):
        raise CouncilRefused("`criteria`: commands and gates judge in a project only, and there is none here")
    judge = Seat(id=EVALUATOR, model=critique.evaluator_model or critique.model)
    desks = [
        bounded(desk, tokens=critique.tokens, timeout_s=critique.timeout_s)
        for desk in (author_of(critique, voices), voices.desk(judge))
    ]
    for desk, brief in zip(desks, (generating(critique), evaluating(critique, 1, critique.draft)), strict=True):
        if why := too_large(desk, brief):
            raise CouncilRefused(
                f"`material` has {len(critique.material):,} characters, `draft` {len(critique.draft):,}: {why}",
                hint="give less, or a model with a larger window ([roles.X] context_tokens)",
            )
    return Work(critique, desks[0], desks[1], records, checks, on_event)


def author_of(critique: Critique, voices: Voices) -> Desk:
    """The desk of who makes the versions.

    Raises:
        ConfigError, MissingRequirement: it has no model, or no key.
    """
    return voices.desk(Seat(id=critique.who, model=critique.model, system=critique.system))


def summary(criteria: Sequence[Criterion], evaluation: Evaluation) -> str:
    """What an evaluation comes to, in a line."""
    short = missed(criteria, evaluation)
    below = f"; below: {', '.join(short)}" if short else ""
    return f"mean {evaluation.mean:.2f}, {len(criteria) - len(short)} of {len(criteria)} criteria met{below}"

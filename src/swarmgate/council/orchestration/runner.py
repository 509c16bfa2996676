"""Runs the council pattern of an orchestration step in a record of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from pydantic import Field

from swarmgate.council.critique.model import CritiqueOutcome
from swarmgate.council.debate.model import Outcome
from swarmgate.council.decision.model import DecisionOutcome
from swarmgate.council.discussion.model import DiscussionRecord
from swarmgate.council.dispatch.model import DispatchResult
from swarmgate.council.orchestration.model import AskStep, DispatchStep, Leaf, Value
from swarmgate.council.shared import Shared
from swarmgate.domain.base import Frozen, Text
from swarmgate.domain.usage import Usage
from swarmgate.errors import BudgetExhausted, CouncilFailed, Owner

if TYPE_CHECKING:
    from swarmgate.council.dispatch.facade import Dispatches


class PatternOutput(Frozen):
    """The output of one pattern: its typed outcomes, its text, and the id of its record."""

    fields: dict[str, Value] = Field(default_factory=dict)
    text: Text = ""
    record: str = ""


class Runner(Protocol):
    """Has the council do one pattern, under a record of the given id; one that is there is gone on with, or read."""

    async def run(self, step: Leaf, record: str) -> PatternOutput:
        """What comes of a step.

        Raises:
            SwarmError: nothing; `BudgetExhausted` only for what bounds the whole orchestration.
        """

    def used(self, record: str) -> Usage:
        """What was used under a record, by tries that were killed too."""


class Verb(NamedTuple):
    """How the facade of a pattern begins and resumes a record, and how its output is read."""

    pattern: str
    begin: Callable[..., Coroutine[Any, Any, Any]]
    resume: Callable[..., Coroutine[Any, Any, Any]]
    output_of: Callable[[Any], PatternOutput]


class CouncilRunner:
    """Implements `Runner` with the facades of one project.

    Args:
        shared: the project and its records.
        dispatches: of tasks, and of one participant that is asked.
        verbs: of the other patterns, by the kind of step.
    """

    def __init__(self, shared: Shared, dispatches: Dispatches, verbs: Mapping[str, Verb]) -> None:
        self._shared, self._dispatches, self._verbs = shared, dispatches, verbs

    async def run(self, step: Leaf, record: str) -> PatternOutput:
        """What comes of a step."""
        match step:
            case AskStep():
                result = await self._dispatched({"mode": "single", "tasks": [_given(step)]}, record)
                return PatternOutput(fields={"succeeded": result.succeeded}, text=result.replies[0].text, record=record)
            case DispatchStep():
                return dispatched(await self._dispatched(_given(step), record), record)
        verb = self._verbs[step.kind]
        async with _own_budget(f"{verb.pattern}-{record}"):
            if self._shared.records.documents.names(record):
                return verb.output_of(await verb.resume(record, tokens=step.tokens, usd=step.usd))
            return verb.output_of(await verb.begin(**_given(step), id=record))

    def used(self, record: str) -> Usage:
        """What was used under a record, and under those whose ids go on from its own."""
        return self._shared.project.used_under(record)

    async def _dispatched(self, given: dict[str, Any], record: str) -> DispatchResult:
        """A dispatch that did not come to its end goes on."""
        if record in self._dispatches.dispatches():
            there = self._dispatches.dispatch_record(record)
            if there.finished and there.succeeded and not there.exhausted:
                return there
        async with _own_budget(f"dispatch-{record}"):
            return await self._dispatches.dispatch(**given, id=record)


@asynccontextmanager
async def _own_budget(session: str) -> AsyncIterator[None]:
    """Where a step's own budget is used up, the step has failed; the others', and that of the whole, end all of it."""
    try:
        yield
    except BudgetExhausted as error:
        if not error.is_of(Owner("session", session)):
            raise
        raise CouncilFailed(error.message, hint=error.hint) from error


def _given(step: Leaf) -> dict[str, Any]:
    """The arguments that the description gives."""
    named = step.model_fields_set - {"id", "kind", "when", "otherwise"}
    return {name: getattr(step, name) for name in sorted(named)}


# --- typed outcomes (`FIELDS`) ---


def debated(outcome: Outcome) -> PatternOutput:
    """The output of a debate."""
    tally = outcome.tally
    fields: dict[str, Value] = {
        "verdict": str(outcome.verdict),
        "decided_by": outcome.decided_by,
        "unanimous": tally.unanimous,
        "converged": outcome.converged,
        "rounds": outcome.rounds,
        "approve": tally.approve,
        "reject": tally.reject,
        "abstain": tally.abstain,
    }
    return PatternOutput(fields=fields, text=debate_text(outcome), record=outcome.id)


def discussed(held: DiscussionRecord) -> PatternOutput:
    """The output of a discussion."""
    end = held.conclusion
    fields: dict[str, Value] = {"status": held.status, "rounds": len(held.rounds)}
    if end:
        fields |= {"agreements": len(end.agreements), "unresolved": len(end.unresolved_debates)}
        fields |= {"open_questions": len(end.open_questions)}
    return PatternOutput(fields=fields, text=discussion_text(held), record=held.discussion.id)


def decided(outcome: DecisionOutcome) -> PatternOutput:
    """The output of a decision."""
    fields: dict[str, Value] = {
        "consensus": outcome.consensus,
        "choice": outcome.choice,
        "score": outcome.score,
        "rounds": outcome.rounds,
        "ended_by": outcome.ended_by,
    }
    return PatternOutput(fields=fields, text=decision_text(outcome), record=outcome.id)


def improved(outcome: CritiqueOutcome) -> PatternOutput:
    """The output of a critique: its text is the best version."""
    fields: dict[str, Value] = {
        "passed": outcome.passed,
        "mean": outcome.mean,
        "improvement": outcome.improvement,
        "iterations": outcome.iterations,
        "ended_by": outcome.ended_by,
    }
    return PatternOutput(fields=fields, text=outcome.version, record=outcome.id)


def dispatched(result: DispatchResult, record: str) -> PatternOutput:
    """The output of a dispatch."""
    fields: dict[str, Value] = {"succeeded": result.succeeded, "total": len(result.tasks)}
    if result.outcome:
        fields["verdict"] = str(result.outcome.verdict)
    return PatternOutput(fields=fields, text=dispatch_text(result), record=record)


# --- texts ---


def debate_text(outcome: Outcome) -> str:
    """The verdict and what the synthesis says to it."""
    tally = outcome.tally
    votes = f"{tally.approve} approve, {tally.reject} reject, {tally.abstain} abstain"
    lines = [f"{outcome.verdict} by {outcome.decided_by}; votes: {votes}."]
    if synthesis := outcome.synthesis:
        lines += ["", synthesis.summary, *(f"- {each.text}" for each in synthesis.reasons)]
        lines += [f"- Dissent: {each.text}" for each in synthesis.dissent]
    return "\n".join(lines)


def discussion_text(held: DiscussionRecord) -> str:
    """The synthesis; what a discussion without one is."""
    end = held.conclusion
    if end is None:
        return f"The discussion is {held.status}: {held.why}".rstrip(": ")
    parts = {
        "Agreements": [each.text for each in end.agreements],
        "Recommendations": [each.text for each in end.recommendations],
        "Minority report": [each.text for each in end.minority_report],
        "Unresolved": [each.topic for each in end.unresolved_debates],
        "Open questions": [each.question for each in end.open_questions],
    }
    lists = ["\n".join([f"{name}:", *(f"- {each}" for each in texts)]) for name, texts in parts.items() if texts]
    return "\n\n".join([end.executive_summary, *lists])


def decision_text(outcome: DecisionOutcome) -> str:
    """What was decided, or that nothing was."""
    if not outcome.consensus:
        return f"No consensus: {outcome.score:.2f} of {outcome.bar:.2f}, ended by {outcome.ended_by}."
    return "\n".join(filter(None, [outcome.decided, f"Chosen: {outcome.choice}" if outcome.choice else ""]))


def dispatch_text(result: DispatchResult) -> str:
    """Every output, and what failed."""
    parts = [
        f"### {each.number}. {each.name}\n{each.text or f'(Failed: {each.failed or each.not_run})'}"
        for each in result.replies
    ]
    return "\n\n".join([*parts, *([debate_text(result.outcome)] if result.outcome else [])])

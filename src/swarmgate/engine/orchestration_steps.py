"""The patterns of an orchestration, done by the council of the project under records of given ids."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from swarmgate.council.critique.model import CritiqueOutcome
from swarmgate.council.debate.model import Outcome
from swarmgate.council.decision.model import DecisionOutcome
from swarmgate.council.dispatch.model import DispatchResult
from swarmgate.council.orchestration.model import (
    AskStep,
    CritiqueStep,
    DebateStep,
    DecideStep,
    DiscussStep,
    DispatchStep,
    Leaf,
    Value,
)
from swarmgate.council.orchestration_runner import Came
from swarmgate.domain.discussion import DiscussionRecord
from swarmgate.domain.usage import Usage
from swarmgate.errors import BudgetExhausted, CouncilFailed, Owner
from swarmgate.ledger.sessions import by_record, used

if TYPE_CHECKING:
    from swarmgate.council.critique.facade import Critiques
    from swarmgate.council.debate.facade import Debates
    from swarmgate.council.decision.facade import Decisions
    from swarmgate.council.dispatch.facade import Dispatches
    from swarmgate.engine.discussions import Discussions
    from swarmgate.engine.in_project import InProject


class CouncilRunner:
    """Implements `council.orchestration_runner.Runner`: what is on record under an id is gone on with, or read.

    Args:
        shared: the project and its records.
        debates: that are held as steps; so are those of the other patterns.
        dispatches: as above.
        discussions: as above.
        decisions: as above.
        critiques: as above.
    """

    def __init__(
        self,
        shared: InProject,
        debates: Debates,
        dispatches: Dispatches,
        discussions: Discussions,
        decisions: Decisions,
        critiques: Critiques,
    ) -> None:
        self._shared, self._project = shared, shared.project
        self._debates, self._dispatches, self._discussions = debates, dispatches, discussions
        self._decisions, self._critiques = decisions, critiques

    async def debate(self, step: DebateStep, record: str) -> Came:
        """Holds a debate."""
        async with _own_budget(f"debate-{record}"):
            if record in self._debates.ids():
                outcome = await self._debates.resume(record, tokens=step.tokens, usd=step.usd)
            else:
                outcome = await self._debates.debate(**_given(step), id=record)
        return Came(fields=_debated(outcome), text=debate_text(outcome), record=outcome.id)

    async def discuss(self, step: DiscussStep, record: str) -> Came:
        """Holds a discussion."""
        async with _own_budget(f"discussion-{record}"):
            if self._shared.records.names(record):
                held = await self._discussions.resume_discussion(record, tokens=step.tokens, usd=step.usd)
            else:
                held = await self._discussions.discuss(**_given(step), id=record)
        return Came(fields=_discussed(held), text=discussion_text(held), record=held.discussion.id)

    async def decide(self, step: DecideStep, record: str) -> Came:
        """Has several decide."""
        async with _own_budget(f"decision-{record}"):
            if self._shared.records.names(record):
                outcome = await self._decisions.resume_decision(record, tokens=step.tokens, usd=step.usd)
            else:
                outcome = await self._decisions.decide(**_given(step), id=record)
        return Came(fields=_decided(outcome), text=decision_text(outcome), record=outcome.id)

    async def critique(self, step: CritiqueStep, record: str) -> Came:
        """Has one voice improve its work; the text is the best version."""
        async with _own_budget(f"critique-{record}"):
            if self._shared.records.names(record):
                outcome = await self._critiques.resume_critique(record, tokens=step.tokens, usd=step.usd)
            else:
                outcome = await self._critiques.critique(**_given(step), id=record)
        return Came(fields=_improved(outcome), text=outcome.version, record=outcome.id)

    async def dispatch(self, step: DispatchStep, record: str) -> Came:
        """Has voices work on tasks. One that was ended before it was done is done anew: it has no middle."""
        result = await self._dispatched(_given(step), record)
        fields: dict[str, Value] = {"succeeded": result.succeeded, "total": len(result.tasks)}
        if result.outcome:
            fields["verdict"] = str(result.outcome.verdict)
        return Came(fields=fields, text=dispatch_text(result), record=record)

    async def ask(self, step: AskStep, record: str) -> Came:
        """Asks one voice."""
        result = await self._dispatched({"mode": "single", "tasks": [_given(step)]}, record)
        return Came(fields={"succeeded": result.succeeded}, text=result.replies[0].text, record=record)

    def used(self, record: str) -> Usage:
        """What was used under a record, and under those whose ids go on from its own."""
        return used(by_record(self._project.folder).get(record, ()))

    async def _dispatched(self, given: dict[str, Any], record: str) -> DispatchResult:
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


# --- typed outcomes (`council.orchestration.model.FIELDS`) ---


def _debated(outcome: Outcome) -> dict[str, Value]:
    tally = outcome.tally
    return {
        "verdict": str(outcome.verdict),
        "decided_by": outcome.decided_by,
        "unanimous": tally.unanimous,
        "converged": outcome.converged,
        "rounds": outcome.rounds,
        "approve": tally.approve,
        "reject": tally.reject,
        "abstain": tally.abstain,
    }


def _discussed(held: DiscussionRecord) -> dict[str, Value]:
    end = held.conclusion
    fields: dict[str, Value] = {"status": held.status, "rounds": len(held.rounds)}
    if end:
        fields |= {"agreements": len(end.agreements), "unresolved": len(end.unresolved_debates)}
        fields |= {"open_questions": len(end.open_questions)}
    return fields


def _decided(outcome: DecisionOutcome) -> dict[str, Value]:
    return {
        "consensus": outcome.consensus,
        "choice": outcome.choice,
        "score": outcome.score,
        "rounds": outcome.rounds,
        "ended_by": outcome.ended_by,
    }


def _improved(outcome: CritiqueOutcome) -> dict[str, Value]:
    return {
        "passed": outcome.passed,
        "mean": outcome.mean,
        "improvement": outcome.improvement,
        "iterations": outcome.iterations,
        "ended_by": outcome.ended_by,
    }


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
        "Open questions": list(end.open_questions),
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

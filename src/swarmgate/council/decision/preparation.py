"""Prepares a participant's first contribution to a decision: by a discussion of its own, or a critiqued draft.

Each is a record of its own, `<decision>.<participant>`, so that it is taken up where it was left, and given at once
where it is over. Nothing in it can nest further: that is as deep as patterns go.
"""

# ruff: noqa: PLC0415 - late, for start-up time: most decisions prepare nothing
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import cast

from swarmgate.agents.context import AgentContext
from swarmgate.council.context import CouncilContext
from swarmgate.council.critique.model import Critique
from swarmgate.council.decision.brief import as_participant
from swarmgate.council.decision.model import VOTING, Decision, DecisionSeat
from swarmgate.council.decision.user_choices import ABSENT, People
from swarmgate.council.discussion.findings import Cited, Conclusion
from swarmgate.council.discussion.model import Mode
from swarmgate.council.limits import MATERIAL
from swarmgate.council.participants.contexts import ContextFactory
from swarmgate.council.records.store import Records
from swarmgate.domain.review.votes import Seat
from swarmgate.domain.usage import Usage
from swarmgate.errors import CouncilFailed, CouncilRefused

_TASK = "Say where you stand on the question of the material, and why: what holds, what does not, what it hangs on."


@dataclass(frozen=True)
class Preparation:
    """What participants need beside their models (`CouncilContext.own`).

    Attributes:
        people: answer for those that are human.
        threshold: the score of each criterion that is good enough for a draft, 0 to 1.
        stop: the mean of all that is, 0 to 1.
    """

    threshold: float = 0.7
    stop: float = 0.8
    people: People = ABSENT


def record_id(decision: Decision, seat: DecisionSeat) -> str:
    """The id of what a participant prepares."""
    return f"{decision.id}.{seat.id}"


def check_ids(decision: Decision, records: Records) -> None:
    """Whether what participants prepare can be kept.

    Raises:
        CouncilRefused: an id would be too long.
    """
    for seat in decision.participants:
        if seat.discussion or seat.critique:
            records.check_id(record_id(decision, seat))


async def prepared(seat: DecisionSeat, decision: Decision, context: CouncilContext) -> str:
    """What a participant speaks from: of its discussion or critique, with its own model.

    Raises:
        ModelError: there is none.
        SwarmError: as it comes.
    """
    if seat.discussion is not None:
        return await _discussed(seat.discussion, seat, decision, context)
    return await _improved(seat, decision, context)


def used(seat: DecisionSeat, decision: Decision, context: CouncilContext) -> Usage:
    """What the record of a preparation used up to now."""
    from swarmgate.council.patterns import pattern

    records, name = context.records, record_id(decision, seat)
    of = pattern("critique" if seat.critique else "discussion")
    return records.open(of, name).standing.usage if records.documents.names(name) else Usage()


# --- inside ---


@dataclass(frozen=True)
class _OwnModel:
    """Participants that speak with the model of one participant, where they have none of their own."""

    inner: ContextFactory
    model: str

    def agent(self, seat: Seat, *, folder: str = "") -> AgentContext:
        """As `ContextFactory.agent`."""
        return self.inner.agent(seat if seat.model else seat.model_copy(update={"model": self.model}), folder=folder)

    def parent(self) -> AgentContext | None:
        """As `ContextFactory.parent`."""
        return self.inner.parent()


async def _discussed(mode: Mode, seat: DecisionSeat, decision: Decision, context: CouncilContext) -> str:
    from swarmgate.council.discussion.pattern import DISCUSSION, Session
    from swarmgate.council.discussion.request import discussion_of
    from swarmgate.council.run import run

    discussion = discussion_of(
        id=record_id(decision, seat),
        topic=decision.question,
        mode=mode,
        material=_matter(seat, decision),
        tokens=decision.tokens,
        timeout_s=decision.timeout_s,
        whole_s=decision.whole_s,
    )
    inner = replace(context, contexts=_OwnModel(context.contexts, seat.model), own=Session())
    record = context.records.begin(DISCUSSION, discussion, part_of=decision.id)
    held = await run(DISCUSSION, record, inner)
    if held is None or held.conclusion is None:
        raise CouncilFailed(f"the discussion {discussion.id} has no conclusion")
    return "\n".join(_concluded(held.conclusion))


async def _improved(seat: DecisionSeat, decision: Decision, context: CouncilContext) -> str:
    from swarmgate.council.critique import steps

    threshold, stop = _good(seat, decision, context)
    text, _ = await steps.prepared(
        as_participant(seat),
        _TASK,
        context=replace(context, contexts=_OwnModel(context.contexts, seat.model)),
        id=record_id(decision, seat),
        iterations=seat.critique,
        tokens=decision.tokens,
        timeout_s=decision.timeout_s,
        material=_matter(seat, decision, question=True),
        whole_s=decision.whole_s,
        threshold=threshold,
        stop=stop,
        part_of=decision.id,
    )
    return text


def _good(seat: DecisionSeat, decision: Decision, context: CouncilContext) -> tuple[float, float]:
    """What is good enough for a draft; of one that was begun, as it was then: settings may have changed since."""
    own, name = cast("Preparation", context.own), record_id(decision, seat)
    begun = context.records.begun(name) if context.records.documents.names(name) else None
    if begun is None or begun.pattern != "critique" or begun.part_of != decision.id:
        return own.threshold, own.stop
    critique = Critique.model_validate(begun.request)
    return critique.criteria[0].threshold, critique.stop


def _matter(seat: DecisionSeat, decision: Decision, *, question: bool = False) -> str:
    """What it is about, with the question, the options and the perspective above it."""
    parts = {
        "The question": decision.question if question else "",
        "The options": "\n".join(f"- {each}" for each in decision.options) if decision.strategy in VOTING else "",
        "Seen from": "\n".join(filter(None, (seat.role, seat.perspective))),
        "The material": decision.material,
    }
    text = "\n\n".join(f"### {title}\n{part}" for title, part in parts.items() if part)
    if len(text) > MATERIAL.most:
        raise CouncilRefused(
            f"`material` of what {seat.id} prepares has {len(text):,} characters: the limit is {MATERIAL.most:,.0f}"
        )
    return text


def _concluded(conclusion: Conclusion) -> Iterator[str]:
    """A conclusion as its participant speaks from it: the minority and what is open too."""
    yield conclusion.executive_summary
    yield from _listed("Recommendations", conclusion.recommendations)
    yield from _listed("Insights", conclusion.insights)
    yield from _listed("What the minority holds", conclusion.minority_report)
    if conclusion.open_questions:
        yield "Open questions:"
        yield from (f"- {each.question}" for each in conclusion.open_questions)


def _listed(title: str, items: tuple[Cited, ...]) -> Iterator[str]:
    if items:
        yield f"{title}:"
        yield from (f"- {each.text}" for each in items)

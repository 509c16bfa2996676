"""What a participant works out before it first speaks: a discussion of its own, or a draft that it improves.

Each is a record of its own, `<decision>.<participant>`, so that it is taken up where it was left, and given at once
where it is over. Nothing in it can nest further: that is as deep as patterns go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from swarmgate.agents.desk import Desk
from swarmgate.council.consensus.brief import voice_of
from swarmgate.council.consensus.deciding import Prepare, Prepared
from swarmgate.council.consensus.spent import prepared_with, record_id
from swarmgate.council.discussion.model import Cited, Conclusion, Mode
from swarmgate.council.records import PART_OF, Records
from swarmgate.council.stream import PatternEvent
from swarmgate.council.voices import Voices
from swarmgate.domain.consensus import VOTING, Decision, DecisionSeat
from swarmgate.domain.council_limits import MATERIAL
from swarmgate.domain.critique import Critique
from swarmgate.domain.debate import Seat
from swarmgate.errors import CouncilFailed, CouncilRefused, ModelError

if TYPE_CHECKING:
    from swarmgate.council.events import CouncilEvent

_TASK = "Say where you stand on the question of the material, and why: what holds, what does not, what it hangs on."


@dataclass(frozen=True)
class Good:
    """What is good enough for a draft: the score of each criterion, and the mean of all, 0 to 1."""

    threshold: float = 0.7
    stop: float = 0.8


def preparation(
    voices: Voices, records: Records, on_event: Callable[[PatternEvent], None], good: Good | None = None
) -> Prepare:
    """How participants prepare: as their `discussion` or `critique` says, with these voices, kept in these records."""

    async def prepare(seat: DecisionSeat, decision: Decision, _number: int) -> Prepared:
        own = _OwnModel(voices, seat.model)
        try:
            if seat.discussion is not None:
                return await _discussed(seat.discussion, seat, decision, own, records, on_event)
            return await _improved(seat, decision, own, records, on_event, good or Good())
        except ModelError as error:
            return Prepared(usage=prepared_with(records, record_id(decision.id, seat.id)), failed=error.message)

    return prepare


def check_records(decision: Decision, records: Records) -> None:
    """Whether it, and what participants prepare, can be kept under their ids.

    Raises:
        CouncilRefused: one is no id, or would be too long.
    """
    records.check_id(decision.id, "decision")
    for seat in decision.participants:
        if seat.discussion or seat.critique:
            records.check_id(record_id(decision.id, seat.id))


@dataclass(frozen=True)
class _OwnModel:
    """Voices that speak with the model of one participant, where they have none of their own."""

    inner: Voices
    model: str

    def desk(self, seat: Seat, *, folder: str = "") -> Desk:
        """As `Voices.desk`."""
        return self.inner.desk(seat if seat.model else seat.model_copy(update={"model": self.model}), folder=folder)

    def parent(self) -> Desk | None:
        """As `Voices.parent`."""
        return self.inner.parent()


async def _discussed(
    mode: Mode,
    seat: DecisionSeat,
    decision: Decision,
    voices: Voices,
    records: Records,
    on_event: Callable[[PatternEvent], None],
) -> Prepared:
    from swarmgate.council.context import CouncilContext  # noqa: PLC0415 - most decisions prepare nothing
    from swarmgate.council.discussion.pattern import DISCUSSION, Session  # noqa: PLC0415 - as above
    from swarmgate.council.discussion.request import discussion_of  # noqa: PLC0415 - as above
    from swarmgate.council.record import Records as Journals  # noqa: PLC0415 - as above
    from swarmgate.council.run import run  # noqa: PLC0415 - as above

    discussion = discussion_of(
        id=record_id(decision.id, seat.id),
        topic=decision.question,
        mode=mode,
        material=_matter(seat, decision),
        tokens=decision.tokens,
        timeout_s=decision.timeout_s,
        whole_s=decision.whole_s,
    )
    journals = Journals(records.documents, clean=records.plain)
    context = CouncilContext(voices, journals, cast("Callable[[CouncilEvent], None]", on_event), own=Session())
    record = await run(DISCUSSION, journals.begin(DISCUSSION, discussion, part_of=decision.id), context)
    if record is None or record.conclusion is None:
        raise CouncilFailed(f"the discussion {discussion.id} has no conclusion")
    return Prepared("\n".join(_concluded(record.conclusion)), discussion.id, record.usage)


async def _improved(
    seat: DecisionSeat,
    decision: Decision,
    voices: Voices,
    records: Records,
    on_event: Callable[[PatternEvent], None],
    good: Good,
) -> Prepared:
    from swarmgate.council.critique.improving import prepared  # noqa: PLC0415 - as above

    name = record_id(decision.id, seat.id)
    good = _as_begun(records, name, decision.id) or good
    text, usage = await prepared(
        voice_of(seat),
        _TASK,
        iterations=seat.critique,
        voices=voices,
        records=records,
        id=name,
        tokens=decision.tokens,
        timeout_s=decision.timeout_s,
        material=_matter(seat, decision, question=True),
        whole_s=decision.whole_s,
        threshold=good.threshold,
        stop=good.stop,
        part_of=decision.id,
        on_event=on_event,
    )
    return Prepared(text, name, usage)


def _as_begun(records: Records, name: str, decision: str) -> Good | None:
    """What was good enough when this draft was begun: settings may have changed since."""
    there = records.manifest(name) if records.names(name) else None
    if there is None or there.pattern != "critique" or there.more.get(PART_OF) != decision:
        return None
    critique = Critique.model_validate(there.request)
    return Good(critique.criteria[0].threshold, critique.stop)


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
        yield from (f"- {each}" for each in conclusion.open_questions)


def _listed(title: str, items: tuple[Cited, ...]) -> Iterator[str]:
    if items:
        yield f"{title}:"
        yield from (f"- {each.text}" for each in items)

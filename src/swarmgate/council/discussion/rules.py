"""Rules of the discussion pattern: the fold of its record, its steps, views and progress messages."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from swarmgate.council.discussion.events import (
    EVENTS,
    CastConfirmed,
    CastProposed,
    Chosen,
    Concluded,
    MessageAdded,
    ModeChanged,
    Reopened,
    UserConsulted,
)
from swarmgate.council.discussion.model import MODERATOR, USER, Discussion, DiscussionRecord, DiscussionRound
from swarmgate.council.discussion.personas import proposed
from swarmgate.council.discussion.state import AskParticipant, Due, MakeCast, Reopen, State, applied, due
from swarmgate.council.discussion.view.artifacts import artifacts
from swarmgate.council.discussion.view.manifest import manifest, personas
from swarmgate.council.discussion.view.progress import beginning, newest, progress, reopening_text, step_line, what
from swarmgate.council.discussion.view.resume_context import SUMMARY, summary
from swarmgate.council.discussion.view.round_record import round_records
from swarmgate.council.records.document_store import Documents
from swarmgate.council.records.lifecycle import Completed, Resumed, Standing, Status
from swarmgate.council.records.rules import Rules
from swarmgate.council.views.events import CouncilEvent
from swarmgate.council.views.formatting import many
from swarmgate.council.views.stream import Completed as Over
from swarmgate.council.views.stream import Contributed, Converged, Notice, RoundCompleted, RoundStarted, StepStarted
from swarmgate.domain.base import Frozen
from swarmgate.domain.text.printable import escaped
from swarmgate.errors import CouncilFailed, SwarmError, WaitingForUser

CAST, MANIFEST, PROGRESS, SYNTHESIS = "personas/cast.json", "manifest.json", "progress.md", "artifacts/synthesis.json"


class DiscussionSummary(Frozen):
    """One discussion of the list. `status` is that of its record, or `damaged`: then `topic` says what is."""

    id: str
    began: str
    status: str
    topic: str


class DiscussionRules(Rules[Discussion, State, DiscussionRecord]):
    """Experts with opposing interests and four fixed roles, in rounds of steps, with a choice after each round."""

    name, verb, request, events = "discussion", "discuss", Discussion, EVENTS
    milestones = (Resumed, CastConfirmed, Chosen, Concluded)

    def begin(self, request: Discussion) -> State:
        """Nothing but the request."""
        return State(request)

    def apply(self, state: State, event: Frozen) -> State:
        """As `state.applied`."""
        return applied(state, event)

    def next(self, state: State) -> Sequence[Due]:
        """As `state.due`."""
        return due(state)

    def over(self, state: State) -> bool:
        """Whether there is a conclusion."""
        return state.conclusion is not None

    def pause(self, state: State) -> str:
        """Where the user paused it; nothing before it began."""
        at = f"in round {state.partial.number}" if state.partial else f"after round {len(state.rounds)}"
        return f"by the user, {at}" if state.confirmed else ""

    def is_of_person(self, event: Frozen, state: State) -> bool:
        """Whether the user wants another mode, spoke, or chose, where a user is part of it."""
        match event:
            case ModeChanged():
                return True
            case UserConsulted(message=message):
                return message is not None
            case Chosen(choice=choice):
                return state.discussion.user and choice.by == "user"
        return False

    def outcome(self, standing: Standing[State]) -> DiscussionRecord:
        """All of it, over or not; it is only prepared as long as its cast is not confirmed."""
        state = standing.own
        rounds = (*state.rounds, *([state.partial] if state.partial else ()))
        took = sum(each.seconds for each in (*rounds, *state.reopenings))
        took += state.conclusion.seconds if state.conclusion else 0
        return DiscussionRecord(
            discussion=state.discussion,
            cast=state.cast,
            status=standing.status if state.confirmed else "prepared",
            why=standing.why,
            rounds=state.rounds,
            partial=state.partial,
            choices=state.choices,
            reopenings=state.reopenings,
            conclusion=state.conclusion,
            usage=standing.usage,
            seconds=round(took, 4),
        )

    def views(self, standing: Standing[State]) -> Mapping[str, str]:
        """Its texts; while it is at work the small ones alone, of which progress.md grows with each step."""
        record, state = self.outcome(standing), standing.own
        made = {PROGRESS: progress(record)}
        if state.cast:
            created, active = standing.created_at, standing.newest_at
            made[MANIFEST] = _text(manifest(record, state.cast, created=created, active=active))
        if state.cast and state.confirmed and not (state.rounds or state.partial):
            made[CAST] = _json(state.cast)
            everybody = personas(state.cast, state.discussion.extent.roles)
            made |= {f"personas/{each['id']}.json": _text(each) for each in everybody}
        if state.rounds and state.partial is None:
            made |= {SUMMARY: summary(record), **round_records(record, state.times)}
        if state.conclusion:
            made[SYNTHESIS] = _json(state.conclusion)
        return made | (artifacts(record) if standing.status != "open" and (state.rounds or state.partial) else {})

    def grows(self, event: Frozen, before: Standing[State], after: Standing[State]) -> Mapping[str, str]:
        """progress.md, by every step that is whole, and by how it was taken up."""
        del before
        if isinstance(event, Reopened):
            return {PROGRESS: reopening_text(event.reopening)}
        held = [*after.own.rounds, *([after.own.partial] if after.own.partial else [])][-1:]
        return (
            {PROGRESS: newest(held[0], after.own.discussion.extent)}
            if isinstance(event, UserConsulted) and held
            else {}
        )

    def title(self, state: State) -> str:
        """The topic."""
        return state.discussion.topic

    def who(self, state: State) -> tuple[str, ...]:
        """The experts, and the fixed roles."""
        experts = state.cast.experts if state.cast else state.discussion.experts
        return (*(each.id for each in experts), *state.discussion.extent.roles)

    def most(self, state: State) -> int:
        """The most rounds."""
        return state.discussion.rounds

    def session_s(self, state: State) -> float:
        """`whole_s`; the user's time does not count."""
        return state.discussion.whole_s

    def status_after(self, error: SwarmError, standing: Standing[State]) -> Status:
        """The status after an error: failed where a step failed; paused where time, a budget or a window ended."""
        if not standing.own.confirmed:
            return "prepared"
        return "failed" if isinstance(error, CouncilFailed) and not standing.late else "paused"

    def waiting(self, standing: Standing[State], documents: Documents) -> Standing[State]:
        """The cast as its text has it, as long as it is not confirmed.

        Raises:
            CouncilRefused: that text is no cast; names file and key.
        """
        state = standing.own
        if state.confirmed or state.cast is None:
            return standing
        return replace(standing, own=replace(state, cast=proposed(documents, standing.id, state.cast)))

    def row(self, standing: Standing[State]) -> DiscussionSummary:
        """How far it is, and its topic."""
        record = self.outcome(standing)
        topic = record.discussion.topic
        return DiscussionSummary(id=standing.id, began=standing.created_at, status=record.status, topic=topic)

    def damaged(self, id: str, began: str, why: str) -> DiscussionSummary:  # noqa: A002 - the field's name
        """What is damaged stands in the place of the topic."""
        return DiscussionSummary(id=id, began=began, status="damaged", topic=why)

    def measures(self, standing: Standing[State]) -> Mapping[str, float | bool | int]:
        """How many rounds it had."""
        return {"rounds": len(standing.own.rounds)} if standing.over else {}

    # --- what is told ---

    def progress_of_steps(self, steps: Sequence[Hashable], state: State) -> Iterable[CouncilEvent]:
        """A round with its first step in this session, and every step."""
        common = {"pattern": self.name, "id": state.discussion.id}
        says = [each for each in steps if isinstance(each, AskParticipant)]
        if says and state.held:
            number, step = says[0].number, says[0].step
            if not state.spoken_in:
                yield RoundStarted(**common, number=number, most=self.most(state), title=state.held.direction)
            yield StepStarted(**common, number=number, step=step, who=tuple(each.who for each in says))
        elif any(isinstance(each, MakeCast) for each in steps):
            yield StepStarted(**common, number=0, step="experts", who=(MODERATOR,))
        elif any(isinstance(each, Reopen) for each in steps):
            yield StepStarted(**common, number=0, step="reopen", who=(MODERATOR,))

    def progress_of_event(
        self, event: Frozen, before: Standing[State], after: Standing[State]
    ) -> Iterable[CouncilEvent]:
        """Every contribution, every whole round, and an end before the last round."""
        match event:
            case UserConsulted():
                yield from self._contributed(event, after)
                if before.own.held and before.own.turn:
                    held, step = before.own.held, before.own.turn.step
                    yield Notice(pattern=self.name, id=after.id, text=step_line(held, step))
                if len(after.own.rounds) > len(before.own.rounds):
                    held = after.own.rounds[-1]
                    yield self._round(held, after)
                    for each in held.warnings:
                        yield Notice(pattern=self.name, id=after.id, kind="notice", text=each)
            case Chosen(choice=choice) if after.own.is_over:
                why = f"the {choice.by} goes on to the synthesis"
                yield Converged(pattern=self.name, id=after.id, number=choice.after, why=why)
            case Completed():
                yield completed(self.outcome(after))
            case Resumed():
                yield from super().progress_of_event(event, before, after)
            case _:
                yield from self._contributed(event, after)

    def _contributed(self, event: Frozen, after: Standing[State]) -> Iterable[CouncilEvent]:
        common = {"pattern": self.name, "id": after.id}
        match event:
            case CastProposed(cast=cast):
                words = f"{many(len(cast.experts), 'expert')}, {many(len(cast.tensions), 'tension')}"
                yield Contributed(**common, number=0, step="experts", who=MODERATOR, what=words, usage=cast.usage)
            case MessageAdded(message=message):
                at = {"number": message.round, "step": message.step, "message": message.id, "who": message.author}
                details = {"what": what(message), "text": beginning(message)}
                yield Contributed(**common, **at, **details, failed=message.failed, usage=message.usage)
            case Reopened(reopening=how):
                told = {"what": "proposes" if how.topic else "", "text": how.topic, "failed": how.failed}
                yield Contributed(**common, number=0, step="reopen", who=MODERATOR, **told, usage=how.usage)
            case UserConsulted(message=message) if message is not None:
                at = {"number": message.round, "step": message.step, "message": message.id, "who": USER}
                yield Contributed(**common, **at, text=beginning(message))
            case Concluded(conclusion=end):
                details = {"who": end.author, "text": " ".join(end.executive_summary.split())}
                yield Contributed(**common, number=0, step="conclude", **details, usage=end.usage)

    def _round(self, held: DiscussionRound, after: Standing[State]) -> RoundCompleted:
        counted = held.measured
        words = ", ".join(many(getattr(counted, f"{noun}s"), noun) for noun in ("counter", "support", "shift"))
        score = round(counted.disagreement / 10, 4) if counted else None
        return RoundCompleted(pattern=self.name, id=after.id, number=held.number, what=words, score=score)

    def progress_of_error(self, error: SwarmError, standing: Standing[State]) -> Iterable[CouncilEvent]:
        """Any error but that the user is waited for."""
        return () if isinstance(error, WaitingForUser) else super().progress_of_error(error, standing)


RULES = DiscussionRules()


def completed(record: DiscussionRecord) -> Over:
    """The progress event of a completed discussion."""
    return Over(
        pattern=RULES.name,
        id=record.discussion.id,
        what=f"{many(len(record.rounds), 'round')}, concluded",
        outcome=record.conclusion.model_dump(mode="json") if record.conclusion else {},
        usage=record.usage,
        seconds=record.seconds,
    )


def _json(model: Frozen) -> str:
    return f"{model.model_dump_json(indent=1)}\n"


def _text(values: Mapping[str, Any]) -> str:
    return escaped(json.dumps(values, ensure_ascii=False, indent=1)) + "\n"

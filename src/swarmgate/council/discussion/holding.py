"""A discussion: the cast, rounds of steps with a choice after each, the conclusion; what is finished is on record."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from swarmgate.agents.brief import one_line
from swarmgate.agents.desk import ignore
from swarmgate.council.discussion import choosing
from swarmgate.council.discussion.casting import cast_for
from swarmgate.council.discussion.chronicle import Chronicle
from swarmgate.council.discussion.concluding import concluded
from swarmgate.council.discussion.masking import masked, masked_cast
from swarmgate.council.discussion.people import FOLLOWING, Confirmed, Pause, People
from swarmgate.council.discussion.planning import forced_by, next_step
from swarmgate.council.discussion.progress import beginning
from swarmgate.council.discussion.request import check, check_cast, in_mode
from swarmgate.council.discussion.steps import spoken, turn_of
from swarmgate.council.discussion.table import Table, provisional, seated, topic_sections
from swarmgate.council.discussion.values import shortened
from swarmgate.council.discussion.words import many
from swarmgate.council.records import Records, Status
from swarmgate.council.stream import (
    Completed,
    Contributed,
    Converged,
    Erred,
    PatternEvent,
    RoundCompleted,
    RoundStarted,
    Started,
    StepStarted,
)
from swarmgate.council.voices import Voices
from swarmgate.domain.argument import measured
from swarmgate.domain.debate import message_id
from swarmgate.domain.discussion import (
    MODERATOR,
    USER,
    Cast,
    ChoiceKind,
    Discussion,
    DiscussionRecord,
    DiscussionRound,
    Message,
    Mode,
    Step,
)
from swarmgate.domain.usage import Usage
from swarmgate.errors import CouncilFailed, LedgerError, SwarmError, WaitingForUser
from swarmgate.llm.limits.worktime import WorkTime

_OF_EXPERTS = frozenset({Step.POSITION, Step.ARGUE, Step.RESPOND})
"""Steps of several voices: where all of them fail, nothing was said, and the step is asked anew."""


async def hold(
    discussion: Discussion,
    *,
    voices: Voices,
    records: Records,
    people: People = FOLLOWING,
    on_event: Callable[[PatternEvent], None] = ignore,
) -> DiscussionRecord:
    """Hold a discussion, or go on with it after the last step that is on record.

    Args:
        discussion: what is held.
        voices: make the desks; all are made before anybody is asked.
        records: where it is kept.
        people: the user.
        on_event: hears how it goes.

    Returns:
        The record: complete; paused, or only prepared, where the user paused.

    Raises:
        CouncilRefused: it cannot be held as asked; another record has its id.
        ConfigError, MissingRequirement: a voice has no model, named.
        LedgerError: its record was changed by hand; the message names the file.
        CouncilFailed: all experts failed in a step, there is no cast or no conclusion, or its time is over. What is
            finished is on record.
        WaitingForUser, BudgetExhausted, Stopped: as they come; the same holds.
    """
    check(discussion)
    if not records.names(discussion.id):
        seated(discussion, provisional(discussion), voices)  # what cannot be held leaves no record
    log = Chronicle(records, discussion)
    if log.record.status == "complete":
        return log.record
    discussion = log.record.discussion
    table = seated(discussion, log.record.cast or provisional(discussion), voices, clean=log.clean)
    sitting = _Sitting(log, table, voices, people, on_event, discussion.whole_s)
    try:
        await sitting.held()
    except Pause:
        sitting.paused()
    except WaitingForUser:
        raise
    except SwarmError as error:
        told = sitting.stopped(error)
        if told is error:
            raise
        raise told from error
    return log.record


@dataclass
class _Sitting:
    """One discussion at work. `left` are the seconds that its voices have in this sitting, the user's not counted."""

    log: Chronicle
    table: Table
    voices: Voices
    people: People
    on_event: Callable[[PatternEvent], None]
    left: float
    late: bool = field(default=False, init=False)

    async def held(self) -> None:
        """From where it stands to the end."""
        self._begun()
        await self._cast()
        self.log.stand("open")
        while not choosing.is_over(self.log.record):
            if choosing.is_chosen(self.log.record) or self.log.record.partial:
                await self._round()
            else:
                await self._choice()
        await self._conclusion()

    def paused(self) -> None:
        """The user wants to go on later."""
        record = self.log.record
        if self.log.confirmed:
            at = f"in round {record.partial.number}" if record.partial else f"after round {len(record.rounds)}"
            self.log.stand("paused", f"by the user, {at}")

    def stopped(self, error: SwarmError) -> SwarmError:
        """What ends this sitting, on record, with the line that goes on."""
        failed = isinstance(error, CouncilFailed) and not self.late
        if not isinstance(error, LedgerError):
            status: Status = "prepared" if not self.log.confirmed else "failed" if failed else "paused"
            self.log.stand(status, self.log.clean(error.message))
        if isinstance(error, CouncilFailed):
            way = f"it goes on by: swarm discuss resume {self.log.record.discussion.id}"
            error = CouncilFailed(error.message, hint=f"{error.hint}; {way}" if error.hint else way)
        why, hint = self.log.clean([error.message, error.hint])
        self._tell(Erred, code=error.code, why=why, hint=hint)
        return error

    # --- the cast ---

    async def _cast(self) -> None:
        """Who takes part, as the user wants it."""
        if self.log.confirmed:
            self.log.confirm(self.table.cast)  # a kill may have come before the last expert's text
        while not self.log.confirmed:
            discussion = self.log.record.discussion
            cast = self.log.record.cast or await self._generated(discussion)
            check_cast(cast, discussion)
            self.table = self._seated(discussion, cast)
            answer = await self.people.confirm(discussion, cast)
            if isinstance(answer, Confirmed):
                self.log.confirm(cast)
            elif isinstance(answer, Mode):
                self._in_mode(answer)
            else:
                check_cast(answer, discussion)
                changed = masked_cast(answer, self.log.clean)
                self.log.propose(changed)
                self.table = self._seated(discussion, changed)
                self.log.confirm(changed)

    async def _generated(self, discussion: Discussion) -> Cast:
        self._tell(StepStarted, number=0, step="experts", who=(MODERATOR,))
        async with self._in_time():
            made = await cast_for(self.table.desks[MODERATOR], discussion, topic_sections(discussion))
        cast = masked_cast(made, self.log.clean, generated=not discussion.experts)
        self.log.propose(cast, generated=True)
        words = f"{many(len(cast.experts), 'expert')}, {many(len(cast.tensions), 'tension')}"
        self._tell(Contributed, number=0, step="experts", who=MODERATOR, what=words, usage=cast.usage)
        return cast

    def _in_mode(self, mode: Mode) -> None:
        """Another mode: the cast stays where it fits, and is made anew where not."""
        changed = in_mode(self.log.record.discussion, mode)
        self.log.change(changed)
        cast = self.log.record.cast
        least, most = changed.extent.experts
        if cast is not None and not least <= len(cast.experts) <= most:
            self.log.forget_cast()
            self.table = self._seated(changed, provisional(changed))

    def _seated(self, discussion: Discussion, cast: Cast) -> Table:
        return seated(discussion, cast, self.voices, clean=self.log.clean)

    def _begun(self) -> None:
        self.on_event(_started(self.log.record, self.table.experts, resumed=self.log.resumed))

    # --- a round ---

    async def _round(self) -> None:
        """One round to its end, or what is left of it."""
        record, extent = self.log.record, self.log.record.discussion.extent
        held, before = record.partial or choosing.next_round(record), record.rounds
        self._tell(RoundStarted, number=held.number, most=record.discussion.rounds, title=held.direction)
        while (step := next_step(held, before, extent)) is not None:
            held = await self._step(step, held)
        counted = measured(held, before)
        self.log.keep_round(held.model_copy(update={"measured": counted}))
        words = ", ".join(many(getattr(counted, f"{noun}s"), noun) for noun in ("counter", "support", "shift"))
        self._tell(RoundCompleted, number=held.number, what=words, score=round(counted.disagreement / 10, 4))

    async def _step(self, step: Step, held: DiscussionRound) -> DiscussionRound:
        """The round after one more step, and after what the user says to it."""
        began, before = time.perf_counter(), self.log.record.rounds
        turn = turn_of(step, held, before, self.table)
        self._tell(StepStarted, number=held.number, step=step, who=turn.who)
        async with self._in_time():
            messages = await spoken(turn, step, held, before, self.table, self.on_event)
        whole = step in _OF_EXPERTS and len(messages) == len(self.table.experts)  # some have no room to respond
        if whole and all(each.failed for each in messages):
            raise _silence(step, held.number, messages)
        forced = forced_by(step, held, before, self.table.cast, self.table.discussion.extent)
        held = held.model_copy(
            update={
                "messages": (*held.messages, *messages),
                "done": (*held.done, step),
                "forced": (*held.forced, *forced),
                "seconds": round(held.seconds + time.perf_counter() - began, 4),
            }
        )
        self.log.keep_step(held, step)
        return await self._heard_user(step, held)

    async def _heard_user(self, step: Step, held: DiscussionRound) -> DiscussionRound:
        """The round with what the user says after a step."""
        text, cut = shortened((await self.people.speak(self.log.record, step)).strip())
        if not text:
            return held
        spoken_words = Message(
            id=message_id(held.number, len(held.messages) + 1),
            round=held.number,
            step=step,
            author=USER,
            text=text,
            human=True,
            noted=(cut,) if cut else (),
        )
        said = masked(spoken_words, self.log.clean)
        held = held.model_copy(update={"messages": (*held.messages, said)})
        self.log.keep_step(held)
        self._tell(Contributed, number=held.number, step=step, message=said.id, who=USER, text=beginning(said))
        return held

    # --- after a round ---

    async def _choice(self) -> None:
        """What comes after the last round."""
        record = self.log.record
        choice = choosing.bound_choice(record)
        if choice is None:
            chosen = choosing.checked_choice(await self.people.choose(record), record)
            choice = masked(chosen, self.log.clean)
            after = choosing.next_round(record.model_copy(update={"choices": (*record.choices, choice)}))
            self.table.check_room(after)
        if choice.kind is ChoiceKind.PAUSE:
            raise Pause
        self.log.keep_choice(choice)
        if choice.by != "bounds" and choosing.is_over(self.log.record):
            self._tell(Converged, number=choice.after, why=f"the {choice.by} goes on to the synthesis")

    async def _conclusion(self) -> None:
        """The conclusion, and the files of it all."""
        if self.log.record.conclusion is None:
            async with self._in_time():
                conclusion = await concluded(self.table, self.log.record.rounds)
            self.log.conclude(conclusion)
            said = {"who": conclusion.author, "text": one_line(conclusion.executive_summary), "usage": conclusion.usage}
            self._tell(Contributed, number=0, step="conclude", **said)
        self.log.complete()
        self.on_event(_completed(self.log.record))

    # --- inside ---

    @asynccontextmanager
    async def _in_time(self) -> AsyncIterator[None]:
        """Work of voices within what is left of the sitting's time.

        Raises:
            CouncilFailed: that is over.
        """
        worked = WorkTime()
        began = worked()
        try:
            async with worked.limited(max(self.left, 0)):
                yield
        except TimeoutError as error:
            if not worked.expired:
                raise
            self.late = True
            whole = self.log.record.discussion.whole_s
            raise CouncilFailed(
                f"the {whole:g} s of one sitting (`whole_s`) are over; finished steps are on record"
            ) from error
        finally:
            self.left -= worked() - began

    def _tell(self, kind: Callable[..., PatternEvent], **fields: object) -> None:
        self.on_event(kind(pattern="discussion", id=self.log.record.discussion.id, **fields))


def told_again(record: DiscussionRecord) -> tuple[Started, Completed]:
    """The events of a record that answers a request once more: nothing was asked, and nothing used."""
    experts = tuple(each.id for each in record.cast.experts) if record.cast else ()
    nothing = {"usage": Usage(), "seconds": 0.0}
    return _started(record, experts, resumed=True), _completed(record).model_copy(update=nothing)


def _started(record: DiscussionRecord, experts: tuple[str, ...], *, resumed: bool) -> Started:
    asked, who = record.discussion, (*experts, *record.discussion.extent.roles)
    return Started(pattern="discussion", id=asked.id, title=asked.topic, who=who, most=asked.rounds, resumed=resumed)


def _completed(record: DiscussionRecord) -> Completed:
    return Completed(
        pattern="discussion",
        id=record.discussion.id,
        what=f"{many(len(record.rounds), 'round')}, concluded",
        outcome=record.conclusion.model_dump(mode="json") if record.conclusion else {},
        usage=record.usage,
        seconds=record.seconds,
    )


def _silence(step: Step, number: int, messages: tuple[Message, ...]) -> CouncilFailed:
    why = "; ".join(dict.fromkeys(each.failed for each in messages))
    return CouncilFailed(
        f"all {len(messages)} experts failed in step {step} of round {number}: {why}",
        hint="look at the models of the experts, their exchanges are in .swarm/traces/",
    )

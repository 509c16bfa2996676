"""A dispatch: tasks for voices, one alone, several side by side, one after the other, or as a debate.

Nobody writes: a voice is offered tools that read, and no others. What is said goes on record as it comes.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol

from swarmgate.agents.brief import cut
from swarmgate.agents.desk import Desk, ignore
from swarmgate.config.council import Council
from swarmgate.council.debating import DebateStore, hold
from swarmgate.council.dispatch_request import Dispatch, Where, in_words
from swarmgate.council.dispatch_voice import LEAST_ROOM, answer, room_of
from swarmgate.council.events import Answered, Asked, OnCouncilEvent
from swarmgate.council.overheard import overheard
from swarmgate.council.perspectives import PERSPECTIVES
from swarmgate.council.voices import Voices
from swarmgate.council.way_on import with_way_on
from swarmgate.domain.debate import Debate, Outcome, Round, Seat
from swarmgate.domain.dispatch import AT_ONCE, PREVIOUS, DispatchedReply, DispatchResult, DispatchTask, Mode
from swarmgate.domain.usage import Usage
from swarmgate.errors import (
    BudgetExhausted,
    CouncilFailed,
    CouncilRefused,
    MissingRequirement,
    ModelError,
    SwarmError,
    UsageError,
)
from swarmgate.llm.limits.worktime import WorkTime

MOST_OUTPUT = 40_000
"""Characters of one output that are kept."""

_TRIES = {Mode.PARALLEL: 2}
"""How often a task is tried; once where the mode is not named."""

_NOT_REACHED = "not reached"
_GO_ON = (
    "raise the budget: swarm debate resume {id} --tokens N (or --usd X); of the project: [budget] in .swarm/config.toml"
)
_RAISE = "raise the budget in .swarm/config.toml ([council], or [budget]), then dispatch it again"


class DispatchStore(Protocol):
    """Keeps dispatches; the ledger room writes them to `.swarm/traces/dispatches/`."""

    def keep(self, result: DispatchResult) -> None:
        """Keep a dispatch as it stands now, in the place of what was kept of it before. Atomic."""


@dataclass(frozen=True, kw_only=True)
class Means:
    """What a dispatch works with.

    `id` is its name on record. `model_of` is the model of a role, `provider/model`; `settings` are the bounds. `where`
    is how messages about a task begin. `whole`: a budget that ends it early is an error,
    whatever has an output by then.
    """

    id: str
    voices: Voices
    store: DispatchStore
    debates: DebateStore
    model_of: Callable[[str], str]
    settings: Council = field(default_factory=Council)
    on_event: OnCouncilEvent = ignore
    where: Where = in_words
    whole: bool = False


async def carry_out(asked: Dispatch, means: Means) -> DispatchResult:
    """Has voices work on the tasks of a dispatch that was checked.

    Raises:
        CouncilRefused: a voice cannot be had as asked; nobody was asked anything.
        CouncilFailed: no task has an output, or there is no outcome of the debate. That is on record.
        BudgetExhausted: before any task had an output. Later ones are told by `DispatchResult.exhausted`.
        ConfigError, MissingRequirement: a model cannot be connected.
    """
    desks = [_desk(number, task, means) for number, task in enumerate(asked.tasks, start=1)]
    if asked.mode is Mode.DEBATE:
        means.voices.parent()  # what it lacks is told before anybody is asked
    work = _Work(asked, means, desks)
    try:
        await _WORK[asked.mode](work)
    except BudgetExhausted as error:
        work.spent(error)
        work.end(failed=error.message)
        hint = _GO_ON.format(id=means.id) if asked.mode is Mode.DEBATE else _RAISE
        raise BudgetExhausted(error.message, account=error.account, hint=hint) from error
    except CouncilFailed as error:
        work.end(failed=error.message)
        rounds = means.debates.rounds(means.id) if asked.mode is Mode.DEBATE else ()
        raise with_way_on(error, means.id, rounds) from error
    except SwarmError as error:
        work.end(failed=error.message)
        raise
    return work.end()


def _desk(number: int, task: DispatchTask, means: Means) -> Desk:
    """The desk of a task's voice.

    Raises:
        CouncilRefused: it cannot be had, or the text does not fit its window.
    """
    try:
        desk = means.voices.desk(_seat(task, means), folder=task.folder)
    except UsageError as error:
        key = "folder" if task.folder and "folder" in error.message else "model"
        raise CouncilRefused(f"{means.where(number, key)}{task.name}: {error.message}", hint=error.hint) from error
    except MissingRequirement as error:
        told, hint = error.message, error.hint
        if task.role and not task.model:  # its model is that of the role, which the settings name
            named = {"`participant`": f"`{task.role}`", "[roles.participant]": f"[roles.{task.role}]"}
            for ours, theirs in named.items():
                told, hint = told.replace(ours, theirs), hint.replace(ours, theirs)
        raise MissingRequirement(f"{means.where(number, 'model')}{task.name}: {told}", hint=hint) from error
    most = desk.limits.section_chars // 2
    if len(task.text) > most:
        raise CouncilRefused(
            f"{means.where(number, 'text')}{task.name}: `text` has {len(task.text):,} characters, {desk.model.name} "
            f"takes {most:,} at most",
            hint="Put what is long into a file of the repository and name that: voices read files.",
        )
    if PREVIOUS in task.text and room_of(task, desk.limits.section_chars) < LEAST_ROOM:
        raise CouncilRefused(
            f"{means.where(number, 'text')}{task.name}: `{PREVIOUS}` stands {task.text.count(PREVIOUS):,} times in "
            f"`text`: that leaves less than {LEAST_ROOM} characters for each",
            hint="Name it once: the output before also stands in a section of its own.",
        )
    return desk


def _seat(task: DispatchTask, means: Means, brief: str = "") -> Seat:
    model = task.model or (means.model_of(task.role) if task.role else "")
    return Seat(id=task.name, model=model, brief=brief, system=PERSPECTIVES.get(task.role, ""))


class _Work:
    """One dispatch while it is worked on; `result` is how it stands, and that is on record at any time."""

    def __init__(self, asked: Dispatch, means: Means, desks: Sequence[Desk]) -> None:
        self._means = means
        self._desks = desks
        self._began = time.monotonic()
        self._spent: BudgetExhausted | None = None
        now = datetime.now(UTC)
        self.result = DispatchResult(
            id=means.id,
            mode=asked.mode,
            tasks=asked.tasks,
            question=asked.question,
            rounds=asked.rounds,
            replies=tuple(
                DispatchedReply(number=number, name=task.name, not_run=_NOT_REACHED)
                for number, task in enumerate(asked.tasks, start=1)
            ),
            started_at=now.isoformat(timespec="seconds"),
        )
        self._change()

    async def side_by_side(self) -> None:
        """All tasks, four at once."""
        places = asyncio.Semaphore(AT_ONCE)

        async def in_turn(number: int) -> None:
            async with places:
                await self._try(number)

        try:
            async with asyncio.TaskGroup() as group:
                for number in range(1, len(self.result.tasks) + 1):
                    group.create_task(in_turn(number))
        except BaseExceptionGroup as several:
            raise several.exceptions[0] from None

    async def one_after_the_other(self) -> None:
        """Each task after the one before it, as long as there is an output to go on from."""
        before = ""
        for number in range(1, len(self.result.tasks) + 1):
            reply = await self._try(number, before)
            if not reply.succeeded:
                return
            before = reply.text

    async def debate(self) -> None:
        """The tasks as the seats of a debate; a reply is what its seat said in the last round."""
        result, settings = self.result, self._means.settings
        folders = {task.name: task.folder for task in result.tasks}
        briefs = {task.name: "" if task.text == result.question else task.text for task in result.tasks}
        asked = Debate(
            id=result.id,
            question=result.question,
            seats=tuple(_seat(task, self._means, briefs[task.name]) for task in result.tasks),
            rounds=result.rounds,
            order=settings.order,
            tokens=settings.tokens,
            timeout_s=settings.timeout_s,
            similarity=settings.similarity,
            about="dispatch",
        )
        voices = Placed(self._means.voices, folders)
        try:
            outcome = await hold(asked, voices=voices, store=self._means.debates, on_event=self._means.on_event)
            self._change(outcome=outcome, usage=outcome.usage)
        finally:
            self._change(replies=self._said(asked.id))

    def _said(self, debate: str) -> tuple[DispatchedReply, ...]:
        return _replies(self.result.replies, self._means.debates.rounds(debate))

    def spent(self, error: BudgetExhausted) -> None:
        """A budget is used up: nobody is asked any more."""
        self._spent = error
        self._change(exhausted=error.message)

    def end(self, *, failed: str = "") -> DispatchResult:
        """The result, on record.

        Raises:
            BudgetExhausted, CouncilFailed: no task has an output, or all of it was asked for (`Means.whole`).
        """
        result = self.result
        none = not result.succeeded and not failed
        if none:
            told = (f"task {each.number} ({each.name}): {each.failed or each.not_run}" for each in result.replies)
            failed = f"{result.summary}: {'; '.join(told)}"
        usage = result.usage if result.outcome else sum((each.usage for each in result.replies), Usage())
        self._change(finished=True, failed=failed, usage=usage)
        if self._spent and (none or (self._means.whole and not failed)):
            hint = _RAISE if none else ""
            raise BudgetExhausted(self._spent.message, account=self._spent.account, hint=hint)
        if none:
            raise CouncilFailed(failed, hint=f"the record: swarm dispatch show {result.id}")
        return self.result

    async def _try(self, number: int, before: str = "") -> DispatchedReply:
        """One task, as often as its mode says; what came of it is on record."""
        task, began = self.result.tasks[number - 1], time.monotonic()
        if not self._spent:
            self._means.on_event(Asked(self.result.id, number, task.name))
        reply = DispatchedReply(number=number, name=task.name, not_run=self._spent.message if self._spent else "")
        tries = _TRIES.get(self.result.mode, 1)
        again = True
        while again and not self._spent and reply.tries < tries:
            reply, again = await self._once(reply, before)
        reply = reply.model_copy(update={"seconds": round(time.monotonic() - began, 3)})
        self._change(replies=(*self.result.replies[: number - 1], reply, *self.result.replies[number:]))
        self._means.on_event(Answered(self.result.id, reply))
        return reply

    async def _once(self, reply: DispatchedReply, before: str) -> tuple[DispatchedReply, bool]:
        """The reply after one more try, and whether yet another one may bring what this one did not."""
        again = False
        seconds = self._means.settings.timeout_s
        task = self.result.tasks[reply.number - 1]
        desk, heard = overheard(self._desks[reply.number - 1])
        found: dict[str, Any] = {"failed": "", "not_run": "", "model": desk.model.name}
        try:
            async with WorkTime().limited(seconds):
                ending = await answer(desk, task, before)
            text = cut(ending.value, MOST_OUTPUT, "")
            found |= {"text": text, "cut": len(ending.value) - len(text), "model": ending.model}
        except BudgetExhausted as error:
            self.spent(error)
            found["failed" if heard.usage.calls else "not_run"] = error.message
        except TimeoutError:
            found["failed"], again = f"no answer within {seconds:g} s", True
        except (ModelError, MissingRequirement) as error:
            found["failed"], again = error.message, isinstance(error, ModelError)
        found |= {"tries": reply.tries + 1, "usage": reply.usage + heard.usage, "prompt_hash": heard.prompt_hash}
        return DispatchedReply(**{**dict(reply), **found}), again

    def _change(self, **fields: Any) -> None:
        """Changes the result, and keeps it."""
        fields["seconds"] = round(time.monotonic() - self._began, 3)
        self.result = self.result.model_copy(update=fields)
        self._means.store.keep(self.result)


def held_again(result: DispatchResult, rounds: Sequence[Round], outcome: Outcome) -> DispatchResult:
    """A dispatch whose debate was resumed, and has an outcome now."""
    done: dict[str, Any] = {"outcome": outcome, "replies": _replies(result.replies, rounds), "usage": outcome.usage}
    done |= {"seconds": outcome.seconds, "failed": "", "exhausted": "", "finished": True}
    return result.model_copy(update=done)


def _replies(replies: tuple[DispatchedReply, ...], rounds: Sequence[Round]) -> tuple[DispatchedReply, ...]:
    """What each voice of a debate said in its last round; as they were where none is whole."""
    if not rounds:
        return replies
    spoken = [speech for each in rounds for speech in each.speeches]
    last = {speech.seat: speech for speech in rounds[-1].speeches}
    return tuple(
        DispatchedReply(
            number=each.number,
            name=each.name,
            text=last[each.name].text,
            failed=last[each.name].failed,
            tries=1,
            model=last[each.name].model,
            prompt_hash=last[each.name].prompt_hash,
            usage=sum((speech.usage for speech in spoken if speech.seat == each.name), Usage()),
            seconds=sum(speech.seconds for speech in spoken if speech.seat == each.name),
            cut=last[each.name].cut,
        )
        for each in replies
    )


@dataclass(frozen=True)
class Placed:
    """Voices whose files are rooted in the folders of their tasks."""

    voices: Voices
    folders: Mapping[str, str]

    def desk(self, seat: Seat, *, folder: str = "") -> Desk:
        """As `Voices.desk`."""
        return self.voices.desk(seat, folder=folder or self.folders.get(seat.id, ""))

    def parent(self) -> Desk | None:
        """As `Voices.parent`."""
        return self.voices.parent()


_WORK: Mapping[Mode, Callable[[_Work], Awaitable[None]]] = {
    Mode.SINGLE: _Work.one_after_the_other,
    Mode.PARALLEL: _Work.side_by_side,
    Mode.CHAIN: _Work.one_after_the_other,
    Mode.DEBATE: _Work.debate,
}

"""Cache of model answers, keyed by the content of the call, so that an interrupted evaluation resumes."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from swarmgate.domain.base import Frozen
from swarmgate.domain.usage import Usage
from swarmgate.errors import BudgetExhausted
from swarmgate.journal.disk_errors import writing
from swarmgate.llm.model import CallFailed, Message, Model, ModelReply, ModelRequest
from swarmgate.workspace.files import atomic

if TYPE_CHECKING:
    from swarmgate.evaluation.debate.experiment_arms import Arm

PATIENCE = 30.0
"""Seconds that calls which began are waited for at the end of a run."""


class Call(Frozen):
    """All that makes a call another one. `settings` is what the model is asked with: its endpoint, temperature ..."""

    model: str
    settings: str
    arm: str
    seat: str
    round: str
    repeat: int
    seed: int
    conversation: tuple[Message, ...]

    @property
    def key(self) -> str:
        """SHA-256 in hex."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()


class Answer(Frozen):
    """What came back, and after how many seconds of wall time."""

    key: str
    reply: ModelReply
    seconds: float


class Answers:
    """The answers below a folder, a file each. One that is damaged counts as not there.

    Attributes:
        new: how many were put here since this was made.
    """

    def __init__(self, folder: Path) -> None:
        self.new = 0
        self._folder = folder
        self._ending = False
        self._due: set[asyncio.Task[Answer]] = set()

    def get(self, key: str) -> Answer | None:
        """What was answered to this call; None: it has to be asked."""
        try:
            found = Answer.model_validate_json(self._path(key).read_bytes())
        except (OSError, ValidationError):
            return None
        return found if found.key == key else None

    def put(self, answer: Answer) -> None:
        """Keep an answer.

        Raises:
            LedgerWriteFailed: the disk refused.
        """
        path = self._path(answer.key)
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            atomic.replace(path, answer.model_dump_json(), durable=False)
        self.new += 1

    async def of(self, key: str, ask: Callable[[], Awaitable[ModelReply]]) -> Answer:
        """What was answered, or what `ask` answers now, which is kept; raises what `ask` raises.

        A call that began is paid for: it goes on where nobody waits for it any more because another participant found
        the budget used up, and its answer is there for the next run. One that is given up for any other reason, such as
        its participant's time, is dropped: what was counted as refused is asked again, and not found as an answer by
        and by.
        """
        if found := self.get(key):
            return found
        task = asyncio.create_task(self._asked(key, ask))
        self._due.add(task)
        task.add_done_callback(self._due.discard)
        try:
            return await asyncio.shield(task)
        except BudgetExhausted:
            self._ending = True
            raise
        except asyncio.CancelledError:
            if not self._ending:
                self._drop(key, task)
            raise

    def _drop(self, key: str, task: asyncio.Task[Answer]) -> None:
        task.cancel()
        # It may have come in the same moment.
        if task.done() and not task.cancelled() and task.exception() is None:
            with writing(self._path(key)):
                self._path(key).unlink(missing_ok=True)
            self.new -= 1

    async def settle(self) -> None:
        """Waits a while for calls that nobody waits for."""
        if self._due:
            await asyncio.wait(self._due, timeout=PATIENCE)

    async def _asked(self, key: str, ask: Callable[[], Awaitable[ModelReply]]) -> Answer:
        began = time.monotonic()
        reply = await ask()
        answer = Answer(key=key, reply=reply, seconds=time.monotonic() - began)
        self.put(answer)
        return answer

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key}.json"


@dataclass
class Meter:
    """What one judgement took; `refused` says why, of calls that endpoints refused for good or left unanswered."""

    refused: list[str] = field(default_factory=list)
    _counted: list[tuple[Call, Answer]] = field(default_factory=list)

    def count(self, call: Call, answer: Answer) -> None:
        """Count one answer, kept or new."""
        self._counted.append((call, answer))

    @property
    def calls(self) -> int:
        """How many were answered."""
        return len(self._counted)

    @property
    def usage(self) -> Usage:
        """What they used."""
        return sum((answer.reply.usage for answer in self._answers), Usage())

    @property
    def seconds(self) -> float:
        """Model time: the sum of all calls."""
        return sum(answer.seconds for answer in self._answers)

    @property
    def wait(self) -> float:
        """Seconds until the judgement stands where all participants of a round are asked at the same time."""
        rounds: defaultdict[str, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
        for call, answer in self._counted:
            rounds[call.round][call.seat] += answer.seconds
        return sum(max(rounds[number].values()) for number in sorted(rounds))

    @property
    def _answers(self) -> list[Answer]:
        """In one order, whoever was the first: sums of fractions depend on it, and a second run finds the same."""
        return sorted((answer for _, answer in self._counted), key=lambda each: each.key)


@dataclass(frozen=True)
class Place:
    """Where in the evaluation a participant speaks."""

    arm: Arm
    seat: str
    repeat: int
    seed: int


class Remembering:
    """A `Model` that is asked only what it was not asked before, and is offered no tools.

    Args:
        inner: the model that answers.
        settings: what else the answer depends on.
        place: where in the evaluation it speaks.
        answers: kept ones.
        meter: counts what is answered, kept or new.
    """

    def __init__(self, inner: Model, *, settings: str, place: Place, answers: Answers, meter: Meter) -> None:
        self.name = inner.name
        self._inner = inner
        self._settings = settings
        self._place = place
        self._answers = answers
        self._meter = meter

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Answer the conversation; raises what `inner` raises."""
        # No tools: an item is all that there is to see, and one turn of a participant is one call.
        bare = request.model_copy(update={"tools": ()})
        call = self._call(bare)
        try:
            answer = await self._answers.of(call.key, lambda: self._inner.complete(bare))
        except CallFailed as error:
            self._meter.refused.append(error.message)
            raise
        except asyncio.CancelledError:
            self._meter.refused.append(f"{self.name}: no answer in the time of a voice ([council] timeout_s)")
            raise
        self._meter.count(call, answer)
        return answer.reply

    def _call(self, request: ModelRequest) -> Call:
        place = self._place
        return Call(
            model=self.name,
            settings=self._settings,
            arm=place.arm,
            seat=place.seat,
            round=request.purpose.get("round", ""),
            repeat=place.repeat,
            seed=place.seed,
            conversation=request.messages,
        )

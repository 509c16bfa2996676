"""What a pattern of the council is: a request, the events of its record, a pure `next`, the steps it takes, its views.

A pattern brings these and nothing else. Begin, resume, pause, limits, budget, usage, masking, sealing, concurrency and
progress are the driver's (`run.py`). A new pattern is one folder and one line in the table (`patterns.py`).
"""

# ruff: noqa: ARG002 - what stands here by default looks at less than a pattern may
from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from swarmgate.council import stream
from swarmgate.council.lifecycle import Completed, Resumed, Standing, Status
from swarmgate.domain.base import Frozen
from swarmgate.errors import CouncilFailed, SwarmError

if TYPE_CHECKING:
    from swarmgate.council.context import CouncilContext
    from swarmgate.council.events import CouncilEvent

Q = TypeVar("Q", bound=Frozen)
S = TypeVar("S")
O = TypeVar("O")  # noqa: E741 - an outcome


class Pattern(ABC, Generic[Q, S, O]):
    """One form in which several voices work on one request. It has no state: that is the fold of a record.

    Attributes:
        name: in records and events: `decision`.
        verb: of the command line: `decide`.
        request: what is asked for, frozen, with an `id`.
        events: of its records, each with a tag `type` of its own.
        milestones: those of them that outlive a power cut, and after which the views are written.
        patient: whether steps that go on at the same time are ended well before the error of one is raised.
    """

    name: ClassVar[str]
    verb: ClassVar[str]
    request: type[Q]
    events: ClassVar[tuple[type[Frozen], ...]]
    milestones: ClassVar[tuple[type[Frozen], ...]] = ()
    patient: ClassVar[bool] = False

    # --- pure ---

    @abstractmethod
    def begin(self, request: Q) -> S:
        """The state before anything was said."""

    @abstractmethod
    def apply(self, state: S, event: Frozen) -> S:
        """The state after one more event of its own, or after `Resumed` or `TimeUp`.

        Raises:
            IllegalMove: it may not stand there.
        """

    @abstractmethod
    def next(self, state: S) -> Sequence[Hashable]:
        """The steps that are due now, those too that go on already; they are done at the same time. None: it is over.

        A step that is under way and not due any more is cut off.
        """

    def over(self, state: S) -> bool:
        """Whether it is over for good where nothing is due; if not, it is paused, and can go on later."""
        return not self.next(state)

    def pause(self, state: S) -> str:
        """Why it is paused where nothing is due and it is not over, in a line."""
        return ""

    def outcome(self, standing: Standing[S]) -> O | None:
        """What it comes to; None: nothing yet."""
        return None

    def views(self, standing: Standing[S]) -> Mapping[str, str]:
        """The texts that are made of it, by their names: artifacts, pages, `result.json`."""
        return {}

    def title(self, state: S) -> str:
        """What it is about, in a line."""
        return ""

    def who(self, state: S) -> tuple[str, ...]:
        """Who takes part."""
        return ()

    def most(self, state: S) -> int:
        """How many rounds there may be."""
        return 1

    def summary(self, standing: Standing[S]) -> str:
        """What it came to, in a few words."""
        return ""

    def tells(self, event: Frozen, before: Standing[S], after: Standing[S]) -> Iterable[CouncilEvent]:
        """What the user hears when an event is on record, one of those too that all records share."""
        told = {"pattern": self.name, "id": after.id}
        match event:
            case Resumed():
                state, resumed = after.own, after.sessions > 1
                title = {"title": self.title(state), "who": self.who(state), "most": self.most(state)}
                yield stream.Started(**told, **title, resumed=resumed)
            case Completed():
                outcome = self.outcome(after)
                data = outcome.model_dump(mode="json") if isinstance(outcome, Frozen) else {}
                spent = {"usage": after.usage, "seconds": after.seconds}
                yield stream.Completed(**told, what=self.summary(after), outcome=data, **spent)

    def fails(self, error: SwarmError, standing: Standing[S]) -> Iterable[CouncilEvent]:
        """What the user hears when an error ends a session."""
        why = {"code": error.code, "why": error.message, "hint": error.hint}
        yield stream.Erred(pattern=self.name, id=standing.id, **why)

    def begins(self, steps: Sequence[Hashable], state: S) -> Iterable[CouncilEvent]:
        """What the user hears when steps begin together."""
        return ()

    def session_s(self, state: S) -> float | None:
        """Seconds that one process may work at it; then it goes on with `TimeUp`. Waits for limits do not count."""
        return None

    def ends_at(self, state: S) -> float | None:
        """When all of it is over, in seconds since 1970, whether a process is at it or not."""
        return None

    def status_after(self, error: SwarmError, standing: Standing[S]) -> Status:
        """How it stands after an error ended a session."""
        return "failed" if isinstance(error, CouncilFailed) else "open"

    # --- effects ---

    @abstractmethod
    async def do(self, step: Hashable, state: S, context: CouncilContext) -> Sequence[Frozen]:
        """Does a step, and says what happened: at least one event, after which `next` does not name the step again.

        One that is cut off may say what it used: it takes the `CancelledError`, and returns that.

        Raises:
            SwarmError: it cannot be done; what ends the session.
        """

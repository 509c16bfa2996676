"""Base class of a pattern's pure rules: request, events, their fold, the steps that are due, and views."""

# ruff: noqa: ARG002 - what stands here by default looks at less than a pattern may
from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from swarmgate.council.records.document_store import Documents
from swarmgate.council.records.lifecycle import Completed, Resumed, Standing, Status
from swarmgate.council.views import stream
from swarmgate.domain.base import Frozen
from swarmgate.errors import CouncilFailed, SwarmError

if TYPE_CHECKING:
    from swarmgate.council.views.events import CouncilEvent

Q = TypeVar("Q", bound=Frozen)
S = TypeVar("S")
O = TypeVar("O")  # noqa: E741 - an outcome


class Rules(ABC, Generic[Q, S, O]):
    """What a record of a pattern means. It has no state: that is the fold of the record.

    Attributes:
        name: in records and events: `decision`.
        verb: of the command line: `decide`.
        request: what is asked for, frozen, with an `id`.
        events: of its records, each with a tag `type` of its own.
        milestones: those of them that outlive a power cut, and after which the views are written.
        first: what is asked for at the beginning, as a message about the budget calls it.
        patient: whether steps that go on at the same time are ended well before the error of one is raised.
        earlier: where in `.swarm/` an earlier swarmgate had one of the id `{id}`; empty: where records are now.
        adjustable: whether the command that goes on with it takes `--usd` and `--tokens`.
    """

    name: ClassVar[str]
    verb: ClassVar[str]
    request: type[Q]
    events: ClassVar[tuple[type[Frozen], ...]]
    milestones: ClassVar[tuple[type[Frozen], ...]] = ()
    first: ClassVar[str] = "the first round (its prompts alone)"
    patient: ClassVar[bool] = False
    adjustable: ClassVar[bool] = True
    earlier: ClassVar[str] = ""

    # --- pure ---

    @abstractmethod
    def begin(self, request: Q) -> S:
        """The state before the first event."""

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

    def paused(self, state: S) -> Status:
        """How it stands where nothing is due and it is not over."""
        return "paused"

    def sought(self, request: Q) -> Frozen:
        """What the same request is found again by, beside its participants and the project."""
        return request

    def outcome(self, standing: Standing[S]) -> O | None:
        """The outcome; None: there is none yet."""
        return None

    def is_of_person(self, event: Frozen, state: S) -> bool:
        """Whether a person said what an event holds; the journal then names them as its actor."""
        return False

    def flawless(self, state: S) -> bool:
        """Whether every participant did its part: what is over may then answer the same request again."""
        return True

    def views(self, standing: Standing[S]) -> Mapping[str, str]:
        """The texts that are made of it, by their names: artifacts, pages, `result.json`."""
        return {}

    def grows(self, event: Frozen, before: Standing[S], after: Standing[S]) -> Mapping[str, str]:
        """What is added to some of those texts when an event is on record that is no milestone."""
        return {}

    def measures(self, standing: Standing[S]) -> Mapping[str, object]:
        """What metrics count of it, by the fields of `domain.metrics.Execution`, where it is over."""
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
        """The outcome in a few words."""
        return ""

    def waiting(self, standing: Standing[S], documents: Documents) -> Standing[S]:
        """It as readers see it: with what waits beside the record for the user, who may have edited it."""
        return standing

    def row(self, standing: Standing[S]) -> Any:
        """The row in a list, a mapping or a model: id, start time, status, title."""
        began, title = standing.created_at, self.title(standing.own)
        return {"id": standing.id, "began": began, "status": standing.status, "title": title}

    def damaged(self, id: str, began: str, why: str) -> Any:  # noqa: A002 - the field's name
        """The row of one that cannot be read; `began` is empty where that cannot be read either."""
        return {"id": id, "began": "", "status": "damaged", "title": why}

    def data(self, standing: Standing[S]) -> Any:
        """All of it, JSON-ready, or as a model."""
        outcome = self.outcome(standing)
        data = outcome.model_dump(mode="json") if isinstance(outcome, Frozen) else None
        usage = standing.usage.model_dump(mode="json")
        return {**dict(self.row(standing)), "why": standing.why, "usage": usage, "outcome": data}

    def lines(self, standing: Standing[S]) -> list[str]:
        """It for people."""
        title, what = self.title(standing.own) or standing.id, self.summary(standing)
        why = [standing.why] if standing.why else []
        return [
            f"{standing.pattern.capitalize()} {standing.id}: {title}",
            standing.status,
            *why,
            *([what] if what else []),
        ]

    def exit_code(self, standing: Standing[S]) -> int:
        """What the command that held it ends with: 0 where it is over, else 1."""
        return 0 if standing.over else 1

    def progress_of_event(self, event: Frozen, before: Standing[S], after: Standing[S]) -> Iterable[CouncilEvent]:
        """Progress events for a recorded event, also for those that all records share."""
        common = {"pattern": self.name, "id": after.id}
        match event:
            case Resumed():
                state, resumed = after.own, after.sessions > 1
                title = {"title": self.title(state), "who": self.who(state), "most": self.most(state)}
                yield stream.Started(**common, **title, resumed=resumed)
            case Completed():
                outcome = self.outcome(after)
                data = outcome.model_dump(mode="json") if isinstance(outcome, Frozen) else {}
                spent = {"usage": after.usage, "seconds": after.seconds}
                yield stream.Completed(**common, what=self.summary(after), outcome=data, **spent)

    def progress_of_error(self, error: SwarmError, standing: Standing[S]) -> Iterable[CouncilEvent]:
        """Progress events for an error that ends a session."""
        why = {"code": error.code, "why": error.message, "hint": error.hint}
        yield stream.Erred(pattern=self.name, id=standing.id, **why)

    def progress_of_steps(self, steps: Sequence[Hashable], state: S) -> Iterable[CouncilEvent]:
        """Progress events for concurrent steps that begin."""
        return ()

    def session_s(self, state: S) -> float | None:
        """Seconds that one process may work at it; then `TimeUp` is recorded. Waits for limits do not count."""
        return None

    def ends_at(self, state: S) -> float | None:
        """When all of it is over, in seconds since 1970, whether a process is at it or not."""
        return None

    def status_after(self, error: SwarmError, standing: Standing[S]) -> Status:
        """How it stands after an error ended a session."""
        return "failed" if isinstance(error, CouncilFailed) else "open"

    def failure(self, error: CouncilFailed, standing: Standing[S]) -> CouncilFailed:
        """The error that is raised where the record is held by itself, with the next action."""
        advice = f"Go on with: {goes_on}" if (goes_on := self.resume_command(standing.id)) else ""
        return CouncilFailed(error.message, hint=". ".join(filter(None, (error.hint, advice))))

    def resume_command(self, id: str) -> str:  # noqa: A002 - the field's name
        """The command line that resumes it; empty: there is none."""
        return f"swarm {self.verb} resume {id}"

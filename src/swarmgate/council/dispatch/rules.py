"""Rules of the dispatch pattern: which task is tried next, what an attempt changes, and the result."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from swarmgate.council.dispatch.model import (
    AT_ONCE,
    NOT_REACHED,
    Debated,
    Dispatch,
    DispatchedReply,
    DispatchResult,
    Mode,
    Tried,
)
from swarmgate.council.records.lifecycle import Resumed, Standing, Status
from swarmgate.council.records.rules import Rules
from swarmgate.council.views import stream
from swarmgate.domain.base import Frozen
from swarmgate.domain.usage import Usage
from swarmgate.errors import BudgetExhausted, ExhaustedAccount, IllegalMove, SwarmError

if TYPE_CHECKING:
    from swarmgate.council.views.events import CouncilEvent

RESULT = "result.json"

_TRIES = {Mode.PARALLEL: 2}
"""How often a task is tried; once where the mode is not named."""

_GO_ON = (
    "raise the budget: swarm debate resume {id} --tokens N (or --usd X); of the project: [budget] in .swarm/config.toml"
)
_RAISE = "raise the budget in .swarm/config.toml ([council], or [budget]), then dispatch it again"


class Try(NamedTuple):
    """A task is tried; both numbers from 1."""

    number: int
    time: int


class Hold(NamedTuple):
    """The tasks are the seats of a debate, which is held."""

    debate: str


class GiveUp(NamedTuple):
    """No task has an output; `exhausted`: as a budget was used up, that of `account`."""

    why: str
    hint: str
    exhausted: bool = False
    account: ExhaustedAccount | None = None


@dataclass(frozen=True)
class DispatchState:
    """How far a dispatch is: every try so far that counts, or the debate that its tasks are the seats of.

    `counted` is what that debate used, as far as it is on record here.
    """

    asked: Dispatch
    tried: tuple[Tried, ...] = ()
    debated: Debated | None = None
    counted: Usage = Usage()  # noqa: RUF009 - frozen

    @property
    def exhausted(self) -> str:
        """Which budget ended it early; empty: none."""
        if self.debated:
            return self.debated.failed if self.debated.exhausted else ""
        return next((each.failed or each.not_run for each in self.tried if each.exhausted), "")

    @property
    def account(self) -> ExhaustedAccount | None:
        """Whose budget that is; None: nobody's."""
        ended = (self.debated,) if self.debated else self.tried
        return next((each.account for each in ended if each.exhausted), None)

    def of(self, number: int) -> list[Tried]:
        """The tries of a task."""
        return [each for each in self.tried if each.number == number]

    @property
    def replies(self) -> tuple[DispatchedReply, ...]:
        """What became of each task, in their order."""
        if self.debated and self.debated.replies:
            return self.debated.replies
        return tuple(self.reply(number) for number in range(1, len(self.asked.tasks) + 1))

    def reply(self, number: int) -> DispatchedReply:
        """The reply to a task: that of its last attempt, with the usage of all attempts."""
        tried, name = self.of(number), self.asked.tasks[number - 1].name
        if not tried:
            return DispatchedReply(number=number, name=name, not_run=NOT_REACHED)
        last = tried[-1]
        return DispatchedReply(
            number=number,
            name=name,
            tries=sum(bool(each.model) for each in tried),  # who was not asked has none
            usage=sum((each.usage for each in tried), Usage()),
            seconds=round(sum(each.seconds for each in tried), 3),
            **last.model_dump(include={"text", "failed", "not_run", "model", "prompt_hash", "cut"}),
        )


class DispatchRules(Rules[Dispatch, DispatchState, DispatchResult]):
    """A dispatch, as far as it is on record."""

    name: ClassVar[str] = "dispatch"
    verb: ClassVar[str] = "dispatch"
    request = Dispatch
    events: ClassVar[tuple[type[Frozen], ...]] = (Tried, Debated)
    patient: ClassVar[bool] = True
    earlier: ClassVar[str] = "traces/dispatches/{id}.json"

    def begin(self, request: Dispatch) -> DispatchState:
        """Nobody was asked."""
        return DispatchState(request)

    def apply(self, state: DispatchState, event: Frozen) -> DispatchState:
        """The state after one more event; on resume tasks without an output are done again.

        Raises:
            IllegalMove: it may not stand there.
        """
        match event:
            case Resumed() if self._ended(state):
                succeeded = tuple(each for each in state.tried if state.reply(each.number).succeeded)
                return replace(state, tried=succeeded, debated=None)
            case Tried():
                if Try(event.number, len(state.of(event.number)) + 1) not in self.next(state):
                    raise IllegalMove(f"Task {event.number} of a dispatch was not due.")
                return replace(state, tried=(*state.tried, event))
            case Debated():
                return replace(state, debated=event, counted=state.counted + event.usage)
        return state

    def next(self, state: DispatchState) -> Sequence[Hashable]:
        """The tasks that are tried: several side by side, or the one whose turn it is; nothing after a failed chain."""
        if not self._ended(state):
            return [Hold(state.asked.id)] if state.asked.mode is Mode.DEBATE else self._tries(state)
        return [give_up] if (give_up := _gives_up(state)) else []

    def over(self, state: DispatchState) -> bool:
        """Whether every task had its turn: what a budget ended may go on later."""
        return not state.exhausted

    def pause(self, state: DispatchState) -> str:
        """The budget that is used up."""
        return state.exhausted

    def outcome(self, standing: Standing[DispatchState]) -> DispatchResult:
        """The dispatch as it stands."""
        state, asked = standing.own, standing.own.asked
        give_up = _gives_up(state) if self._ended(state) else None
        return DispatchResult(
            id=standing.id,
            mode=asked.mode,
            tasks=asked.tasks,
            question=asked.question,
            rounds=asked.rounds,
            replies=state.replies,
            outcome=state.debated.outcome if state.debated else None,
            exhausted=state.exhausted,
            failed=_failure(state) if give_up else "",
            finished=self._ended(state),
            usage=standing.usage,
            seconds=standing.seconds,
            started_at=f"{standing.created_at[:19]}+00:00",
        )

    def views(self, standing: Standing[DispatchState]) -> Mapping[str, str]:
        """The result."""
        return {RESULT: f"{self.outcome(standing).model_dump_json(indent=1)}\n"}

    def measures(self, standing: Standing[DispatchState]) -> Mapping[str, float | bool | int]:
        """Those of its debate."""
        outcome = self.outcome(standing).outcome
        if outcome is None:
            return {}
        agreed = float(outcome.tally.unanimous)
        return {"converged": outcome.converged, "rounds": outcome.rounds, "score": agreed}

    def status_after(self, error: SwarmError, standing: Standing[DispatchState]) -> Status:
        """A dispatch without an output has failed, also where a budget is why."""
        failed = isinstance(error, BudgetExhausted) and self._ended(standing.own)
        return "failed" if failed else super().status_after(error, standing)

    def resume_command(self, id: str) -> str:  # noqa: A002 - the field's name
        """No command resumes a dispatch."""
        del id
        return ""

    # --- what is told ---

    def row(self, standing: Standing[DispatchState]) -> dict[str, str]:
        """The row of a dispatch: when it began, the mode, the result, and the title."""
        found = self.outcome(standing)
        began = f"{found.started_at[:19].replace('T', ' ')} UTC"
        summary = found.summary if found.finished else f"{found.summary}, open"
        text = found.question or found.tasks[0].text
        return {"id": standing.id, "began": began, "mode": found.mode, "summary": summary, "text": text}

    def damaged(self, id: str, began: str, why: str) -> dict[str, str]:  # noqa: A002, ARG002 - as of the rules
        """What is damaged stands in the place of the text."""
        return {"id": id, "began": "", "mode": "", "summary": "damaged", "text": why}

    def title(self, state: DispatchState) -> str:
        """The question, or the first task."""
        return state.asked.question or state.asked.tasks[0].text

    def who(self, state: DispatchState) -> tuple[str, ...]:
        """The participants."""
        return tuple(task.name for task in state.asked.tasks)

    def most(self, state: DispatchState) -> int:
        """How many tasks there are."""
        return len(state.asked.tasks)

    def summary(self, standing: Standing[DispatchState]) -> str:
        """`k/n succeeded`."""
        return self.outcome(standing).summary

    def progress_of_steps(self, steps: Sequence[Hashable], state: DispatchState) -> Iterable[CouncilEvent]:
        """Who is asked."""
        for step in steps:
            if isinstance(step, Try):
                common = {"pattern": self.name, "id": state.asked.id, "number": step.number}
                yield stream.StepStarted(**common, step="", who=(state.asked.tasks[step.number - 1].name,))

    def progress_of_event(
        self, event: Frozen, before: Standing[DispatchState], after: Standing[DispatchState]
    ) -> Iterable[CouncilEvent]:
        """Progress events of an attempt."""
        del before
        if isinstance(event, Tried):
            common = {"pattern": self.name, "id": after.id, "number": event.number, "step": ""}
            who = after.own.asked.tasks[event.number - 1].name
            if event.not_run:
                words = f"task {event.number}, {who} was not run: {event.not_run}"
                yield stream.Notice(pattern=self.name, id=after.id, kind="notice", text=words)
            else:
                what = "" if event.failed else "answered"
                yield stream.Contributed(**common, who=who, what=what, failed=event.failed, usage=event.usage)

    # --- inside ---

    def _tries(self, state: DispatchState) -> list[Try]:
        most, due = _TRIES.get(state.asked.mode, 1), []
        for number in range(1, len(state.asked.tasks) + 1):
            tried = state.of(number)
            if not tried or (tried[-1].again and len(tried) < most):
                due.append(Try(number, len(tried) + 1))
            elif state.asked.mode is Mode.CHAIN and not state.reply(number).succeeded:
                break
        return due[: AT_ONCE if state.asked.mode is Mode.PARALLEL else 1]

    def _ended(self, state: DispatchState) -> bool:
        """Whether nobody is asked any more."""
        return state.debated is not None if state.asked.mode is Mode.DEBATE else not self._tries(state)


RULES = DispatchRules()
"""Reads records of dispatches."""


def _gives_up(state: DispatchState) -> GiveUp | None:
    """Why nothing came of one that is ended; None: something did."""
    debated, name = state.debated, state.asked.id
    if debated and debated.failed:
        hint = _GO_ON.format(id=name) if debated.exhausted else debated.hint
        return GiveUp(debated.failed, hint, debated.exhausted, debated.account)
    if any(each.succeeded for each in state.replies):
        return None
    if state.exhausted:
        return GiveUp(state.exhausted, _RAISE, exhausted=True, account=state.account)
    return GiveUp(_failure(state), f"the record: swarm dispatch show {name}")


def _failure(state: DispatchState) -> str:
    """Why no task has an output."""
    if state.debated:
        return state.debated.failed
    problems = (f"task {each.number} ({each.name}): {each.failed or each.not_run}" for each in state.replies)
    return f"0/{len(state.replies)} succeeded: {'; '.join(problems)}"

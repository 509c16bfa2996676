"""Executes the steps of an orchestration: each runs one council pattern in a record of its own."""

from __future__ import annotations

import time
from collections.abc import Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import cast

from pydantic import ValidationError

from swarmgate.council.context import CouncilContext
from swarmgate.council.orchestration.model import MapStep, Orchestration, Step
from swarmgate.council.orchestration.references import filled, joined
from swarmgate.council.orchestration.results import OrchestrationOutcome, StepResult
from swarmgate.council.orchestration.rules import RULES, OrchestrationRules
from swarmgate.council.orchestration.runner import PatternOutput, Runner
from swarmgate.council.orchestration.state import Do, Ended, State, outcome_of, pattern_of, place
from swarmgate.council.pattern import Pattern
from swarmgate.domain.base import Frozen
from swarmgate.domain.usage import Usage
from swarmgate.errors import BudgetExhausted, IllegalMove, LedgerWriteFailed, Stopped, SwarmError, WaitingForUser


@dataclass
class Work:
    """The working state of a session.

    Attributes:
        runner: does the patterns.
        state: that of the record, with its texts to the letter: on record secrets are masked.
    """

    runner: Runner
    state: State

    def took(self, event: Ended) -> None:
        """Stores the output of a pattern."""
        with suppress(IllegalMove):  # a condition on a masked text came out otherwise: the record's own texts are taken
            self.state = RULES.apply(self.state, event)

    def as_of(self, state: State) -> State:
        """The state with its texts to the letter, as far as they are known."""
        same = len(self.state.steps) == len(state.steps) and state.ended.keys() <= self.state.ended.keys()
        return self.state if same else state

    def outcome(self, state: State) -> OrchestrationOutcome | None:
        """The outcome, with its texts without redaction; None: it has not ended."""
        return outcome_of(self.as_of(state)) or outcome_of(state)


class Orchestrating(OrchestrationRules, Pattern[Orchestration, State, OrchestrationOutcome]):
    """Several patterns as the steps of one description. `own` of its context is a `Work`."""

    async def do(self, step: Hashable, state: State, context: CouncilContext) -> Sequence[Frozen]:
        """Has one pattern done; where it fails, the result says why.

        Raises:
            BudgetExhausted, LedgerWriteFailed, Stopped: what ends all of it.
            WaitingForUser: a person is to speak in a decision.
        """
        do, work = cast("Do", step), cast("Work", context.own)
        whole, top = work.as_of(state), state.step
        if top is None:
            raise ValueError("nothing is due")
        at, began = place(state.asked.id, do.name, do.part), time.monotonic()
        started_at = datetime.now(UTC).isoformat(timespec="milliseconds")
        leaf, item = pattern_of(work.state.asked.steps[len(state.steps)], do)
        output, why = PatternOutput(), ""
        try:
            asked = filled(leaf, whole.known, item=item, given=_given(whole, top, do))
            output = await work.runner.run(asked, at)
        except (BudgetExhausted, LedgerWriteFailed, Stopped, WaitingForUser):
            raise
        except SwarmError as error:
            why = error.message
        except ValidationError as error:
            why = f"with the texts put in it cannot be asked: {error.errors(include_url=False)[0]['msg']}"
        result = StepResult(
            id=do.name,
            kind=leaf.kind,
            part=do.part,
            item=item or "",
            status="failed" if why else "done",
            why=why,
            fields=output.fields,
            text=output.text,
            record=output.record or at,
            usage=work.runner.used(at) - state.spent.get(do.key, Usage()),
            started_at=started_at,
            seconds=time.monotonic() - began,
        )
        event = Ended(step=do.step, result=result)
        work.took(event)
        return [event]


ORCHESTRATION = Orchestrating()


def _given(state: State, top: Step, do: Do) -> str:
    """What `reduce` works on: the outputs of all items."""
    if not isinstance(top, MapStep) or do.part:
        return ""
    parts = (state.ended.get((top.id, part)) for part in range(1, len(top.items) + 1))
    return joined(tuple(each for each in parts if each))

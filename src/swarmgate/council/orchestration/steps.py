"""The steps of an orchestration: each is a pattern, which the council does under a record of its own.

Those records are named after the orchestration: `<id>.<step>`, `<id>.<map>.007` for the seventh item and
`<id>.<map>.reduce`. What stands in those is not asked, and paid, again.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Mapping, Sequence
from datetime import UTC, datetime
from typing import cast

from pydantic import ValidationError

from swarmgate.council.context import CouncilContext
from swarmgate.council.orchestration.bounds import checked
from swarmgate.council.orchestration.model import Orchestration
from swarmgate.council.orchestration.results import OrchestrationOutcome, StepResult
from swarmgate.council.orchestration.rules import DoPattern, OrchestrationRules, PatternDone
from swarmgate.council.orchestration.runner import Came, Runner, run
from swarmgate.council.orchestration.state import Due, State, walked
from swarmgate.council.orchestration.texts import filled
from swarmgate.council.pattern import Pattern, Where
from swarmgate.domain.base import Frozen
from swarmgate.domain.usage import Usage
from swarmgate.errors import BudgetExhausted, LedgerWriteFailed, Stopped, SwarmError


class Orchestrating(OrchestrationRules, Pattern[Orchestration, State, OrchestrationOutcome]):
    """Patterns one after the other, or at once. A session of it needs a `Runner` as its `context.own`."""

    def check(self, request: Orchestration, context: CouncilContext, where: Where) -> None:
        """Insists that it can be carried out.

        Raises:
            CouncilRefused: it cannot.
        """
        del context, where
        checked(request)

    async def do(self, step: Hashable, state: State, context: CouncilContext) -> Sequence[Frozen]:
        """Does a pattern; where it fails, its result says why.

        Raises:
            BudgetExhausted: what bounds the whole is used up; it goes on once there is more.
            LedgerWriteFailed, Stopped: as they come.
        """
        key = cast("DoPattern", step).key
        walk = walked(state)
        due = next(each for each in walk.due if each.key == key)
        result = await _result(due, walk.results, context.own)
        return [PatternDone(result=result, usage=result.usage - state.used.get(key, Usage()))]


ORCHESTRATION = Orchestrating()


async def _result(due: Due, results: Mapping[str, StepResult], runner: Runner) -> StepResult:
    began, started_at = time.monotonic(), datetime.now(UTC).isoformat(timespec="milliseconds")
    came, why = Came(), ""
    try:
        came = await run(runner, filled(due.step, results, item=due.item, given=due.given), due.at)
    except (BudgetExhausted, LedgerWriteFailed, Stopped):
        raise
    except SwarmError as error:
        why = error.message
    except ValidationError as error:
        why = f"with the texts put in it cannot be asked: {error.errors(include_url=False)[0]['msg']}"
    return StepResult(
        id=due.key.name,
        kind=due.step.kind,
        part=due.key.part,
        item=due.item or "",
        status="failed" if why else "done",
        why=why,
        fields=came.fields,
        text=came.text,
        record=came.record or due.at,
        usage=runner.used(due.at),
        started_at=started_at,
        seconds=time.monotonic() - began,
    )

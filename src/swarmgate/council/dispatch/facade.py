"""Facade of dispatches: start, resume, list and read them.

result = await Swarm(path).council.dispatch(mode="parallel", tasks=[{"role": "reviewer", "text": "Review a.py"}])
"""

# ruff: noqa: PLC0415 - late, for start-up time: to list and to look needs neither participants nor models

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swarmgate.council.debate.model import PART
from swarmgate.council.debate.rules import RULES as DEBATE
from swarmgate.council.dispatch.model import Dispatch, DispatchResult, DispatchTask
from swarmgate.council.dispatch.rules import RULES
from swarmgate.council.shared import Shared, new_id
from swarmgate.domain.usage import Allowance
from swarmgate.errors import BudgetExhausted, CouncilRefused, SwarmError

if TYPE_CHECKING:
    from swarmgate.council.dispatch.request import Where


class Dispatches:
    """Dispatches of one project."""

    def __init__(self, shared: Shared) -> None:
        self._shared, self._project = shared, shared.project

    async def dispatch(
        self,
        *,
        mode: str,
        tasks: Sequence[DispatchTask | Mapping[str, Any]],
        rounds: int | None = None,
        question: str = "",
        id: str = "",  # noqa: A002 - the field's name
        tokens: int | None = None,
        usd: float | None = None,
    ) -> DispatchResult:
        """Has participants work on tasks, and returns the reply to each, in the order of the tasks.

        Args:
            mode: `single`, `parallel` (1 to 8 tasks), `chain` or `debate` (2 to 8).
            tasks: each an agent, a role or a participant, a text, and perhaps a model and a working folder.
            rounds: of a debate; None: `[council] rounds`.
            question: of a debate; empty: what the tasks say.
            id: its name; empty: the time and four letters. One of that id that did not come to its end goes on.
            tokens: what all of it may use, in tokens; None: `[council] total_tokens`.
            usd: the same in US dollars; None: `[council] usd`.

        Raises:
            CouncilRefused: it cannot be held as asked; the hint lists modes and roles.
            ConfigError, MissingRequirement: a participant has no model or no key.
            CouncilFailed: no task has an output; that is on record.
            BudgetExhausted: a budget is used up, and no task has an output. Later: `DispatchResult.exhausted`.
        """
        from swarmgate.council.dispatch.request import checked

        settings = self._project.config.council
        asked = checked(mode, tasks, rounds=rounds, question=question, default_rounds=settings.rounds)
        if id:
            self._check_new(id)
        allowance = self._shared.allowance.but(usd=usd, tokens=tokens)
        return await self._dispatch(asked, name=id, allowance=allowance)

    async def dispatch_file(self, path: Path, *, mode: str = "", rounds: int | None = None) -> DispatchResult:
        """The same for the tasks of a TOML file; `mode` and `rounds` where the file does not say them."""
        from swarmgate.council.dispatch.file import places, read

        default = self._project.config.council.rounds
        asked = read(path, mode=mode, rounds=rounds, default_rounds=default)
        return await self._dispatch(asked, where=places(path))

    async def resume_dispatch(
        self,
        id: str,  # noqa: A002 - the field's name
        *,
        tokens: int | None = None,
        usd: float | None = None,
    ) -> DispatchResult | None:
        """Resumes a dispatch as `Shared.resume` does."""
        from swarmgate.council.dispatch.request import means
        from swarmgate.council.dispatch.steps import DISPATCHING

        own = means(self._shared.record(DISPATCHING, id).request, self._project)
        return await self._shared.resume(DISPATCHING, id, tokens=tokens, usd=usd, own=own)

    def dispatches(self) -> tuple[str, ...]:
        """The ids of all dispatches, the newest first."""
        return self._shared.records.ids(RULES.name)

    def dispatch_record(self, id: str) -> DispatchResult:  # noqa: A002 - the field's name
        """A dispatch that is on record.

        Raises:
            CouncilRefused: there is none of that id.
            LedgerError: its record is damaged.
        """
        return RULES.outcome(self._shared.record(RULES, id).standing)

    # --- looking, as people read it ---

    def dispatch_told(self, result: DispatchResult, *, tasks: bool = False) -> tuple[dict[str, Any], list[str]]:
        """A dispatch for programs, and as lines; `tasks`: with what was asked."""
        from swarmgate.council.debate.view import last_words
        from swarmgate.council.dispatch import view

        words: dict[str, list[str]] = {}
        if result.question:
            with suppress(SwarmError):
                words = last_words(DEBATE.record(self._shared.records.open(DEBATE, f"{result.id}.{PART}").standing))
        return view.as_json(result), view.lines(result, words, tasks=tasks)

    # --- inside ---

    async def _dispatch(
        self, asked: Dispatch, where: Where | None = None, *, name: str = "", allowance: Allowance | None = None
    ) -> DispatchResult:
        from swarmgate.council.dispatch.request import in_words, means
        from swarmgate.council.dispatch.steps import DISPATCHING
        from swarmgate.council.participants.session import SHARED_BUDGET

        begins = where or in_words
        request = asked.model_copy(update={"id": name or new_id()})
        result = await self._shared.hold(
            DISPATCHING,
            request,
            allowance=allowance,
            own=means(asked, self._project, begins),
            where=lambda place: begins(int(place[0]), str(place[1])),
        )
        if result and result.exhausted and SHARED_BUDGET.get() is not None:  # a step is asked for all of it
            account = self._shared.record(RULES, request.id).standing.own.account
            raise BudgetExhausted(result.exhausted, account=account)
        return result or self.dispatch_record(request.id)

    def _check_new(self, wanted: str) -> None:
        """Insists that a dispatch may have this id: none that came to its end has it.

        Raises:
            CouncilRefused: it may not.
            LedgerError: the record of the one that has it is damaged.
        """
        self._shared.records.check_id(wanted, RULES.name)
        if wanted in self.dispatches() and self._shared.record(RULES, wanted).standing.over:
            raise CouncilRefused(
                f"There is a dispatch {wanted} already.", hint=f"Look at it: swarm dispatch show {wanted}"
            )

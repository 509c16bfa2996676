"""Facade of orchestrations: start, resume, list and read them.

outcome = await Swarm(path).council.orchestrate(Path("pipeline.toml"), tokens=200_000)
"""

# ruff: noqa: PLC0415 - late, for start-up time: to list and to look needs neither participants nor models

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from swarmgate.config import is_program
from swarmgate.config.sections import unknown_provider
from swarmgate.council.orchestration.model import MapStep, Orchestration
from swarmgate.council.orchestration.references import Place
from swarmgate.council.orchestration.results import OrchestrationOutcome, OrchestrationRecord
from swarmgate.council.orchestration.rules import RULES
from swarmgate.council.orchestration.validation import Problem, checked, models, problems, spelled
from swarmgate.council.records.lifecycle import Resumed
from swarmgate.council.shared import Shared, new_id
from swarmgate.domain.usage import Allowance
from swarmgate.errors import BudgetExhausted, CouncilFailed, CouncilRefused, FileProblem, Owner, UnsafePath

if TYPE_CHECKING:
    from swarmgate.council.orchestration.runner import Runner
    from swarmgate.council.views.events import CouncilEvent

    OnEvent = Callable[[CouncilEvent], None]

_MOST_LIST = 400_000
"""Characters of a file of items."""


class Orchestrations:
    """Orchestrations of one project."""

    def __init__(self, shared: Shared, runner: Runner) -> None:
        self._shared, self._project, self._runner = shared, shared.project, runner

    async def orchestrate(
        self,
        what: Path | str | Orchestration | Mapping[str, Any],
        *,
        id: str = "",  # noqa: A002 - the field's name
        tokens: int | None = None,
        usd: float | None = None,
        on_event: OnEvent | None = None,
    ) -> OrchestrationOutcome:
        """Does the steps of an orchestration; ends early at the first that fails (`failed` is its name).

        Args:
            what: the path of a TOML or Python file, or the description itself.
            id: its name, at most 40 characters; empty: that of the description, else the time and four letters.
            tokens: what all steps together may use, in tokens; None: as described, else only their own bounds hold.
            usd: the same in US dollars.
            on_event: told of everything that happens to the steps.

        Raises:
            CouncilRefused: it cannot be carried out, or there is one of that id.
            BudgetExhausted: a budget of the whole, or the project's, is used up; `resume_orchestration` goes on.
            LedgerError: a record is damaged, or cannot be written.
        """
        asked = self.orchestration(what)
        name = id or asked.id or new_id()
        given = {"id": name, "tokens": asked.tokens if tokens is None else tokens}
        asked = _made({**_values(asked), **given, "usd": asked.usd if usd is None else usd})
        if self._shared.records.documents.names(name):
            raise CouncilRefused(
                f"There is a record {name} already.", hint=f"Go on with it: swarm orchestrate resume {name}"
            )
        return await self._orchestrated(asked, Allowance(usd=asked.usd, tokens=asked.tokens), on_event)

    async def resume_orchestration(
        self,
        id: str,  # noqa: A002 - the field's name
        *,
        tokens: int | None = None,
        usd: float | None = None,
        on_event: OnEvent | None = None,
    ) -> OrchestrationOutcome:
        """Resumes after the last finished step; returns the outcome at once where it is complete.

        Args:
            id: of the orchestration.
            tokens: what all of it may use, in tokens, with what it used before; None: as it was begun with.
            usd: the same in US dollars.
            on_event: as of `orchestrate`.

        Raises:
            CouncilRefused: there is none of that id, or it goes on in another process.
            SwarmError: as `orchestrate`.
        """
        record = self._shared.record(RULES, id)
        if record.standing.over and record.outcome:
            return record.outcome
        allowance = record.standing.allowance.but(usd=usd, tokens=tokens)
        return await self._orchestrated(record.request, allowance, on_event)

    def orchestration(self, what: Path | str | Orchestration | Mapping[str, Any]) -> Orchestration:
        """The description, checked, with the items of every map; nobody is asked.

        Raises:
            CouncilRefused: it cannot be read, or not be carried out; of a file, the message has line and key.
        """
        from swarmgate.council.orchestration import file

        path = None
        if isinstance(what, (str, Path)):
            path = Path(what)
            found = file.read(path)
        else:
            found = checked(what if isinstance(what, Orchestration) else _made(what))
        try:
            self._check_models(found)
            return self._with_items(found)
        except _Wrong as error:
            if path is not None:
                raise file.refusal(path, error.problem) from None
            raise CouncilRefused(f"`{spelled(error.problem.place)}`: {error.problem.what}") from None

    def orchestrations(self) -> tuple[str, ...]:
        """The ids of all orchestrations, the newest first."""
        return self._shared.records.ids(RULES.name)

    def orchestration_record(self, id: str) -> OrchestrationRecord:  # noqa: A002 - the field's name
        """All that is kept of an orchestration.

        Raises:
            CouncilRefused: there is none of that id.
            LedgerError: its record is damaged, or was changed by hand.
        """
        return RULES.record(self._shared.record(RULES, id).standing)

    def answers(self, id: str) -> bool:  # noqa: A002 - the field's name
        """Whether it answers the same request again, as the project is now: it is over, and none of its steps failed.

        Raises:
            SwarmError: as `orchestration_record`.
        """
        # The settings that participants hang on count with the project: no model has to be named here.
        return self._shared.answers(RULES, id, lambda _: {}) and not any(
            each.failures for each in self.orchestration_record(id).steps
        )

    # --- inside ---

    async def _orchestrated(
        self, asked: Orchestration, allowance: Allowance, on_event: OnEvent | None
    ) -> OrchestrationOutcome:
        from swarmgate.council.context import CouncilContext
        from swarmgate.council.orchestration.steps import ORCHESTRATION, Work
        from swarmgate.council.participants.session import SHARED_BUDGET, SharedBudget, open_session
        from swarmgate.council.run import run
        from swarmgate.council.views.progress import teller

        checked(asked)
        name, goes_on, records = f"{RULES.name}-{asked.id}", RULES.resume_command(asked.id), self._shared.records
        try:
            async with open_session(self._project, name, allowance=allowance, resume=goes_on) as contexts:
                shared = SharedBudget(asked.id, Owner("session", name), allowance, self._runner.used(asked.id))
                token = SHARED_BUDGET.set(shared)
                try:
                    sought = self._shared.request_hash(RULES, asked, {})
                    record = records.begin(ORCHESTRATION, asked, request_hash=sought, allowance=allowance)
                    work = Work(self._runner, RULES.apply(replace(record.standing.own, asked=asked), Resumed()))
                    context = CouncilContext(contexts, records, teller(self._project.listener, on_event), work)
                    await run(ORCHESTRATION, record, context, allowance=allowance)
                    outcome = work.outcome(record.standing.own)
                finally:
                    SHARED_BUDGET.reset(token)
        except BudgetExhausted as error:
            hint = f"nothing of the finished steps is lost: {error.remedy}, then: {goes_on}{error.option(name)}"
            raise error.with_hint(hint) from error
        if outcome is None:
            raise CouncilFailed(f"The orchestration {asked.id} came to no end.", hint=f"Go on with: {goes_on}")
        return outcome

    def _check_models(self, asked: Orchestration) -> None:
        """Tells of a model without provider before anybody is asked, and not when its step's turn comes."""
        providers = self._project.config.providers
        for place, model in models(asked):
            provider, sign, _ = model.partition("/")
            if model and not is_program(model) and not (sign and provider in providers):
                raise _Wrong(Problem(place, f"is {model[:80]!r}: {unknown_provider(provider, providers)}"))

    def _with_items(self, asked: Orchestration) -> Orchestration:
        """The orchestration with the lines of the files of its maps as their items."""
        steps, files = list(asked.steps), dict[Place, str]()
        for at, step in enumerate(steps):
            if isinstance(step, MapStep) and step.items_file:
                files["steps", at] = step.items_file
                items = self._items(step.items_file, ("steps", at, "items_file"))
                steps[at] = step.model_copy(update={"items": items, "items_file": ""})
        found = asked.model_copy(update={"steps": tuple(steps)}) if files else asked
        for problem in problems(found):  # of what is in those files, all else was checked
            *map_step, key = problem.place[:3]
            if key != "items":
                raise _Wrong(problem)
            number = "".join(f" item {at + 1}:" for at in problem.place[3:] if isinstance(at, int))
            raise _Wrong(Problem((*map_step, "items_file"), f"{files[tuple(map_step)]}:{number} {problem.what}"))
        return found

    def _items(self, name: str, place: Place) -> tuple[str, ...]:
        """The lines of a text file of the repository."""
        from swarmgate.workspace.file_tools.files import FileTree

        try:
            text = FileTree(self._project.folder.root).read(name, limit=_MOST_LIST)
        except (FileProblem, UnsafePath) as error:
            raise _Wrong(
                Problem(place, f"{error.message.partition(';')[0]}: give a text file of the repository")
            ) from error
        items = tuple(line.strip() for line in text.splitlines() if line.strip())
        if not items:
            raise _Wrong(Problem(place, f"{name} has no item: an item is a line"))
        return items


class _Wrong(Exception):
    """What is wrong with a description in this project; becomes a refusal, with the line where there is a file."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.what)
        self.problem = problem


def _values(asked: Orchestration) -> dict[str, Any]:
    return {name: getattr(asked, name) for name in asked.model_fields_set}


def _made(values: Mapping[str, Any]) -> Orchestration:
    """The orchestration of these values.

    Raises:
        CouncilRefused: they describe none.
    """
    from swarmgate.council.orchestration import refused

    try:
        return Orchestration.model_validate({key: each for key, each in values.items() if each is not None})
    except ValidationError as error:
        raise refused(error) from None

"""The facade of the council: dispatched tasks.

result = await Swarm(path).council.dispatch(mode="parallel", tasks=[{"role": "reviewer", "text": "Review a.py"}])
"""

# ruff: noqa: PLC0415 - late, for start-up time: to list and to look needs neither voices nor models

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swarmgate.domain.dispatch import DispatchResult, DispatchTask
from swarmgate.domain.usage import Allowance
from swarmgate.engine.in_project import InProject, new_id
from swarmgate.errors import CouncilRefused
from swarmgate.ledger.debates import DebateFiles
from swarmgate.ledger.dispatches import DispatchFiles

if TYPE_CHECKING:
    from swarmgate.council.dispatch_request import Dispatch
    from swarmgate.council.dispatch_request import Where as DispatchWhere


class Dispatches:
    """Dispatches of one project."""

    def __init__(self, shared: InProject) -> None:
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
        """Has voices work on tasks, and gives what came of each, in the order of the tasks.

        Args:
            mode: `single`, `parallel` (1 to 8 tasks), `chain` or `debate` (2 to 8).
            tasks: each a role or a participant, a text, and perhaps a model and a working folder.
            rounds: of a debate; None: `[council] rounds`.
            question: of a debate; empty: the text of the tasks, where it is the same in all.
            id: its name; empty: the time and four letters. One of that id that did not come to its end is done anew.
            tokens: what all of it may use, in tokens; None: `[council] total_tokens`.
            usd: the same in US dollars; None: `[council] usd`.

        Raises:
            CouncilRefused: it cannot be held as asked; the hint lists modes and roles.
            ConfigError, MissingRequirement: a voice has no model or no key.
            CouncilFailed: no task has an output; that is on record.
            BudgetExhausted: a budget is used up, and no task has an output. Later: `DispatchResult.exhausted`.
        """
        from swarmgate.council.dispatch_request import checked

        settings = self._project.config.council
        asked = checked(mode, tasks, rounds=rounds, question=question, default_rounds=settings.rounds)
        if id:
            DispatchFiles(self._project.folder).check_new(id)
        allowance = self._shared.allowance.but(usd=usd, tokens=tokens)
        return await self._dispatch(asked, name=id, allowance=allowance)

    async def dispatch_file(self, path: Path, *, mode: str = "", rounds: int | None = None) -> DispatchResult:
        """The same for the tasks of a TOML file; `mode` and `rounds` where the file does not say them."""
        from swarmgate.council.dispatch_file import places, read

        default = self._project.config.council.rounds
        asked = read(path, mode=mode, rounds=rounds, default_rounds=default)
        return await self._dispatch(asked, where=places(path))

    def dispatches(self) -> tuple[str, ...]:
        """The ids of all dispatches, the newest first."""
        return DispatchFiles(self._project.folder).ids()[::-1]

    def dispatch_record(self, id: str) -> DispatchResult:  # noqa: A002 - as above
        """A dispatch that is on record.

        Raises:
            CouncilRefused: there is none of that id.
            LedgerError: its file is damaged.
        """
        try:
            return DispatchFiles(self._project.folder).load(id)
        except CouncilRefused as error:
            raise self._shared.refused("dispatch", id, error) from None

    # --- inside ---

    async def _dispatch(
        self,
        asked: Dispatch,
        where: DispatchWhere | None = None,
        *,
        name: str = "",
        allowance: Allowance | None = None,
    ) -> DispatchResult:
        from swarmgate.council.dispatch_request import in_words
        from swarmgate.council.dispatching import Means, carry_out
        from swarmgate.council.progress import teller
        from swarmgate.council.session import TOGETHER, opened

        project, name = self._project, name or new_id()
        async with opened(project, f"dispatch-{name}", allowance=allowance, resume="") as voices:
            means = Means(
                id=name,
                voices=voices,
                store=DispatchFiles(project.folder, redact=project.redact),
                debates=DebateFiles(project.folder, redact=project.redact),
                model_of=lambda role: project.config.role(role).model,
                settings=project.config.council,
                on_event=teller(project.listener),
                where=where or in_words,
                whole=TOGETHER.get() is not None,
            )
            return await carry_out(asked, means)

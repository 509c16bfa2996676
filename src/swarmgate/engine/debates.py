"""The facade of the council: debates.

outcome = await Swarm(path).council.debate("Is this design sound?", participants=["advocate", "challenger"])
"""

# ruff: noqa: PLC0415 - late, for start-up time: to list and to look needs neither voices nor models

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from swarmgate.domain.debate import Debate, DebateRecord, Outcome
from swarmgate.domain.dispatch import DispatchResult
from swarmgate.domain.usage import Allowance
from swarmgate.engine.in_project import InProject, new_id
from swarmgate.errors import BudgetExhausted, CouncilFailed, CouncilRefused, SwarmError
from swarmgate.ledger.debates import DebateFiles
from swarmgate.ledger.dispatches import DispatchFiles
from swarmgate.ledger.sessions import unsettled

if TYPE_CHECKING:
    from swarmgate.engine.seating import Participant, Where


class Debates:
    """Debates of one project."""

    def __init__(self, shared: InProject) -> None:
        self._shared, self._project = shared, shared.project

    async def debate(
        self,
        question: str,
        *,
        participants: Sequence[Participant] = ("advocate", "challenger"),
        rounds: int | None = None,
        moderator: Participant | None = None,
        material: str = "",
        files: Sequence[str] = (),
        diff: str = "",
        order: Literal["fixed", "rotate"] | None = None,
        synthesis: bool = True,
        id: str = "",  # noqa: A002 - the field's name
        tokens: int | None = None,
        usd: float | None = None,
        where: Where = lambda _: "",
    ) -> Outcome:
        """Holds a debate to its outcome.

        Args:
            question: what is debated.
            participants: 2 to 8 voices.
            rounds: 1 to 5, the last one is the vote; None: `[council] rounds`.
            moderator: a further voice that may order the rounds.
            material: what the question is about.
            files: paths whose text is added to the material: from the root of the repository, or absolute and inside.
            diff: a revision; what the work tree changes against it is added to the material.
            order: who is read first; None: `[council] order`.
            synthesis: whether the architect decides; without it, or without its model, the majority does.
            id: its name; empty: the time and four letters.
            tokens: what all of it may use, in tokens; None: `[council] total_tokens`.
            usd: the same in US dollars; None: `[council] usd`.
            where: how messages about an argument begin.

        Raises:
            CouncilRefused: it cannot be held as asked.
            ConfigError, MissingRequirement: a voice has no model or no key.
            CouncilFailed: no voice, or not the synthesis, gave anything that counts.
            BudgetExhausted: a budget is used up; `resume` goes on.
        """
        from swarmgate.council.material import OF_A_DEBATE, gathered
        from swarmgate.council.requests import debate_of
        from swarmgate.engine.seating import seat, seats_for

        settings, folder = self._project.config.council, self._project.folder
        debate = debate_of(
            id=self._new_id(id),
            question=question,
            seats=seats_for(participants),
            rounds=settings.rounds if rounds is None else rounds,
            moderator=None if moderator is None else seat(moderator, "moderator"),
            material=gathered(folder.root, material, files=files, diff=diff, most=OF_A_DEBATE, where=where),
            order=order or settings.order,
            parent=synthesis,
            tokens=settings.tokens,
            timeout_s=settings.timeout_s,
            similarity=settings.similarity,
        )
        allowance = self._shared.allowance.but(usd=usd, tokens=tokens)
        return await self._hold(debate, allowance, where=where)

    async def debate_file(self, path: Path, **options: Any) -> Outcome:
        """Holds the debate that a TOML file describes; `options` are arguments of `debate` that win over the file.

        Raises:
            CouncilRefused: the file cannot be read, or a key is wrong; the message names file, line and key.
            SwarmError: as `debate`.
        """
        from swarmgate.engine import debate_file

        in_file = debate_file.places(path)
        given = debate_file.read(path) | options
        return await self.debate(**given, where=lambda place: "" if place[0] in options else in_file(place))

    async def resume(self, id: str, *, tokens: int | None = None, usd: float | None = None) -> Outcome:  # noqa: A002 - as above
        """Goes on with a debate after its last whole round; gives the outcome at once where it has one.

        Args:
            id: of the debate.
            tokens: what all of it may use, in tokens, with what it used before; None: as it was begun with.
            usd: the same in US dollars.

        Raises:
            CouncilRefused: there is no such debate, or it goes on in another process.
            LedgerError: its files are damaged.
            SwarmError: as `debate`.
        """
        record = self.record(id)
        dispatched = self._dispatched(record)
        session = f"dispatch-{id}" if dispatched else f"debate-{id}"
        if record.outcome is not None:
            self._settle(session)
            return record.outcome
        kept = self._files.allowance(id)
        if dispatched and not kept.limited:
            kept = self._shared.allowance
        allowance = kept.but(usd=usd, tokens=tokens)
        return await self._hold(record.debate, allowance, dispatched=dispatched)

    def ids(self) -> tuple[str, ...]:
        """The ids of all debates, the newest first."""
        return tuple(sorted(self._files.ids(), key=self.began, reverse=True))

    def began(self, id: str) -> tuple[float, float]:  # noqa: A002 - as above
        """When a debate began, in seconds since 1970: as its id says, else its file; and when that was written."""
        written = 0.0
        with suppress(OSError):
            written = (self._project.folder.debates / id / "debate.json").stat().st_mtime
        with suppress(ValueError):
            return datetime.strptime(f"{id[:15]}+0000", "%Y%m%d-%H%M%S%z").timestamp(), written
        return float(int(written)), written

    def record(self, id: str) -> DebateRecord:  # noqa: A002 - as above
        """All that is kept of a debate.

        Raises:
            CouncilRefused: there is no such debate.
            LedgerError: its files are damaged.
        """
        try:
            return self._files.load(id)
        except CouncilRefused as error:
            raise self._shared.refused("debate", id, error) from None

    # --- inside ---

    async def _hold(
        self,
        debate: Debate,
        allowance: Allowance,
        *,
        where: Where = lambda _: "",
        dispatched: DispatchResult | None = None,
    ) -> Outcome:
        from swarmgate.council.debating import hold
        from swarmgate.council.dispatching import Placed, held_again
        from swarmgate.council.progress import teller
        from swarmgate.council.session import opened
        from swarmgate.council.way_on import with_way_on
        from swarmgate.engine.first_round import prompt_tokens
        from swarmgate.engine.seating import check_desks

        project = self._project
        files = DebateFiles(project.folder, redact=project.redact)
        goes_on = f"swarm debate resume {debate.id}"
        session = f"{'dispatch' if dispatched else 'debate'}-{debate.id}"
        folders = {task.name: task.folder for task in dispatched.tasks} if dispatched else {}
        try:
            async with opened(project, session, allowance=allowance, resume=goes_on) as made:
                voices = Placed(made, folders)
                check_desks(debate, voices, where)
                files.begin(debate)
                files.keep_allowance(debate.id, allowance)
                if not files.rounds(debate.id):
                    needed = prompt_tokens(debate, voices)
                    made.budget.require_room(needed, "the first round (its prompts alone)")
                outcome = await hold(debate, voices=voices, store=files, on_event=teller(project.listener))
        except CouncilFailed as error:
            raise with_way_on(error, debate.id, files.rounds(debate.id)) from error
        except BudgetExhausted as error:
            raise error.with_option(goes_on, session) from error
        if dispatched:
            again = held_again(dispatched, files.rounds(debate.id), outcome)
            DispatchFiles(project.folder, redact=project.redact).keep(again)
        return outcome

    def _dispatched(self, record: DebateRecord) -> DispatchResult | None:
        """The dispatch that a debate belongs to: it has the folders of its voices.

        Raises:
            CouncilRefused: it cannot be read, so that the debate cannot go on as it began.
        """
        if record.debate.about != "dispatch":
            return None
        try:
            return DispatchFiles(self._project.folder).load(record.debate.id)
        except SwarmError as error:
            if record.outcome is not None:
                return None
            raise CouncilRefused(
                f"The debate {record.debate.id} belongs to a dispatch, whose record cannot be read: {error.message}",
                hint="Dispatch it anew: without that record nobody knows the folders of its voices.",
            ) from error

    def _settle(self, session: str) -> None:
        """Has the ledger count a debate that was killed between its outcome and that."""
        from swarmgate.council.session import settle

        if session in {each.name for each in unsettled(self._project.folder)}:
            settle(self._project)

    @property
    def _files(self) -> DebateFiles:
        """For who reads only."""
        return DebateFiles(self._project.folder)

    def _new_id(self, wanted: str) -> str:
        if not wanted:
            return new_id()
        if wanted in self._files.ids():
            raise CouncilRefused(
                f"There is a debate {wanted} already.", hint=f"Go on with it: swarm debate resume {wanted}"
            )
        self._files.check_id(wanted)
        return wanted

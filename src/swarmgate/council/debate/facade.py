"""Facade of debates: start, resume, list and read them.

outcome = await Swarm(path).council.debate("Is this design sound?", participants=["advocate", "challenger"])
"""

# ruff: noqa: PLC0415 - late, for start-up time: to list and to look needs neither participants nor models

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from swarmgate.council.debate.model import DISPATCH, PART, DebateRecord, Outcome
from swarmgate.council.debate.rules import RULES
from swarmgate.council.shared import Shared, new_id
from swarmgate.errors import CouncilRefused, SwarmError

if TYPE_CHECKING:
    from swarmgate.council.debate.request import Participant
    from swarmgate.council.pattern import Where


class ResumeDispatch(Protocol):
    """Resumes the dispatch that a debate belongs to; None: it has no result yet."""

    async def __call__(
        self,
        id: str,  # noqa: A002 - the field's name
        *,
        tokens: int | None = None,
        usd: float | None = None,
    ) -> _Dispatched | None:
        """Gives what came of it."""


class _Dispatched(Protocol):
    @property
    def outcome(self) -> Outcome | None: ...


class Debates:
    """Debates of one project.

    Args:
        shared: what all patterns of the project share.
        resume_dispatch: of the dispatches of the project.
    """

    def __init__(self, shared: Shared, resume_dispatch: ResumeDispatch) -> None:
        self._shared, self._project = shared, shared.project
        self._resume_dispatch = resume_dispatch

    async def debate(
        self,
        question: str,
        *,
        participants: Sequence[Participant] | None = None,
        cast: str = "",
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
            participants: 2 to 8 participants: seats, agents of the settings, or roles; None: those of the cast, or an
                advocate and a challenger.
            cast: a shipped cast, such as `vision-alignment`, whose seats `participants` take, fill or join.
            rounds: 1 to 5, the last one is the vote; None: `[council] rounds`.
            moderator: a further participant that may order the rounds.
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
            ConfigError, MissingRequirement: a participant has no model or no key.
            CouncilFailed: no participant, or not the synthesis, gave anything that counts.
            BudgetExhausted: a budget is used up; `resume` goes on.
        """
        from swarmgate.council.debate.request import debate_of, moderator_of, seats_for
        from swarmgate.council.debate.steps import DEBATING
        from swarmgate.council.participants.material import OF_A_DEBATE, gathered
        from swarmgate.council.requests.casts import cast as cast_of

        settings, folder = self._project.config.council, self._project.folder
        default = ("advocate", "challenger") if participants is None else participants
        voices = cast_of(cast).seated(participants or (), self._project.config.agents) if cast else default
        debate = debate_of(
            id=self._new_id(id),
            question=question,
            seats=seats_for(voices, self._project, where),
            rounds=settings.rounds if rounds is None else rounds,
            moderator=None if moderator is None else moderator_of(moderator, self._project, where),
            material=gathered(folder.root, material, files=files, diff=diff, most=OF_A_DEBATE, where=where),
            order=order or settings.order,
            parent=synthesis,
            tokens=settings.tokens,
            timeout_s=settings.timeout_s,
            similarity=settings.similarity,
        )
        allowance = self._shared.allowance.but(usd=usd, tokens=tokens)
        held = await self._shared.hold(DEBATING, debate, allowance=allowance, own={}, where=where)
        return _ended(held)

    async def debate_file(self, path: Path, **options: Any) -> Outcome:
        """Holds the debate that a TOML file describes; `options` are arguments of `debate` that win over the file.

        Raises:
            CouncilRefused: the file cannot be read, or a key is wrong; the message names file, line and key.
            SwarmError: as `debate`.
        """
        from swarmgate.council.debate import file

        in_file = file.FILE.places(path)
        given = file.read(path) | options
        return await self.debate(**given, where=lambda place: "" if place[0] in options else in_file(place))

    def described(self, path: Path) -> dict[str, Any]:
        """The arguments of `debate` that a TOML file gives.

        Raises:
            CouncilRefused: as `debate_file`.
        """
        from swarmgate.council.debate import file

        return file.read(path)

    async def resume(self, id: str, *, tokens: int | None = None, usd: float | None = None) -> Outcome:  # noqa: A002 - the field's name
        """Resumes a debate after its last speech; returns the outcome at once where it has one.

        Args:
            id: of the debate, or of the dispatch that it is the debate of.
            tokens: what all of it may use, in tokens, with what it used before; None: as it was begun with.
            usd: the same in US dollars.

        Raises:
            CouncilRefused: there is no such debate, or it goes on in another process.
            LedgerError: its record is damaged.
            SwarmError: as `debate`.
        """
        from swarmgate.council.debate.steps import DEBATING

        debate = self._own(id)
        if dispatched := self._dispatched(debate):
            result = await self._resume_dispatch(dispatched, tokens=tokens, usd=usd)
            return _ended(result.outcome if result else None)
        held = await self._shared.resume(DEBATING, debate, tokens=tokens, usd=usd, own={})
        return _ended(held)

    def ids(self) -> tuple[str, ...]:
        """The ids of all debates, the newest first; the debate of a dispatch goes by the id of that."""
        return tuple(map(self._goes_by, self._shared.records.ids(RULES.name)))

    def record(self, id: str) -> DebateRecord:  # noqa: A002 - the field's name
        """All that is kept of a debate.

        Args:
            id: as of `resume`.

        Raises:
            CouncilRefused: there is no such debate.
            LedgerError: its record is damaged.
        """
        return RULES.record(self._shared.record(RULES, self._own(id)).standing)

    # --- looking, as people read it ---

    def debate_lines(self, record: DebateRecord) -> list[str]:
        """The whole debate, round by round."""
        from swarmgate.council.debate import view

        return view.text_lines(record)

    def debate_page(self, record: DebateRecord) -> str:
        """The whole debate as one HTML page that needs nothing else."""
        from swarmgate.council.debate import view

        return view.html(record)

    def debate_verdict(self, id: str) -> tuple[dict[str, Any], list[str]]:  # noqa: A002 - the field's name
        """How a debate ended: for programs, and as lines; the reasons and the dissent with it."""
        from swarmgate.council.debate import view

        record = self.record(id)
        outcome = record.outcome.model_dump(mode="json") if record.outcome else {}
        data = {**outcome, "reasons": view.reasons(record), "dissent": view.dissent(record)}
        return data, view.verdict_lines(record)

    # --- inside ---

    def _own(self, id: str) -> str:  # noqa: A002 - the field's name
        """The id of the record that is meant: the debate of a dispatch goes by the id of that, too."""
        part = f"{id}.{PART}"
        with suppress(SwarmError):
            if self._shared.records.begun(id).pattern == DISPATCH and part in self._shared.records.ids(RULES.name):
                return part
        return id

    def _goes_by(self, id: str) -> str:  # noqa: A002 - the field's name
        """The other way round."""
        whole = id.removesuffix(f".{PART}")
        with suppress(SwarmError):
            return whole if self._shared.records.begun(whole).pattern == DISPATCH else id
        return id

    def _dispatched(self, id: str) -> str:  # noqa: A002 - the field's name
        """The dispatch that a debate belongs to, whose result it is a part of; empty: none."""
        whole = self._shared.record(RULES, id).standing.part_of
        with suppress(SwarmError):  # of what cannot be read, it is gone on with by itself
            return whole if whole and self._shared.records.begun(whole).pattern == DISPATCH else ""
        return ""

    def _new_id(self, wanted: str) -> str:
        if not wanted:
            return new_id()
        self._shared.records.check_id(wanted, RULES.name)
        if wanted in self.ids():
            raise CouncilRefused(
                f"There is a debate {wanted} already.", hint=f"Go on with it: swarm debate resume {wanted}"
            )
        return wanted


def _ended(outcome: Outcome | None) -> Outcome:
    """The outcome of what was held to its end: one that is not over ended in an error."""
    if outcome is None:
        raise CouncilRefused("The debate has no outcome yet.")
    return outcome

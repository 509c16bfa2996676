"""The facade of the council: debates, dispatched tasks and swarm chats of a project, outside of its runs.

outcome = await Swarm(path).council.debate("Is this design sound?", participants=["advocate", "challenger"])
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from swarmgate.domain.chat import Chat, ChatRecord, ChatResult, ChatSummary
from swarmgate.domain.debate import Debate, DebateRecord, Outcome, Seat
from swarmgate.domain.dispatch import DispatchResult, DispatchTask
from swarmgate.domain.usage import Allowance
from swarmgate.errors import CouncilRefused
from swarmgate.ledger.chats import ChatDatabase
from swarmgate.ledger.debates import DebateFiles
from swarmgate.ledger.dispatches import DispatchFiles
from swarmgate.ledger.sessions import unsettled

if TYPE_CHECKING:
    from swarmgate.council.dispatch_request import Dispatch
    from swarmgate.engine.sitting import Surroundings
    from swarmgate.engine.swarm import Swarm

Participant = Seat | Mapping[str, Any] | str
"""A voice: a seat, its fields, or `ID` or `ID=provider/model`."""

BRIEFS = {
    "advocate": "Argue for it: find and state the strongest honest reasons why it should stand. Concede what is wrong.",
    "challenger": "Argue against it: look for what breaks, what is missing and what it will cost. Concede what holds.",
}
"""What these voices are to argue for where nobody says anything else."""


class Council:
    """The council of one project. Made by `Swarm.council`."""

    def __init__(self, swarm: Swarm) -> None:
        self._swarm = swarm

    # --- debates ---

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
    ) -> Outcome:
        """Holds a debate to its outcome.

        Args:
            question: what is debated.
            participants: 2 to 8 voices.
            rounds: 1 to 5, the last one is the vote; None: `[council] rounds`.
            moderator: a further voice that may order the rounds.
            material: what the question is about.
            files: paths of the repository whose text is added to the material.
            diff: a revision; what the work tree changes against it is added to the material.
            order: who is read first; None: `[council] order`.
            synthesis: whether the architect decides; without it, or without its model, the majority does.
            id: its name; empty: the time and four letters.
            tokens: what all of it may use, in tokens; None: `[council] total_tokens`.
            usd: the same in US dollars; None: `[council] usd`.

        Raises:
            CouncilRefused: it cannot be held as asked.
            ConfigError, MissingRequirement: a voice has no model or no key.
            CouncilFailed: no voice, or not the synthesis, gave anything that counts.
            BudgetExhausted: a budget is used up; `resume` goes on.
        """
        from swarmgate.council.requests import debate_of  # noqa: PLC0415 - late: looking needs no voices
        from swarmgate.engine.material import gathered  # noqa: PLC0415 - as above

        settings, folder = self._swarm.config.council, self._swarm.folder
        debate = debate_of(
            id=self._new_id(id),
            question=question,
            seats=[seat(each) for each in participants],
            rounds=settings.rounds if rounds is None else rounds,
            moderator=None if moderator is None else seat(moderator),
            material=gathered(folder.root, material, files=files, diff=diff),
            order=order or settings.order,
            parent=synthesis,
            tokens=settings.tokens,
            timeout_s=settings.timeout_s,
            similarity=settings.similarity,
        )
        allowance = Allowance(
            usd=settings.usd if usd is None else usd, tokens=settings.total_tokens if tokens is None else tokens
        )
        return await self._hold(debate, allowance)

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
        record = self._files.load(id)
        if record.outcome is not None:
            self._settle(id)
            return record.outcome
        kept = self._files.allowance(id)
        allowance = Allowance(usd=kept.usd if usd is None else usd, tokens=kept.tokens if tokens is None else tokens)
        return await self._hold(record.debate, allowance)

    def ids(self) -> tuple[str, ...]:
        """The ids of all debates, the oldest first where swarmgate named them."""
        return self._files.ids()

    def record(self, id: str) -> DebateRecord:  # noqa: A002 - as above
        """All that is kept of a debate.

        Raises:
            CouncilRefused: there is no such debate.
            LedgerError: its files are damaged.
        """
        return self._files.load(id)

    # --- dispatches ---

    async def dispatch(
        self,
        *,
        mode: str,
        tasks: Sequence[DispatchTask | Mapping[str, Any]],
        rounds: int | None = None,
        question: str = "",
    ) -> DispatchResult:
        """Has voices work on tasks, and gives what came of each, in the order of the tasks.

        Args:
            mode: `single`, `parallel` (1 to 8 tasks), `chain` or `debate` (2 to 8).
            tasks: each a role or a participant, a text, and perhaps a model and a working folder.
            rounds: of a debate; None: `[council] rounds`.
            question: of a debate; empty: the text of the tasks, where it is the same in all.

        Raises:
            CouncilRefused: it cannot be held as asked; the hint lists modes and roles.
            ConfigError, MissingRequirement: a voice has no model or no key.
            CouncilFailed: no task has an output; that is on record.
            BudgetExhausted: a budget is used up, and no task has an output. Later: `DispatchResult.exhausted`.
        """
        from swarmgate.council.dispatch_request import checked  # noqa: PLC0415 - late: looking needs no voices

        default = self._swarm.config.council.rounds
        return await self._dispatch(checked(mode, tasks, rounds=rounds, question=question, default_rounds=default))

    async def dispatch_file(self, path: Path, *, mode: str = "", rounds: int | None = None) -> DispatchResult:
        """The same for the tasks of a TOML file; `mode` and `rounds` where the file does not say them."""
        from swarmgate.council.dispatch_file import read  # noqa: PLC0415 - as above

        default = self._swarm.config.council.rounds
        return await self._dispatch(read(path, mode=mode, rounds=rounds, default_rounds=default))

    def dispatches(self) -> tuple[str, ...]:
        """The ids of all dispatches, the oldest first."""
        return DispatchFiles(self._swarm.folder).ids()

    def dispatch_record(self, id: str) -> DispatchResult:  # noqa: A002 - as above
        """A dispatch that is on record.

        Raises:
            CouncilRefused: there is none of that id.
            LedgerError: its file is damaged.
        """
        return DispatchFiles(self._swarm.folder).load(id)

    # --- swarm chats ---

    async def swarm(
        self,
        *,
        agents: Sequence[Seat | Mapping[str, Any]],
        initial: Mapping[str, Any],
        ttl_s: float | None = None,
        messages: int | None = None,
        tokens: int | None = None,
        moderator: str | None = None,
        id: str = "",  # noqa: A002 - as above
    ) -> ChatResult:
        """Has agents write to each other until one of them, a bound or silence ends that.

        Args:
            agents: 2 to 32, each with `id`, and perhaps `model` and `system`.
            initial: the opening: `from` (an agent, or `moderator`), `to` (an agent, several, or `all`), `content`.
            ttl_s: seconds until it is over, whether a process is at it or not; None: as `[council.chat]` says.
            messages: that the agents may send; None: as above.
            tokens: that they may use together; None: as above.
            moderator: the id of the agent that sees every message and alone may end the chat; None: there is none.
            id: its name; empty: the time and four letters.

        Raises:
            CouncilRefused: it cannot be held as asked; `Archived`: a chat that is over has its id.
            ConfigError, MissingRequirement: an agent has no model or no key.
            CouncilFailed: every agent that was asked failed.
            BudgetExhausted: a budget is used up; `resume_swarm` goes on.
        """
        from swarmgate.council.chat_request import chat_of  # noqa: PLC0415 - brings the agents

        settings = self._swarm.config.council.chat
        request = chat_of(
            id=id or new_id(),
            agents=agents,
            initial=initial,
            ttl_s=settings.ttl_s if ttl_s is None else ttl_s,
            messages=settings.messages if messages is None else messages,
            tokens=settings.tokens if tokens is None else tokens,
            moderator=moderator,
            created_at=time.time(),
        )
        return await self._chatted(request, resumed=False)

    async def resume_swarm(self, id: str) -> ChatResult:  # noqa: A002 - as above
        """Goes on with a swarm chat that was interrupted; its time has gone on meanwhile.

        Raises:
            Archived: it is over.
            CouncilRefused: there is none of that id, or it goes on in another process.
            SwarmError: as `swarm`.
        """
        with ChatDatabase(self._swarm.folder) as database:
            request = database.find(id)
        return await self._chatted(request, resumed=True)

    def chats(self) -> tuple[ChatSummary, ...]:
        """Every swarm chat, the newest first."""
        with ChatDatabase(self._swarm.folder) as database:
            return database.ids()

    def chat_record(self, id: str) -> ChatRecord:  # noqa: A002 - as above
        """All that is kept of a swarm chat.

        Raises:
            CouncilRefused: there is none of that id.
            LedgerError: the database is damaged; it was put aside.
        """
        with ChatDatabase(self._swarm.folder) as database:
            return database.load(id)

    # --- inside ---

    async def _chatted(self, request: Chat, *, resumed: bool) -> ChatResult:
        from swarmgate.council.chat import chat, resume  # noqa: PLC0415 - brings the agents
        from swarmgate.engine.council_progress import teller  # noqa: PLC0415 - as above
        from swarmgate.engine.sitting import sitting  # noqa: PLC0415 - as above

        around, tell = self._around, teller(self._around.listener)
        goes_on = f"swarm chat resume {request.id}"
        async with sitting(around, f"chat-{request.id}", resume=goes_on) as voices:
            with ChatDatabase(around.folder, redact=around.redact) as store:
                if resumed:
                    return await resume(request.id, voices=voices, store=store, on_event=tell)
                return await chat(request, voices=voices, store=store, on_event=tell)

    async def _dispatch(self, asked: Dispatch) -> DispatchResult:
        from swarmgate.council.dispatching import Means, carry_out  # noqa: PLC0415 - brings the agents
        from swarmgate.engine.council_progress import teller  # noqa: PLC0415 - as above
        from swarmgate.engine.sitting import sitting  # noqa: PLC0415 - as above

        around, name = self._around, new_id()
        async with sitting(around, f"dispatch-{name}", resume="") as voices:
            means = Means(
                id=name,
                voices=voices,
                store=DispatchFiles(around.folder, redact=around.redact),
                debates=DebateFiles(around.folder, redact=around.redact),
                model_of=lambda role: around.config.role(role).model,
                settings=around.config.council,
                on_event=teller(around.listener),
            )
            return await carry_out(asked, means)

    async def _hold(self, debate: Debate, allowance: Allowance) -> Outcome:
        from swarmgate.council.debating import hold  # noqa: PLC0415 - brings the agents
        from swarmgate.engine.council_progress import teller  # noqa: PLC0415 - as above
        from swarmgate.engine.sitting import sitting  # noqa: PLC0415 - as above

        around = self._around
        files = DebateFiles(around.folder, redact=around.redact)
        goes_on = f"swarm debate resume {debate.id}"
        async with sitting(around, f"debate-{debate.id}", allowance=allowance, resume=goes_on) as voices:
            for each in (*debate.seats, *filter(None, [debate.moderator])):
                voices.desk(each)  # what is missing is told before anybody is asked
            if debate.parent:
                voices.parent()
            files.begin(debate)
            files.keep_allowance(debate.id, allowance)
            return await hold(debate, voices=voices, store=files, on_event=teller(around.listener))

    def _settle(self, debate_id: str) -> None:
        """Has the ledger count a debate that was killed between its outcome and that."""
        from swarmgate.engine.sitting import settle  # noqa: PLC0415 - brings all rooms

        if f"debate-{debate_id}" in {each.name for each in unsettled(self._swarm.folder)}:
            settle(self._around)

    @property
    def _files(self) -> DebateFiles:
        """For who reads only."""
        return DebateFiles(self._swarm.folder)

    @cached_property
    def _around(self) -> Surroundings:
        return self._swarm.surroundings()

    def _new_id(self, wanted: str) -> str:
        if not wanted:
            return new_id()
        if wanted in self._files.ids():
            raise CouncilRefused(
                f"There is a debate {wanted} already.", hint=f"Go on with it: swarm debate resume {wanted}"
            )
        self._files.check_id(wanted)
        return wanted


def new_id() -> str:
    """A name that sorts by time: `20261121-224500-3f2a`."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"


def seat(given: Participant) -> Seat | Mapping[str, Any]:
    """A voice as it may be given; an advocate or challenger that is given no brief gets its usual one."""
    if isinstance(given, str):
        name, _, model = given.partition("=")
        return {"id": name.strip(), "model": model.strip(), "brief": BRIEFS.get(name.strip(), "")}
    if isinstance(given, Mapping) and not given.get("brief"):
        return {**given, "brief": BRIEFS.get(str(given.get("id")), "")}
    return given

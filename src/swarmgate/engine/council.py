"""The facade of the council: what several voices do in a project, outside of its runs.

Debates, dispatched tasks and swarm chats stand here; discussions, decisions, critiques, orchestrations and the metrics
of all in the files that its bases come from.

outcome = await Swarm(path).council.debate("Is this design sound?", participants=["advocate", "challenger"])
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from swarmgate.domain.chat import Chat, ChatRecord, ChatResult, ChatSummary
from swarmgate.domain.debate import Debate, DebateRecord, Outcome, Seat
from swarmgate.domain.dispatch import DispatchResult, DispatchTask
from swarmgate.domain.usage import Allowance
from swarmgate.engine.council_metrics import Metrics
from swarmgate.engine.critiques import Critiques
from swarmgate.engine.decisions import Decisions
from swarmgate.engine.discussions import Discussions
from swarmgate.engine.in_project import new_id, raising
from swarmgate.engine.orchestrations import Orchestrations
from swarmgate.errors import BudgetExhausted, CouncilFailed, CouncilRefused, SwarmError
from swarmgate.ledger.chats import ChatDatabase
from swarmgate.ledger.debates import DebateFiles
from swarmgate.ledger.dispatches import DispatchFiles
from swarmgate.ledger.sessions import Session, unsettled

if TYPE_CHECKING:
    from swarmgate.council.dispatch_request import Dispatch
    from swarmgate.council.dispatch_request import Where as DispatchWhere
    from swarmgate.council.events import OnCouncilEvent
    from swarmgate.engine.seating import Participant, Where


class Council(Discussions, Decisions, Critiques, Orchestrations, Metrics):
    """The council of one project. Made by `Swarm.council`."""

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
        from swarmgate.council.requests import debate_of  # noqa: PLC0415 - late: looking needs no voices
        from swarmgate.engine.material import OF_A_DEBATE, gathered  # noqa: PLC0415 - as above
        from swarmgate.engine.seating import seat, seats_for  # noqa: PLC0415 - as above

        settings, folder = self._swarm.config.council, self._swarm.folder
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
        allowance = self._allowance.but(usd=usd, tokens=tokens)
        return await self._hold(debate, allowance, where=where)

    async def debate_file(self, path: Path, **options: Any) -> Outcome:
        """Holds the debate that a TOML file describes; `options` are arguments of `debate` that win over the file.

        Raises:
            CouncilRefused: the file cannot be read, or a key is wrong; the message names file, line and key.
            SwarmError: as `debate`.
        """
        from swarmgate.engine import debate_file  # noqa: PLC0415 - late: looking needs no files

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
            kept = self._allowance
        allowance = kept.but(usd=usd, tokens=tokens)
        return await self._hold(record.debate, allowance, dispatched=dispatched)

    def ids(self) -> tuple[str, ...]:
        """The ids of all debates, the newest first."""
        return tuple(sorted(self._files.ids(), key=self.began, reverse=True))

    def began(self, id: str) -> tuple[float, float]:  # noqa: A002 - as above
        """When a debate began, in seconds since 1970: as its id says, else its file; and when that was written."""
        written = 0.0
        with suppress(OSError):
            written = (self._swarm.folder.debates / id / "debate.json").stat().st_mtime
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
            raise self._refused("debate", id, error) from None

    # --- dispatches ---

    async def dispatch(
        self,
        *,
        mode: str,
        tasks: Sequence[DispatchTask | Mapping[str, Any]],
        rounds: int | None = None,
        question: str = "",
        id: str = "",  # noqa: A002 - as above
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
        from swarmgate.council.dispatch_request import checked  # noqa: PLC0415 - late: looking needs no voices

        settings = self._swarm.config.council
        asked = checked(mode, tasks, rounds=rounds, question=question, default_rounds=settings.rounds)
        if id:
            DispatchFiles(self._swarm.folder).check_new(id)
        allowance = self._allowance.but(usd=usd, tokens=tokens)
        return await self._dispatch(asked, name=id, allowance=allowance)

    async def dispatch_file(self, path: Path, *, mode: str = "", rounds: int | None = None) -> DispatchResult:
        """The same for the tasks of a TOML file; `mode` and `rounds` where the file does not say them."""
        from swarmgate.council.dispatch_file import places, read  # noqa: PLC0415 - as above

        default = self._swarm.config.council.rounds
        asked = read(path, mode=mode, rounds=rounds, default_rounds=default)
        return await self._dispatch(asked, where=places(path))

    def dispatches(self) -> tuple[str, ...]:
        """The ids of all dispatches, the newest first."""
        return DispatchFiles(self._swarm.folder).ids()[::-1]

    def dispatch_record(self, id: str) -> DispatchResult:  # noqa: A002 - as above
        """A dispatch that is on record.

        Raises:
            CouncilRefused: there is none of that id.
            LedgerError: its file is damaged.
        """
        try:
            return DispatchFiles(self._swarm.folder).load(id)
        except CouncilRefused as error:
            raise self._refused("dispatch", id, error) from None

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
        try:
            with ChatDatabase(self._swarm.folder) as database:
                request = database.find(id)
        except CouncilRefused as error:
            raise self._refused("chat", id, error) from None
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
        try:
            with ChatDatabase(self._swarm.folder) as database:
                return database.load(id)
        except CouncilRefused as error:
            raise self._refused("chat", id, error) from None

    # --- inside ---

    async def _chatted(self, request: Chat, *, resumed: bool) -> ChatResult:
        from swarmgate.council.chat import chat, resume  # noqa: PLC0415 - brings the agents
        from swarmgate.engine.council_progress import teller  # noqa: PLC0415 - as above
        from swarmgate.engine.sitting import sitting  # noqa: PLC0415 - as above

        around = self._around
        tell: OnCouncilEvent = teller(around.listener)
        goes_on = f"swarm chat resume {request.id}"
        async with sitting(around, f"chat-{request.id}", resume=goes_on) as voices:
            with ChatDatabase(around.folder, redact=around.redact) as store:
                if resumed:
                    used = Session(around.folder, f"chat-{request.id}").used()
                    return await resume(request.id, voices=voices, store=store, on_event=tell, used=used)
                return await chat(request, voices=voices, store=store, on_event=tell)

    async def _dispatch(
        self,
        asked: Dispatch,
        where: DispatchWhere | None = None,
        *,
        name: str = "",
        allowance: Allowance | None = None,
    ) -> DispatchResult:
        from swarmgate.council.dispatching import Means, carry_out  # noqa: PLC0415 - brings the agents
        from swarmgate.engine.council_progress import teller  # noqa: PLC0415 - as above
        from swarmgate.engine.sitting import TOGETHER, sitting  # noqa: PLC0415 - as above

        around, name = self._around, name or new_id()
        async with sitting(around, f"dispatch-{name}", allowance=allowance, resume="") as voices:
            means = Means(
                id=name,
                voices=voices,
                store=DispatchFiles(around.folder, redact=around.redact),
                debates=DebateFiles(around.folder, redact=around.redact),
                model_of=lambda role: around.config.role(role).model,
                settings=around.config.council,
                on_event=teller(around.listener),
                whole=TOGETHER.get() is not None,
                **({"where": where} if where else {}),
            )
            return await carry_out(asked, means)

    async def _hold(
        self,
        debate: Debate,
        allowance: Allowance,
        *,
        where: Where = lambda _: "",
        dispatched: DispatchResult | None = None,
    ) -> Outcome:
        from swarmgate.council.debating import hold  # noqa: PLC0415 - brings the agents
        from swarmgate.council.dispatching import Placed, held_again  # noqa: PLC0415 - as above
        from swarmgate.council.way_on import with_way_on  # noqa: PLC0415 - as above
        from swarmgate.engine.council_progress import teller  # noqa: PLC0415 - as above
        from swarmgate.engine.first_round import prompt_tokens  # noqa: PLC0415 - as above
        from swarmgate.engine.seating import check_desks  # noqa: PLC0415 - as above
        from swarmgate.engine.sitting import sitting  # noqa: PLC0415 - as above

        around = self._around
        files = DebateFiles(around.folder, redact=around.redact)
        goes_on = f"swarm debate resume {debate.id}"
        session = f"{'dispatch' if dispatched else 'debate'}-{debate.id}"
        folders = {task.name: task.folder for task in dispatched.tasks} if dispatched else {}
        try:
            async with sitting(around, session, allowance=allowance, resume=goes_on) as made:
                voices = Placed(made, folders)
                check_desks(debate, voices, where)
                files.begin(debate)
                files.keep_allowance(debate.id, allowance)
                if not files.rounds(debate.id):
                    needed = prompt_tokens(debate, voices)
                    made.budget.require_room(needed, "the first round (its prompts alone)")
                outcome = await hold(debate, voices=voices, store=files, on_event=teller(around.listener))
        except CouncilFailed as error:
            raise with_way_on(error, debate.id, files.rounds(debate.id)) from error
        except BudgetExhausted as error:
            raise raising(error, goes_on, session=session) from error
        if dispatched:
            again = held_again(dispatched, files.rounds(debate.id), outcome)
            DispatchFiles(around.folder, redact=around.redact).keep(again)
        return outcome

    def _dispatched(self, record: DebateRecord) -> DispatchResult | None:
        """The dispatch that a debate belongs to: it has the folders of its voices.

        Raises:
            CouncilRefused: it cannot be read, so that the debate cannot go on as it began.
        """
        if record.debate.about != "dispatch":
            return None
        try:
            return DispatchFiles(self._swarm.folder).load(record.debate.id)
        except SwarmError as error:
            if record.outcome is not None:
                return None
            raise CouncilRefused(
                f"The debate {record.debate.id} belongs to a dispatch, whose record cannot be read: {error.message}",
                hint="Dispatch it anew: without that record nobody knows the folders of its voices.",
            ) from error

    def _settle(self, session: str) -> None:
        """Has the ledger count a debate that was killed between its outcome and that."""
        from swarmgate.engine.sitting import settle  # noqa: PLC0415 - brings all rooms

        if session in {each.name for each in unsettled(self._swarm.folder)}:
            settle(self._around)

    @property
    def _files(self) -> DebateFiles:
        """For who reads only."""
        return DebateFiles(self._swarm.folder)

    def _new_id(self, wanted: str) -> str:
        if not wanted:
            return new_id()
        if wanted in self._files.ids():
            raise CouncilRefused(
                f"There is a debate {wanted} already.", hint=f"Go on with it: swarm debate resume {wanted}"
            )
        self._files.check_id(wanted)
        return wanted

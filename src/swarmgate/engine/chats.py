"""The facade of the council: swarm chats.

result = await Swarm(path).council.swarm(agents=[{"id": "ann"}, {"id": "bob"}], initial={"from": "ann", ...})
"""

# ruff: noqa: PLC0415 - late, for start-up time: to list and to look needs neither voices nor models

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from swarmgate.domain.chat import Chat, ChatRecord, ChatResult, ChatSummary
from swarmgate.domain.debate import Seat
from swarmgate.engine.in_project import InProject, new_id
from swarmgate.errors import CouncilRefused
from swarmgate.ledger.chats import ChatDatabase

if TYPE_CHECKING:
    from swarmgate.council.events import OnCouncilEvent


class Chats:
    """Swarm chats of one project."""

    def __init__(self, shared: InProject) -> None:
        self._shared, self._project = shared, shared.project

    async def swarm(
        self,
        *,
        agents: Sequence[Seat | Mapping[str, Any]],
        initial: Mapping[str, Any],
        ttl_s: float | None = None,
        messages: int | None = None,
        tokens: int | None = None,
        moderator: str | None = None,
        id: str = "",  # noqa: A002 - the field's name
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
        from swarmgate.council.chat_request import chat_of

        settings = self._project.config.council.chat
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
            with ChatDatabase(self._project.folder) as database:
                request = database.find(id)
        except CouncilRefused as error:
            raise self._shared.refused("chat", id, error) from None
        return await self._chatted(request, resumed=True)

    def chats(self) -> tuple[ChatSummary, ...]:
        """Every swarm chat, the newest first."""
        with ChatDatabase(self._project.folder) as database:
            return database.ids()

    def chat_record(self, id: str) -> ChatRecord:  # noqa: A002 - as above
        """All that is kept of a swarm chat.

        Raises:
            CouncilRefused: there is none of that id.
            LedgerError: the database is damaged; it was put aside.
        """
        try:
            with ChatDatabase(self._project.folder) as database:
                return database.load(id)
        except CouncilRefused as error:
            raise self._shared.refused("chat", id, error) from None

    # --- inside ---

    async def _chatted(self, request: Chat, *, resumed: bool) -> ChatResult:
        from swarmgate.council.chat import chat, resume
        from swarmgate.council.progress import teller
        from swarmgate.council.session import opened

        project = self._project
        tell: OnCouncilEvent = teller(project.listener)
        goes_on = f"swarm chat resume {request.id}"
        async with opened(project, f"chat-{request.id}", resume=goes_on) as voices:
            with ChatDatabase(project.folder, redact=project.redact) as store:
                if resumed:
                    used = project.session(f"chat-{request.id}").used()
                    return await resume(request.id, voices=voices, store=store, on_event=tell, used=used)
                return await chat(request, voices=voices, store=store, on_event=tell)

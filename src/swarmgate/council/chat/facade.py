"""Facade of swarm chats: start, resume, list and read them.

result = await Swarm(path).council.swarm(agents=[{"id": "ann"}, {"id": "bob"}], initial={"from": "ann", ...})
"""

# ruff: noqa: PLC0415 - late, for start-up time: to list and to look needs neither participants nor models

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from swarmgate.council.chat import view
from swarmgate.council.chat.model import Chat, ChatEnd, ChatRecord, ChatResult, ChatSummary
from swarmgate.council.chat.rules import RULES
from swarmgate.council.chat.state import State
from swarmgate.council.records.record import Record
from swarmgate.council.shared import Shared, new_id
from swarmgate.domain.review.votes import Seat
from swarmgate.errors import Archived, CouncilFailed, CouncilRefused


class Chats:
    """Swarm chats of one project."""

    def __init__(self, shared: Shared) -> None:
        self._shared, self._project = shared, shared.project

    async def swarm(
        self,
        *,
        agents: Sequence[Seat | Mapping[str, Any]],
        initial: Mapping[str, Any],
        ttl_s: float | None = None,
        ttl_ms: float | None = None,
        messages: int | None = None,
        tokens: int | None = None,
        moderator: str | None = None,
        id: str = "",  # noqa: A002 - the field's name
    ) -> ChatResult:
        """Has agents write to each other until one of them, a bound or silence ends that.

        Args:
            agents: 2 to 32, each with an `id`, or an `agent` of the settings, and perhaps `role`, `model`,
                `model_tier`, `system` and `folder`.
            initial: the opening: `from` (an agent, or `moderator`), `to` (an agent, several, or `all`), `content`.
            ttl_s: seconds until it is over, whether a process is at it or not; None: as `[council.chat]` says.
            ttl_ms: the same in milliseconds.
            messages: that the agents may send; None: as `[council.chat]` says.
            tokens: that they may use together; None: as `[council.chat]` says.
            moderator: the id of the agent that sees every message and alone may end the chat; None: there is none.
            id: its name; empty: the time and four letters.

        Raises:
            CouncilRefused: it cannot be held as asked; `Archived`: a chat that is over has its id.
            ConfigError, MissingRequirement: an agent has no model or no key.
            CouncilFailed: every agent that was asked failed.
            BudgetExhausted: a budget is used up; `resume_swarm` goes on.
        """
        from swarmgate.council.chat.request import cast, chat_of, ttl_of

        settings = self._project.config.council.chat
        request = chat_of(
            id=id or new_id(),
            agents=cast(agents, self._project),
            initial=initial,
            ttl_s=ttl_of(ttl_s, ttl_ms, default=settings.ttl_s),
            messages=settings.messages if messages is None else messages,
            tokens=settings.tokens if tokens is None else tokens,
            moderator=moderator,
            created_at=time.time(),
        )
        self._check_unused(request.id)
        return await self._held(request)

    async def resume_swarm(self, id: str) -> ChatResult:  # noqa: A002 - the field's name
        """Resumes an interrupted swarm chat; its time limit has not been paused meanwhile.

        Raises:
            Archived: it is over.
            CouncilRefused: there is none of that id, or it goes on in another process.
            SwarmError: as `swarm`.
        """
        record = self._record(id)
        if result := record.outcome:
            raise Archived(
                f"The chat {id} is over ({result.end}), and read-only.",
                hint=f"Look at it with: swarm chat show {id}; begin a new one under another id.",
            )
        return await self._held(record.request)

    def chat_file(self, path: Path) -> dict[str, Any]:
        """What a file asks for: the arguments of `swarm`, by name, with an id.

        Raises:
            CouncilRefused: the file cannot be read, or is not that of a chat; the message names file, line and key.
        """
        from swarmgate.council.chat.request import read

        return {"id": new_id(), **read(path, self._project)}

    # --- look ---

    def chats(self) -> tuple[ChatSummary, ...]:
        """Every swarm chat, the newest first; one that is damaged says so, and the others are as they were."""
        return tuple(self._shared.rows(RULES))

    def chat_record(self, id: str) -> ChatRecord:  # noqa: A002 - the field's name
        """All that is kept of a swarm chat.

        Raises:
            CouncilRefused: there is none of that id.
            LedgerError: it is damaged, or was altered.
        """
        record = self._record(id)
        return view.record(record.standing.own, record.outcome)

    # --- inside ---

    async def _held(self, request: Chat) -> ChatResult:
        """Holds a chat from where it stands; what it may use is what the settings say now."""
        from swarmgate.council.chat.steps import CHAT, SessionState

        calls = self._project.session(f"{RULES.name}-{request.id}").used
        result = await self._shared.hold(CHAT, request, allowance=self._shared.allowance, own=SessionState(calls))
        return whole(result, request.id)

    def _record(self, id: str) -> Record[Chat, State, ChatResult]:  # noqa: A002 - the field's name
        try:
            return self._shared.record(RULES, id)
        except CouncilRefused as error:
            old = self._project.folder.chats
            if not old.exists() or id in self._shared.records.documents.records():
                raise
            hint = f"Chats of an earlier swarmgate are in {self._project.folder.relative(old)}: this one reads none."
            raise CouncilRefused(error.message, hint=f"{hint} {error.hint}".rstrip()) from None

    def _check_unused(self, id: str) -> None:  # noqa: A002 - the field's name
        """Insists that no chat has this id.

        Raises:
            Archived: one that is over has it.
            CouncilRefused: one that is not over has it.
        """
        records = self._shared.records
        if id not in records.documents.records() or records.begun(id, RULES.name).pattern != RULES.name:
            return
        if records.open(RULES, id).standing.over:
            raise Archived(
                f"The chat {id} is over, and read-only: it is not begun again.", hint="Give the new one another id."
            )
        raise CouncilRefused(
            f"There is a chat {id} already, and it is not over.", hint=f"Go on with it: {RULES.resume_command(id)}"
        )


def whole(result: ChatResult | None, id: str) -> ChatResult:  # noqa: A002 - the field's name
    """The end of a chat that is over.

    Raises:
        CouncilFailed: nobody who was asked has come to anything, each by its own fault.
    """
    if result and result.end is not ChatEnd.FAILED:
        return result
    raise CouncilFailed(
        f"The chat {id} came to nothing: {result.why if result else 'it has no end'}.",
        hint=f"Why each turn failed: swarm chat show {id}",
    )

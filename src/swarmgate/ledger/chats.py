"""Swarm chats in SQLite: a turn's messages and the marks of what it had read are one transaction.

So a message is delivered until the turn that read it is on record: a killed turn is taken again, and none of its
messages is lost or doubled. A chat that is over is read-only by the triggers of the database itself.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Self, TypeVar

from pydantic import ValidationError

from swarmgate.config import nearest
from swarmgate.domain.base import Frozen
from swarmgate.domain.chat import (
    Chat,
    ChatMessage,
    ChatRecord,
    ChatResult,
    ChatSummary,
    ChatTurn,
    Delivered,
    Draft,
    Standing,
)
from swarmgate.domain.usage import Usage
from swarmgate.errors import Archived, CouncilRefused, LedgerError
from swarmgate.ledger.chats_file import ChatFile
from swarmgate.ledger.debates import unredacted
from swarmgate.ledger.folder import SwarmFolder

R = TypeVar("R", bound=Frozen)

_UNREAD = """SELECT m.number, m.sender, m.recipients, m.content, m.sent_at
    FROM agent_inbox i JOIN agent_messages m USING (swarm_id, number)
    WHERE i.swarm_id = ? AND i.agent_id = ? AND i.read_at IS NULL ORDER BY i.number LIMIT ?"""

_ALL = """SELECT number, sender, recipients, content, sent_at FROM agent_messages
    WHERE swarm_id = ? ORDER BY number"""

_EARLIER = """SELECT number, sender, recipients, content, sent_at FROM agent_messages
    WHERE swarm_id = :swarm AND number IN (
        SELECT number FROM (SELECT number FROM agent_inbox WHERE swarm_id = :swarm AND agent_id = :agent
            AND read_at IS NOT NULL ORDER BY number DESC LIMIT :limit)
        UNION SELECT number FROM (SELECT number FROM agent_messages WHERE swarm_id = :swarm AND sender = :agent
            ORDER BY number DESC LIMIT :limit)
        ORDER BY number DESC LIMIT :limit)
    ORDER BY number"""


class ChatDatabase:
    """The chats of one project; implements `council.chat.ChatStore`. Close it, or use it as a context manager.

    Every method may raise `LedgerError` and its kin, as `ChatFile.reading` does. That one process at a time goes on
    with a chat is seen to by its `Session`.

    Args:
        folder: the project's folder.
        redact: masks the secrets in a text; every text goes through it before it is written.
    """

    def __init__(self, folder: SwarmFolder, *, redact: Callable[[str], str] = unredacted) -> None:
        self._folder = folder
        self._redact = redact
        self._file = ChatFile(folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    # --- a chat as a whole ---

    def begin(self, chat: Chat) -> ChatMessage:
        """Keep a new chat, with its opening delivered.

        Raises:
            Archived: a chat that is over has this id.
            CouncilRefused: one that is not over has it.
        """
        with self._file.writing() as database:
            row = database.execute("SELECT archived FROM swarms WHERE id = ?", (chat.id,)).fetchone()
            if row is not None:
                raise _taken(chat.id, archived=bool(row[0]))
            database.execute(
                "INSERT INTO swarms (id, created_at, chat) VALUES (?, ?, ?)",
                (chat.id, chat.created_at, self._clean(chat).model_dump_json()),
            )
            database.executemany(
                "INSERT INTO agents (swarm_id, agent_id, place) VALUES (?, ?, ?)",
                [(chat.id, agent.id, place) for place, agent in enumerate(chat.agents)],
            )
            return self._sent(database, chat, chat.opening, chat.created_at)

    def find(self, chat_id: str) -> Chat:
        """A chat that can go on.

        Raises:
            Archived: it is over.
            CouncilRefused: there is none of that id.
        """
        row = self._row(chat_id)
        if row["archived"]:
            end = json.loads(row["result"])["end"]
            raise Archived(
                f"The chat {chat_id} is over ({end}), and read-only.",
                hint=f"Look at it with: swarm chat show {chat_id}; begin a new one under another id.",
            )
        return self._read(Chat, row["chat"], chat_id)

    def ids(self) -> tuple[ChatSummary, ...]:
        """Every chat, the newest first."""
        if not self._file.exists:
            return ()
        with self._file.reading() as database:
            rows = database.execute(
                "SELECT id, chat, result, (SELECT max(number) FROM agent_messages WHERE swarm_id = id) "
                "FROM swarms ORDER BY created_at DESC, id"
            ).fetchall()
        found = []
        for chat_id, kept, result, messages in rows:
            chat = self._read(Chat, kept, chat_id)
            end = self._read(ChatResult, result, chat_id).end if result else None
            found.append(
                ChatSummary(id=chat_id, agents=chat.names, messages=messages, created_at=chat.created_at, end=end)
            )
        return tuple(found)

    def load(self, chat_id: str) -> ChatRecord:
        """All that is kept of a chat.

        Raises:
            CouncilRefused: there is none of that id.
        """
        row = self._row(chat_id)
        with self._file.reading() as database:
            inbox: dict[int, dict[str, float | None]] = {}
            for number, agent, read_at in database.execute(
                "SELECT number, agent_id, read_at FROM agent_inbox WHERE swarm_id = ? ORDER BY number", (chat_id,)
            ):
                inbox.setdefault(number, {})[agent] = read_at
            messages = _messages(database.execute(_ALL, (chat_id,)))
            return ChatRecord(
                chat=self._read(Chat, row["chat"], chat_id),
                messages=tuple(Delivered(message=each, read=inbox.get(each.number, {})) for each in messages),
                turns=tuple(self._turns(database, chat_id)),
                result=self._read(ChatResult, row["result"], chat_id) if row["result"] else None,
            )

    # --- while it goes on ---

    def standing(self, chat_id: str) -> Standing:
        """How far it has come, from what is on record."""
        usage, streaks, failed, turns = Usage(), Counter[str](), 0, 0
        heard: set[str] = set()
        with self._file.reading() as database:
            for turn in self._turns(database, chat_id):
                usage, turns = usage + turn.usage, turns + 1
                if turn.failed:
                    heard.discard(turn.agent)
                    streaks[turn.agent], failed = streaks[turn.agent] + 1, failed + 1
                else:
                    heard.add(turn.agent)
                    streaks.pop(turn.agent, None)
            last = _last(database, "agent_messages", chat_id)
        return Standing(
            messages=last - 1,
            turns=turns,
            failed_turns=failed,
            usage=usage,
            faltering=streaks,
            heard=tuple(sorted(heard)),
        )

    def oldest_unread(self, chat_id: str) -> dict[str, int]:
        """The number of the oldest unread message, by agent; who has none is left out."""
        with self._file.reading() as database:
            rows = database.execute(
                "SELECT agent_id, min(number) FROM agent_inbox WHERE swarm_id = ? AND read_at IS NULL GROUP BY 1",
                (chat_id,),
            )
            return dict(rows.fetchall())

    def unread(self, chat_id: str, agent: str, *, limit: int) -> tuple[ChatMessage, ...]:
        """The oldest unread messages of an agent, in order."""
        with self._file.reading() as database:
            return _messages(database.execute(_UNREAD, (chat_id, agent, limit)))

    def earlier(self, chat_id: str, agent: str, *, limit: int) -> tuple[ChatMessage, ...]:
        """The newest messages that an agent has read or sent, in order."""
        with self._file.reading() as database:
            return _messages(database.execute(_EARLIER, {"swarm": chat_id, "agent": agent, "limit": limit}))

    def keep(self, chat: Chat, turn: ChatTurn, result: ChatResult | None = None) -> tuple[ChatMessage, ...]:
        """Keep a turn: its messages, the marks of what it read, and the end of the chat where it brings that.

        All in one transaction. The messages, with their numbers, are returned.

        Raises:
            Archived: the chat is over.
        """
        at = turn.began_at + turn.seconds
        with self._file.writing() as database:
            number = _last(database, "agent_turns", chat.id) + 1
            database.execute(
                "INSERT INTO agent_turns (swarm_id, number, agent_id, turn) VALUES (?, ?, ?, ?)",
                (chat.id, number, turn.agent, self._turn_json(turn)),
            )
            sent = tuple(self._sent(database, chat, draft, at) for draft in turn.said)
            if not turn.failed or turn.gave_up:
                database.executemany(
                    "UPDATE agent_inbox SET read_at = ? WHERE swarm_id = ? AND agent_id = ? AND number = ?",
                    [(at, chat.id, turn.agent, read) for read in turn.read],
                )
            if result is not None:
                self._archive(database, result)
        return sent

    def end(self, result: ChatResult) -> None:
        """Keep how a chat ended, and make it read-only.

        Raises:
            Archived: it is over already.
        """
        with self._file.writing() as database:
            self._archive(database, result)

    # --- inside ---

    def _sent(self, database: sqlite3.Connection, chat: Chat, draft: Draft, at: float) -> ChatMessage:
        """Gives a message its number, and delivers it to whom it is for; the moderator sees every one."""
        number, content = _last(database, "agent_messages", chat.id) + 1, self._redact(draft.content)
        database.execute(
            "INSERT INTO agent_messages (swarm_id, number, sender, recipients, content, sent_at) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (chat.id, number, draft.sender, json.dumps(draft.to), content, at),
        )
        readers = [agent for agent in chat.names if agent in draft.to or agent == chat.moderator != draft.sender]
        database.executemany(
            "INSERT INTO agent_inbox (swarm_id, agent_id, number) VALUES (?, ?, ?)",
            [(chat.id, reader, number) for reader in readers],
        )
        return ChatMessage(sender=draft.sender, to=draft.to, content=content, number=number, at=at)

    def _archive(self, database: sqlite3.Connection, result: ChatResult) -> None:
        clean = result.model_copy(update={"summary": self._redact(result.summary), "why": self._redact(result.why)})
        database.execute(
            "UPDATE swarms SET archived = 1, result = ? WHERE id = ?", (clean.model_dump_json(), result.id)
        )

    def _turn_json(self, turn: ChatTurn) -> str:
        """A turn without what it said, which stands as messages."""
        clean = turn.model_copy(update={"failed": self._redact(turn.failed), "stopped": self._redact(turn.stopped)})
        return clean.model_dump_json(exclude={"said"}, exclude_defaults=True)

    def _clean(self, chat: Chat) -> Chat:
        """The chat without secrets in its texts."""
        agents = tuple(
            each.model_copy(update={"system": self._redact(each.system), "brief": self._redact(each.brief)})
            for each in chat.agents
        )
        opening = chat.opening.model_copy(update={"content": self._redact(chat.opening.content)})
        return chat.model_copy(update={"agents": agents, "opening": opening})

    def _row(self, chat_id: str) -> dict[str, Any]:
        known: list[str] = []
        if self._file.exists:
            with self._file.reading() as database:
                row = database.execute("SELECT chat, archived, result FROM swarms WHERE id = ?", (chat_id,)).fetchone()
                if row is not None:
                    return dict(zip(("chat", "archived", "result"), row, strict=True))
                known = [name for (name,) in database.execute("SELECT id FROM swarms ORDER BY created_at DESC")]
        close = nearest(chat_id, known)
        raise CouncilRefused(
            f"There is no chat {chat_id[:80]!r} here.",
            hint=f"Did you mean {close}?" if close else "List them with: swarm chat list",
        )

    def _turns(self, database: sqlite3.Connection, chat_id: str) -> Iterator[ChatTurn]:
        rows = database.execute("SELECT turn FROM agent_turns WHERE swarm_id = ? ORDER BY number", (chat_id,))
        for (turn,) in rows:
            yield self._read(ChatTurn, turn, chat_id)

    def _read(self, kind: type[R], text: str, chat_id: str) -> R:
        try:
            return kind.model_validate_json(text)
        except ValidationError as error:
            raise LedgerError(
                f"{self._folder.relative(self._folder.chats)}: a record of the chat {chat_id} cannot be read: "
                f"{error.errors(include_url=False)[0]['msg']}.",
                hint="It was changed by hand, or by another version of swarmgate; the other chats are as they were.",
            ) from None


def _taken(chat_id: str, *, archived: bool) -> CouncilRefused:
    if archived:
        return Archived(
            f"The chat {chat_id} is over, and read-only: it is not begun again.", hint="Give the new one another id."
        )
    return CouncilRefused(
        f"There is a chat {chat_id} already, and it is not over.", hint=f"Go on with it: swarm chat resume {chat_id}"
    )


def _last(database: sqlite3.Connection, table: str, chat_id: str) -> int:
    """The highest number in a table of ours; 0 where it has none."""
    row = database.execute(f"SELECT max(number) FROM {table} WHERE swarm_id = ?", (chat_id,)).fetchone()  # noqa: S608
    return int(row[0] or 0)


def _messages(rows: Iterable[tuple[int, str, str, str, float]]) -> tuple[ChatMessage, ...]:
    """Rows as messages; they were validated before they were written, and that takes longer than all the rest here."""
    return tuple(
        ChatMessage.model_construct(number=number, sender=sender, to=tuple(json.loads(to)), content=content, at=at)
        for number, sender, to, content, at in rows
    )

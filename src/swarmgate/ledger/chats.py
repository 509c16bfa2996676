"""Swarm chats in SQLite: a turn's messages and the marks of what it had read are one transaction.

So a message is delivered until the turn that read it is on record: a killed turn is taken again, and none of its
messages is lost or doubled. A chat that is over is read-only by the triggers of the database itself.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Self, TypeVar

from pydantic import ValidationError

from swarmgate.config import nearest
from swarmgate.domain.base import Frozen
from swarmgate.domain.chat import (
    MOST_CONTENT,
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
from swarmgate.errors import Archived, CouncilRefused, LedgerError, StaleWriter
from swarmgate.ledger.chats_file import ChatFile, changed
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


_ORPHAN = """SELECT 1 FROM agent_inbox i LEFT JOIN agent_messages m USING (swarm_id, number)
    WHERE i.swarm_id = ? AND m.number IS NULL LIMIT 1"""


class ChatDatabase:
    """The chats of one project; implements `council.chat.ChatStore`. Close it, or use it as a context manager.

    Every method may raise `LedgerError` and its kin, as `ChatFile.reading` does. That one process at a time goes on
    with a chat is seen to by its `Session`.

    Args:
        folder: the project's folder.
        redact: masks the secrets in a text; every text goes through it before it is written.
    """

    def __init__(self, folder: SwarmFolder, *, redact: Callable[[str], str] = str) -> None:
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
        with self._file.writing(chat.id) as database:
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
        kept, archived, result = self._row(chat_id)
        if archived:
            raise Archived(
                f"The chat {chat_id} is over ({self._read(ChatResult, result, chat_id).end}), and read-only.",
                hint=f"Look at it with: swarm chat show {chat_id}; begin a new one under another id.",
            )
        return self._read(Chat, kept, chat_id)

    def ids(self) -> tuple[ChatSummary, ...]:
        """Every chat, the newest first; one whose rows were changed says so, and the others are as they were."""
        if not self._file.exists:
            return ()
        with self._file.reading() as database:
            known = [str(name) for (name,) in database.execute("SELECT id FROM swarms ORDER BY created_at DESC, id")]
        return tuple(map(self._summary, known))

    def _summary(self, chat_id: str) -> ChatSummary:
        try:
            kept, archived, result = self._row(chat_id)
            chat = self._read(Chat, kept, chat_id)
            end = self._read(ChatResult, result, chat_id).end if archived else None
            with self._file.reading(chat_id) as database:
                messages = self._said(database, chat_id)
        except CouncilRefused:  # such an id is none of ours
            return ChatSummary(id=chat_id, damaged="its row was changed")
        except LedgerError as error:
            if self._file.exists:
                return ChatSummary(id=chat_id, damaged=error.message)
            raise
        return ChatSummary(id=chat_id, agents=chat.names, messages=messages, created_at=chat.created_at, end=end)

    def load(self, chat_id: str) -> ChatRecord:
        """All that is kept of a chat.

        Raises:
            CouncilRefused: there is none of that id.
        """
        kept, archived, result = self._row(chat_id)
        with self._file.reading(chat_id) as database:
            self._said(database, chat_id)
            inbox: dict[int, dict[str, float | None]] = {}
            for number, agent, read_at in database.execute(
                "SELECT number, agent_id, read_at FROM agent_inbox WHERE swarm_id = ? ORDER BY number", (chat_id,)
            ):
                inbox.setdefault(number, {})[agent] = read_at
            messages = self._messages(database.execute(_ALL, (chat_id,)), chat_id)
            return ChatRecord(
                chat=self._read(Chat, kept, chat_id),
                messages=tuple(Delivered(message=each, read=inbox.get(each.number, {})) for each in messages),
                turns=tuple(self._turns(database, chat_id)),
                result=self._read(ChatResult, result, chat_id) if archived else None,
            )

    # --- while it goes on ---

    def standing(self, chat_id: str) -> Standing:
        """How far it has come, from what is on record.

        Raises:
            LedgerError: messages are missing.
        """
        usage, streaks, failed, turns = Usage(), Counter[str](), 0, 0
        heard: set[str] = set()
        with self._file.reading(chat_id) as database:
            for turn in self._turns(database, chat_id):
                usage, turns = usage + turn.usage, turns + 1
                failed += bool(turn.failed)
                if turn.failed and not turn.unreachable:
                    streaks[turn.agent] += 1
                elif not (turn.failed or turn.cut):
                    heard.add(turn.agent)
                    streaks.pop(turn.agent, None)
            messages = self._said(database, chat_id)
        return Standing(
            messages=messages,
            turns=turns,
            failed_turns=failed,
            usage=usage,
            faltering=streaks,
            heard=tuple(sorted(heard)),
        )

    def oldest_unread(self, chat_id: str) -> dict[str, int]:
        """The number of the oldest unread message, by agent; who has none is left out."""
        with self._file.reading(chat_id) as database:
            rows = database.execute(
                "SELECT agent_id, min(number) FROM agent_inbox WHERE swarm_id = ? AND read_at IS NULL GROUP BY 1",
                (chat_id,),
            )
            return dict(rows.fetchall())

    def unread(self, chat_id: str, agent: str, *, limit: int) -> tuple[ChatMessage, ...]:
        """The oldest unread messages of an agent, in order."""
        with self._file.reading(chat_id) as database:
            return self._messages(database.execute(_UNREAD, (chat_id, agent, limit)), chat_id)

    def earlier(self, chat_id: str, agent: str, *, limit: int) -> tuple[ChatMessage, ...]:
        """The newest messages that an agent has read or sent, in order."""
        with self._file.reading(chat_id) as database:
            rows = database.execute(_EARLIER, {"swarm": chat_id, "agent": agent, "limit": limit})
            return self._messages(rows, chat_id)

    def keep(
        self, chat: Chat, turn: ChatTurn, result: ChatResult | None = None, *, cut: Sequence[ChatTurn] = ()
    ) -> tuple[ChatMessage, ...]:
        """Keep a turn: its messages, the marks of what it read, and the end of the chat where it brings that.

        All in one transaction, with the turns that this end `cut`. The messages, with their numbers, are returned.

        Raises:
            Archived: the chat is over.
            StaleWriter: another has read meanwhile what this turn read; nothing of the turn is kept.
        """
        at = turn.began_at + turn.seconds
        with self._file.writing(chat.id) as database:
            self._add_turns(database, chat.id, (turn,))
            if turn.has_read:
                marked = database.executemany(
                    "UPDATE agent_inbox SET read_at = ? "
                    "WHERE swarm_id = ? AND agent_id = ? AND number = ? AND read_at IS NULL",
                    [(at, chat.id, turn.agent, read) for read in turn.read],
                ).rowcount
                if marked < len(turn.read):
                    raise StaleWriter(
                        f"The chat {chat.id} goes on elsewhere, too: what {turn.agent} read was read there already.",
                        hint="One process at a time may go on with a chat; the other one has what was said.",
                    )
            sent = tuple(self._sent(database, chat, draft, at) for draft in turn.said)
            if result is not None:
                self._archive(database, result, cut)
        return sent

    def end(self, result: ChatResult, *, cut: Sequence[ChatTurn] = ()) -> None:
        """Keep how a chat ended, with the turns that its end `cut`, and make it read-only.

        Raises:
            Archived: it is over already.
        """
        with self._file.writing(result.id) as database:
            self._archive(database, result, cut)

    # --- inside ---

    def _add_turns(self, database: sqlite3.Connection, chat_id: str, turns: Iterable[ChatTurn]) -> None:
        last = _last(database, "agent_turns", chat_id)
        database.executemany(
            "INSERT INTO agent_turns (swarm_id, number, agent_id, turn) VALUES (?, ?, ?, ?)",
            [(chat_id, number, turn.agent, self._turn_json(turn)) for number, turn in enumerate(turns, start=last + 1)],
        )

    def _sent(self, database: sqlite3.Connection, chat: Chat, draft: Draft, at: float) -> ChatMessage:
        """Gives a message its number, and delivers it to whom it is for; the moderator sees every one."""
        number, content = _last(database, "agent_messages", chat.id) + 1, self._content(draft.content)
        database.execute(
            "INSERT INTO agent_messages (swarm_id, number, sender, recipients, content, sent_at) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (chat.id, number, draft.sender, json.dumps(draft.to), content, at),
        )
        database.executemany(
            "INSERT INTO agent_inbox (swarm_id, agent_id, number) VALUES (?, ?, ?)",
            [(chat.id, reader, number) for reader in chat.readers(draft)],
        )
        return ChatMessage(sender=draft.sender, to=draft.to, content=content, number=number, at=at)

    def _archive(self, database: sqlite3.Connection, result: ChatResult, cut: Sequence[ChatTurn]) -> None:
        self._add_turns(database, result.id, cut)
        clean = result.model_copy(update={"summary": self._redact(result.summary), "why": self._redact(result.why)})
        database.execute(
            "UPDATE swarms SET archived = 1, result = ? WHERE id = ?", (clean.model_dump_json(), result.id)
        )

    def _turn_json(self, turn: ChatTurn) -> str:
        """A turn without what it said, which stands as messages."""
        texts = {name: self._redact(text) for name in ("failed", "stopped", "summary") if (text := getattr(turn, name))}
        unsent = tuple(self._masked(draft) for draft in turn.unsent)
        clean = turn.model_copy(update={**texts, "unsent": unsent})
        return clean.model_dump_json(exclude={"said"}, exclude_defaults=True)

    def _clean(self, chat: Chat) -> Chat:
        """The chat without secrets in its texts."""
        agents = tuple(
            each.model_copy(update={"system": self._redact(each.system), "brief": self._redact(each.brief)})
            for each in chat.agents
        )
        return chat.model_copy(update={"agents": agents, "opening": self._masked(chat.opening)})

    def _masked(self, draft: Draft) -> Draft:
        return draft.model_copy(update={"content": self._content(draft.content)})

    def _content(self, text: str) -> str:
        """The text without secrets, as long as a message may be: what stands for a secret may be longer than that."""
        clean = self._redact(text)
        if len(clean) <= MOST_CONTENT:
            return clean
        return clean[: MOST_CONTENT - len(_MASKED)].rstrip() + _MASKED

    def _said(self, database: sqlite3.Connection, chat_id: str) -> int:
        """How many messages agents have sent: all but the opening.

        Raises:
            LedgerError: there are gaps in the messages.
        """
        query = "SELECT count(*), max(number) FROM agent_messages WHERE swarm_id = ?"
        count, last = database.execute(query, (chat_id,)).fetchone()
        if not count or count != last or database.execute(_ORPHAN, (chat_id,)).fetchone():
            raise changed(self._name, chat_id, "messages are missing")
        return int(count) - 1

    def _row(self, chat_id: str) -> tuple[str, bool, str]:
        """A chat, whether it is over, and its result, as they are kept."""
        known: list[str] = []
        if self._file.exists:
            with self._file.reading(chat_id) as database:
                row = database.execute("SELECT chat, archived, result FROM swarms WHERE id = ?", (chat_id,)).fetchone()
                if row is not None:
                    return row[0], bool(row[1]), row[2]
                known = [str(name) for (name,) in database.execute("SELECT id FROM swarms ORDER BY created_at DESC")]
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
            why = error.errors(include_url=False, include_input=False)[0]["msg"]
            raise changed(self._name, chat_id, f"a record of it cannot be read: {why}") from None

    def _messages(self, rows: Iterable[Sequence[Any]], chat_id: str) -> tuple[ChatMessage, ...]:
        """Rows as messages. They were validated before they were written, and that takes longer than all the rest here.

        Raises:
            LedgerError: what stands there is no message of ours.
        """
        found = []
        for number, sender, recipients, content, at in rows:
            try:
                to = json.loads(recipients)
            except (ValueError, TypeError):
                to = None
            typed = isinstance(content, str) and isinstance(sender, str) and isinstance(at, float)
            if not typed or not isinstance(to, list) or not all(isinstance(name, str) for name in to):
                raise changed(self._name, chat_id, f"the message {number} in it is none of ours")
            message = ChatMessage.model_construct(number=number, sender=sender, to=tuple(to), content=content, at=at)
            found.append(message)
        return tuple(found)

    @property
    def _name(self) -> str:
        return self._folder.relative(self._folder.chats)


_MASKED = "\n[... the end was cut: without its secrets the text is longer than a message may be ...]"


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

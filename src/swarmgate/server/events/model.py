"""Events of the feed, the filter of a reader, and the frame that an event is encoded as, once for all readers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Self

from pydantic import Field
from pydantic_core import from_json

from swarmgate.domain.base import Frozen

Source = Literal["ledger", "council", "server"]


class FeedEvent(Frozen):
    """An event of a ledger, of a council's journal, or of the server itself, with its place in the feed.

    Attributes:
        seq: place in the feed; rises by 1.
        time: when it happened, UTC, as ISO 8601 has it. The order is that of `seq`: clocks jump.
        repo: id of the repository; empty: it is of none, and only administrators see it.
        goal: id of the goal; empty: it is of none.
        source: where it is on record.
        record: `ledger`, the id of the council, or `server`.
        source_seq: the number of its line there; 0 for the server's own.
        type: of the event.
        task: id of the task, where it is about one.
        actor: who did it; `user:NAME` is an account.
        text: what happened in words, without secrets; empty for bookkeeping.
        data: the event itself; `{"type": ..., "cut": true}` where it is too long for the feed.
    """

    seq: int
    time: str
    repo: str = ""
    goal: str = ""
    source: Source
    record: str
    source_seq: int = 0
    type: str
    task: str = ""
    actor: str = ""
    text: str = ""
    data: dict[str, Any] = Field(default_factory=dict)


class Filter(Frozen):
    """What a reader is sent: all that matches every field which is set.

    Attributes:
        repos: ids of repositories; None: all of them.
        server: also events of no repository.
        goal: id of a goal; empty: any.
        task: id of a task; empty: any.
        types: of events; empty: all.
    """

    repos: frozenset[str] | None = None
    server: bool = True
    goal: str = ""
    task: str = ""
    types: frozenset[str] = frozenset()

    def within(self, repos: frozenset[str] | None, *, server: bool) -> Self:
        """The same filter, of the repositories that may be seen (None: all); `server`: and of what is of none."""
        if self.repos is not None and repos is not None:
            repos = self.repos & repos
        elif repos is None:
            repos = self.repos
        return self.model_copy(update={"repos": repos, "server": self.server and server})


@dataclass(frozen=True)
class Frame:
    """An event as it is sent: encoded once, and shared by all readers.

    Attributes:
        seq, time, source, repo, goal, task, type: of the event.
        json: the `FeedEvent`.
        name: empty but for what is no event: `reset`.
    """

    seq: int
    time: str
    source: str
    repo: str
    goal: str
    task: str
    type: str
    json: bytes
    name: str = ""

    @cached_property
    def sse(self) -> bytes:
        """As a server-sent event whose id is the seq."""
        name = b"event: %b\n" % self.name.encode() if self.name else b""
        return b"id: %d\n%bdata: %b\n\n" % (self.seq, name, self.json)

    @cached_property
    def text(self) -> str:
        """The JSON as text, as a WebSocket takes it."""
        return self.json.decode()

    @property
    def event(self) -> FeedEvent:
        """The event, decoded."""
        return FeedEvent.model_validate_json(self.json)

    def matches(self, wanted: Filter) -> bool:
        """Whether a reader with this filter is sent it."""
        if not (self.repo in wanted.repos if self.repo and wanted.repos is not None else self.repo or wanted.server):
            return False
        if wanted.goal not in {"", self.goal} or wanted.task not in {"", self.task}:
            return False
        return not wanted.types or self.type in wanted.types


def frame(seq: int, stored: bytes) -> Frame:
    """The frame of an event as the store holds it: the JSON of a `FeedEvent` without its seq."""
    said = from_json(stored)
    known = {each: said[each] for each in ("time", "source", "repo", "goal", "task", "type")}
    return Frame(seq=seq, json=b'{"seq":%d,' % seq + stored[1:], **known)


def stored(event: FeedEvent) -> bytes:
    """The event as the store holds it; its seq is that of its row."""
    return event.model_dump_json(exclude={"seq"}).encode()

"""Events that every council record shares, and their fold: begun, resumed, stopped, completed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Generic, Literal, TypeVar

from pydantic import Field

from swarmgate.domain.base import Entry, Frozen, Line
from swarmgate.domain.usage import Allowance, Usage
from swarmgate.errors import IllegalMove

S = TypeVar("S")

Status = Literal["prepared", "open", "paused", "complete", "failed"]


class Begun(Frozen):
    """The first line: what is asked for, of which pattern, and what it may use.

    `request` is that of the pattern, as JSON. `request_hash` is what the same request is found again by; empty: it
    answers no other. `part_of` is the id of the record that this one is a part of, which counts its usage as its own.
    """

    type: Literal["begun"] = "begun"
    pattern: str
    request: dict[str, Any] = Field(default_factory=dict)
    request_hash: str = ""
    allowance: Allowance = Allowance()
    part_of: str = ""
    status: Status = "open"


class Resumed(Frozen):
    """A process is at it, from here on; `allowance` is what all of it may use now."""

    type: Literal["resumed"] = "resumed"
    allowance: Allowance = Allowance()


class ExcludedFromCache(Frozen):
    """It answers no other request any more, and why: the project changed under it, or a participant failed."""

    type: Literal["unanswering"] = "unanswering"
    why: Line = ""


class TimeUp(Frozen):
    """The time of one session, or of all of it, is over; unfinished steps are done again on resume."""

    type: Literal["time_up"] = "time_up"


class Stopped(Frozen):
    """It does not go on for now (`open`, `prepared`, `paused`), or failed."""

    type: Literal["stopped"] = "stopped"
    status: Status = "open"
    code: str = ""
    why: Line = ""


class Completed(Frozen):
    """It is over. Nothing follows."""

    type: Literal["completed"] = "completed"


LIFECYCLE: Mapping[str, type[Frozen]] = {
    kind.model_fields["type"].default: kind for kind in (Begun, Resumed, ExcludedFromCache, TimeUp, Stopped, Completed)
}
"""The events that all records share, by their tag."""


@dataclass(frozen=True)
class Standing(Generic[S]):
    """How far a record is: the fold of what all records share, and `own`, the pattern's fold.

    `created_at` is in UTC, as ISO 8601 has it. `usage` counts every event that says what it used. `seconds` is the time
    that processes were at it, up to the newest line, which was written at `newest_at`, in UTC, too.
    """

    id: str
    pattern: str
    own: S
    request_hash: str = ""
    created_at: str = ""
    allowance: Allowance = Allowance()  # noqa: RUF009 - frozen
    part_of: str = ""
    status: Status = "open"
    why: str = ""
    late: bool = False
    sessions: int = 0
    usage: Usage = Usage()  # noqa: RUF009 - immutable
    seconds: float = 0.0
    newest_at: str = ""

    @property
    def over(self) -> bool:
        """Whether nothing follows."""
        return self.status == "complete"

    def shared(self, entry: Entry[Any]) -> Standing[S]:
        """The standing after one more entry, as far as all patterns share it.

        Raises:
            IllegalMove: it may not stand there.
        """
        if self.over:
            raise IllegalMove(f"The {self.pattern} {self.id} is over: nothing follows.")
        if isinstance(entry.event, Begun) != (not self.created_at):
            raise IllegalMove(f"The {self.pattern} {self.id} begins with its request, once.")
        idle = 0.0 if isinstance(entry.event, (Begun, Resumed)) else _between(self.newest_at, entry.time)
        after = replace(self, seconds=round(self.seconds + idle, 3), newest_at=entry.time)
        match entry.event:
            case Begun() as begun:
                return replace(
                    after,
                    request_hash=begun.request_hash,
                    created_at=entry.time,
                    allowance=begun.allowance,
                    part_of=begun.part_of,
                    status=begun.status,
                )
            case Resumed() as resumed:
                sessions = self.sessions + 1
                return replace(after, allowance=resumed.allowance, status="open", why="", late=False, sessions=sessions)
            case ExcludedFromCache():
                return replace(after, request_hash="")
            case TimeUp():
                return replace(after, late=True)
            case Stopped() as stopped:
                return replace(after, status=stopped.status, why=stopped.why)
            case Completed():
                return replace(after, status="complete", why="")
            case event:
                used = getattr(event, "usage", None)
                return replace(after, usage=self.usage + used) if isinstance(used, Usage) else after


def _between(before: str, now: str) -> float:
    """Seconds from one time to another; none where a clock was put back."""
    if not before:
        return 0.0
    return max(0.0, (datetime.fromisoformat(now) - datetime.fromisoformat(before)).total_seconds())

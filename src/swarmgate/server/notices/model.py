"""What somebody is told: the words for something that needs a person, without keys and short enough for any channel."""

from __future__ import annotations

from swarmgate.domain.base import Frozen, Line


class Notice(Frozen):
    """Something that needs somebody.

    Attributes:
        id: of the need; nobody is told the same one twice.
        kind: as the need has it, such as `approval`, `question`, `blocked_task`.
        repo: id of the repository; only who may decide there is told.
        goal: id of the goal.
        title: of the goal.
        text: what waits, in a line.
        path: of the page where it is decided, on this server.
        since: UTC, ISO 8601.
    """

    id: str
    kind: str
    repo: str
    goal: str = ""
    title: Line = ""
    text: Line
    path: str = "/"
    since: str = ""

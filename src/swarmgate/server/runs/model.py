"""What the server keeps of a goal and of a council beside their own journals, and what is wanted of them now."""

from enum import StrEnum
from typing import Any, Literal

from pydantic import Field

from swarmgate.domain.base import Frozen, Text


class Verb(StrEnum):
    """What a worker can do with a goal."""

    PLAN = "plan"
    REVISE = "revise"
    RUN = "run"


SWARMGATE = "swarmgate"
"""The actor where nobody asked for it."""

HOLD = "hold"
"""What a worker does with a council."""


class Wanted(Frozen):
    """What is to be done, until it is done: the queue is made of these, in the order of `asked`.

    Attributes:
        verb: of a goal a `Verb`, of a council `hold`.
        arguments: of the verb.
        by: who asked for it, as an actor.
        asked: when, UTC in ISO 8601 with microseconds: it also tells one wish from the next.
        seq: where the ledger of the goal was then, so that what it says is recorded once however often it is begun.
        decided: False while somebody decides what it goes on from: it begins when the ledger went past `seq`.
        paused: it waits until somebody resumes it.
        not_before: when it goes on by itself, UTC: the end of a model's limit, or of a pause after a crash; empty: now.
        crashes: how often in a row its worker died at it without a word.
    """

    verb: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    by: str
    asked: str
    seq: int = 0
    decided: bool = True
    paused: bool = False
    not_before: str = ""
    crashes: int = 0


class Ended(Frozen):
    """How the last work on it ended.

    Attributes:
        time: UTC.
        verb: what was done.
        exit_code: as of the command line: 0 done, 3 it waits for a person, 4 a budget or a limit, 130 stopped ...
        code: of the error; empty: none.
        message: of the error.
        hint: of the error.
        until: when the limit that ended it is over, UTC; empty: none did.
    """

    time: str
    verb: str
    exit_code: int
    code: str = ""
    message: str = ""
    hint: str = ""
    until: str = ""


class Goal(Frozen):
    """A goal that the server knows: one project folder.

    Attributes:
        id: `g-` and 12 hex digits of a clone, `c-` and 12 of a checkout in which somebody works at a terminal.
        repo: the id of its repository.
        kind: whether the server made the folder, or shows one that is there.
        path: the project's folder; of a clone it is made by the first work on it (`ready`).
        owner: the id of the account that began it; empty: nobody's, of a checkout.
        text: what is wanted, in the words of who asked; of a checkout empty: its ledger says.
        fleet: the fleet's name of its repository, where workers elsewhere work on it; empty: this server does.
        created: UTC.
        wanted: what is to be done now; None: nothing.
        ended: how the last work ended; None: there was none.
        archived: when it was put away, UTC; empty: it is not.
        archived_by: who did, as an actor.
    """

    id: str
    repo: str
    kind: Literal["clone", "checkout"]
    path: str
    owner: str = ""
    text: Text = ""
    fleet: str = ""
    created: str
    wanted: Wanted | None = None
    ended: Ended | None = None
    archived: str = ""
    archived_by: str = ""


class Council(Frozen):
    """A council that was begun over the server.

    Attributes:
        id: the server's, and of its record in `.swarm/discussions`.
        pattern: its name in the table of patterns, such as `debate`.
        repo: the id of its repository.
        goal: the id of the goal in whose project it is held; empty: in the repository's own scratch project.
        path: the project's folder.
        owner: the id of the account that began it.
        request: the arguments of the facade's verb.
        asked: the request as it came, where a face with words of its own (room reference) took it; kept as it is.
        created: UTC.
        wanted: what is to be done now; None: nothing.
        ended: how the last session of it ended; None: there was none.
    """

    id: str
    pattern: str
    repo: str
    goal: str = ""
    path: str
    owner: str
    request: dict[str, Any]
    asked: dict[str, Any] = Field(default_factory=dict)
    created: str
    wanted: Wanted | None = None
    ended: Ended | None = None


class Working(Frozen):
    """A worker at work: `subject` is the id of a goal or of a council, `since` UTC."""

    subject: str
    verb: str
    pid: int
    since: str


class Change(Frozen):
    """Told to whoever listens: what became of a goal or of a council on this server.

    Attributes:
        type: goal_created, or run_queued, run_started, run_ended, run_paused, run_resumed, run_stopped and run_problem,
            or the same with `council_` for `run_`.
        subject: the id of the goal or council.
        repo: the id of its repository.
        goal: the id of the goal; empty: none.
        actor: who did it; `swarmgate` where nobody did.
        data: what more there is to tell, such as `exit_code`.
    """

    type: str
    subject: str
    repo: str
    goal: str = ""
    actor: str = SWARMGATE
    data: dict[str, Any] = Field(default_factory=dict)

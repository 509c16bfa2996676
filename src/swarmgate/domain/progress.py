"""Progress messages of the engine, which the command line renders as text or JSON lines."""

from collections.abc import Callable

from pydantic import Field

from swarmgate.domain.base import Frozen
from swarmgate.domain.usage import Usage


class Progress(Frozen):
    """One thing that happened just now.

    `kind` is `step` (a step begins), `event` (something was recorded), `tool` (an agent used a tool), `words` (an agent
    said something beside its calls), `gate` (a gate gave its result), `model` (a call is tried again, a fallback took
    over, something was found out about a model), `answer` (so much of an answer is there), `tests` (so many tests have
    run), `waiting` (nothing goes on before `until`: the limit of a model), `notice` (the user should know) or
    `question` (the user is asked, on the terminal). Tokens and cost are those of the whole project so far. `time` is
    that of the event (UTC, ISO 8601) where it is told later than it happened; empty: now. `until` is UTC (ISO 8601).

    `task` is the one at work, with its `title`; it is number `place`, from 1, of the `of` tasks of the plan. `detail`
    is what else can be shown, without its secrets: the unified diff of an edit, the output of a command, the words of
    an agent; of an answer that still arrives its last lines. `failed`: the tool, the command, the gate or a test did.
    """

    kind: str
    text: str
    step: str = ""
    phase: int = 0
    task: str = ""
    attempt: int = 0
    seconds: float = 0.0
    usage: Usage = Field(default_factory=Usage)
    time: str = ""
    until: str = ""
    title: str = ""
    place: int = 0
    of: int = 0
    detail: str = ""
    failed: bool = False


PASSING = frozenset({"answer", "tests"})
"""Kinds that say how far something has come: on a terminal the next message takes their place."""


Listener = Callable[[Progress], None]


def silent(progress: Progress) -> None:
    """The listener that ignores everything."""
    del progress

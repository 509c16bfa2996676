"""Progress messages of the engine, which the command line renders as text or JSON lines."""

from collections.abc import Callable

from pydantic import Field

from swarmgate.domain.base import Frozen
from swarmgate.domain.usage import Usage


class TestCount(Frozen):
    """A run of tests so far. `total` and `left_s` go by earlier runs; 0 and None: not known."""

    __test__ = False  # pytest: not a test class

    done: int = 0
    failed: int = 0
    total: int = 0
    left_s: float | None = None

    @property
    def text(self) -> str:
        """`120 of 400 done, 2 failed, about 40 s left`."""
        done = f"{self.done:,} of about {self.total:,} done" if self.total >= self.done > 0 else f"{self.done:,} done"
        left = f"about {self.left_s:.0f} s left" if self.left_s is not None else ""
        return ", ".join(filter(None, (done, f"{self.failed:,} failed" if self.failed else "", left)))


class Progress(Frozen):
    """One thing that happened just now.

    `kind` is `step` (a step begins), `event` (something was recorded), `tool` (an agent used a tool), `words` (an agent
    said something beside its calls), `gate` (a gate gave its result), `model` (a call is tried again, a fallback took
    over, something was found out about a model), `answer` (so much of an answer is there), `tests` (so many tests have
    run, as `tests` says), `waiting` (nothing goes on before `until`: the limit of a model), `notice` (the user should
    know) or `question` (the user is asked, on the terminal). Tokens and cost are those of the whole project so far.
    `time` is that of the event (UTC, ISO 8601) where it is told later than it happened; empty: now. `until` is UTC.

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
    tests: TestCount | None = None
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

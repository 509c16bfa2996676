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

    `kind` is `step` (a step begins), `event` (something was recorded), `tool` (an agent used a tool), `gate` (a gate
    gave its result), `model` (a call is tried again, a fallback took over, something was found out about a model),
    `answer` (so much of an answer is there), `waiting` (nothing goes on before `until`: the limit of a model), `notice`
    (the user should know), `tests` (so many of them have run, as `tests` says) or `question` (the user is asked, on the
    terminal). Tokens and cost are those of the whole project so far. `time` is that of the event (UTC, ISO 8601) where
    it is told later than it happened; empty: now. `until` is UTC (ISO 8601).
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


Listener = Callable[[Progress], None]


def silent(progress: Progress) -> None:
    """The listener that ignores everything."""
    del progress

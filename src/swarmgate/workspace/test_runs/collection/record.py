"""The result of asking a test command what it would run, as data classes."""

from __future__ import annotations

from enum import StrEnum

from swarmgate.domain.base import Frozen


class Standing(StrEnum):
    """The outcomes of asking a test command."""

    FOUND = "found"
    """There are tests, and all of them can be loaded or passed."""
    RED = "red"
    """Some fail, or cannot be loaded."""
    NOTHING = "nothing"
    """No test was collected."""
    STARTS = "starts"
    """It runs, and did not end in time, or names no count: more is not known."""
    LACKING = "lacking"
    """It needs a file of the project that is not there."""
    BROKEN = "broken"
    """It cannot be started."""


class Listing(Frozen):
    """The tests that a test command would run.

    `ran`: its runner cannot list, so that the tests were run. `tests` are counted, None where nothing counts them;
    `failures` name what fails or cannot be loaded. `problem` is what is wrong, `missing` the program that is not there.
    """

    standing: Standing
    command: str
    ran: bool = False
    tests: int | None = None
    failures: tuple[str, ...] = ()
    problem: str = ""
    missing: str = ""
    seconds: float = 0.0

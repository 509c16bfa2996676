"""Decides whether a function body is a stub, for every language.

The front ends (`python`, `trees`) only say what they see; what counts as unfinished is decided here.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from swarmgate.domain.review.finding import Finding, Severity
from swarmgate.gates.placeholders import wording
from swarmgate.gates.placeholders.fake_implementations import Shape, pretends


class Step(StrEnum):
    """What one statement of a body does. Only `REAL` work makes a body a body."""

    NOTHING = "nothing"
    DOTS = "dots"
    TALKS = "talks"
    CANNED = "canned"
    ECHOES = "echoes"
    COPIES = "copies"
    SAYS_SO = "says so"
    REAL = "real"


@dataclass(frozen=True, slots=True)
class Function:
    """A function whose body does no work of its own.

    `steps`: its statements without documentation. `comments`: those in it. `above`: those right above it. `doc`: its
    documentation.
    `promises`: it says that it gives something back. `excused`: it is rightly empty by what it is (abstract, an
    overload, a hook). `test`: it is a test case. `needs_word`: in its language an empty body is ordinary. `shape`: how
    it treats its parameters, where nothing but its name asks for it (no base class, no decorator, no table). `hook`: a
    method that somebody else calls, and that may rightly be empty until a class derived from it has something to do.
    """

    name: str
    line: int
    steps: tuple[Step, ...]
    comments: str = ""
    above: str = ""
    doc: str = ""
    promises: bool = False
    excused: bool = False
    test: bool = False
    needs_word: bool = False
    hook: bool = False
    shape: Shape | None = None


MEND = {
    "marker": "do it now, or describe the limitation in plain words",
    "elided-code": "write the code out",
    "stub-wording": "implement it",
    "stub-body": "implement it; an intended no-op says so in a docstring or comment",
    "canned-result": "compute the result; a constant that is meant needs no such comment",
    "filler-text": "write the text that users shall read",
    "example-value": "read the value from the configuration, or put the real one here",
    "empty-test": "test something, or leave the test out",
    "test-detection": "let it do in tests what it does for users; hand in what differs (a clock, a client, a setting)",
    "debug-output": "take it out; what users shall see is logged or printed on purpose",
    "skipped-test": "run it, or say why it is skipped",
}
"""What to do, by rule."""


def finding(rule: str, path: str, line: int, severity: Severity, message: str) -> Finding:
    """A finding of this gate, with what to do about it."""
    return Finding(rule=rule, path=path, line=line, severity=severity, message=message, suggestion=MEND[rule])


def judge(function: Function, path: str) -> Finding | None:
    """The finding about a function without real work; None where it is rightly empty."""
    kinds = set(function.steps)
    if Step.REAL in kinds or function.excused:
        return None
    if function.test:
        if not kinds <= {Step.NOTHING, Step.DOTS, Step.SAYS_SO}:
            return None
        return finding("empty-test", path, function.line, Severity.LOW, f"the test `{function.name}` tests nothing")
    how = _how(function, kinds)
    if how:
        empty = kinds <= {Step.NOTHING} and function.hook and not wording.hinted(function.comments, function.doc)
        severity = Severity.LOW if empty else Severity.HIGH
        return finding("stub-body", path, function.line, severity, f"`{function.name}` {how}")
    if _made_up(function, kinds) and not _reasoned(function):
        message = f"`{function.name}` gives a made-up result, and says so"
        return finding("canned-result", path, function.line, Severity.HIGH, message)
    if function.shape is not None and not _explained(function) and pretends(function.shape):
        message = f"`{function.name}` gives a made-up result: nothing of what its name promises is done"
        return finding("canned-result", path, function.line, Severity.MEDIUM, message)
    return None


def _how(function: Function, kinds: set[Step]) -> str:
    if Step.SAYS_SO in kinds:
        return "only says that it is not implemented"
    if Step.DOTS in kinds:
        return "has no body, only `...`" if not wording.intended(function.comments, function.doc) else ""
    if not kinds <= {Step.NOTHING}:
        return ""
    if wording.hinted(function.comments, function.above):
        return "" if _reasoned(function) else "has an empty body, and a comment that says so"
    if (function.needs_word and not function.promises) or wording.intended(function.comments, function.doc):
        return ""
    return "has no body" + (", only a docstring" if not function.steps else "")


def _made_up(function: Function, kinds: set[Step]) -> bool:
    if kinds & {Step.CANNED, Step.TALKS}:
        return wording.hinted(function.comments, function.above) or wording.hinted("", function.doc)
    # To give back an argument is often all there is to do: only plain words count.
    return Step.ECHOES in kinds and wording.hinted("", function.comments)


def _explained(function: Function) -> bool:
    """Whether somebody says why the result is constant."""
    return wording.intended(function.comments, function.doc) or wording.intended(function.above, "")


def _reasoned(function: Function) -> bool:
    # "TODO: nothing to do here yet" is a marker all the same; "default: do nothing" is a reason.
    return wording.intended(function.comments, function.doc) and not wording.marker(function.comments)

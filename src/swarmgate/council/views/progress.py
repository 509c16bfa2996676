"""Translates council events into progress messages."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from swarmgate.council.views.events import (
    CouncilEvent,
)
from swarmgate.council.views.stream import (
    Completed,
    Contributed,
    Converged,
    Erred,
    Notice,
    RoundCompleted,
    RoundStarted,
    Started,
    StepStarted,
)
from swarmgate.domain.progress import Listener, Progress
from swarmgate.domain.usage import Usage

_MOST_LENGTH, _BEGINNING = 160, 100
"""Characters of a message that are told, and of one that has more told about it."""


_PART = {
    **dict.fromkeys(("debate", "discussion", "decision"), "round"),
    "dispatch": "task",
    "critique": "iteration",
    "orchestration": "step",
}
"""What the numbered parts of a pattern are called."""

_SCORED = {"discussion": ("disagreement of the whole round", 10, "g"), "decision": ("score", 1, ".2f")}
"""What the score of a part is, of how much, and its format."""

Event = TypeVar("Event", bound=CouncilEvent)


def teller(listener: Listener, also: Callable[[Event], None] | None = None) -> Callable[[Event], None]:
    """Tells the listener what happens in one council, and `also` the event itself; the usage is that since now."""
    began, used = time.monotonic(), Usage()

    def tell(event: Event) -> None:
        nonlocal used
        if also is not None:
            also(event)
        used += _usage(event)
        line = progress_line(event)
        if line:
            kind, text = line
            listener(Progress(kind=kind, text=text, seconds=time.monotonic() - began, usage=used))

    return tell


def progress_line(event: CouncilEvent) -> tuple[str, str] | None:
    """The kind of progress and its words; None: not worth a line.

    `round 1, argue: security-lead counters r1-msg-002 (r1-msg-005): Keys leak, and nobody ...`
    What stops it is none: the command ends with that error, which is told then.
    """
    part = _PART.get(event.pattern, "round")
    match event:
        case Notice():
            return (event.kind, event.text) if event.text else None
        case Started():
            return "event", _started(event)
        case RoundStarted():
            return "step", f"{part} {event.number} of at most {event.most}{_behind(': ', event.title)}"
        case StepStarted():
            return "step", f"{_where(event)}{_behind(_sign(event), ', '.join(event.who))}"
        case Contributed():
            return "notice" if event.failed else "event", _contribution(event)
        case RoundCompleted():
            return "event", f"{part} {event.number} is over and on record{_behind(': ', event.what)}{_score(event)}"
        case Converged():
            return (
                "event",
                f"it ends early{_behind(', ', f'{part} {event.number}' if event.number else '')}: {event.why}",
            )
        case Completed():
            return "event", f"the {event.pattern} is over{_behind(': ', event.what)}"
        case Erred():
            whole = event.pattern == "orchestration"  # whose failed steps end no command
            return ("notice", f"the {event.pattern} {event.id} cannot go on: {event.why}") if whole else None


def _started(event: Started) -> str:
    how = "goes on" if event.resumed else "begins"
    return f"{event.pattern} {event.id} {how}{_behind(' with ', ', '.join(event.who))}: {shortened(event.title)}"


def _contribution(event: Contributed) -> str:
    named = _behind(" (", event.message, ")")
    if event.failed:
        return f"{_where(event)}{_sign(event)}{event.who} failed{named}: {event.failed}"
    text = "" if event.text in event.what else _behind(": ", shortened(event.text, _BEGINNING))
    who = " ".join(filter(None, (event.who, shortened(event.what))))
    return f"{_where(event)}{_sign(event)}{who}{named}{text}"


def _score(event: RoundCompleted) -> str:
    """What was measured of a whole round; a critique has its mean in words already."""
    if event.score is None or event.pattern not in _SCORED:
        return ""
    name, of, form = _SCORED[event.pattern]
    return f"; {name} {event.score * of:{form}}{f' of {of}' if of > 1 else ''}"


def _where(event: StepStarted | Contributed) -> str:
    """`round 1, argue`; what comes before the first round has its step alone."""
    return (
        f"{_PART.get(event.pattern, 'round')} {event.number}{_behind(', ', event.step)}" if event.number else event.step
    )


def _sign(event: StepStarted | Contributed) -> str:
    """What stands before a name: rounds of one step alone read `round 1, advocate spoke`."""
    return ": " if event.step else ", "


def _behind(sign: str, text: str, close: str = "") -> str:
    return f"{sign}{text}{close}" if text else ""


def _usage(event: CouncilEvent) -> Usage:
    match event:
        case Contributed() | Notice():
            return event.usage
        case _:
            return Usage()


def shortened(text: str, most: int = _MOST_LENGTH) -> str:
    """The beginning of a text on one line."""
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[:most].rstrip('. ')}..."

"""Lists and follows the events of ledger and automation, merged by time: `swarm events`."""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Iterator
from typing import Any

from swarmgate.automation.events.describe import words_of
from swarmgate.config import nearest
from swarmgate.domain import base
from swarmgate.domain.events.automation import AUTOMATION_EVENTS, Happening
from swarmgate.domain.events.event import EVENTS, Entry
from swarmgate.domain.progress import Progress
from swarmgate.domain.usage import cost_in_words
from swarmgate.errors import UsageError
from swarmgate.ledger import raw_entries
from swarmgate.ledger.files.automation_log import AutomationLog
from swarmgate.ledger.tail import Tail, happening
from swarmgate.ledger.views.describe import counted, describe
from swarmgate.project import Project

LOOK_S = 0.2
"""Seconds between two looks while events are followed: each asks for the size and the time of two files."""


def events(
    project: Project, *, types: tuple[str, ...] = (), follow: bool = False, last: int | None = None
) -> Iterator[Happening]:
    """See `Automation.events`. While they are followed, the listener gets what is wrong with a file."""
    for each in types:
        _check(each)
    tail = Tail(project.folder) if follow else None  # first: what is added from now on is not missed
    entries = raw_entries.entries(project.folder, None if types else last)
    journal = AutomationLog(project.folder)
    happened = journal.read()
    if journal.unreadable:
        _notice(project, f"{counted(journal.unreadable, 'line')} of {journal.lines.path} cannot be read, and left out.")
    there = _merged(entries, happened, types)
    selected = there if last is None else there[max(0, len(there) - last) :]
    happenings = (happening(each) if isinstance(each, base.Entry) else each for each in selected)
    if tail is None:
        return happenings
    known = {
        "ledger": entries[-1].seq if entries else tail.state.seq,
        "automation": happened[-1].seq if happened else 0,
    }
    return _followed(project, tail, happenings, known, types)


def describe_event(event: Happening) -> str:
    """One line; empty for what is bookkeeping only, and for an event that this version does not know."""
    if event.source == "automation":
        return words_of(event)
    kind = EVENTS[event.type].model_validate(event.data)
    return describe(kind)  # type: ignore[arg-type]  # the union's kinds, by their tag


def in_full(event: Happening) -> str:
    """The same, with words for the ledger's bookkeeping too."""
    text = describe_event(event)
    book = _BOOKS.get(event.type) if event.source == "ledger" and not text else None
    return book(EVENTS[event.type].model_validate(event.data)) if book else text


def _of(task: str) -> str:
    return f" at task {task}" if task else ""


def _usage(event: Any) -> str:
    used = event.usage
    if not used.calls:
        return f"{event.role}{_of(event.task)}: {used.seconds:.1f} s of work beside model calls"
    spent = f"{used.tokens:,} tokens in {counted(used.calls, 'call')}, {cost_in_words(used)}"
    return f"{event.role}{_of(event.task)} used {spent}"


def _turn(event: Any) -> str:
    turn = event.turn
    ended = f", ended by {turn.tripped}" if turn.tripped else ""
    made = f"{counted(turn.calls, 'call')} and {counted(turn.tool_calls, 'tool call')}"
    return f"{turn.role}{_of(event.task)}: turn of {made}, {turn.seconds:.1f} s{ended}"


_BOOKS: dict[str, Callable[[Any], str]] = {
    "run_started": lambda e: f"a run begins in pid {e.pid} on {e.host}",
    "tree_restored": lambda _: "the files are as the last step left them",
    "phase_estimated": lambda e: f"phase {e.phase}: no task before it to estimate by",
    "usage_recorded": _usage,
    "turn_ended": _turn,
    "debate_kept": lambda e: f"{e.debate}{_of(e.task)}: {e.part} kept",
}
"""Bookkeeping, which progress and history leave out. A test asserts that no event of the ledger is without words."""


def _check(kind: str) -> None:
    known = (*EVENTS, *AUTOMATION_EVENTS)
    if kind not in known:
        close = nearest(kind, known)
        hint = f"Did you mean {close}?" if close else "Every type: swarm docs ledger#events, swarm docs events"
        raise UsageError(f"there is no event of type {kind[:60]!r}", hint=hint)


def _merged(entries: list[Entry], happened: tuple[Happening, ...], types: tuple[str, ...]) -> list[Entry | Happening]:
    """Both in order of time. Each source keeps its own order, also where a clock was set back."""
    of_ledger: list[Entry | Happening] = [each for each in entries if not types or each.event.type in types]
    of_automation: list[Entry | Happening] = [each for each in happened if not types or each.type in types]
    return list(heapq.merge(of_ledger, of_automation, key=lambda each: each.time))


def _followed(
    project: Project, tail: Tail, there: Iterator[Happening], known: dict[str, int], types: tuple[str, ...]
) -> Iterator[Happening]:
    """Those that are there, then new ones for ever; of the first poll only what is not known yet."""
    yield from there
    while True:
        polled = tail.poll()
        if polled.trouble:
            _notice(project, polled.trouble)
        for sight in polled.seen:
            event = sight.happening
            if event.seq > known.get(event.source, 0) and (not types or event.type in types):
                yield event
        known = {}
        time.sleep(LOOK_S)


def _notice(project: Project, text: str) -> None:
    project.listener(Progress(kind="notice", text=text))

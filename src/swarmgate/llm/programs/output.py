"""Parses the output of a command-line agent: its last message, its usage, and the tool call that it means. Pure.

Where a program prints events (`program_events`), the answer is the text of its last message. Anything else is the
answer as it stands.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from swarmgate.domain.base import Frozen
from swarmgate.domain.text.json_text import loaded, loaded_at
from swarmgate.domain.usage import Usage
from swarmgate.llm.model import ToolCall, ToolSpec
from swarmgate.llm.parsing.text_calls import Reading, read
from swarmgate.llm.programs import events as program_events
from swarmgate.llm.programs.events import Event, LastWords

_DENIED = 20
"""Most denied tools that are stored."""
_ASKS_FOR_EVENTS = re.compile(r"(?:^|\s)(?:--json|--(?:output-)?format[ =](?:stream-)?json)(?:\s|$)")
_TAIL = re.compile(r"[\s`]*")
_CANDIDATES = 500
"""How many `{` of an answer are tried, from its end: it is the last thing in it."""


class FinalAnswer(Frozen):
    """The final answer of a program.

    `usage` is None where the program reports none; `error` is its own complaint, `denied` the tools that it was not
    permitted to use.
    """

    text: str
    usage: Usage | None = None
    error: str = ""
    denied: tuple[str, ...] = ()


class Output:
    """Parses the output of a program while it prints.

    Its events count only where the output is made of them: where its first line is one, or the command line asks for
    them. Plain words that quote such a line, out of a file of the repository perhaps, stay words.

    Args:
        command: the command line.
        on_event: receives each use of a tool, and what it has used up so far.
    """

    def __init__(self, command: str = "", on_event: Callable[[Event, Usage], None] | None = None) -> None:
        self._on_event = on_event
        self._structured: bool | None = True if _ASKS_FOR_EVENTS.search(command) else None
        self._words = LastWords()
        self._answered = False
        self._fresh = True
        self._error = ""
        self._denied: tuple[str, ...] = ()
        self._before, self._now, self._part = Usage(), Usage(), ""
        self._counted = False
        self._whole: Usage | None = None

    @property
    def usage(self) -> Usage | None:
        """The usage that the program reported so far; None where it reported none."""
        if self._whole is not None:
            return self._whole
        return self._before + self._now if self._counted else None

    def feed(self, line: bytes) -> None:
        """Takes a line; raises what `on_event` raises."""
        if not line.strip() or self._structured is False:
            return
        value = _loaded(line.decode(errors="replace"))
        if self._structured is None:
            self._structured = value is not None and ("type" in value or _is_whole_answer(value))
        if not self._structured or value is None:
            return
        event = program_events.read(value)
        self._take(event)
        if self._on_event and (event.uses or event.denied or event.usage is not None):
            self._on_event(event, self.usage or Usage())

    def final_answer(self, stdout: str) -> FinalAnswer:
        """The final answer; `stdout` is the stored part of the output."""
        if not self._answered and not self._error and (value := _loaded(stdout)) is not None:
            self._take(program_events.read(value))  # one JSON object over many lines
        text = self._words.text if self._answered else "" if self._error else stdout
        return FinalAnswer(text=text, usage=self.usage, error=self._error, denied=self._denied)

    def _take(self, event: Event) -> None:
        self._fresh = self._fresh or event.begins
        if event.text is not None:
            if self._fresh or not event.joins:
                self._words.clear()
            self._words.add(event.text)
            self._answered = True
            self._fresh = False
            self._error = ""  # it went on after a failure
        self._error = event.error or self._error
        self._denied = (self._denied + event.denied)[:_DENIED]
        if event.usage is not None and event.whole:
            self._whole = event.usage
        elif event.usage is not None:
            if event.part != self._part:
                self._before, self._part = self._before + self._now, event.part
            self._now, self._counted = event.usage, True


def final_answer(stdout: str, command: str = "") -> FinalAnswer:
    """Parses the final answer out of a program's output."""
    output = Output(command)
    for line in stdout.encode(errors="replace").splitlines():
        output.feed(line)
    return output.final_answer(stdout)


def answer(text: str, tools: Sequence[ToolSpec], *, prefix: str) -> Reading:
    """What an answer says, and the calls that it ends with; no calls when its last words are none.

    Only what ends the answer counts: what a program quotes on the way, from a file of the repository perhaps, is no
    verdict. Where it calls for something else before, nobody chooses: all of it is the answer. Where one tool is on
    offer, JSON may be its arguments alone.
    """
    reading = read(text, tools, prefix=prefix)
    calls = list(reading.calls)
    if len(tools) == 1 and (bare := _arguments(reading.after if calls else reading.text, tools[0])):
        calls.append(ToolCall(id=f"{prefix}_{len(calls)}", name=tools[0].name, arguments=bare))
    elif reading.after:
        calls = []
    return reading._replace(calls=_distinct(calls))


def _arguments(text: str, tool: ToolSpec) -> str:
    """The arguments of a tool as the JSON that a text ends with; empty where it ends otherwise."""
    for opening in reversed(list(re.finditer(r"\{", text))[-_CANDIDATES:]):
        try:
            value, end, unclear = loaded_at(text, opening.start(), strict=False)
        except ValueError:
            continue
        if _TAIL.fullmatch(text, end) and _fits(value, tool):
            return text[opening.start() : end] if unclear else json.dumps(value)
    return ""


def _distinct(calls: Iterable[ToolCall]) -> tuple[ToolCall, ...]:
    """The calls, one that is given again word for word once: programs state their answer and sum it up."""
    return tuple({(call.name, call.arguments): call for call in calls}.values())


def _loaded(text: str) -> dict[str, Any] | None:
    if not text.lstrip().startswith("{"):
        return None
    try:
        value = loaded(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _is_whole_answer(value: dict[str, Any]) -> bool:
    return "stats" in value and ("response" in value or "error" in value)


def _fits(value: Any, tool: ToolSpec) -> bool:
    """Whether an object names every argument that the tool requires, and so may be meant as its arguments."""
    return isinstance(value, dict) and set(tool.parameters.get("required", ())) <= value.keys()

"""Circuit breakers of a turn: count calls, repeats, time and tokens, and stop the turn at its limits.

    tool_calls, wall_time, repeats, errors, idle, tokens   `[breakers]`
    replies                                                `[loop]`: unusable replies in a row, or refused ends
    max_turns                                              `[loop]`: model calls

The same call again is one of the same tool and arguments where nothing changed in between that its result could depend
on: for `read_file` the file itself; for what looks at the tree (`list_files`, `search`, `run_command`, `run_gates`) a
write or a command that was not made before in the turn. A write is the same whatever happened meanwhile: writing A, B,
A, B is a loop, and so is going round in a circle of commands. What was looked at before old results were dropped from
the conversation may be looked at again. What a call says in other words is the same call, and so is one that comes to
the same (`sameness`): a command with other options, or any look at the tree with a long result, that gives what was
given before, nothing having changed; and lines of a file that were shown so often.

A command that ends with an exit code is no failed call, whatever the code: failing tests are how work begins.
A refusal by the policy for commands is an answer, and the row of failures begins anew; refusals by one rule are a row.
Errors also trip where three of four of the last calls failed: a success now and then hides nothing.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NoReturn

from swarmgate.agents.guards.call_similarity import (
    RepeatCounter,
    canonical,
    line_repeats,
    outcome,
    place,
    telling,
    words,
)
from swarmgate.config.guards import Bounds
from swarmgate.domain.guard import BreakerCount
from swarmgate.errors import BreakerTripped
from swarmgate.llm.model import ToolCall

WARNED_BEFORE = 2
"""Repetitions before the last one that the model is warned."""

_TREE = frozenset({"list_files", "search", "run_command", "run_gates"})
"""Tools whose result depends on the whole tree."""

_CHANGING = frozenset({"write_file", "edit_file", "delete_file", "run_command"})
"""Tools after which the tree may be another."""

_ERRORS_OF = 4
"""Errors are looked for among as many calls as this times their bound; three of four are too many."""

_FILES = 100
"""Files whose shown lines are counted; the ones read longest ago are forgotten first."""

_LISTED = 5
"""As many of the last calls are told when a breaker trips."""

_PROBLEM = 1_000
"""Characters of what was wrong with a reply that are told when a breaker trips."""

_LENGTH = 160
"""Characters of a call, and of its result, that are shown."""


@dataclass
class Watch:
    """The counts of one turn. Every method that finds a bound passed raises `BreakerTripped`.

    Args:
        who: role and step, as messages name them: `coder (code)`.
        role: the role, for the name of its table in the settings.
        bounds: of the role.
        replies: how often an unusable reply, or a refused end of the turn, is sent back.
        max_turns: model calls.
        version: what of a file changes when it does; for `read_file`.
        clock: seconds; of the time worked.
    """

    who: str
    role: str
    bounds: Bounds
    replies: int
    max_turns: int
    version: Callable[[str], object] = lambda _path: None
    clock: Callable[[], float] = time.monotonic
    model: str = ""
    calls: int = 0
    tool_calls: int = 0
    errors: int = 0
    tokens: int = 0
    thinking: int = 0
    repeats: int = 0
    rereads: int = 0
    dropped: int = 0
    replayed: int = 0
    warned: dict[str, int] = field(default_factory=dict)
    _failed_in_row: int = 0
    _row_of: str = ""
    _idle: int = 0
    _unusable: int = 0
    _refused: int = 0
    _changers: set[str] = field(default_factory=set)
    _seen: RepeatCounter = field(default_factory=RepeatCounter)
    _results: RepeatCounter = field(default_factory=RepeatCounter)
    _result_counts: dict[str, int] = field(default_factory=dict)
    _commands_seen: set[str] = field(default_factory=set)
    _writes: int = 0
    _commands: int = 0
    _lines: dict[str, tuple[object, dict[int, int]]] = field(default_factory=dict)
    _read: set[tuple[str, object, object]] = field(default_factory=set)
    _last: deque[str] = field(default_factory=lambda: deque(maxlen=_LISTED))

    def __post_init__(self) -> None:
        self._began = self.clock()
        self._failures: deque[bool] = deque(maxlen=_ERRORS_OF * self.bounds.errors)

    @property
    def seconds(self) -> float:
        """Since the turn began."""
        return self.clock() - self._began

    @property
    def counts(self) -> tuple[BreakerCount, ...]:
        """The count of every breaker of `[breakers]`."""
        bounds = self.bounds
        far = {
            "tool_calls": (self.tool_calls, bounds.tool_calls),
            "wall_time": (int(self.seconds), int(bounds.wall_time_s)),
            "repeats": (self.repeats, bounds.repeats),
            "errors": (self._failed_in_row, bounds.errors),
            "idle": (self._idle, bounds.idle),
            **({"tokens": (self.tokens, bounds.tokens)} if bounds.tokens is not None else {}),
        }
        return tuple(BreakerCount(breaker=name, count=n, limit=limit) for name, (n, limit) in far.items())

    # --- the model ---

    def before_reply(self, *, dropped: int = 0) -> None:
        """The model is about to be asked; `dropped` results so far are not in the conversation any more."""
        self.dropped = dropped
        limit = self.bounds.tokens
        if limit is not None and self.tokens >= limit:
            self._trip("tokens", self.tokens, limit, f"used {self.tokens:,} tokens; a turn may use {limit:,}")
        if self.calls >= self.max_turns:
            what = f"did not end its turn within {self.max_turns} model calls"
            self._trip("max_turns", self.calls, self.max_turns, what)
        self.calls += 1

    def replied(self, *, model: str, tokens: int, thinking: int = 0, replayed: bool = False) -> None:
        """The model gave a reply, or had given it before the turn was cut short."""
        self.replayed += replayed
        self.model = model or self.model
        self.tokens += tokens
        self.thinking += thinking

    def after_reply(self, *, usable: bool, refused: bool, idle: bool, problem: str) -> None:
        """What the reply asked for was done, or told to be of no use.

        Args:
            usable: a tool ran, or was refused by a rule.
            refused: a rule refused a tool.
            idle: it called no tool.
            problem: what was wrong with it.
        """
        self._idle = self._idle + 1 if idle else 0
        self._unusable = 0 if usable else self._unusable + 1
        self._refused += refused
        problem = problem if len(problem) <= _PROBLEM else f"{problem[:_PROBLEM]}..."
        if self._idle >= self.bounds.idle:
            what = f"gave {self._idle} replies in a row without a tool call, the last problem being: {problem}"
            self._trip("idle", self._idle, self.bounds.idle, what)
        if (found := max(self._unusable, self._refused)) > self.replies:
            self._trip("replies", found, self.replies, f"gave no usable reply, the last problem being: {problem}")

    # --- its tool calls ---

    def before_call(self, call: ToolCall) -> str:
        """A tool that does not end the turn is about to run; a warning for the model, empty if there is none."""
        self._one_more()
        key, state = self._identity(call)
        return self._judge_repeats(call, self._seen.again(key, state), "made the same call", "this is the same call")

    def after_call(self, call: ToolCall, result: str, *, failed: bool, refused_by: str = "") -> str:
        """The tool gave its result; a warning for the model, empty if there is none.

        Args:
            call: that was carried out.
            result: what it gave.
            failed: whether it could not be done.
            refused_by: the rule of the policy for commands that refused it.
        """
        self._note(call, result, failed=failed, row_of=refused_by)
        if call.name in _CHANGING and not failed:
            self._changed(call)
        self._judge_errors(result)
        times = 0
        if call.name in _TREE and not failed:
            times = self._repeated_results(call, result)
        elif call.name == "read_file" and not failed:
            times = self._repeated_reads(call, result)
        return self._judge_repeats(
            call, times, "saw the same result in other words", "you have seen this, asked for in other words,"
        )

    def _changed(self, call: ToolCall) -> None:
        key, _ = self._identity(call)
        if key in self._changers:
            return
        self._changers.add(key)
        self._writes += call.name not in _TREE
        if call.name in _TREE:  # its own work is no reason to do it again
            self._seen.hold(key, self._identity(call)[1])

    def _repeated_results(self, call: ToolCall, result: str) -> int:
        """How often such a call came to this result, nothing having been written and no command having had another."""
        found, times = outcome(result), 0
        if call.name == "run_command":
            text = words(call)
            self._commands_seen.add(text)
            self._commands += 1
            self._result_counts[found] = self._result_counts.get(found, 0) + 1
            times = self._results.again(f"{text}\0{found}", (self._writes, len(self._commands_seen), self.dropped))
        if telling(result):
            others = self._commands - self._result_counts.get(found, 0)
            times = max(times, self._results.again(f"{call.name}\0{found}", (self._writes, others, self.dropped)))
        return times

    def _repeated_reads(self, call: ToolCall, result: str) -> int:
        """How often most lines of this result were shown, the file being the same."""
        path, start = place(call)
        version = self.version(path)
        self.rereads += (path, start, version) in self._read
        self._read.add((path, start, version))
        state = version, self.dropped
        before, counts = self._lines.pop(path, (None, {}))
        counts = counts if before == state else {}
        self._lines[path] = state, counts
        if len(self._lines) > _FILES:
            del self._lines[next(iter(self._lines))]
        return line_repeats(counts, start, result)

    def _judge_repeats(self, call: ToolCall, times: int, did: str, warning: str) -> str:
        self.repeats = max(self.repeats, times)
        limit, described = self.bounds.repeats, _described(call)
        if times >= limit:
            self._trip("repeats", times, limit, f"{did} {times} times, and nothing had changed in between: {described}")
        if times < max(2, limit - WARNED_BEFORE):
            return ""
        self.warned[described] = times
        return (
            f"[Breaker: {warning} for the {_nth(times)} time, and nothing has changed in between. At the "
            f"{_nth(limit)} time your turn is stopped and the work rejected. Do something else.]"
        )

    def bad_call(self, call: ToolCall, problem: str) -> None:
        """A call that could not be read: no such tool, or wrong arguments."""
        self._one_more()
        self._note(call, problem, failed=True)
        self._judge_errors(problem)

    def refused_call(self, call: ToolCall, problem: str) -> None:
        """A call that a rule of the step refused; `replies` bounds these."""
        self._last.append(f"{_described(call)} -> {_first_line(problem)}")
        self.errors += 1

    def _one_more(self) -> None:
        limit = self.bounds.tool_calls
        if self.tool_calls >= limit:
            what = f"made {limit} tool calls and wanted another; a turn may make {limit}"
            self._trip("tool_calls", self.tool_calls, limit, what)
        self.tool_calls += 1

    def _note(self, call: ToolCall, result: str, *, failed: bool, row_of: str = "") -> None:
        self._last.append(f"{_described(call)} -> {_first_line(result)}")
        self._failed_in_row = (self._failed_in_row if row_of == self._row_of else 0) + 1 if failed else 0
        self._row_of = row_of
        self._failures.append(failed and not row_of)
        self.errors += failed

    def _judge_errors(self, problem: str) -> None:
        found, limit = self._failed_in_row, self.bounds.errors
        if found >= limit:
            what = f"made {found} tool calls in a row that failed, the last with: {_first_line(problem)}"
            self._trip("errors", found, limit, what)
        failed, looked_at = sum(self._failures), self._failures.maxlen or 0
        if len(self._failures) == looked_at and 4 * failed >= 3 * looked_at:
            what = f"made {looked_at} tool calls of which {failed} failed, the last with: {_first_line(problem)}"
            self._trip("errors", failed, 3 * looked_at // 4, what)

    def _identity(self, call: ToolCall) -> tuple[str, object]:
        """What makes a call the same as another, and what of the files its result depends on now."""
        digest = canonical(call)
        if call.name == "read_file":
            return digest, (self.version(place(call)[0]), self.dropped)
        return digest, (len(self._changers), self.dropped) if call.name in _TREE else None

    # --- the end ---

    def out_of_time(self) -> NoReturn:
        """The wall time is over, whatever the turn is waiting for."""
        limit = int(self.bounds.wall_time_s)
        self._trip("wall_time", int(self.seconds), limit, f"did not end its turn within {self.bounds.wall_time_s:g} s")

    def _trip(self, breaker: str, count: int, limit: int, what: str) -> NoReturn:
        table = "loop" if breaker in ("replies", "max_turns") else f"breakers.roles.{self.role}"
        key = "wall_time_s" if breaker == "wall_time" else breaker
        raise BreakerTripped(
            f"{self.who}, model {self.model}: {what}",
            breaker=breaker,
            count=count,
            limit=limit,
            last=tuple(self._last),
            hint=f"the exchange is in .swarm/traces/; the bound is [{table}] {key}; another model is set in "
            f"[roles.{self.role}]",
        )


def _described(call: ToolCall) -> str:
    return _cut(" ".join(f"{call.name} {call.arguments}".split()))


def _first_line(text: str) -> str:
    return _cut(next((" ".join(line.split()) for line in text.splitlines() if line.strip()), "(nothing)"))


def _cut(text: str) -> str:
    return text if len(text) <= _LENGTH else text[:_LENGTH] + "..."


def _nth(number: int) -> str:
    return f"{number}{'th' if 10 <= number % 100 <= 20 else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"  # noqa: PLR2004 - 11th to 13th

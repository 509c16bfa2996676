"""Uses a command-line coding agent as a model: brief in, its output as the answer, its changes in the work tree.

    [roles.coder]
    model = "command:claude -p --output-format json"

The program is started anew for every call, with the whole conversation as one text: on its standard input, or in a file
whose path replaces `{brief}` in the command line. It reads and writes the repository by itself; the tools of swarmgate
that it is offered are those that end a turn, and it calls them by ending its output with JSON. Its exit code 0 without
any is the end of a working turn: what it did is taken from the diff.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Protocol

from swarmgate.config import PROJECT_FILE, command_of
from swarmgate.domain.base import Frozen
from swarmgate.domain.usage import Usage
from swarmgate.llm.limit_resets import Limit, of_program, of_whole_answer
from swarmgate.llm.model import CallFailed, Message, ModelReply, ModelRequest, ToolCall, ToolSpec
from swarmgate.llm.programs.events import Event
from swarmgate.llm.programs.output import FinalAnswer, Output, answer

_CHARACTERS_PER_TOKEN = 4
_SUMMARY = 1_000
_COMPLAINT = 500


class Cause(StrEnum):
    """The most likely cause of a program's failure."""

    TIME = "timed-out"
    READ_ONLY = "read-only"
    LACKS_FILE = "lacks-file"
    LOGIN = "not-logged-in"
    NETWORK = "network-needed"
    OTHER = "failed"


_CAUSES = {
    Cause.READ_ONLY: r"read-only file system|permission denied|EROFS|EACCES",
    Cause.LACKS_FILE: r"no such file|can't open|cannot find|ENOENT|not found|no module named|MODULE_NOT_FOUND",
    Cause.LOGIN: r"api.?key|log ?in|auth|credential|unauthorized|\b401\b|\b403\b",
    Cause.NETWORK: r"\bresolve\b|network|connect|ENOTFOUND|ECONNREFUSED|unreachable|timed? ?out",
}
"""What programs complain of, the first that fits."""

_HINTS = {
    Cause.READ_ONLY: "`.git`, `.swarm` and what agent programs are and go by stay as they are, to a judge the whole "
    "repository; outside of it, it may write what `writable` names: see there,",
    Cause.LACKS_FILE: "look whether the file is there under that name; outside of the repository it sees the files "
    "of its command line, and what `readable` and `writable` name: add what it lacks",
    Cause.LOGIN: "hand it the variable with its key (`env`) or the files of its login (`readable`, `writable`)",
    Cause.NETWORK: "look whether it may reach the network that it needs: `network`",
    Cause.OTHER: "start it by hand; if it works there, see `env`, `readable`, `writable`, `network`",
}
"""The settings that a failure may come from."""

_LIMITED = "the limit is that of the program's account: look there what is left, or name another model as `fallback`"


_WORKS = "When the work is done, say in two or three sentences what you did and what you could not do; that ends it.\n"
_ANSWERS = """Your answer is JSON, and stands at the very end of your last message, with nothing after it:
{"tool": "NAME", "arguments": {...}}
JSON further up counts for nothing, and neither do words. To give several, end with a JSON list of such objects. What
can be given, with the JSON schema of its arguments:
"""
_INSTEAD = """Before that, you may end your last message with JSON and nothing after it, and are told what comes of it:
{"tool": "NAME", "arguments": {...}}
What can be given, with the JSON schema of its arguments:
"""
_IN_WORDS = "Your last message is your answer: plain text, and nothing that is not part of it.\n"


class ProgramFailed(CallFailed):
    """A call of an agent program failed; not retriable, since its work stays in the tree.

    Args:
        cause: what it most likely comes from.
        complaint: the text of its error.
    """

    def __init__(self, message: str, *, cause: Cause, complaint: str, hint: str, usage: Usage | None = None) -> None:
        super().__init__(message, hint=hint, usage=usage)
        self.cause = cause
        self.complaint = complaint


def limited(message: str, limit: Limit, table: str, usage: Usage) -> CallFailed:
    """The failure of a program whose account has reached a limit; `table` is that of its role's settings."""
    return CallFailed(message, hint=f"{_LIMITED} of {table} in {PROJECT_FILE}", limit=limit, usage=usage)


def cause_of(text: str) -> Cause:
    """What the complaint of a program most likely means."""
    found = (cause for cause, words in _CAUSES.items() if re.search(words, text, re.IGNORECASE))
    return next(found, Cause.OTHER)


def hint_of(cause: Cause, table: str) -> str:
    """Which key of the role's settings a failure has most likely to do with."""
    if cause is Cause.TIME:
        return f"give it more time ({table} timeout_s), or make it faster"
    return f"{_HINTS[cause]} in {table} of {PROJECT_FILE}"


Hearing = Callable[[Event, Usage], None]
"""Receives a program's events, and the usage of this call so far."""

Metering = Callable[[], AbstractContextManager[Callable[[Usage], None]]]
"""The time of a call; gives what hears the use so far, and may raise."""


def nobody(_event: Event, _usage: Usage) -> None:
    """Shows nothing."""


def ignored(_usage: Usage) -> None:
    """Counts nothing."""


def unmetered() -> AbstractContextManager[Callable[[Usage], None]]:
    """A call that nobody counts."""
    return nullcontext(ignored)


class Ran(Frozen):
    """The result of a program. `exit_code` is None when it was ended at its time limit."""

    exit_code: int | None
    stdout: str
    stderr: str


class Program(Protocol):
    """Runs a command line, confined as the settings say."""

    async def __call__(
        self, command: str, *, brief: str, writes: bool, on_line: Callable[[bytes], None] | None = None
    ) -> Ran:
        """Start it with the brief on its standard input, and in a file where the command line says `{brief}`.

        Args:
            command: a shell's command line.
            brief: the whole conversation as text.
            writes: whether it may change the repository's files.
            on_line: hears each line that it prints, as it prints it; what it raises ends the program.

        Raises:
            MissingRequirement: there is no such program, or no sandbox for it.
        """
        ...


class CommandModel:
    """A `Model` that is a program.

    Args:
        name: `command:` and the command line.
        run: starts the program.
        on_event: receives each use of a tool, where it tells.
        metering: the time of a call; gives what hears the use so far, and may raise.
        role: whose settings it has, for hints.
        timeout_s: the time limit that those set, for messages.
    """

    def __init__(
        self,
        name: str,
        run: Program,
        *,
        on_event: Hearing = nobody,
        metering: Metering = unmetered,
        role: str = "ROLE",
        timeout_s: float | None = None,
    ) -> None:
        self.name = name
        self._table, self._timeout_s = f"[roles.{role}]", timeout_s
        self._command = command_of(name)
        self._run = run
        self._on_event = on_event
        self._metering = metering

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Run the program on the conversation; it may change files where `write_file` is on offer.

        Raises:
            CallFailed: it failed, or was ended at its time limit; not retriable, since its work stays in the tree.
            MissingRequirement: there is no such program, or no sandbox for it.
            BudgetExhausted: what it says that it used is more than is left.
        """
        tools = tuple(tool for tool in request.tools if tool.answers)
        writes = any(tool.name == "write_file" for tool in request.tools)
        brief = conversation(request.messages, tools, request.instructions)
        started = time.monotonic()
        with self._metering() as report:

            def received(event: Event, usage: Usage) -> None:
                self._on_event(event, usage)
                report(usage)

            output = Output(self._command, received)
            ran = await self._run(self._command, brief=brief, writes=writes, on_line=output.feed)
        final = output.final_answer(ran.stdout)
        usage = _usage(final, brief, ran.stdout, time.monotonic() - started)
        if limit := _limit(ran, final):
            raise limited(self._failure(ran, final), limit, self._table, usage)
        if ran.exit_code != 0 or final.error:
            complaint = _complaint(ran, final)
            cause = Cause.TIME if ran.exit_code is None else cause_of(complaint)
            hint = hint_of(cause, self._table)
            raise ProgramFailed(self._failure(ran, final), cause=cause, complaint=complaint, hint=hint, usage=usage)
        return ModelReply(**ending(request, final.text), usage=usage, model=self.name)

    def _failure(self, ran: Ran, final: FinalAnswer) -> str:
        how = f"ended with exit code {ran.exit_code}"
        if ran.exit_code is None:
            limit = f" of {self._timeout_s:g} s, {self._table} timeout_s" if self._timeout_s else ""
            how = f"was ended at its time limit{limit}"
        complaint = _complaint(ran, final)
        return f"the agent `{self._command[:100]}` {how}{': ' + complaint if complaint else ''}"


def ending(request: ModelRequest, text: str) -> dict[str, Any]:
    """The fields of a reply that last words of a program come to; a working turn ends where they say nothing else."""
    tools = tuple(tool for tool in request.tools if tool.answers)
    found = answer(text, tools, prefix=f"call_{len(request.messages)}")
    calls = found.calls
    if not calls and not found.doubt and (finish := _finish(tools, found.text)):
        calls = (finish,)
    read = {"thought": found.thought, "repaired": found.repaired, "doubt": found.doubt}
    return {"text": found.text, "tool_calls": calls, **read}


def conversation(messages: tuple[Message, ...], tools: tuple[ToolSpec, ...], instructions: str = "") -> str:
    """A conversation as one text: who it is, how to answer, the brief, then what was said since."""
    system, *rest = messages
    opening = f"{instructions or system.content}\n\n# How you answer\n{_how(tools)}"
    return "\n\n".join([opening, *_rendered(rest, own=True)]) + "\n"


def since(messages: tuple[Message, ...], tools: tuple[ToolSpec, ...]) -> str:
    """What is new to a program that remembers the conversation and its own words."""
    return "\n\n".join([*_rendered(messages, own=False), _how(tools)])


def _rendered(messages: Sequence[Message], *, own: bool) -> Iterator[str]:
    for message in messages:
        if message.role == "assistant" and not own:
            continue
        spoken = "".join(f"\n{call.name} {call.arguments}" for call in message.tool_calls)
        title = {"user": "", "assistant": "# Your last answer\n", "tool": "# Its result\n"}[message.role]
        yield f"{title}{message.content}{spoken}"


def _how(tools: tuple[ToolSpec, ...]) -> str:
    """How the answer is given: by the end of the work, as JSON, or in words."""
    if not tools:
        return _IN_WORDS
    works = any(tool.name == "finish" for tool in tools)
    schemas = [
        json.dumps({"tool": tool.name, "description": tool.description, "arguments": tool.parameters})
        for tool in tools
        if tool.name != "finish"
    ]
    if works and not schemas:
        return _WORKS
    return (_WORKS + _INSTEAD if works else _ANSWERS) + "\n".join(schemas)


def _finish(tools: tuple[ToolSpec, ...], text: str) -> ToolCall | None:
    """The end of a working turn, with the last words as its summary, which is a claim and no evidence."""
    if not any(tool.name == "finish" for tool in tools):
        return None
    return ToolCall(
        id="finish", name="finish", arguments=json.dumps({"summary": text.strip()[-_SUMMARY:] or "(silent)"})
    )


def _usage(final: FinalAnswer, brief: str, stdout: str, seconds: float) -> Usage:
    """What the program reports, else an estimate; a program that names no price has an unknown one."""
    estimate = Usage(
        prompt_tokens=len(brief) // _CHARACTERS_PER_TOKEN,
        completion_tokens=len(stdout) // _CHARACTERS_PER_TOKEN,
        usd=None,
    )
    return (final.usage or estimate).model_copy(update={"calls": 1, "seconds": seconds})


def _limit(ran: Ran, final: FinalAnswer) -> Limit | None:
    """The limit of its account that ended the program; one that was ended for taking too long reached none."""
    now = datetime.now(UTC)
    zone = now.astimezone().tzinfo or UTC
    if ran.exit_code is None:
        return None
    if ran.exit_code == 0 and not final.error:
        return of_whole_answer(final.text, now=now, zone=zone)
    return of_program(final.error, ran.stderr, ran.stdout, now=now, zone=zone)


def _complaint(ran: Ran, final: FinalAnswer) -> str:
    return " ".join((final.error or ran.stderr.strip() or ran.stdout.strip())[-_COMPLAINT:].split())

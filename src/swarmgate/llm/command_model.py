"""A coding agent of the command line as a model: the brief goes in, its output is the answer, its work is in the tree.

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
from datetime import UTC, datetime
from typing import Protocol

from swarmgate.config import COMMAND, PROJECT_FILE
from swarmgate.domain.base import Frozen
from swarmgate.domain.usage import Usage
from swarmgate.llm.limit_ends import Limit, of_program, of_whole_answer
from swarmgate.llm.model import CallFailed, Message, ModelReply, ModelRequest, ToolCall, ToolSpec
from swarmgate.llm.program_output import Said, answer, said

_CHARACTERS_PER_TOKEN = 4
_SUMMARY = 1_000
_COMPLAINT = 500

_CAUSES = {
    r"read-only file system|permission denied|EROFS|EACCES": "`.git`, `.swarm` and what agent programs are and go by "
    "stay as they are, to a judge the whole repository; outside of it, it may write what `writable` names: see there,",
    r"no such file|can't open|cannot find|ENOENT|not found|no module named": "outside of the repository it sees the "
    "files of its command line, and what `readable` and `writable` name: add what it lacks",
    r"api.?key|log ?in|auth|credential|unauthorized|\b401\b|\b403\b": "hand it the variable with its key (`env`) or "
    "the files of its login (`readable`, `writable`)",
    r"resolve|network|connect|ENOTFOUND|ECONNREFUSED|unreachable|timed? ?out": "look whether it may reach the network "
    "that it needs: `network`",
}
"""What programs complain of, and the settings that it may come from."""
_ANY_CAUSE = "start it by hand; if it works there, see `env`, `readable`, `writable`, `network`"

_LIMITED = "the limit is that of the program's account: look there what is left, or name another model as `fallback`"

_HOW = """
# How you answer
You are a command line agent and work in the repository that is your current folder, with your own tools. You have none
of the tools named above but these, and you call them by ending your output with one JSON object and nothing after it:
{"tool": "NAME", "arguments": {...}}
To call several, end with a JSON list of such objects. With the JSON schema of their arguments, they are:
"""


class Ran(Frozen):
    """What came of a program. `exit_code` is None when it was ended at its time limit."""

    exit_code: int | None
    stdout: str
    stderr: str


class Program(Protocol):
    """Runs a command line, confined as the settings say."""

    async def __call__(self, command: str, *, brief: str, writes: bool) -> Ran:
        """Start it with the brief on its standard input, and in a file where the command line says `{brief}`.

        Args:
            command: a shell's command line.
            brief: the whole conversation as text.
            writes: whether it may change the repository's files.

        Raises:
            MissingRequirement: there is no such program, or no sandbox for it.
        """
        ...


class CommandModel:
    """A `Model` that is a program.

    Args:
        name: `command:` and the command line.
        run: starts the program.
        role: whose settings it has, for hints.
        timeout_s: the time limit that those set, for messages.
    """

    def __init__(self, name: str, run: Program, *, role: str = "ROLE", timeout_s: float | None = None) -> None:
        self.name = name
        self._table, self._timeout_s = f"[roles.{role}]", timeout_s
        self._command = name.removeprefix(COMMAND).strip()
        self._run = run

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Run the program on the conversation; it may change files where `write_file` is on offer.

        Raises:
            CallFailed: it failed, or was ended at its time limit; not retriable, since its work stays in the tree.
            MissingRequirement: there is no such program, or no sandbox for it.
        """
        tools = tuple(tool for tool in request.tools if tool.answers)
        writes = any(tool.name == "write_file" for tool in request.tools)
        brief = conversation(request.messages, tools)
        started = time.monotonic()
        ran = await self._run(self._command, brief=brief, writes=writes)
        final = said(ran.stdout)
        usage = _usage(final, brief, ran.stdout, time.monotonic() - started)
        if limit := _limit(ran, final):
            hint = f"{_LIMITED} of {self._table} in {PROJECT_FILE}"
            raise CallFailed(self._failure(ran, final), hint=hint, limit=limit, usage=usage)
        if ran.exit_code != 0 or final.error:
            raise CallFailed(self._failure(ran, final), hint=self._hint(ran, final), usage=usage)
        found = answer(final.text, tools, prefix=f"call_{len(request.messages)}")
        calls = found.calls
        if not calls and not found.doubt and (finish := _finish(tools, found.text)):
            calls = (finish,)
        read = {"thought": found.thought, "repaired": found.repaired, "doubt": found.doubt}
        return ModelReply(text=found.text, tool_calls=calls, usage=usage, model=self.name, **read)

    def _failure(self, ran: Ran, final: Said) -> str:
        how = f"ended with exit code {ran.exit_code}"
        if ran.exit_code is None:
            limit = f" of {self._timeout_s:g} s, {self._table} timeout_s" if self._timeout_s else ""
            how = f"was ended at its time limit{limit}"
        told = _told(ran, final)
        return f"the agent `{self._command[:100]}` {how}{': ' + told if told else ''}"

    def _hint(self, ran: Ran, final: Said) -> str:
        """Which key of the role's settings the failure has most likely to do with."""
        if ran.exit_code is None:
            return f"give it more time ({self._table} timeout_s), or make it faster"
        told = _told(ran, final)
        likely = next((hint for words, hint in _CAUSES.items() if re.search(words, told, re.IGNORECASE)), _ANY_CAUSE)
        return f"{likely} in {self._table} of {PROJECT_FILE}"


def conversation(messages: tuple[Message, ...], tools: tuple[ToolSpec, ...]) -> str:
    """A conversation as one text: the role's instructions, how to answer, the brief, then what was said since."""
    system, *rest = messages
    schemas = "\n".join(
        json.dumps({"tool": tool.name, "description": tool.description, "arguments": tool.parameters}) for tool in tools
    )
    parts = [f"{system.content}\n{_HOW}{schemas}"]
    for message in rest:
        spoken = "".join(f"\n{call.name} {call.arguments}" for call in message.tool_calls)
        title = {"user": "", "assistant": "# Your last answer\n", "tool": "# Its result\n"}[message.role]
        parts.append(f"{title}{message.content}{spoken}")
    return "\n\n".join(parts) + "\n"


def _finish(tools: tuple[ToolSpec, ...], text: str) -> ToolCall | None:
    """The end of a working turn, with the last words as its summary, which is a claim and no evidence."""
    if not any(tool.name == "finish" for tool in tools):
        return None
    return ToolCall(
        id="finish", name="finish", arguments=json.dumps({"summary": text.strip()[-_SUMMARY:] or "(silent)"})
    )


def _usage(final: Said, brief: str, stdout: str, seconds: float) -> Usage:
    """What the program reports, else an estimate; a program that names no price has an unknown one."""
    estimate = Usage(
        prompt_tokens=len(brief) // _CHARACTERS_PER_TOKEN,
        completion_tokens=len(stdout) // _CHARACTERS_PER_TOKEN,
        usd=None,
    )
    return (final.usage or estimate).model_copy(update={"calls": 1, "seconds": seconds})


def _limit(ran: Ran, final: Said) -> Limit | None:
    """The limit of its account that ended the program; one that was ended for taking too long reached none."""
    now = datetime.now(UTC)
    zone = now.astimezone().tzinfo or UTC
    if ran.exit_code is None:
        return None
    if ran.exit_code == 0 and not final.error:
        return of_whole_answer(final.text, now=now, zone=zone)
    return of_program(final.error, ran.stderr, ran.stdout, now=now, zone=zone)


def _told(ran: Ran, final: Said) -> str:
    return " ".join((final.error or ran.stderr.strip() or ran.stdout.strip())[-_COMPLAINT:].split())

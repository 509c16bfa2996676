"""A session with an agent program by the Agent Client Protocol, version 1 (agentclientprotocol.com).

swarmgate is the client. It offers neither its file system nor a terminal: the program reads, writes and runs by itself,
in the sandbox. Where it asks whether it may, the guards answer.
"""

from __future__ import annotations

import asyncio
import json
import shlex
from collections.abc import Callable
from typing import Any

from swarmgate.domain.base import Frozen
from swarmgate.domain.usage import Usage
from swarmgate.llm.programs.events import Event, LastWords, Use, money, use
from swarmgate.llm.programs.json_rpc import INVALID_PARAMS, METHOD_NOT_FOUND, Peer, Pipe, Refusal
from swarmgate.version import __version__

VERSION = 1
"""Of the protocol."""
INITIALIZE_S = 30.0
"""Longest time for the first answer: no model is asked for it, and a slow start of a program takes some seconds."""

_OVER = frozenset({"completed", "failed"})
_CHANGING = frozenset({"edit", "delete", "move"})
_PATHS = ("file_path", "filePath", "filepath", "path", "absolute_path", "source", "destination")
"""Arguments of the tools of programs that name a file."""
_TITLE = 120
_CALLS = 500
"""Most tools in use at a time that are remembered."""


class Asked(Frozen):
    """What an agent program asks permission for.

    `kind` is the protocol's: read, edit, delete, move, search, execute, think, fetch, switch_mode or other. `writes`
    are the paths that it would change, as it names them; `command` is the line that it would run.
    """

    kind: str = "other"
    title: str = ""
    command: str = ""
    writes: tuple[str, ...] = ()


Permit = Callable[[Asked], str]
"""Why something is not permitted; empty where it is."""


class Turn(Frozen):
    """How a prompt ended: the words of the last message, why it stopped, and what it used."""

    text: str
    stop: str
    usage: Usage | None


class Silent(Exception):
    """The program did not answer `initialize` in its time: most likely it does not speak the protocol."""


class Session:
    """A conversation with a program that runs.

    Args:
        pipe: the program.
        permit: answers its questions.
        on_event: receives each use of a tool, and what it used in this prompt so far.
        initialize_s: longest time for its first answer.

    Attributes:
        spoke: whether it has answered `initialize`.
    """

    def __init__(
        self,
        pipe: Pipe,
        *,
        permit: Permit,
        on_event: Callable[[Event, Usage], None],
        initialize_s: float = INITIALIZE_S,
    ) -> None:
        self.peer = Peer(pipe, answer=self._answer, on_notification=self._notified)
        self.spoke = False
        self._initialize_s = initialize_s
        self.agent = ""
        self.logins: tuple[str, ...] = ()
        self._permit = permit
        self._on_event = on_event
        self._id = ""
        self._calls: dict[str, dict[str, Any]] = {}
        self._reported: set[str] = set()
        self._begin()
        self._usd_before = self._usd = 0.0

    def _begin(self) -> None:
        self._words = LastWords()
        self._message: Any = None
        self._characters = 0
        self._context = 0

    async def open(self, folder: str) -> None:
        """Agree on the version, and begin a conversation in a folder, as the program sees it.

        Raises:
            Refusal: the program refuses, or speaks another version.
            Silent: it does not answer.
            Hung: it has ended.
        """
        answer = await self._initialized()
        found = answer if isinstance(answer, dict) else {}
        if found.get("protocolVersion") != VERSION:
            raise Refusal(0, f"it speaks version {found.get('protocolVersion')!r} of the protocol, swarmgate {VERSION}")
        about = found.get("agentInfo")
        self.agent = " ".join(str(about.get(key, "")) for key in ("name", "version")) if isinstance(about, dict) else ""
        self.logins = tuple(str(each.get("name") or each.get("id")) for each in _dicts(found.get("authMethods")))
        made = await self.peer.request("session/new", {"cwd": folder, "mcpServers": []})
        name = made.get("sessionId") if isinstance(made, dict) else None
        if not isinstance(name, str):
            raise Refusal(INVALID_PARAMS, "its answer to session/new names no session")
        self._id = name

    async def _initialized(self) -> Any:
        try:
            async with asyncio.timeout(self._initialize_s):
                answer = await self.peer.request(
                    "initialize",
                    {
                        "protocolVersion": VERSION,
                        "clientCapabilities": {
                            "fs": {"readTextFile": False, "writeTextFile": False},
                            "terminal": False,
                        },
                        "clientInfo": {"name": "swarmgate", "title": "swarmgate", "version": __version__},
                    },
                )
        except TimeoutError:
            raise Silent from None
        self.spoke = True
        return answer

    async def prompt(self, text: str) -> Turn:
        """Say something, and wait for the end of the program's turn.

        Raises:
            Refusal: it answers with an error.
            Hung: it has ended.
        """
        self._begin()
        answer = await self.peer.request(
            "session/prompt", {"sessionId": self._id, "prompt": [{"type": "text", "text": text}]}
        )
        found = answer if isinstance(answer, dict) else {}
        usage = self._usage(found.get("usage"), len(text))
        self._usd_before = self._usd
        return Turn(text=self._words.text, stop=str(found.get("stopReason")), usage=usage)

    async def cancel(self) -> None:
        """Ask the program to end its turn."""
        await self.peer.notify("session/cancel", {"sessionId": self._id})

    @property
    def running(self) -> Usage:
        """What the prompt has used so far, as far as the program says so."""
        return Usage(prompt_tokens=self._context, usd=self._spent)

    @property
    def _spent(self) -> float | None:
        return self._usd - self._usd_before if self._usd > self._usd_before else None

    def _usage(self, counts: Any, asked: int) -> Usage | None:
        """What the program says that the prompt used, else what can be told from the sizes, a lower bound."""
        if isinstance(counts, dict):
            cached, written = _number(counts, "cachedReadTokens"), _number(counts, "cachedWriteTokens")
            return Usage(
                prompt_tokens=_number(counts, "inputTokens") + cached + written,
                cached_tokens=cached,
                completion_tokens=_number(counts, "outputTokens") + _number(counts, "thoughtTokens"),
                usd=self._spent,
            )
        words = self._characters // 4
        return Usage(prompt_tokens=max(self._context - words, asked // 4), completion_tokens=words, usd=self._spent)

    def _notified(self, method: str, params: dict[str, Any]) -> None:
        update = params.get("update")
        if method != "session/update" or not isinstance(update, dict):
            return
        kind = str(update.get("sessionUpdate"))
        if kind in {"agent_message_chunk", "agent_thought_chunk"}:
            self._take_content(update, spoken=kind == "agent_message_chunk")
        elif kind in {"tool_call", "tool_call_update"}:
            if kind == "tool_call":
                self._words.clear()  # what was said before a tool is not the last word
            self._used(update)
        elif kind == "plan":
            steps = _dicts(update.get("entries"))
            now = next((str(each.get("content")) for each in steps if each.get("status") == "in_progress"), "")
            if now:
                self._on_event(Event(uses=(Use(tool="plan", summary=_line(now)),)), self.running)
        elif kind == "usage_update":
            self._counted(update)

    def _take_content(self, update: dict[str, Any], *, spoken: bool) -> None:
        content = update.get("content")
        text = content.get("text") if isinstance(content, dict) else None
        if not isinstance(text, str):
            return
        self._characters += len(text)
        if not spoken:
            return
        message = update.get("messageId")
        if message != self._message:
            self._words.clear()
            self._message = message
        self._words.add(text)

    def _used(self, update: dict[str, Any]) -> None:
        """Shows a tool once: as soon as its arguments are known, at its end at the latest."""
        self._characters += len(json.dumps(update["content"])) if update.get("content") else 0
        call, name = self._merged(update), str(update.get("toolCallId"))
        found = use(str(call.get("kind") or "tool"), call.get("rawInput"))
        if name not in self._reported and (found.summary or str(call.get("status")) in _OVER):
            self._reported = {*self._reported, name} if len(self._reported) < _CALLS else {name}
            named = {} if found.summary else {"summary": _line(str(call.get("title") or ""))}
            self._on_event(Event(uses=(found.model_copy(update=named),)), self.running)

    def _merged(self, update: dict[str, Any]) -> dict[str, Any]:
        """A tool call with all that is known of it by now; those that are over are forgotten."""
        name = str(update.get("toolCallId"))
        call = {**self._calls.get(name, {}), **{key: value for key, value in update.items() if value is not None}}
        if str(call.get("status")) in _OVER:
            self._calls.pop(name, None)
        else:
            self._calls[name] = call
            if len(self._calls) > _CALLS:
                self._calls.pop(next(iter(self._calls)))
        return call

    def _counted(self, update: dict[str, Any]) -> None:
        self._context = max(self._context, _number(update, "used"))
        cost = update.get("cost")
        if isinstance(cost, dict) and cost.get("currency") == "USD":
            self._usd = max(self._usd, money(cost.get("amount")))
        self._on_event(Event(), self.running)

    def _answer(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        if method != "session/request_permission":
            raise Refusal(METHOD_NOT_FOUND, f"{method[:100]} is not offered: use your own tools")
        call = params.get("toolCall")
        refused = self._permit(asked(self._merged(call if isinstance(call, dict) else {})))
        wanted = "reject_once" if refused else "allow_once"
        options = _dicts(params.get("options"))
        chosen = next((each.get("optionId") for each in options if each.get("kind") == wanted), None)
        if chosen is None:
            return {"outcome": {"outcome": "cancelled"}}
        return {"outcome": {"outcome": "selected", "optionId": chosen}}


def asked(call: dict[str, Any]) -> Asked:
    """What a tool call of the protocol would do, as far as it says so."""
    kind, raw = str(call.get("kind") or "other"), call.get("rawInput")
    given = raw if isinstance(raw, dict) else {}
    line = next((given[key] for key in ("command", "cmd", "script") if given.get(key)), "")
    command = shlex.join(map(str, line)) if isinstance(line, list) else str(line)
    if kind == "execute" and not command:
        command = str(call.get("title") or "").strip("` ")
    paths = [each.get("path") for each in (*_dicts(call.get("locations")), *_dicts(call.get("content")))]
    paths += [
        given.get(key)
        for key in ("file_path", "filePath", "filepath", "path", "absolute_path", "source", "destination")
    ]
    changes = kind in _CHANGING or any(each.get("type") == "diff" for each in _dicts(call.get("content")))
    writes = tuple(dict.fromkeys(path for path in paths if isinstance(path, str) and path)) if changes else ()
    if changes and not writes:
        writes = ("",)  # a change that does not say of what
    kind = kind if kind in _CHANGING or not changes else "edit"
    return Asked(kind=kind, title=_line(str(call.get("title") or "")), command=command, writes=writes)


def _line(text: str) -> str:
    return " ".join(text.split())[:_TITLE]


def _dicts(values: Any) -> list[dict[str, Any]]:
    return [each for each in values if isinstance(each, dict)] if isinstance(values, list) else []


def _number(counts: dict[str, Any], name: str) -> int:
    found = counts.get(name)
    return min(max(found, 0), 10**12) if type(found) is int else 0

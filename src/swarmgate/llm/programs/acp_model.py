"""Uses an agent program that supports the Agent Client Protocol as a model.

    [roles.coder]
    model = "acp:opencode acp"

A turn is one conversation: what a role is told after its first answer, such as what is wrong with a verdict, goes on in
the same session. The program is ended when the turn is. As of any agent program, its work is what it leaves in the
tree, and a verdict is the JSON that its last message ends with.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from swarmgate.config import command_of
from swarmgate.domain.usage import Usage
from swarmgate.llm.limit_resets import of_program
from swarmgate.llm.model import CallFailed, Message, ModelReply, ModelRequest
from swarmgate.llm.programs.acp_session import INITIALIZE_S, Permit, Session, Silent, Turn
from swarmgate.llm.programs.command_model import (
    Cause,
    Hearing,
    Metering,
    ProgramFailed,
    cause_of,
    conversation,
    ending,
    hint_of,
    ignored,
    limited,
    nobody,
    since,
    unmetered,
)
from swarmgate.llm.programs.events import Event
from swarmgate.llm.programs.json_rpc import AUTHENTICATION_REQUIRED, Hung, Pipe, Refusal

_DAY_S = 86_400.0
_GRACE_S = 5.0
"""How long a program may take to end its turn when it is asked to."""
_COMPLAINT = 500

_NO_ACP = "is it started with the right arguments? a program that does not speak it: `command:`"

_ANSWERED = frozenset({"end_turn", "max_tokens"})
_NO_ANSWER = {
    "max_turn_requests": (
        "has used up the requests that it allows itself for a turn",
        "raise that limit of the program",
    ),
    "refusal": ("refuses to go on", "ask another model, or word the task differently"),
    "cancelled": ("says that its turn was cancelled", "start it by hand and look what it says"),
}
"""Reasons to stop that leave no answer, and what to do."""


class ConversationProgram(Protocol):
    """Starts a program that speaks the protocol, confined as the settings say."""

    @property
    def folder(self) -> str:
        """The repository as the program sees it."""
        ...

    def talk(self, command: str, *, writes: bool) -> AbstractAsyncContextManager[Pipe]:
        """The program, for the length of a block."""
        ...

    def permit(self, *, writes: bool) -> Permit:
        """Who answers its questions."""
        ...


@dataclass
class _Open:
    """A conversation that goes on, what of the role's it knows, and what ends it."""

    session: Session
    pipe: Pipe
    known: tuple[Message, ...]
    writes: bool
    stack: contextlib.AsyncExitStack


class AcpModel:
    """A `Model` that is a program which speaks the Agent Client Protocol.

    Args:
        name: `acp:` and the command line.
        program: starts it.
        on_event: receives each use of a tool.
        metering: the time of a call; gives what hears the use so far, and may raise.
        role: whose settings it has, for hints.
        timeout_s: of one call.
        initialize_s: of its first answer.
    """

    def __init__(
        self,
        name: str,
        program: ConversationProgram,
        *,
        on_event: Hearing = nobody,
        metering: Metering = unmetered,
        role: str = "ROLE",
        timeout_s: float | None = None,
        initialize_s: float = INITIALIZE_S,
    ) -> None:
        self.name = name
        self._program = program
        self._command = command_of(name)
        self._on_event = on_event
        self._metering = metering
        self._report: Callable[[Usage], None] = ignored
        self._table, self._timeout_s = f"[roles.{role}]", timeout_s
        self._initialize_s = initialize_s
        self._open: _Open | None = None
        self._one_at_a_time = asyncio.Lock()

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Tell the program what is new; it may change files where `write_file` is on offer.

        Raises:
            CallFailed: it failed, or was ended at its time limit; not retriable, since its work stays in the tree.
            MissingRequirement: there is no such program, or no sandbox for it.
            BudgetExhausted: what it says that it used is more than is left.
        """
        async with self._one_at_a_time:
            started = time.monotonic()
            with self._metering() as report:
                self._report = report
                try:
                    turn = await self._answer(request)
                except BaseException:
                    await self._close()
                    raise
                finally:
                    self._report = ignored
            usage = (turn.usage or Usage()).model_copy(update={"calls": 1, "seconds": time.monotonic() - started})
            return self._reply(request, turn, usage)

    async def end_turn(self) -> None:
        """The turn is over: the program is ended, unless it answers somebody else just now, who ends it then."""
        if not self._one_at_a_time.locked():
            await self._close()

    async def _close(self) -> None:
        """Ends the program, with all that it started."""
        going, self._open = self._open, None
        if going is not None:
            await going.stack.aclose()

    async def _answer(self, request: ModelRequest) -> Turn:
        going: _Open | None = None
        try:
            async with asyncio.timeout(self._timeout_s or _DAY_S) as clock:
                going, text = await self._with(request)
                turn = await self._prompted(going, text)
        except TimeoutError:
            if not clock.expired():
                raise
            if self._open and not self._open.session.spoke:
                raise self._silent() from None
            limit = f" of {self._timeout_s:g} s, {self._table} timeout_s" if self._timeout_s else ""
            raise self._failed(f"was ended at its time limit{limit}", cause=Cause.TIME) from None
        except Silent:
            raise self._silent() from None
        except Refusal as refusal:
            raise self._refused(refusal) from None
        except Hung:
            raise self._gone() from None
        going.known = request.messages
        return turn

    async def _prompted(self, going: _Open, text: str) -> Turn:
        """The program's turn; one that is cut short is asked to end, and has a moment for it, before it is killed."""
        prompt = asyncio.ensure_future(going.session.prompt(text))
        try:
            return await asyncio.shield(prompt)
        except asyncio.CancelledError:
            with contextlib.suppress(Hung, TimeoutError):
                async with asyncio.timeout(_GRACE_S):
                    await going.session.cancel()
                    await asyncio.wait({prompt})
            raise
        finally:
            prompt.cancel()
            prompt.add_done_callback(lambda done: done.cancelled() or done.exception())  # somebody has to ask

    async def _with(self, request: ModelRequest) -> tuple[_Open, str]:
        """The conversation that this one goes on from with what is new, else a new one with all of it."""
        writes = any(tool.name == "write_file" for tool in request.tools)
        going, tools = self._open, tuple(tool for tool in request.tools if tool.answers)
        if going and going.known and going.writes == writes and request.messages[: len(going.known)] == going.known:
            return going, since(request.messages[len(going.known) :], tools)
        await self._close()
        return await self._opened(writes=writes), conversation(request.messages, tools, request.instructions)

    async def _opened(self, *, writes: bool) -> _Open:
        stack = contextlib.AsyncExitStack()
        try:
            pipe = await stack.enter_async_context(self._program.talk(self._command, writes=writes))
            permit, limit = self._program.permit(writes=writes), self._initialize_s
            session = Session(pipe, permit=permit, on_event=self._received, initialize_s=limit)
            listening = asyncio.ensure_future(session.peer.listen())
            stack.callback(listening.cancel)
            self._open = _Open(session, pipe, (), writes, stack)
            await session.open(self._program.folder)
        except BaseException:
            if self._open is None:
                await stack.aclose()
            raise
        return self._open

    def _received(self, event: Event, usage: Usage) -> None:
        self._on_event(event, usage)
        self._report(usage)

    def _reply(self, request: ModelRequest, turn: Turn, usage: Usage) -> ModelReply:
        if turn.stop not in _ANSWERED:
            unknown = (f"ended its turn for a reason that nobody knows: {turn.stop[:80]}", "start it by hand")
            what, hint = _NO_ANSWER.get(turn.stop, unknown)
            raise self._failed(what, hint=hint, usage=usage)
        if turn.stop == "max_tokens":
            return ModelReply(text=turn.text, usage=usage, model=self.name, finish_reason="length")
        return ModelReply(**ending(request, turn.text), usage=usage, model=self.name)

    def _refused(self, refusal: Refusal) -> CallFailed:
        complaint = refusal.message[:_COMPLAINT]
        if refusal.code != AUTHENTICATION_REQUIRED:
            hint = "" if self._open and self._open.session.spoke else _NO_ACP
            return self._failed(
                f"answers with an error: {complaint}", cause=cause_of(complaint), complaint=complaint, hint=hint
            )
        ways = ", ".join(self._open.session.logins if self._open else ())[:200]
        hint = f"log in by hand{f' ({ways})' if ways else ''}, or {hint_of(Cause.LOGIN, self._table)}"
        return self._failed(f"is not logged in ({complaint})", cause=Cause.LOGIN, hint=hint)

    def _silent(self) -> CallFailed:
        limit = min(self._initialize_s, self._timeout_s or _DAY_S)
        output = f"; it said: {self._printed}" if self._printed else ""
        return self._failed(f"never spoke the Agent Client Protocol, within {limit:g} s{output}", hint=_NO_ACP)

    @property
    def _printed(self) -> str:
        """What the program complained of so far, in one line."""
        return " ".join((self._open.pipe.stderr if self._open else "").strip()[-_COMPLAINT:].split())

    def _gone(self) -> CallFailed:
        pipe, output = self._open.pipe if self._open else None, self._printed
        code = pipe.exit_code if pipe else None
        how = f"ended with exit code {code}" if code is not None else "hung up"
        hint = "" if output else f"does it speak the Agent Client Protocol? If not: `command:` in {self._table}"
        problem = f"{how} before it had answered{': ' + output if output else ''}"
        return self._failed(problem, cause=cause_of(output), complaint=output, hint=hint)

    def _failed(
        self,
        how: str,
        *,
        cause: Cause = Cause.OTHER,
        complaint: str = "",
        hint: str = "",
        usage: Usage | None = None,
    ) -> CallFailed:
        used = usage or (self._open.session.running if self._open else Usage()).model_copy(update={"calls": 1})
        problem = f"the agent `{self._command[:100]}` {how}"
        now = datetime.now(UTC)
        if limit := of_program(complaint, now=now, zone=now.astimezone().tzinfo or UTC):
            return limited(problem, limit, self._table, used)
        return ProgramFailed(problem, cause=cause, complaint=how, hint=hint or hint_of(cause, self._table), usage=used)

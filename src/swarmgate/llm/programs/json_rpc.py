"""A JSON-RPC 2.0 connection over lines, as the Agent Client Protocol uses it: requests and notifications both ways."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any, Protocol

from swarmgate.domain.text.json_text import loaded
from swarmgate.domain.text.unicode import whole_json

METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
AUTHENTICATION_REQUIRED = -32000


class Pipe(Protocol):
    """A program that lines are exchanged with. Both raise EOFError when it is over."""

    async def send(self, line: bytes) -> None:
        """Writes a line."""
        ...

    async def receive(self) -> bytes:
        """The next line."""
        ...

    @property
    def stderr(self) -> str:
        """What the program complained of so far."""
        ...

    @property
    def exit_code(self) -> int | None:
        """How it ended; None while it runs."""
        ...


class Refusal(Exception):
    """The other side, or we, answer a request with an error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Hung(EOFError):
    """The other side is gone."""


class Peer:
    """One side of a conversation.

    Args:
        pipe: the other side.
        answer: what a request of the other side comes to; may raise `Refusal`.
        on_notification: gets its notifications, in their order, before all that follows. What it raises ends the
            conversation, and is raised by the requests that wait.
    """

    def __init__(
        self,
        pipe: Pipe,
        *,
        answer: Callable[[str, dict[str, Any]], dict[str, Any]],
        on_notification: Callable[[str, dict[str, Any]], None],
    ) -> None:
        self._pipe = pipe
        self._answer = answer
        self._on_notification = on_notification
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._over: BaseException | None = None
        self._asked = 0

    async def request(self, method: str, params: dict[str, Any]) -> Any:
        """Ask, and wait for the answer.

        Raises:
            Refusal: the other side answers with an error.
            Hung: it is gone.
        """
        self._asked += 1
        answered = self._waiting[self._asked] = asyncio.get_running_loop().create_future()
        try:
            await self._send({"id": self._asked, "method": method, "params": params})
            if self._over is not None:
                raise self._over
            return await answered
        finally:
            self._waiting.pop(self._asked, None)
            answered.cancel()

    async def notify(self, method: str, params: dict[str, Any]) -> None:
        """Tell; raises `Hung` where the other side is gone."""
        await self._send({"method": method, "params": params})

    async def listen(self) -> None:
        """Receives messages until the other side ends; lines that are no message are ignored."""
        try:
            while True:
                message = _message(await self._pipe.receive())
                if message is not None:
                    await self._take(message)
        except EOFError:
            self._end(Hung())
        except Exception as error:  # noqa: BLE001 - it is raised where somebody waits
            self._end(error)

    async def _take(self, message: dict[str, Any]) -> None:
        method, number = message.get("method"), message.get("id")
        params = message.get("params")
        given: dict[str, Any] = params if isinstance(params, dict) else {}
        if not isinstance(method, str):
            self._answered(message)
        elif number is None:
            self._on_notification(method, given)
        else:
            try:
                response: dict[str, Any] = {"result": self._answer(method, given)}
            except Refusal as refusal:
                response = {"error": {"code": refusal.code, "message": refusal.message}}
            await self._send({"id": number, **response})

    def _answered(self, message: dict[str, Any]) -> None:
        number = message.get("id")
        waiting = self._waiting.get(number) if type(number) is int else None
        if waiting is None or waiting.done():
            return
        error = message.get("error")
        if isinstance(error, dict):
            code = error.get("code")
            waiting.set_exception(Refusal(code if type(code) is int else 0, _described(error)))
        else:
            waiting.set_result(message.get("result"))

    def _end(self, error: BaseException) -> None:
        self._over = error
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(error)

    async def _send(self, message: dict[str, Any]) -> None:
        try:
            await self._pipe.send(json.dumps({"jsonrpc": "2.0", **message}).encode(errors="replace"))
        except EOFError as error:
            raise Hung from error


def _message(line: bytes) -> dict[str, Any] | None:
    try:
        value = loaded(whole_json(line.decode(errors="replace")), strict=False)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _described(error: dict[str, Any]) -> str:
    """The message of an error, with what its data adds."""
    data = error.get("data")
    more = data.get("details") or data.get("message") if isinstance(data, dict) else data
    message = str(error.get("message") or "an error without a message")
    return f"{message}: {more}" if isinstance(more, str) and more not in message else message

"""`Idempotency-Key`: a request that is sent again is answered as it was the first time, and done once.

Only answers that say that something was done are kept, for a day; what was refused may be tried again under the same
key. One that a kill cut short is done again under it: what it began by then is found by its token (`scope["state"]`).
An answer that holds a secret (`Cache-Control: no-store` of its route) is told once: the second one says that.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import re
import secrets
from dataclasses import dataclass, field

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from swarmgate.errors import BadRequest, IllegalMove, KeyReused
from swarmgate.server.store.model import Store

HEADER = "idempotency-key"
KIND = "idempotency"
"""What the answers are called in the store."""
KEPT_S = 24 * 3600.0
WORKING_S = 3600.0
"""Seconds for which it is known that a request is at work."""
_MOST_BYTES = 1024 * 1024
_KEY = re.compile(r"[\x21-\x7e]{1,200}")
_FIRST_ERROR = 400


@dataclass
class _Answer:
    """What a route says, as it says it."""

    status: int = 0
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    body: bytearray = field(default_factory=bytearray)
    whole: bool = True

    def add(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status, self.headers = message["status"], [(name, value) for name, value in message["headers"]]
        elif message["type"] == "http.response.body":
            self.whole = self.whole and len(self.body) + len(message.get("body", b"")) <= _MOST_BYTES
            if self.whole:
                self.body += message.get("body", b"")

    @property
    def done(self) -> bool:
        """Whether it says that something was done."""
        return 0 < self.status < _FIRST_ERROR

    @property
    def tellable(self) -> bool:
        """Whether it may be kept and told again."""
        secret = any(name.lower() == b"cache-control" and b"no-store" in value for name, value in self.headers)
        return self.whole and not secret


class Replays:
    """The answers of one server.

    Args:
        store: where they are kept; `StoreAway` where it cannot be reached: what cannot be promised is not begun.
    """

    def __init__(self, store: Store) -> None:
        self._store, self._process, self._turn = store, secrets.token_hex(8), asyncio.Lock()

    async def once(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send, *, owner: str, body: bytes) -> None:
        """Has a request done and answered, or answered as it was before.

        Args:
            app: what does it.
            scope: of the request.
            receive: of the request.
            send: to the client.
            owner: the account; keys of two accounts have nothing to do with each other.
            body: of the request.

        Raises:
            BadRequest: the key is none.
            KeyReused: another request came under this key, or an answer that is told once.
            IllegalMove: the first one is still at work.
            StoreAway: the store cannot be reached.
        """
        said = next(value.decode("latin-1") for name, value in scope["headers"] if name.decode("latin-1") == HEADER)
        if not _KEY.fullmatch(said):
            raise BadRequest("Idempotency-Key has 1 to 200 characters, without blanks.")
        key = _hash(owner, scope["method"], scope["path"], said)
        decided_about = [value.hex() for name, value in scope["headers"] if name == b"if-match"]
        request = _hash(scope.get("query_string", b"").decode("latin-1"), body.hex(), *decided_about)
        token = await self._begin(key, request)
        if not token:
            await self._again(key, request, send)
            return
        scope["state"]["token"] = token
        answer = _Answer()

        async def recorded(message: Message) -> None:
            answer.add(message)
            last = message["type"] == "http.response.body" and not message.get("more_body", False)
            if last and answer.done:  # before the client can know of it, and send it again
                await self._store.put(KIND, key, _kept(request, answer), ttl_s=KEPT_S)
            await send(message)

        try:
            await app(scope, receive, recorded)
        finally:
            if not answer.done:
                await self._store.delete(KIND, key)

    async def _begin(self, key: str, request: str) -> str:
        """The token under which this request is done; empty: it was done, or is at work.

        A home has one server, and its accounts are in the key: where another process began it, that one is gone, and it
        is done again under the token that it had.
        """
        mine = {"request": request, "process": self._process, "token": secrets.token_hex(6)}
        if await self._store.put(KIND, key, json.dumps(mine).encode(), ttl_s=WORKING_S, only_new=True):
            return mine["token"]
        async with self._turn:
            kept = json.loads(await self._store.get(KIND, key) or b"{}")
            if kept.get("request") != request or "status" in kept or kept["process"] == self._process:
                return ""
            again = {**mine, "token": kept["token"]}
            await self._store.put(KIND, key, json.dumps(again).encode(), ttl_s=WORKING_S)
        return str(again["token"])

    async def _again(self, key: str, request: str, send: Send) -> None:
        kept = json.loads(await self._store.get(KIND, key) or b"{}")
        if kept and kept["request"] != request:
            raise KeyReused("Another request came under this Idempotency-Key.", hint="take a new key for a new request")
        if "status" not in kept:
            raise IllegalMove("The first request under this Idempotency-Key is still at work.", hint="ask again soon")
        if kept["body"] is None:
            raise KeyReused("This was done, and its answer is told once only.", hint="look at what came of it")
        headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in kept["headers"]]
        headers.append((b"idempotency-replayed", b"true"))
        await send({"type": "http.response.start", "status": kept["status"], "headers": headers})
        await send({"type": "http.response.body", "body": base64.b64decode(kept["body"])})


def _kept(request: str, answer: _Answer) -> bytes:
    return json.dumps(
        {
            "request": request,
            "status": answer.status,
            "headers": [(name.decode("latin-1"), value.decode("latin-1")) for name, value in answer.headers],
            "body": base64.b64encode(answer.body).decode() if answer.tellable else None,
        }
    ).encode()


def _hash(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()

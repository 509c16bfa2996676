"""The Socket.IO events of the reference, in both directions: `io(url, { auth: { token } })` finds them at `/socket.io`.

A socket is told of a council that it began, or whose room it joined: `critique:ID`, `discussion:ID`, `workflow:ID`. It
may where its account may see the council, which is looked at again each time it is told something.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import socketio  # type: ignore[import-untyped]  # it has no stubs
from pydantic import ValidationError

from swarmgate.errors import NotFound, StoreAway, SwarmError, TooMany, Unauthenticated
from swarmgate.server.accounts.accounts import Accounts
from swarmgate.server.accounts.model import Principal
from swarmgate.server.events.feed import Feed
from swarmgate.server.http.limits.rates import RateLimits
from swarmgate.server.reference.bodies import OrchestrationBody, PatternName
from swarmgate.server.reference.envelope import now, refused, told
from swarmgate.server.reference.executions import FAILED, LONGEST_S, AnyBody, Executions, body_of, generic
from swarmgate.server.reference.members import Members, member_of
from swarmgate.server.reference.progress import Happened
from swarmgate.server.reference.watching import Watching
from swarmgate.server.services.services import Services

_PING_S, _PONG_S = 25, 20
"""Seconds between two signs of life, and how long one is waited for: those of the reference."""

_KINDS = ("critique", "discussion", "workflow")
Answer = dict[str, Any]
Handler = Callable[[str, Principal, dict[str, Any]], Awaitable[Answer]]


class Sockets:
    """The sockets of one server.

    Args:
        services: what is asked for.
        feed: of the server: it wakes.
        accounts: who may come in.
        limits: how often.
        most_bytes: of one message.

    Attributes:
        application: of ASGI, mounted at `/socket.io`, behind the door.
    """

    def __init__(
        self, services: Services, feed: Feed, accounts: Accounts, limits: RateLimits, *, most_bytes: int
    ) -> None:
        self._io = socketio.AsyncServer(
            async_mode="asgi",
            ping_interval=_PING_S,
            ping_timeout=_PONG_S,
            max_http_buffer_size=most_bytes,
            cookie=None,
        )
        self.application = socketio.ASGIApp(self._io, socketio_path=None)
        self._limits, self._members = limits, Members(accounts)
        self._run = Executions(services.councils)
        self._watching = Watching(feed, self._run, self._members, self._tell, self._refuse)
        self._io.on("connect", self._connect)
        self._io.on("disconnect", self._disconnect)
        for name, handle in self._handlers().items():
            self._io.on(name, handle)

    async def aclose(self) -> None:
        """Ends what is watched, and closes all sockets."""
        await self._watching.close()
        await self._io.shutdown()

    def has(self, connection: str) -> bool:
        """Whether a connection of that id is open: long polling and what it is upgraded to come back to it."""
        return connection in self._io.eio.sockets

    # --- who comes and goes ---

    async def _connect(self, sid: str, environ: Mapping[str, Any], auth: Any = None) -> None:
        try:
            member = member_of(environ["asgi.scope"], auth, now())
            principal = await self._members.admit(sid, member)
            await self._limits.hit("sockets", self._members.caller(sid, principal))
        except Unauthenticated:
            raise socketio.exceptions.ConnectionRefusedError("Unauthorized") from None
        except TooMany:
            self._members.leave(sid)
            raise socketio.exceptions.ConnectionRefusedError("Too many connections") from None
        except SwarmError:
            self._members.leave(sid)
            raise socketio.exceptions.ConnectionRefusedError("Connection failed") from None
        self._io.start_background_task(self._welcome, sid, principal)

    async def _welcome(self, sid: str, principal: Principal) -> None:
        await self._join(sid, f"user:{principal.account.id}")
        await self._io.emit(
            "welcome", {"message": "Connected to swarmgate", "socketId": sid, "serverTime": now()}, to=sid
        )
        await self._io.emit("authenticated", {"userId": principal.account.id, "authenticatedAt": now()}, to=sid)

    async def _disconnect(self, sid: str, *_: Any) -> None:
        self._members.leave(sid)

    async def _authenticate(self, sid: str, *given: Any) -> Answer:
        """Another token for the same account: the one before is over soon."""
        try:
            before = await self._account(sid)
            member = self._members[sid]
            token = given[0].get("token") if given and isinstance(given[0], Mapping) else ""
            if not isinstance(token, str) or not token:
                raise Unauthenticated("Token is required")
            renewed = replace(member, token=token, headers={})
            principal = await self._members.admit(sid, renewed)
            if before not in {"", principal.account.id}:
                self._members.leave(sid)
                raise Unauthenticated("The token is another account's: open a socket of its own.")
        except (SwarmError, KeyError) as error:
            message = error.message if isinstance(error, SwarmError) else "The socket is closed."
            await self._io.emit("authError", {"message": message}, to=sid)
            self._io.start_background_task(self._cut_off, sid)
            return {"success": False, "error": message}
        await self._io.emit("authenticated", {"userId": principal.account.id, "authenticatedAt": now()}, to=sid)
        return {"success": True, "userId": principal.account.id}

    async def _account(self, sid: str) -> str:
        """The account behind a socket; empty where its proof is over."""
        with suppress(Unauthenticated):
            return (await self._members.principal(sid)).account.id
        return next((each.removeprefix("user:") for each in self._members[sid].rooms if each.startswith("user:")), "")

    async def _logout(self, sid: str, *_: Any) -> Answer:
        self._members.leave(sid)
        await self._io.emit("loggedOut", {"message": "Successfully logged out"}, to=sid)
        self._io.start_background_task(self._cut_off, sid)
        return {"success": True}

    async def _cut_off(self, sid: str) -> None:
        await asyncio.sleep(0)  # the answer goes first
        await self._io.disconnect(sid)

    # --- rooms and signs of life ---

    async def _join_room(self, sid: str, *given: Any) -> Answer:
        room = given[0] if given and isinstance(given[0], str) else ""
        try:
            principal = await self._members.principal(sid)
            if not await self._may_join(sid, principal, room):
                raise NotFound("Access denied")
        except SwarmError as error:
            await self._io.emit("roomJoined", {"room": room, "success": False, "error": error.message}, to=sid)
            return {"success": False, "room": room, "error": error.message}
        await self._join(sid, room)
        await self._io.emit("roomJoined", {"room": room, "success": True}, to=sid)
        kind, _, id = room.partition(":")  # noqa: A001 - the field's name
        if kind in _KINDS:
            self._watching.begin(id, room)
        return {"success": True, "room": room}

    async def _may_join(self, sid: str, principal: Principal, room: str) -> bool:
        if self._members[sid].full:
            return False
        kind, _, id = room.partition(":")  # noqa: A001 - the field's name
        if kind not in _KINDS:
            return room == f"user:{principal.account.id}"
        with suppress(NotFound):
            return (await self._run.seen(principal, id)).kind == kind
        return False

    async def _join(self, sid: str, room: str) -> None:
        if sid in self._members:
            self._members[sid].rooms.add(room)

    async def _leave_room(self, sid: str, *given: Any) -> Answer:
        room = given[0] if given and isinstance(given[0], str) else ""
        self._members.leave_room(sid, room)
        await self._io.emit("roomLeft", {"room": room, "success": True}, to=sid)
        return {"success": True, "room": room}

    async def _info(self, sid: str, *_: Any) -> Answer:
        known = sid in self._members
        rooms = sorted(self._members[sid].rooms) if known else []
        at = self._members[sid].connected if known else ""
        return {"socketId": sid, "connected": True, "rooms": rooms, "authenticated": known, "connectedAt": at}

    async def _ping(self, sid: str, *_: Any) -> Answer:
        pong = {"timestamp": _milliseconds()}
        await self._io.emit("pong", pong, to=sid)
        return pong

    async def _heartbeat(self, sid: str, *given: Any) -> Answer:
        at = _milliseconds()
        said = given[0].get("timestamp") if given and isinstance(given[0], Mapping) else None
        latency = at - said if isinstance(said, int | float) and said > 0 else None
        found = {"timestamp": at, "serverTime": now(), "latency": latency}
        await self._io.emit("heartbeatAck", found, to=sid)
        return found

    # --- councils ---

    async def _critique(self, sid: str, who: Principal, given: dict[str, Any]) -> Answer:
        return await self._begun(sid, who, "self-critique", body_of("self-critique", given), given)

    async def _discussion(self, sid: str, who: Principal, given: dict[str, Any]) -> Answer:
        return await self._begun(sid, who, "discussion", body_of("discussion", given), given)

    async def _orchestrate(self, sid: str, who: Principal, given: dict[str, Any]) -> Answer:
        asked = given.get("request")
        pattern, body = generic(OrchestrationBody.model_validate(asked))
        options = {"wait": True, **(asked if isinstance(asked, dict) else {}), **given}
        return await self._begun(sid, who, pattern, body, options)

    async def _begun(
        self, sid: str, who: Principal, pattern: PatternName, body: AnyBody, given: Mapping[str, Any]
    ) -> Answer:
        """Begins a council; where it is waited for, the answer comes with its result."""
        allowance = await self._limits.hit("writes", self._members.caller(sid, who))
        if allowance.away:
            raise StoreAway("The server's store cannot be reached: nothing is begun that may spend.", hint="try again")
        where = {name: given[name] for name in ("repo", "goal") if isinstance(given.get(name), str)}
        begun = await self._run.begin(who, pattern, body, **where)
        if begun.over is not None:
            return {"success": True, "executionId": begun.id, "result": begun.over}
        room = f"{begun.kind}:{begun.id}"
        await self._join(sid, room)
        self._watching.begin(begun.id, room)
        if not given.get("wait"):
            return {"success": True, "executionId": begun.id}
        seen = await self._run.ended(who, begun.id, within_s=LONGEST_S[begun.kind])
        done = seen.result["status"] == "completed"
        error = {} if done else {"error": seen.result.get("error") or "it has not ended yet"}
        return {"success": done, "executionId": begun.id, "result": seen.result, **error}

    async def _status(self, _sid: str, who: Principal, given: dict[str, Any]) -> Answer:
        return {"success": True, "status": (await self._run.seen(who, _execution(given))).result}

    async def _cancel(self, _sid: str, who: Principal, given: dict[str, Any]) -> Answer:
        await self._run.stop(who, _execution(given))
        return {"success": True, "cancelled": True}

    async def _pause(self, _sid: str, who: Principal, given: dict[str, Any]) -> Answer:
        await self._run.stop(who, _execution(given))
        return {"success": True}

    async def _resume(self, sid: str, who: Principal, given: dict[str, Any]) -> Answer:
        id = _execution(given)  # noqa: A001 - the field's name
        await self._run.resume(who, id)
        room = f"{(await self._run.seen(who, id)).kind}:{id}"
        await self._join(sid, room)
        self._watching.begin(id, room)
        return {"success": True}

    async def _workflow(self, _sid: str, _who: Principal, _given: dict[str, Any]) -> Answer:
        raise NotFound("There are no stored workflows here: send its steps as the tasks of agent:orchestrate")

    # --- inside ---

    def _handlers(self) -> dict[str, Callable[..., Awaitable[Answer]]]:
        councils: dict[str, tuple[Handler, str]] = {
            "agent:critique:execute": (self._critique, FAILED["critique"]),
            "agent:discussion:execute": (self._discussion, FAILED["discussion"]),
            "agent:orchestrate": (self._orchestrate, FAILED["workflow"]),
            "agent:workflow:execute": (self._workflow, "WORKFLOW_EXECUTION_FAILED"),
            "agent:workflow:status": (self._status, "WORKFLOW_STATUS_FAILED"),
            "agent:workflow:cancel": (self._cancel, "WORKFLOW_CANCEL_FAILED"),
            "agent:workflow:pause": (self._pause, "WORKFLOW_PAUSE_FAILED"),
            "agent:workflow:resume": (self._resume, "WORKFLOW_RESUME_FAILED"),
        }
        return {
            "authenticate": self._authenticate,
            "logout": self._logout,
            "joinRoom": self._join_room,
            "leaveRoom": self._leave_room,
            "getConnectionInfo": self._info,
            "ping": self._ping,
            "heartbeat": self._heartbeat,
            **{name: self._guarded(handle, code) for name, (handle, code) in councils.items()},
        }

    def _guarded(self, handle: Handler, otherwise: str) -> Callable[..., Awaitable[Answer]]:
        """A handler that knows who asks, and whose errors are told by `agent:error` and in its answer."""

        async def handled(sid: str, *given: Any) -> Answer:
            said = given[0] if given and isinstance(given[0], dict) else {}
            try:
                return await handle(sid, await self._members.principal(sid), said)
            except ValidationError as error:
                code, message = "INVALID_PAYLOAD", f"Invalid payload: {refused(error)['message']}"
            except SwarmError as error:
                status, found = told(error)
                code, message = found["code"] if status < 500 else otherwise, error.message  # noqa: PLR2004 - ours or theirs
            await self._io.emit("agent:error", {"code": code, "message": message, "timestamp": now()}, to=sid)
            return {"success": False, "error": message}

        return handled

    async def _tell(self, sid: str, happened: Happened) -> None:
        await self._io.emit(happened.event, happened.payload, to=sid)

    async def _refuse(self, sid: str, error: Unauthenticated) -> None:
        """Cuts a socket off whose proof is over; a client that knows a newer token comes back with it."""
        self._members.leave(sid)
        await self._io.emit("authError", {"message": error.message}, to=sid)
        await self._io.disconnect(sid)


def _execution(given: Mapping[str, Any]) -> str:
    """The id of the council that is meant.

    Raises:
        NotFound: none is named.
    """
    found = given.get("executionId")
    if not isinstance(found, str) or not found:
        raise NotFound("Execution ID is required")
    return found


def _milliseconds() -> int:
    return round(time.time() * 1000)

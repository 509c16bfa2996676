"""Who is behind each socket, proven again whenever something is asked by it or told to it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from swarmgate.errors import Unauthenticated
from swarmgate.server.accounts.accounts import Accounts
from swarmgate.server.accounts.model import Principal
from swarmgate.server.http.identity import identify
from swarmgate.server.http.limits.rates import Caller

_ROOMS = 100
"""Rooms that one socket may be in."""


class Told(NamedTuple):
    """What a socket was told of a council: so many events, and perhaps its end."""

    events: int
    ended: bool = False


@dataclass
class Member:
    """One socket that was let in.

    Attributes:
        token: that proves who it is; empty: the headers of its handshake do.
        headers: of the handshake, names in lower case.
        address: of the client.
        tls: whether it came encrypted.
        connected: when, UTC.
        rooms: that it is in, by name.
        told: of councils, by their ids.
    """

    token: str
    headers: Mapping[str, str]
    address: str
    tls: bool
    connected: str
    rooms: set[str] = field(default_factory=set)
    told: dict[str, Told] = field(default_factory=dict)

    @property
    def full(self) -> bool:
        """Whether it may join no further room."""
        return len(self.rooms) >= _ROOMS


class Members:
    """All sockets of a server.

    Args:
        accounts: of the server.
    """

    def __init__(self, accounts: Accounts) -> None:
        self._accounts = accounts
        self._known: dict[str, Member] = {}

    def __contains__(self, sid: str) -> bool:
        return sid in self._known

    def __getitem__(self, sid: str) -> Member:
        return self._known[sid]

    def joined(self, room: str) -> tuple[str, ...]:
        """The sockets that are in a room."""
        return tuple(sid for sid, member in self._known.items() if room in member.rooms)

    async def admit(self, sid: str, member: Member) -> Principal:
        """Takes a socket in, or in again with another token.

        Raises:
            Unauthenticated: nothing proves who it is.
        """
        principal = await self._proven(member)
        self._known[sid] = member
        return principal

    async def principal(self, sid: str) -> Principal:
        """Who is behind a socket, as that is now.

        Raises:
            Unauthenticated: the proof is over or revoked, or the account is disabled.
        """
        if sid not in self._known:
            raise Unauthenticated("The socket is closed.")
        return await self._proven(self._known[sid])

    def caller(self, sid: str, principal: Principal) -> Caller:
        """Whom the requests of a socket are counted for."""
        return Caller(principal.account.id, self._known[sid].address if sid in self._known else "")

    def leave_room(self, sid: str, room: str) -> None:
        """A socket is in a room no more; who comes back is told all of it again."""
        if sid in self._known:
            self._known[sid].rooms.discard(room)
            self._known[sid].told.pop(room.partition(":")[2], None)

    def leave(self, sid: str) -> None:
        """Forgets a socket."""
        self._known.pop(sid, None)

    async def _proven(self, member: Member) -> Principal:
        def prove() -> Principal | None:
            if member.token:
                return self._accounts.verify(member.token)
            return identify(self._accounts, member.headers, tls=member.tls)

        found = await asyncio.to_thread(prove)
        if found is None:
            raise Unauthenticated("Nothing says who asks.", hint="give a token: io(url, { auth: { token } })")
        return found


def member_of(scope: Mapping[str, Any], auth: Any, at: str) -> Member:
    """The socket that a handshake asks for.

    Args:
        scope: of ASGI, that passed the door.
        auth: of the handshake, as the client gives it.
        at: the time, UTC.
    """
    headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in reversed(scope["headers"])}
    token = auth.get("token") if isinstance(auth, Mapping) else None
    said = token.removeprefix("Bearer ").strip() if isinstance(token, str) else ""
    state = scope.get("state", {})
    return Member(said, headers, str(state.get("client", "")), scope.get("scheme") in {"https", "wss"}, at)

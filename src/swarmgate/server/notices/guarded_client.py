"""An HTTP client that reaches public addresses only: what a browser or a setting names must not open the inner network.

The name is resolved once, every address that it has is judged, and the connection goes to one that was judged: a name
that resolves differently a moment later (DNS rebinding) gains nothing. Redirects are not followed.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Collection
from functools import cached_property

import httpx

from swarmgate.errors import UsageError
from swarmgate.server.repositories.addresses import is_public

_TIMEOUT_S = 10.0


class AddressRefused(UsageError):
    """A notice may not be sent to this address."""

    code = "ADDRESS_REFUSED"


async def _addresses(host: str, port: int) -> tuple[str, ...]:
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise httpx.ConnectError(f"the name {host} cannot be resolved") from error
    return tuple(dict.fromkeys(str(each[4][0]).partition("%")[0] for each in found))


class _Guarded(httpx.AsyncBaseTransport):
    """Sends a request to an address that it judged itself.

    Args:
        allowed: names of hosts that may be on private addresses.
    """

    def __init__(self, allowed: Collection[str]) -> None:
        self._allowed = frozenset(each.lower() for each in allowed)

    @cached_property
    def _inner(self) -> httpx.AsyncHTTPTransport:
        """Made for the first request: reading the certificates of all authorities takes longer than most of a start."""
        return httpx.AsyncHTTPTransport(trust_env=False)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        host = url.host.lower()
        known = host in self._allowed
        if url.scheme != "https" and not (url.scheme == "http" and known):
            raise AddressRefused(
                f"A notice is sent over https, not over {url.scheme} to {host}.",
                hint="name the host in [server] private_hosts where it is one of your own",
            )
        addresses = await _addresses(host, url.port or (443 if url.scheme == "https" else 80))
        if not known and not all(map(is_public, addresses)):
            raise AddressRefused(
                f"{host} is on an address of this machine or of a private network.",
                hint="name the host in [server] private_hosts where it is one of your own",
            )
        request.extensions = {**request.extensions, "sni_hostname": url.host}
        request.url = url.copy_with(host=addresses[0])  # the Host header stands already, with the name
        return await self._inner.handle_async_request(request)

    async def aclose(self) -> None:
        if "_inner" in self.__dict__:
            await self._inner.aclose()


def guarded_client(allowed: Collection[str] = ()) -> httpx.AsyncClient:
    """The client. A request to an address that is not for everybody raises `AddressRefused`.

    Args:
        allowed: names of hosts that may be on private addresses, and spoken to without TLS.
    """
    return httpx.AsyncClient(transport=_Guarded(allowed), timeout=_TIMEOUT_S, follow_redirects=False, trust_env=False)

"""Headers of proxies, which are believed from named proxies alone: who asks, by which scheme, under which name."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True, slots=True)
class Forwarded:
    """What a proxy says: the address of the client; scheme and host are empty where it does not say."""

    client: str
    scheme: str = ""
    host: str = ""


class Proxies:
    """The proxies that are believed.

    Args:
        networks: addresses and networks, such as `10.0.0.0/24`.
    """

    def __init__(self, networks: Iterable[str]) -> None:
        self._networks: tuple[Network, ...] = tuple(ipaddress.ip_network(each, strict=False) for each in networks)

    def are(self, address: str) -> bool:
        """Whether an address is that of a named proxy."""
        if not self._networks:
            return False
        try:
            parsed: ipaddress.IPv4Address | ipaddress.IPv6Address = ipaddress.ip_address(address)
        except ValueError:
            return False
        mapped = getattr(parsed, "ipv4_mapped", None)
        return any((mapped or parsed) in each for each in self._networks)

    def read(self, peer: str, forwarded_for: Sequence[str], proto: Sequence[str], host: Sequence[str]) -> Forwarded:
        """What is known of the client that stands behind a peer.

        Args:
            peer: the address of who opened the connection.
            forwarded_for: the values of `X-Forwarded-For`, in order; every proxy adds to their end.
            proto: those of `X-Forwarded-Proto`.
            host: those of `X-Forwarded-Host`.
        """
        if not self.are(peer):
            return Forwarded(peer)
        client = peer
        for each in map(_without_port, reversed(_parts(forwarded_for))):
            client = each
            if not self.are(each):  # what stands before it is what the client says of itself
                break
        scheme = next(reversed(_parts(proto)), "").lower()
        return Forwarded(client, scheme if scheme in {"http", "https"} else "", next(reversed(_parts(host)), ""))


def _parts(values: Sequence[str]) -> list[str]:
    return [part.strip() for value in values for part in value.split(",") if part.strip()]


def _without_port(address: str) -> str:
    """An address as some proxies write it, with the port of the connection: that makes nobody somebody else."""
    if address.startswith("["):
        return address[1:].partition("]")[0]
    return address.partition(":")[0] if address.count(":") == 1 else address

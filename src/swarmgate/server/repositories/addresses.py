"""Which addresses git may clone from, so that nobody has the server ask what only the server can reach.

An address names its scheme (https, ssh, or file of this machine), no password and no option. Its host has to resolve to
public addresses alone, unless `[server] private_hosts` names it; git is then told to use the address that was checked,
since a second look-up might say something else.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Callable, Collection
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

from swarmgate.errors import UsageError

Resolve = Callable[[str, int], tuple[str, ...]]
"""Gives the IP addresses of a host, as `resolved` does."""

_PORTS = {"https": 443, "ssh": 22}
_SCP = re.compile(r"(?P<login>[A-Za-z0-9._-]+@)?(?P<host>[A-Za-z0-9][A-Za-z0-9.-]*):(?P<path>(?!//|:)\S+)")
"""What git takes for ssh without a scheme: git@host:path."""
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,252}[A-Za-z0-9])?|[0-9A-Fa-f:.]+")
_LOGIN = re.compile(r"[A-Za-z0-9._-]{1,64}")
_CONTROL = re.compile(r"[\x00-\x20\x7f]")


class Address(NamedTuple):
    """An address that git may clone from: as it is given to git, and the settings under which it is."""

    url: str
    settings: dict[str, str]


def normalised(text: str) -> str:
    """An address as it is kept: with its scheme, and without what may be left out.

    Raises:
        UsageError: it is none, of another scheme, or holds a password.
    """
    return _parts(text.strip()).geturl()


def checked(url: str, *, private_hosts: Collection[str] = (), resolve: Resolve | None = None) -> Address:
    """An address with the settings that hold git to what was checked.

    Args:
        url: as `normalised` gives it.
        private_hosts: names of hosts that may be anywhere.
        resolve: looks hosts up.

    Raises:
        UsageError: as `normalised`; or its host is not found, or is on an address that is not public.
    """
    parts = _parts(url)
    host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
    found = (resolve or resolved)(host, port)
    if host.lower() not in private_hosts:
        private = next((each for each in found if not is_public(each)), None)
        if private is not None:
            raise UsageError(
                f"{host} is on {private}, which is no public address: the server does not fetch from there.",
                hint=f'If that is meant, whoever runs the server allows it: [server] private_hosts = ["{host}"]',
            )
    allowed = {"protocol.allow": "never", f"protocol.{parts.scheme}.allow": "always"}
    if parts.scheme == "https":
        pinned = f"[{found[0]}]" if ":" in found[0] else found[0]
        return Address(url, {**allowed, "http.curloptResolve": f"{host}:{port}:{pinned}"})
    ssh = "ssh -o BatchMode=yes -o ProxyCommand=none -o ProxyJump=none -o PermitLocalCommand=no"
    return Address(url, {**allowed, "core.sshCommand": f"{ssh} -o HostName={found[0]} -o HostKeyAlias={host}"})


def resolved(host: str, port: int) -> tuple[str, ...]:
    """The IP addresses of a host, as this machine looks it up.

    Raises:
        UsageError: there is no such host.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise UsageError(f"The host {host} is not found: {error}.") from None
    return tuple(dict.fromkeys(str(each[4][0]).partition("%")[0] for each in found))


def _parts(text: str) -> SplitResult:
    if _CONTROL.search(text) or text.startswith("-"):
        raise UsageError("The address of a repository holds a blank or a control character, or begins with a dash.")
    if "://" not in text and (found := _SCP.fullmatch(text)):
        text = f"ssh://{found['login'] or ''}{found['host']}/{found['path'].lstrip('/')}"
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError as error:
        raise UsageError(f"{text[:200]!r} is no address: {error}.") from None
    if parts.scheme not in _PORTS:
        raise UsageError(
            f"A repository is cloned over https or ssh, not over {parts.scheme or 'nothing'!r}.",
            hint="https://HOST/PATH, ssh://git@HOST/PATH, or the path of a folder of the server's machine",
        )
    if parts.password or (parts.username and (parts.scheme == "https" or not _LOGIN.fullmatch(parts.username))):
        raise UsageError(
            "The address of a repository holds a name or a password, which are never kept.",
            hint="Give the user that runs the server a credential helper of git's, or a key.",
        )
    if not parts.hostname or not _NAME.fullmatch(parts.hostname) or not parts.path.strip("/"):
        raise UsageError(f"{text[:200]!r} names no host, or no repository on it.")
    if parts.query or parts.fragment:
        raise UsageError("The address of a repository has no query and no fragment.")
    return parts


def is_public(address: str) -> bool:
    """Whether an IP address is one of the internet's own: not of this machine, a private net, or a cloud's metadata."""
    found = ipaddress.ip_address(address)
    if isinstance(found, ipaddress.IPv6Address):
        inner = found.ipv4_mapped or found.sixtofour or (found.teredo[1] if found.teredo else None)
        if found in _TRANSLATED:
            inner = ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(str(inner))
    return found.is_global and not found.is_multicast


_TRANSLATED = ipaddress.ip_network("64:ff9b::/96")
"""IPv4 addresses behind a translator (RFC 6052, 2.1)."""

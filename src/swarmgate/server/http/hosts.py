"""Which names a request may call the server by: a page whose own name leads to this machine is not let in by it."""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import urlsplit

from swarmgate.config import Server

_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(?P<port>\d{1,5}))?")


class Hosts:
    """The names of this server: its host, loopback, `public_url`, `hosts`. An address in numbers cannot be rebound."""

    def __init__(self, settings: Server) -> None:
        public = urlsplit(settings.public_url).hostname
        self._names = {"localhost", settings.host, *settings.hosts, *([public] if public else [])}

    def are(self, host: str) -> bool:
        """Whether a `Host` header, with or without a port, names this server."""
        found = _HOST.fullmatch(host)
        if found is None:
            return False
        name = found["name"].lower()
        return name in self._names or _is_address(name.strip("[]"))


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True

"""Whether the server may listen where the settings say: beyond this machine it takes accounts, and TLS."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from swarmgate.config import Server
from swarmgate.errors import ConfigError
from swarmgate.server.accounts.accounts import Accounts


def is_loopback(host: str) -> bool:
    """Whether a host is this machine and nobody else can reach it there."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def exposure(settings: Server, accounts: Accounts) -> None:
    """Refuses to serve others without asking who they are, or in the clear.

    Raises:
        ConfigError: others could reach the server, and nobody could log in by more than a link of the terminal; or
            what they send would not be encrypted; or a proxy is in front of it that is not named.
    """
    public = urlsplit(settings.public_url).hostname or "localhost"
    if is_loopback(settings.host) and is_loopback(public) and not settings.behind_proxy:
        return
    if not settings.oidc.issuer and not any(each.has_password and not each.disabled for each in accounts.list()):
        raise ConfigError(
            f"The server does not listen beyond this machine ({settings.host}): no account has a password yet.",
            hint="start it on 127.0.0.1, log in by its link and set one, or set [server.oidc]",
        )
    if settings.behind_proxy and not settings.trusted_proxies:
        raise ConfigError(
            "The server is behind a proxy that is not named: nothing would say who asks.",
            hint='name it: [server] trusted_proxies = ["127.0.0.1"], or --trusted-proxy 127.0.0.1',
        )
    if not settings.tls and not settings.behind_proxy:
        raise ConfigError(
            f"The server does not listen beyond this machine ({settings.host}) without TLS.",
            hint="set tls_cert and tls_key in [server], or put a proxy that does TLS in front and say --behind-proxy",
        )

from __future__ import annotations

from typing import Any

import pytest
from tests.server.accounts.conftest import WORDS

from swarmgate.config import OpenIDConnect, Server
from swarmgate.errors import ConfigError
from swarmgate.server.accounts.accounts import Accounts
from swarmgate.server.accounts.exposure import exposure, is_loopback

TLS = {"tls_cert": "c.pem", "tls_key": "k.pem"}
PROXY = {"behind_proxy": True, "trusted_proxies": ("127.0.0.1",)}
PROVIDER = {"oidc": OpenIDConnect(issuer="https://id.example", client_id="x")}


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
def test_on_this_machine_nothing_is_asked_for(accounts: Accounts, host: str) -> None:
    assert is_loopback(host)
    exposure(Server(host=host), accounts)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "example.org", "127.0.0.1.example.org", "fe80::1"])  # noqa: S104 - refused
def test_beyond_it_accounts_and_tls_are(accounts: Accounts, host: str) -> None:
    assert not is_loopback(host)
    accounts.admin()  # it has no password: a link of the terminal is all that it has
    for more in ({}, TLS, PROXY):
        with pytest.raises(ConfigError, match="no account has a password"):
            exposure(Server(host=host, **more), accounts)
    accounts.create("ada", password=WORDS)
    with pytest.raises(ConfigError, match="without TLS"):
        exposure(Server(host=host), accounts)
    exposure(Server(host=host, **TLS), accounts)
    exposure(Server(host=host, **PROXY), accounts)


def test_a_provider_is_as_good_as_a_password(accounts: Accounts) -> None:
    with pytest.raises(ConfigError, match="no account"):
        exposure(Server(host="10.0.0.1", **TLS), accounts)
    exposure(Server(host="10.0.0.1", **TLS, **PROVIDER), accounts)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"behind_proxy": True, "trusted_proxies": ("10.0.0.2",)}, "no account"),
        ({"public_url": "https://swarm.example.org"}, "no account"),
        ({"behind_proxy": True, **PROVIDER}, "not named"),
    ],
)
def test_a_proxy_in_front_of_loopback_is_beyond_it(accounts: Accounts, settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        exposure(Server(**settings), accounts)


def test_a_disabled_account_is_nobody_who_could_log_in(accounts: Accounts) -> None:
    accounts.update(accounts.create("ada", password=WORDS).id, disabled=True)
    with pytest.raises(ConfigError, match="no account"):
        exposure(Server(host="10.0.0.1", **TLS), accounts)

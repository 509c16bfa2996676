"""Who asks, from where, under which name: addresses by which limits would be passed, and hosts that are not ours."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.server.http.conftest import serving

from swarmgate.config import Server, ServerLimits
from swarmgate.errors import TooMany
from swarmgate.server.http.limits.rates import Caller, RateLimits
from swarmgate.server.http.proxies import Proxies

FEW = ServerLimits(logins_per_minute=2)


@pytest.mark.parametrize(
    ("addresses", "let_in"),
    [
        ([f"2001:db8:1:2::{each:x}" for each in range(1, 6)], 2),  # one customer has all of a /64
        ([f"2001:db8:1:{each}::1" for each in range(1, 6)], 5),
        (["10.0.0.1", "::ffff:10.0.0.1", "10.0.0.1"], 2),
        (["fe80::1%eth0", "fe80::2%eth1", "fe80::3"], 2),
        ([f"10.0.0.{each}" for each in range(5)], 5),
    ],
)
async def test_one_network_has_one_allowance(tmp_path: Path, addresses: list[str], let_in: int) -> None:
    limits, passed = RateLimits(FEW, "sqlite", tmp_path), 0
    for each in addresses:
        try:
            await limits.hit("logins", Caller("", each))
        except TooMany:
            continue
        passed += 1
    await limits.aclose()
    assert passed == let_in


@pytest.mark.parametrize(
    ("said", "client"),
    [
        ("192.0.2.7:40001", "192.0.2.7"),
        ("[2001:db8::7]:40001", "2001:db8::7"),
        ("[2001:db8::7]", "2001:db8::7"),
        ("2001:db8::7", "2001:db8::7"),
        ("evil, 192.0.2.7:40001, 127.0.0.1:1", "192.0.2.7"),
    ],
)
def test_a_port_makes_nobody_somebody_else(said: str, client: str) -> None:
    assert Proxies(("127.0.0.1",)).read("127.0.0.1", [said], [], []).client == client


def test_the_host_that_was_checked_is_the_one_that_counts(tmp_path: Path) -> None:
    """A proxy that passes `Host` on as it came, beside the one that it means."""
    settings = Server(trusted_proxies=("127.0.0.1",), behind_proxy=True, public_url="https://swarm.example.org")
    with serving(tmp_path / "home", settings) as served, served.client() as client:
        headers = {"Host": "evil.example", "X-Forwarded-Host": "swarm.example.org"}
        answer = client.get("/who/", headers=headers, follow_redirects=False)
        assert answer.headers["location"] == "https://swarm.example.org/who"

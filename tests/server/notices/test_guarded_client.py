"""Notices reach public addresses only, whatever a name resolves to and wherever an answer points."""

from __future__ import annotations

import httpx
import pytest
from tests.server.notices.receiver import receiving

from swarmgate.server.notices.guarded_client import AddressRefused, guarded_client
from swarmgate.server.repositories.addresses import is_public


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "0.0.0.1", "100.64.0.1", "224.0.0.1",
        "255.255.255.255", "::1", "::", "fe80::1", "fc00::1", "fd00:ec2::254", "ff02::1", "::ffff:127.0.0.1",
        "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "64:ff9b::7f00:1", "2002:7f00:1::", "2001:0:7f00:1::",
    ],
)  # fmt: skip
def test_addresses_of_machine_and_inner_networks_are_not_for_everybody(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address", ["1.1.1.1", "93.184.216.34", "2606:4700::1111", "64:ff9b::101:101", "2002:101:101::"]
)
def test_public_addresses_are(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "url",
    [
        "https://127.0.0.1/", "https://localhost/", "https://[::1]/", "https://[::ffff:127.0.0.1]/", "https://2130706433/",
        "https://0x7f.1/", "https://169.254.169.254/latest/meta-data/", "https://0/",
    ],
)  # fmt: skip
async def test_an_address_within_is_refused_however_it_is_written(url: str) -> None:
    async with guarded_client() as client:
        with pytest.raises(AddressRefused, match=r"private network|this machine"):
            await client.post(url)


async def test_without_tls_only_named_hosts_are_spoken_to() -> None:
    async with guarded_client() as client:
        with pytest.raises(AddressRefused, match="over https") as refused:
            await client.post("http://example.test/")
    assert "private_hosts" in refused.value.hint


async def test_a_host_that_the_settings_name_is_reached_by_the_name_it_was_called() -> None:
    with receiving() as told:
        port = told.url.rpartition(":")[2]
        async with guarded_client(["LocalHost"]) as client:
            assert (await client.post(f"http://localhost:{port}/hook", content=b"x")).status_code == 204
    assert told.received[0].headers["host"] == f"localhost:{port}"
    assert told.received[0].path == "/hook"


async def test_a_redirect_leads_nowhere() -> None:
    with receiving() as told:
        told.answers.append((307, {"location": "http://169.254.169.254/"}))
        async with guarded_client(["127.0.0.1"]) as client:
            assert (await client.post(told.url, content=b"x")).status_code == 307
    assert len(told.received) == 1


async def test_a_name_that_nobody_knows_is_an_error_of_the_connection() -> None:
    async with guarded_client() as client:
        with pytest.raises(httpx.ConnectError, match="cannot be resolved"):
            await client.post("https://nobody.invalid/")

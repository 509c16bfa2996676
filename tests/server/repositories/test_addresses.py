from __future__ import annotations

import pytest

from swarmgate.errors import UsageError
from swarmgate.server.repositories.addresses import Address, Resolve, checked, normalised

PUBLIC = "93.184.216.34"


def at(*addresses: str) -> Resolve:
    return lambda _host, _port: addresses


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("https://example.org/a/b.git", "https://example.org/a/b.git"),
        (" https://example.org:8443/a ", "https://example.org:8443/a"),
        ("ssh://git@example.org/a/b.git", "ssh://git@example.org/a/b.git"),
        ("git@example.org:a/b.git", "ssh://git@example.org/a/b.git"),
        ("example.org:a/b", "ssh://example.org/a/b"),
    ],
)
def test_an_address_is_kept_with_its_scheme(text: str, normal: str) -> None:
    assert normalised(text) == normal


@pytest.mark.parametrize(
    "text",
    [
        "http://example.org/a",
        "git://example.org/a",
        "file:///etc/passwd",
        "ext::sh -c id",
        "ext::sh",
        "ftp://example.org/a",
        "https://user:secret@example.org/a",
        "https://token@example.org/a",
        "ssh://-oProxyCommand=id@example.org/a",
        "ssh://-oProxyCommand=id/a",
        "https://example.org",
        "https:///a",
        "https://example.org/a?x=1",
        "https://example.org/a#x",
        "https://example.org/a\nb",
        "https://example.org:99999/a",
        "https://exa mple.org/a",
        "--upload-pack=id",
        "-x:y",
        "https://[::1/a",
        "",
    ],
)
def test_what_is_no_address_over_https_or_ssh_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        normalised(text)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "192.168.0.1",
        "172.16.0.1",
        "169.254.169.254",
        "100.100.100.200",
        "0.0.0.0",  # noqa: S104 - nothing is bound to it
        "224.0.0.1",
        "255.255.255.255",
        "::1",
        "::",
        "fe80::1",
        "fd00:ec2::254",
        "::ffff:169.254.169.254",
        "64:ff9b::a9fe:a9fe",
        "2002:a9fe:a9fe::",
        "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    ],
)
def test_no_host_on_an_address_that_is_not_public_is_asked(address: str) -> None:
    with pytest.raises(UsageError, match=r"no public address"):
        checked("https://example.org/a", resolve=at(PUBLIC, address))
    named = f"https://[{address}]/a" if ":" in address else f"https://{address}/a"
    with pytest.raises(UsageError, match=r"no public address"):
        checked(named, resolve=at(address))


def test_a_host_that_the_settings_name_may_be_anywhere() -> None:
    found = checked("https://git.intra/a", private_hosts=("git.intra",), resolve=at("10.0.0.7"))
    assert found.settings["http.curloptResolve"] == "git.intra:443:10.0.0.7"


def test_git_is_held_to_the_address_that_was_checked_and_to_its_protocol() -> None:
    found = checked("https://example.org:8443/a", resolve=at("2606:2800:220:1::1"))
    assert found == Address(
        "https://example.org:8443/a",
        {
            "protocol.allow": "never",
            "protocol.https.allow": "always",
            "http.curloptResolve": "example.org:8443:[2606:2800:220:1::1]",
        },
    )
    by_ssh = checked("ssh://git@example.org/a", resolve=at(PUBLIC)).settings
    assert by_ssh["protocol.ssh.allow"] == "always"
    assert f"HostName={PUBLIC}" in by_ssh["core.sshCommand"]
    assert "HostKeyAlias=example.org" in by_ssh["core.sshCommand"]


def test_numbers_that_resolvers_take_for_addresses_are_looked_up_like_any_host() -> None:
    for host in ("2130706433", "0x7f000001", "127.1"):
        with pytest.raises(UsageError, match=r"no public address|not found"):
            checked(f"https://{host}/a")

"""`swarm serve` as a process of its own: what it prints, and how it ends."""

from __future__ import annotations

import signal
import ssl
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID
from tests.project import Project
from tests.server.served import served

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("with_", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_well_also_while_somebody_reads_the_stream(home: Path, with_: signal.Signals) -> None:
    with served(home) as server, httpx.Client(base_url=server.url, follow_redirects=True) as client:
        assert client.get("/healthz").status_code == 200
        server.log_in(client)
        with client.stream("GET", "/v1/events") as stream:
            read = stream.iter_raw()
            assert b": the feed" in next(read)
            code, errors = server.end(with_)
            assert code == 0, errors
            assert "graceful shutdown exceeded" not in errors, "it waited for the stream"
            assert [*read] == [], "the stream did not come to its end by itself"
        assert "Traceback" not in errors


def test_the_link_logs_in_once(home: Path) -> None:
    with served(home) as server:
        with httpx.Client(base_url=server.url) as client:
            server.log_in(client)
            assert client.get("/v1/events/past").status_code == 200
        with httpx.Client(base_url=server.url) as another:
            server.log_in(another, works=False)
            assert another.get("/v1/events/past").status_code == 401


def test_two_servers_never_share_a_home(home: Path) -> None:
    with served(home) as server:
        second = subprocess.run(
            [sys.executable, "-m", "swarmgate", "serve", "--port", "0", "--home", str(home)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert second.returncode == 2
        assert server.url in second.stderr


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--host", "0.0.0.0"), "no account has a password"),  # noqa: S104 - what is refused
        (("--behind-proxy",), "no account has a password"),
        (("--store", "mysql://x"), "store"),
        (("--tls-cert", "x.pem"), "tls_key"),
        (("--yes",), "--yes approves in the demo alone"),
    ],
)
def test_it_refuses_what_would_let_others_in_or_makes_no_sense(home: Path, options: tuple[str, ...], told: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "swarmgate", "serve", "--port", "0", "--home", str(home), *options],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_a_port_that_is_taken_is_told_with_a_way_out(home: Path, tmp_path: Path) -> None:
    with served(home) as server:
        port = server.url.rpartition(":")[2]
        done = subprocess.run(
            [sys.executable, "-m", "swarmgate", "serve", "--port", port, "--home", str(tmp_path / "other")],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 2
        assert f"port {port}" in done.stderr
        assert "--port 0" in done.stderr


def test_the_project_that_it_is_started_in_is_shown(home: Path, project: Project) -> None:
    with served(home, cwd=project.root / "src") as server, httpx.Client(base_url=server.url, timeout=60) as client:
        assert server.told["project"] == str(project.root)
        server.log_in(client)
        shown = client.get("/v1/repos").json()["items"]
        assert [each["source"] for each in shown] == [str(project.root)]


def test_the_link_is_opened_in_the_browser_that_the_user_has(home: Path, tmp_path: Path) -> None:
    browser, seen = tmp_path / "browser", tmp_path / "seen"
    browser.write_text(f'#!/bin/sh\necho "$1" > {seen}.new && mv {seen}.new {seen}\n')
    browser.chmod(0o755)
    with served(home, "--open", BROWSER=str(browser)) as server:
        end = time.monotonic() + 30
        while not seen.exists() and time.monotonic() < end:
            time.sleep(0.05)
        assert seen.read_text().strip() == server.told["link"]


def test_it_does_tls_itself_with_a_certificate(home: Path, tmp_path: Path) -> None:
    cert, key = self_signed(tmp_path)
    with served(home, "--tls-cert", str(cert), "--tls-key", str(key)) as server:
        assert server.url.startswith("https://127.0.0.1:")
        with httpx.Client(base_url=server.url, verify=ssl.create_default_context(cafile=cert), timeout=60) as client:
            assert client.get("/healthz").status_code == 200
            server.log_in(client)
            assert "__Host-swarm_session" in client.cookies
            assert client.get("/v1/me").json()["account"]["name"] == "admin"


def self_signed(folder: Path) -> tuple[Path, Path]:
    """A certificate of this machine that nobody vouches for, and its key."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "swarm")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    cert, secret = folder / "cert.pem", folder / "key.pem"
    cert.write_bytes(made.public_bytes(Encoding.PEM))
    secret.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return cert, secret

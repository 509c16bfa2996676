"""`swarm serve` as a process of its own: what it prints, and how it ends."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
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

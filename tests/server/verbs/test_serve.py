"""`swarm serve` as a process of its own: what it prints, and how it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

pytestmark = pytest.mark.slow


class Served:
    """A server that was started at a terminal with `--json`."""

    def __init__(self, process: subprocess.Popen[str], told: dict[str, Any]) -> None:
        self.process, self.told = process, told

    @property
    def url(self) -> str:
        return str(self.told["url"])

    def end(self, with_: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """Its exit code, and what it wrote on stderr."""
        self.process.send_signal(with_)
        _, errors = self.process.communicate(timeout=30)
        return self.process.returncode, errors


@contextmanager
def served(home: Path, *options: str, cwd: Path | None = None, **environ: str) -> Iterator[Served]:
    process = subprocess.Popen(
        [sys.executable, "-m", "swarmgate", "serve", "--port", "0", "--home", str(home), "--json", *options],
        cwd=cwd,
        env={**os.environ, **environ},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    lines = []
    while (line := process.stdout.readline()) and line != "}\n":
        lines.append(line)
    try:
        assert line, process.communicate()[1]
        yield Served(process, json.loads("".join([*lines, line])))
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("with_", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_well_also_while_somebody_reads_the_stream(home: Path, with_: signal.Signals) -> None:
    with served(home) as server, httpx.Client(base_url=server.url, follow_redirects=True) as client:
        assert client.get("/healthz").status_code == 200
        _log_in(client, server)
        with client.stream("GET", "/v1/events") as stream:
            read = stream.iter_raw()
            assert b": the feed" in next(read)
            began = time.monotonic()
            code, errors = server.end(with_)
            assert code == 0, errors
            assert time.monotonic() - began < 9, "it waited for the stream"
            assert [*read] in ([], [b""])
        assert "Traceback" not in errors


def test_the_link_logs_in_once(home: Path) -> None:
    with served(home) as server:
        with httpx.Client(base_url=server.url) as client:
            _log_in(client, server)
            assert client.get("/v1/events/past").status_code == 200
        with httpx.Client(base_url=server.url) as another:
            _log_in(another, server, works=False)
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


def _log_in(client: httpx.Client, server: Served, *, works: bool = True) -> None:
    page, _, token = server.told["link"].partition("?token=")
    assert page == f"{server.url}/login"
    answer = client.post("/login/link", data={"token": token}, headers={"Origin": server.url}, follow_redirects=False)
    assert answer.status_code == (303 if works else 401)

"""`swarm serve` as a process of its own, started as at a terminal with `--json`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx


class Served:
    """A server that was started at a terminal with `--json`."""

    def __init__(self, process: subprocess.Popen[str], told: dict[str, Any]) -> None:
        self.process, self.told = process, told

    @property
    def url(self) -> str:
        return str(self.told["url"])

    def log_in(self, client: httpx.Client, *, works: bool = True) -> None:
        """Uses the link up, as its page does."""
        page, _, token = self.told["link"].partition("?token=")
        assert page == f"{self.url}/login"
        answer = client.post("/login/link", data={"token": token}, headers={"Origin": self.url}, follow_redirects=False)
        assert answer.status_code == (303 if works else 401)

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

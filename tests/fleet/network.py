"""A remote behind a network of its own, whose cable can be pulled: a network namespace with a git daemon in it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.project import until


@dataclass(frozen=True)
class Link:
    """The way to a remote."""

    name: str
    address: str

    def cut(self) -> None:
        """What is sent vanishes, and nobody is told so."""
        _ip("link", "set", f"{self.name}a", "down")

    def mend(self) -> None:
        _ip("link", "set", f"{self.name}a", "up")


@contextmanager
def linked(repository: Path) -> Iterator[Link]:
    """A git daemon that serves a bare repository behind a link of its own; skips where none can be made."""
    if os.getuid() or not shutil.which("ip"):
        pytest.skip("a network namespace takes root, and ip: apt-get install iproute2")
    number = os.getpid() % 250
    name, here, there = f"swt{number}", f"10.231.{number}.1", f"10.231.{number}.2"
    try:
        _ip("netns", "add", name)
    except subprocess.CalledProcessError as error:
        pytest.skip(f"no network namespace can be made here: {error.stderr.strip()}")
    daemon = None
    try:
        _ip("link", "add", f"{name}a", "type", "veth", "peer", "name", f"{name}b", "netns", name)
        _ip("addr", "add", f"{here}/30", "dev", f"{name}a")
        _ip("link", "set", f"{name}a", "up")
        for command in (f"addr add {there}/30 dev {name}b", f"link set {name}b up"):
            _ip("-n", name, *command.split())
        serve = ["git", "daemon", "--reuseaddr", "--export-all", "--enable=receive-pack", f"--listen={there}"]
        place = [f"--base-path={repository.parent}", str(repository)]
        daemon = subprocess.Popen(["ip", "netns", "exec", name, *serve, *place], stderr=subprocess.DEVNULL)
        link = Link(name, f"git://{there}/{repository.name}")
        until(
            lambda: subprocess.run(["git", "ls-remote", link.address], capture_output=True, check=False).returncode == 0
        )
        yield link
    finally:
        if daemon is not None:
            daemon.terminate()
            daemon.wait(10)
        _ip("netns", "del", name)  # and the link with it


def _ip(*args: str) -> None:
    subprocess.run(["ip", *args], check=True, capture_output=True, text=True)

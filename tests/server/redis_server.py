"""A real redis-server of one test, on a socket file or a free port; it can be killed, and brought back."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest


class RedisServer:
    """One redis-server with its files in a folder. Each write is on its disk before it is answered.

    Args:
        folder: short: the path of a socket has 107 bytes at most.
        program: the redis-server.
        tcp: listen on a free port instead of a socket file.
    """

    def __init__(self, folder: Path, program: str, *, tcp: bool = False, password: str = "") -> None:
        self.folder, self._program, self._password = folder, program, password
        self._port = _free_port() if tcp else 0
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"redis://127.0.0.1:{self._port}/0" if self._port else f"unix://{self.folder}/redis.sock"

    def start(self) -> None:
        """Starts it, or brings it back; returns when it answers."""
        options = {
            "--port": str(self._port),
            "--dir": str(self.folder),
            "--save": "",
            "--appendonly": "yes",
            "--appendfsync": "always",
            **({} if self._port else {"--unixsocket": f"{self.folder}/redis.sock"}),
            **({"--requirepass": self._password} if self._password else {}),
        }
        arguments = [part for option in options.items() for part in option]
        self._process = subprocess.Popen(
            [self._program, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        ends = time.monotonic() + 20
        while not self._answers():
            assert time.monotonic() < ends, "redis-server does not start"
            time.sleep(0.01)

    def kill(self) -> None:
        """Ends it as a power cut of its own would."""
        assert self._process is not None
        self._process.send_signal(signal.SIGKILL)
        self._process.wait(90)

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(90)

    def forget(self) -> None:
        """Deletes what it has on its disk; it has to be down."""
        shutil.rmtree(self.folder / "appendonlydir", ignore_errors=True)

    def _answers(self) -> bool:
        try:
            with socket.socket(socket.AF_INET if self._port else socket.AF_UNIX) as probe:
                probe.settimeout(5)
                probe.connect(("127.0.0.1", self._port) if self._port else f"{self.folder}/redis.sock")
                probe.sendall(b"PING\r\n")
                return probe.recv(64).startswith((b"+PONG", b"-NOAUTH"))
        except OSError:
            return False


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def redis_program() -> str:
    """The redis-server of this machine; the test is skipped where there is none."""
    if (program := shutil.which("redis-server")) is None:
        pytest.skip("redis-server is not installed")
    return program


@pytest.fixture
def redis_server(tmp_path_factory: pytest.TempPathFactory, redis_program: str) -> Iterator[RedisServer]:
    """A running redis-server."""
    server = RedisServer(tmp_path_factory.mktemp("r"), redis_program)
    server.start()
    yield server
    server.stop()

"""A real PostgreSQL from the system's packages, in a temporary folder on a unix socket, ended with the tests."""

from __future__ import annotations

import itertools
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

BINARIES = max(Path("/usr/lib/postgresql").glob("*/bin"), default=Path("/usr/lib/postgresql"))
_QUICK = "-c fsync=off -c synchronous_commit=off -c full_page_writes=off -c listen_addresses= -c max_connections=200"


@dataclass
class Server:
    """One server: its folder holds data and socket."""

    folder: Path
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    def start(self) -> None:
        options = f"{_QUICK} -k {self.folder}"
        data, log = str(self.folder / "data"), str(self.folder / "log")
        self._as_user("pg_ctl", "-D", data, "-l", log, "-o", options, "-w", "start")

    def stop(self, how: str = "immediate") -> None:
        self._as_user("pg_ctl", "-D", str(self.folder / "data"), "-m", how, "-w", "stop")

    def create(self, name: str = "") -> str:
        """A fresh database; its address."""
        name = name or f"fleet_{os.getpid()}_{next(self._numbers)}"
        self.execute(f"CREATE DATABASE {name}")
        return self.address(name)

    def drop(self, address: str) -> None:
        """Drops a database and all connections to it."""
        self.execute(f"DROP DATABASE {address.rpartition('=')[2]} WITH (FORCE)")

    def address(self, name: str) -> str:
        return f"host={self.folder} user={_user()} dbname={name}"

    def execute(self, statement: str) -> list[Any]:
        with psycopg.connect(self.address("postgres"), autocommit=True) as connection:
            found = connection.execute(statement.encode())
            return found.fetchall() if found.description else []

    def _as_user(self, program: str, *args: str) -> None:
        command = [str(BINARIES / program), *args]
        if os.getuid() == 0:  # it refuses to run as root
            command = ["runuser", "-u", _user(), "--", *command]
        with (self.folder / "told").open("w+") as told:  # a pipe would stay open in the server
            done = subprocess.run(command, cwd="/", stdout=told, stderr=told, check=False)
            told.seek(0)
            assert done.returncode == 0, f"{program}: {told.read()}"


def _user() -> str:
    return "postgres" if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name


@contextmanager
def serving() -> Iterator[Server]:
    """A server that runs.

    Raises:
        FileNotFoundError: there is none on this machine: apt-get install postgresql.
    """
    if not (BINARIES / "initdb").exists():
        raise FileNotFoundError(BINARIES / "initdb")
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
    if os.getuid() == 0:
        shutil.chown(folder, _user())
    folder.chmod(0o755)
    server = Server(folder)
    try:
        server._as_user("initdb", "-D", str(folder / "data"), "-A", "trust", "-N", "--no-instructions", "-E", "UTF8")
        server.start()
        yield server
        server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fleet import postgres
from tests.fleet.machines import Machines
from tests.fleet.remote import Remote, remote_of
from tests.project import Project, _after, _template, once, project

__all__ = ["_after", "_template", "once", "project"]


@pytest.fixture
def remote(project: Project, tmp_path: Path) -> Remote:
    """A bare remote of a project whose scripted model plans two tasks, and does everything well."""
    return remote_of(project, tmp_path)


@pytest.fixture(scope="session")
def server() -> Iterator[postgres.Server]:
    """A PostgreSQL of this run."""
    if not (postgres.BINARIES / "initdb").exists():
        pytest.skip("there is no PostgreSQL here: apt-get install postgresql")
    with postgres.serving() as started:
        yield started


@pytest.fixture
def database(server: postgres.Server) -> Iterator[str]:
    """The address of an empty database."""
    address = server.create()
    yield address
    server.drop(address)


@pytest.fixture
def machines(remote: Remote, database: str) -> Iterator[Machines]:
    """A fleet without workers."""
    made = Machines(remote, database)
    made.configure()
    yield made
    made.end()

from __future__ import annotations

import os
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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whole fleets take minutes of two processors: they run where `SWARMGATE_FLEETS` is set."""
    if os.environ.get("SWARMGATE_FLEETS"):
        return
    for item in items:
        if item.get_closest_marker("slow") and item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(
                pytest.mark.skip(reason="a whole fleet: SWARMGATE_FLEETS=1 python -m pytest -m slow tests/fleet")
            )

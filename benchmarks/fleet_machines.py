"""What the benchmarks of the fleet share: a PostgreSQL, a small project with its bare remote, and scripted models."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.fleet.machines import Machines
from tests.fleet.postgres import Server, serving
from tests.fleet.remote import remote_of
from tests.project import BARE_PYTEST, DEFAULTS, SUITES, Project, Rule, _make, plan

from swarmgate.engine.initialise import initialise
from swarmgate.fleet.goals.goal import Goal
from swarmgate.testing import ScriptedServer

ALONE = {"auto": ["plan", "phase"]}


@contextlib.contextmanager
def fleet(tasks: list[str], *rules: Rule, latency_s: float = 0.0) -> Iterator[tuple[Machines, Server]]:
    """A fleet without workers, whose models answer after so many seconds; all of it is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="fleet-") as place, serving() as server:
        folder = Path(place)
        os.environ |= {
            **BARE_PYTEST,
            "XDG_CACHE_HOME": str(folder / "cache"),
            "XDG_CONFIG_HOME": str(folder / "config"),
        }
        root = folder / "project"
        root.mkdir()
        _make(root, SUITES["unittest"][1])
        initialise(root)
        project = Project(root, "unittest")
        project.server = ScriptedServer([*DEFAULTS, plan(*tasks), *rules], latency_s=latency_s, pace=0.002).start()
        machines = Machines(remote_of(project, folder), server.create())
        machines.configure(approve=ALONE)
        try:
            yield machines, server
        finally:
            machines.end()
            project.silence()


def submitted(machines: Machines, count: int) -> list[Goal]:
    """So many goals, in line."""
    return [Goal.named(machines.fleet.submit("Add parts").goal, "") for _ in range(count)]


def table(head: list[str], rows: list[list[object]]) -> None:
    """Prints a table of markdown."""
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for row in rows:
        print(f"| {' | '.join(f'{each:.2f}' if isinstance(each, float) else str(each) for each in row)} |")
    print(flush=True)

"""A fleet on one machine: a database, a remote, and workers in processes of their own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.fleet.remote import Remote
from tests.project import until

from swarmgate.config import Fleet as Settings
from swarmgate.fleet.facade import Fleet

QUICK = {"heartbeat_s": 0.3, "dead_s": 2.0, "poll_s": 0.1, "patience_s": 20, "retry_s": 1, "drain_s": 20}
"""Signs of life as often as tests need."""


@dataclass
class Machines:
    """The processes of some workers, which end with the test."""

    remote: Remote
    database: str
    processes: list[subprocess.Popen[str]] = field(default_factory=list)

    def configure(self, **settings: Any) -> None:
        """Writes the settings of the project, which are those of all machines here: tables, or keys of `[fleet]`."""
        own = {key: value for key, value in settings.items() if key in Settings.model_fields}
        tables = {key: value for key, value in settings.items() if key not in own}
        fleet = {**QUICK, "database": self.database, "home": str(self.remote.home), **own}
        repository = {"remote": str(self.remote.path), "base": "main"}
        self.remote.project.configure(fleet=fleet, **{"fleet__repositories__calc": repository, **tables})

    @property
    def fleet(self) -> Fleet:
        return Fleet(self.remote.project.root)

    def start(self, *args: str, **environ: str) -> subprocess.Popen[str]:
        """A worker; what it says is in a file that `said` reads."""
        place = self.remote.home.parent / f"worker-{len(self.processes)}.log"
        with place.open("w") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "swarmgate", "worker", "--name", f"w{len(self.processes)}", *args],
                cwd=self.remote.project.root,
                env={**os.environ, **environ},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                text=True,
                start_new_session=True,
            )
        self.processes.append(process)
        return process

    def said(self) -> str:
        """What all workers said."""
        return "\n".join(each.read_text() for each in sorted(self.remote.home.parent.glob("worker-*.log")))

    def standing(self) -> dict[str, str]:
        """How each goal stands, by its id."""
        return {goal: str(summary.standing) for goal, summary in self.remote.summaries().items()}

    def wait(self, standing: str, seconds: float = 300.0) -> None:
        """Waits until every goal stands like this."""

        def so() -> bool:
            time.sleep(0.1)  # the processors are the workers'
            found = self.standing()
            return bool(found) and set(found.values()) == {standing}

        try:
            until(so, seconds)
        except AssertionError:
            raise AssertionError(f"{self.standing()}\n{self.said()[-6000:]}") from None

    def end(self) -> None:
        """Ends all of them, stopped ones too."""
        for process in self.processes:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
        for process in self.processes:
            process.wait(30)


def entries(home: Path) -> list[str]:
    """The checkouts that are there."""
    return [each.name for each in (home / "work").iterdir()]

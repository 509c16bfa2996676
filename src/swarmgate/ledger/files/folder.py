"""The paths inside `.swarm/`, its creation, and the quarantine of bytes that would otherwise be lost."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path

from swarmgate import assets
from swarmgate.errors import NotAProject, UsageError
from swarmgate.journal.disk_errors import writing
from swarmgate.workspace.files.atomic import replace
from swarmgate.workspace.files.folders import make
from swarmgate.workspace.git.folder import is_project

_MAKE = "Make one with: swarm init. If it was moved away, move it back."

_BACK = "Bring the ledger back with: swarm verify --restore. To begin anew: swarm init"


class SwarmFolder:
    """The `.swarm/` folder of one project. Paths only; nothing is read or made until it is asked for."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.path = root / ".swarm"
        self.config = self.path / "config.toml"
        self.ledger = self.path / "ledger.jsonl"
        self.plan_md = self.path / "plan.md"
        self.plan_json = self.path / "plan.json"
        self.context = self.path / "context.md"
        self.history = self.path / "history"
        self.evidence = self.path / "evidence"
        self.gates = self.path / "gates"
        self.prompts = self.path / "prompts"
        self.traces = self.path / "traces"
        self.discussions = self.path / "discussions"
        self.quarantine = self.path / "quarantine"
        self.runtime = self.path / "runtime"
        self.lock = self.runtime / "lock"
        self.stop_request = self.runtime / "stop"
        self.models = self.runtime / "models.json"
        self.breakers = self.runtime / "breakers.json"
        self.progress = self.runtime / "progress.json"
        self.chats = self.runtime / "chats.sqlite3"
        self.records = self.path / "discussions.sqlite3"
        self.automation_log = self.path / "events.jsonl"
        self.watch_lock = self.runtime / "watch.lock"
        self.watch_stop = self.runtime / "watch.stop"
        self.watch_log = self.runtime / "watch.log"
        self.dead_letters = self.runtime / "dead-letters.jsonl"
        self.status = self.runtime / "status.json"
        self.preflight = self.runtime / "preflight"
        self.conversations = self.runtime / "conversations"
        self.hooks = self.runtime / "hooks"
        self.handoff = self.path / "handoff.md"
        self.report = self.path / "report.html"
        self.debate_worth = self.path / "debate-worth.json"

    @classmethod
    def find(cls, start: Path) -> SwarmFolder:
        """The folder of the project that `start` lies in: the nearest `.swarm/` upward, within the repository.

        Raises:
            NotAProject: there is none up to the root of the git repository.
        """
        passed = []
        for place in (start, *start.parents):
            folder = cls(place)
            if folder.exists():
                return folder
            passed.append(folder)
            if (place / ".git").exists():
                folder = next((each for each in passed if each.known()), folder)
                there = f"What lies in {folder.path} is no project" if folder.path.is_dir() else ""
                known = folder.known()
                raise NotAProject(
                    f"{there or f'There is no .swarm/ folder in {folder.root}'}{known}.", hint=_BACK if known else _MAKE
                )
        raise NotAProject(
            f"{start} is not inside a git repository.",
            hint="cd into your project, or make one here: swarm init --commit",
        )

    def known(self) -> str:
        """What git's folder knows of the ledger, as the end of a sentence that says that it is gone; empty: nothing."""
        from swarmgate.ledger.files.high_water_mark import HighWater  # noqa: PLC0415 - for start-up: pydantic

        mark = HighWater(self.root).read()
        return f", and its ledger had {mark.seq} lines at {mark.time}" if mark else ""

    def exists(self) -> bool:
        """Whether the project was initialised here.

        Raises:
            UsageError: `.swarm` is a symbolic link: the ledger would lie outside the repository.
        """
        if self.path.is_symlink():
            raise UsageError(
                f"{self.path} is a symbolic link; the ledger must lie in the repository itself.",
                hint="Replace the link by a real folder.",
            )
        return is_project(self.root)

    def left_by_work(self) -> tuple[str, ...]:
        """The names of what is there only where a ledger was."""
        found = [place.name for place in (self.plan_md, self.evidence) if place.exists()]
        asked = (name.name.partition("-")[0] for name in self.traces.glob("*.json"))  # by ledger position
        return (*found, *([self.traces.name] if any(each.isdigit() and int(each) for each in asked) else []))

    def create(self) -> None:
        """Copies the template; files that are there already stay as they are."""
        self.exists()
        for source in sorted(assets.template().rglob("*")):
            target = self.path / source.relative_to(assets.template())
            if source.is_dir():
                target.mkdir(parents=True, exist_ok=True)
            elif not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target)
        self.runtime.mkdir(exist_ok=True)

    def keep(self, name: str, data: bytes) -> Path:
        """Puts bytes that swarmgate will not use, and must not lose, into the quarantine; returns the new file."""
        target = self.quarantine_folder(name)
        with writing(target):
            make(target.parent)
            replace(target, data)
        return target

    def quarantine_folder(self, name: str) -> Path:
        """A path in the quarantine that does not exist yet: time, a counter where needed, and the name."""
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
        candidate, counter = self.quarantine / f"{stamp}-{name}", 1
        while candidate.exists():
            counter += 1
            candidate = self.quarantine / f"{stamp}.{counter}-{name}"
        return candidate

    def relative(self, path: Path) -> str:
        """A path of the project as messages show it."""
        return path.relative_to(self.root).as_posix()

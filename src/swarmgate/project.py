"""The project record: folder, config, environment, flags and listener, from which every facade is made.

project = Project(Path("my-repo"))
print(project.state.goal)
"""

# ruff: noqa: PLC0415 - late, for start-up time: `swarm status` needs neither settings nor git, and `--help` no ledger

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swarmgate.domain.actor import USER
from swarmgate.domain.progress import Listener, Progress, silent
from swarmgate.errors import NotAProject, StaleWriter, SwarmError
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.publication import LOCAL, Publication

if TYPE_CHECKING:
    from swarmgate.config import Config
    from swarmgate.domain.capabilities import Capabilities
    from swarmgate.domain.state.state import State
    from swarmgate.domain.usage import Usage
    from swarmgate.ledger.councils.sessions import Session, UnsettledUsage
    from swarmgate.ledger.ledger import Ledger
    from swarmgate.workspace.git.repository import Repository
    from swarmgate.workspace.sandbox.command_runner import CommandRunner


def settings_at(here: Path) -> tuple[Path, Config]:
    """The folder in which the commands of agents run, and the settings; outside of a project the default ones.

    Raises:
        NotAProject: there is no such folder.
        ConfigError: the settings cannot be read.
    """
    from swarmgate.config import load

    if not here.is_dir():
        raise NotAProject(f"There is no folder {here}.")
    try:
        folder = SwarmFolder.find(here)
    except NotAProject:
        tops = (each for each in (here, *here.parents) if (each / ".git").exists())
        return next(tops, here), load()
    return folder.root, load(project_file=folder.config)


@dataclass(frozen=True)
class Project:
    """One project as it was asked for; folder and settings are read when they are first needed.

    Attributes:
        start: any folder inside the repository.
        listener: told about progress.
        environ: where keys and `SWARM_*` settings are looked up; the process's own by default.
        flags: settings that win over files and environment, nested as in config.toml.
        actor: the person who decides, as the ledger names them: `user`, or on the team server `user:ada`.
        expect: the ledger position that a decision is based on; None: whichever it is at.
        publication: hears of everything that is recorded in the ledger.
    """

    start: Path
    listener: Listener = silent
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    flags: Mapping[str, Any] = field(default_factory=dict)
    actor: str = USER
    expect: int | None = None
    publication: Publication = LOCAL

    @cached_property
    def folder(self) -> SwarmFolder:
        """The project's `.swarm/`; raises `NotAProject` where there is none."""
        if not self.start.is_dir():
            raise NotAProject(f"There is no folder {self.start}.")
        return SwarmFolder.find(self.start)

    @cached_property
    def config(self) -> Config:
        """The merged settings; raises `ConfigError`."""
        from swarmgate.config import load

        return load(project_file=self.folder.config, environ=self.environ, flags=self.flags)

    def anew(self, **changes: Any) -> Project:
        """The same project, its settings read anew; with `changes` of the attributes."""
        return replace(self, **{"start": self.folder.root, **changes})

    @property
    def state(self) -> State:
        """The fold over the ledger as it is now."""
        return self.ledger().state

    def ledger(self) -> Ledger:
        """The ledger as it is now, to be read.

        Raises:
            LedgerError: it cannot be read, or is damaged.
        """
        from swarmgate.ledger.ledger import Ledger

        return Ledger.read(self.folder)

    def writing(self) -> Ledger:
        """The ledger for writing, after the hand edits of the plan files were taken in or refused.

        Raises:
            LedgerLocked: another process is writing.
            UsageError: an edit was refused; it is kept, and the file is as the ledger says again.
            StaleWriter: it is not at the position that is expected.
        """
        from swarmgate.ledger.recovery.open_for_writing import opened

        ledger = opened(self.folder, self.notice, self.publication)
        if self.expect in (None, ledger.state.seq):
            return ledger
        ledger.close()
        raise StaleWriter(
            f"The ledger has moved on: it was looked at when it was at {self.expect}, and is at {ledger.state.seq}.",
            hint="Look at what is new, and decide again.",
        )

    def session(self, name: str) -> Session:
        """What keeps the calls of one council outside of a run, such as `debate-20261121-224500-3f2a`."""
        from swarmgate.ledger.councils.sessions import Session

        return Session(self.folder, name)

    def used_under(self, record: str) -> Usage:
        """What was used under the record of a council, and under those whose ids go on from its own with a dot."""
        from swarmgate.ledger.councils.sessions import by_record, used

        return used(by_record(self.folder).get(record, ()))

    def unsettled_usage(self, own: str) -> UnsettledUsage:
        """What the other sessions used that the ledger does not count yet."""
        from swarmgate.ledger.councils.sessions import UnsettledUsage

        return UnsettledUsage(self.folder, own=own)

    def probed(self) -> dict[str, Capabilities]:
        """What is known of models, by `provider/model`."""
        from swarmgate.ledger.files import model_probes

        return model_probes.load(self.folder)

    def remember(self, model: str, base_url: str, change: Callable[[Capabilities], Capabilities]) -> None:
        """Keeps what a call found out of a model."""
        from swarmgate.ledger.files import model_probes

        model_probes.remember(self.folder, model, base_url, change)

    def repository(self) -> Repository:
        """The user's repository.

        Raises:
            WorkspaceError: there is no git, or no repository.
        """
        from swarmgate.workspace.git.repository import Repository

        return Repository.discover(self.folder.root)

    def command_runner(
        self, config: Config | None = None, guarded: tuple[Path, ...] = (), *, root: Path | None = None
    ) -> CommandRunner:
        """What runs the commands of agents, the tests, and the programs that gates start; `guarded` stays as it is.

        Args:
            config: the settings; None: the project's.
            guarded: what no command writes, beside `.swarm/`.
            root: of the repository, for who knows it; None: git is asked.

        Raises:
            MissingRequirement: there is no such sandbox here.
            WorkspaceError: the repository lies so that nothing can guard it.
        """
        from swarmgate.gates import confinement

        settings = (config or self.config).commands
        return confinement.confined(root or self.repository().root, settings, guarded=(self.folder.path, *guarded))

    def guidance(self, about: str) -> str:
        """The standing guidance in context.md of the domains that a text is about, as lists; empty: there is none.

        Raises:
            UsageError: context.md cannot be read.
        """
        from swarmgate.ledger.context import guidance

        entries = guidance.read(self.folder.context)
        return guidance.facts(guidance.applying(entries, task="", phase=0, text=about))

    def redact(self, text: str) -> str:
        """The text without the keys of this project, and without what looks like one."""
        from swarmgate.domain.text.redaction import redact

        return redact(text, self.keys)

    def cleaner(self) -> Callable[[str], str]:
        """What cleans the project's texts for programs: of its keys, of what looks like one, of control characters.

        Where its settings cannot be read, nobody knows its keys by their names; those that the environment holds go
        all the same.
        """
        from swarmgate.domain.text.cleaning import cleaning, secrets_of

        secrets = secrets_of(self.environ)
        with suppress(SwarmError):
            secrets += self.keys
        return cleaning(secrets)

    @property
    def keys(self) -> tuple[str, ...]:
        """The values of the keys of all providers."""
        return self.config.keys(self.environ)

    def notice(self, text: str) -> None:
        """Tells the listener something that the user should know."""
        self.listener(Progress(kind="notice", text=text))

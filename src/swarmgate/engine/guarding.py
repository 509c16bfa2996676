"""`swarm guard explain`: how a command line is read, what the policy says of it, and what would confine it."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swarmgate.errors import MissingRequirement, NotAProject
from swarmgate.ledger.folder import SwarmFolder
from swarmgate.workspace.sandbox.choice import choose
from swarmgate.workspace.shell.policy import judge, shown

if TYPE_CHECKING:
    from swarmgate.config import Config
    from swarmgate.workspace.shell.verdict import Judgement


@dataclass(frozen=True, slots=True)
class Explained:
    """What would happen to a command line.

    Attributes:
        command: the line.
        root: the folder in which it would run.
        judgement: what the policy says, and how the line was read.
        sandbox: what would confine it; empty where nothing can.
        weaknesses: what that does not hold back.
        hindrances: what that does not let through, though a build may need it.
        problem: why nothing can confine it, so that it would not run; empty otherwise.
    """

    command: str
    root: Path
    judgement: Judgement
    sandbox: str
    weaknesses: tuple[str, ...]
    hindrances: tuple[str, ...]
    problem: str

    @property
    def runs(self) -> bool:
        """Whether `run_command` would start it."""
        return self.judgement.allowed and not self.problem

    def as_json(self) -> dict[str, Any]:
        """All of it, JSON-ready."""
        return {
            "command": self.command,
            "root": str(self.root),
            "allowed": self.judgement.allowed,
            "allowed_by": self.judgement.allowed_by,
            "runs": self.runs,
            "commands": [
                {
                    "words": [str(word) for word in each.words],
                    "redirects": [f"{redirect.operator} {redirect.target}" for redirect in each.redirects],
                    "cwd": each.cwd,
                    "via": list(each.via),
                }
                for each in self.judgement.commands
            ],
            "reasons": [asdict(reason) for reason in self.judgement.reasons],
            "sandbox": {
                "name": self.sandbox,
                "weaknesses": list(self.weaknesses),
                "hindrances": list(self.hindrances),
                "problem": self.problem,
            },
        }

    def lines(self) -> list[str]:
        """For people."""
        lines = ["Read as:", *(f"  {line}" for line in shown(self.judgement.commands) or ["(nothing)"])]
        for reason in self.judgement.reasons:
            head = f"Refused by {reason.rule}: {reason.command}"
            lines += ["", head, f"  why:     {reason.why}", f"  instead: {reason.instead}"]
        if self.judgement.allowed_by:
            lines += ["", f"Let through by [commands] allow: {self.judgement.allowed_by}"]
        confined = f"Sandbox: {self.sandbox}" if self.sandbox else f"No sandbox: {self.problem}"
        lines += ["", confined, *(f"  it does not hold back: {each}" for each in self.weaknesses)]
        lines += [f"  it does not let through: {each}" for each in self.hindrances]
        return [*lines, f"It would {'run' if self.runs else 'not run'} in {self.root}."]


def explain(start: Path | None, command: str) -> Explained:
    """What would happen to a command line of an agent; outside of a project by the default settings.

    Raises:
        ConfigError: the settings cannot be read.
    """
    here = (start or Path.cwd()).resolve()
    root, config = _project(here)
    judgement = judge(
        command,
        root=root,
        allow=config.commands.allow,
        writable=[Path(each).expanduser() for each in config.commands.writable],
        home=Path(os.path.expanduser("~")),  # noqa: PTH111 - Path.home() raises where there is none
    )
    try:
        sandbox = choose(config.commands.sandbox)
    except MissingRequirement as error:
        return Explained(command, root, judgement, "", (), (), error.message)
    return Explained(command, root, judgement, sandbox.name, sandbox.weaknesses, sandbox.hindrances, "")


def _project(here: Path) -> tuple[Path, Config]:
    """The folder in which commands run, and the settings."""
    from swarmgate.config import load  # noqa: PLC0415 - pydantic comes with it

    if not here.is_dir():
        raise NotAProject(f"There is no folder {here}.")
    try:
        folder = SwarmFolder.find(here)
    except NotAProject:
        tops = (each for each in (here, *here.parents) if (each / ".git").exists())
        return next(tops, here), load()
    return folder.root, load(project_file=folder.config)

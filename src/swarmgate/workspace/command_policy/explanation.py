"""Explains how a command line is parsed and judged, and which sandbox would confine it: `swarm guard explain`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swarmgate.errors import MissingRequirement
from swarmgate.workspace.command_policy.policy import judge, rendered
from swarmgate.workspace.sandbox.choice import choose

if TYPE_CHECKING:
    from swarmgate.workspace.command_policy.verdict import Judgement


@dataclass(frozen=True, slots=True)
class Explained:
    """The explanation of a command line: how it is read, judged and confined.

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
        lines = ["Read as:", *(f"  {line}" for line in rendered(self.judgement.commands) or ["(nothing)"])]
        for reason in self.judgement.reasons:
            head = f"Refused by {reason.rule}: {reason.command}"
            lines += ["", head, f"  why:     {reason.why}", f"  instead: {reason.instead}"]
        if self.judgement.allowed_by:
            lines += ["", f"Let through by [commands] allow: {self.judgement.allowed_by}"]
        confined = f"Sandbox: {self.sandbox}" if self.sandbox else f"No sandbox: {self.problem}"
        lines += ["", confined, *(f"  it does not hold back: {each}" for each in self.weaknesses)]
        lines += [f"  it does not let through: {each}" for each in self.hindrances]
        return [*lines, f"It would {'run' if self.runs else 'not run'} in {self.root}."]


def explain(command: str, *, root: Path, allow: Sequence[str], writable: Sequence[str], sandbox: str) -> Explained:
    """Explains what would happen to a command line of an agent.

    Args:
        command: the line.
        root: the folder in which it would run.
        allow: as in `[commands] allow`.
        writable: as in `[commands] writable`.
        sandbox: as in `[commands] sandbox`.
    """
    judgement = judge(
        command,
        root=root,
        allow=allow,
        writable=[Path(each).expanduser() for each in writable],
        home=Path(os.path.expanduser("~")),  # noqa: PTH111 - Path.home() raises where there is none
    )
    try:
        found = choose(sandbox)
    except MissingRequirement as error:
        return Explained(command, root, judgement, "", (), (), error.message)
    return Explained(command, root, judgement, found.name, found.weaknesses, found.hindrances, "")

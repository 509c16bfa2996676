"""Chooses the strongest sandbox that works on this machine, or refuses and says what to install."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Literal

from swarmgate.errors import MissingRequirement
from swarmgate.workspace import system
from swarmgate.workspace.sandbox import bubblewrap, landlock, seatbelt

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from swarmgate.workspace.process.process import Completed
    from swarmgate.workspace.sandbox.confinement import Confinement, Sandbox

Kind = Literal["auto", "bubblewrap", "landlock", "sandbox-exec", "none"]


class Unconfined:
    """The sandbox of none, because the settings say so."""

    name = "none"
    relocates = False
    private_home = False
    weaknesses = ("commands of agents run with all your rights: files, network and keys",)
    hindrances = ()

    def argv(self, command: Sequence[str], confinement: Confinement, own: Path) -> list[str]:
        """The command itself."""
        del confinement, own
        return list(command)

    def refused(self, done: Completed) -> str:
        """Nothing stands between."""
        del done
        return ""


@cache
def choose(kind: Kind = "auto") -> Sandbox:
    """Chooses the sandbox of that kind; for `auto` the first that works of bubblewrap, Landlock and sandbox-exec.

    Raises:
        MissingRequirement: it does not work here; the message says why, and on Windows what to do instead.
    """
    if kind == "none":
        return Unconfined()
    system.require_posix("A sandbox for the commands of agents")
    reasons = []
    for name, find in _KINDS.items():
        if kind in {"auto", name}:
            found = find()
            if not isinstance(found, str):
                return found
            reasons.append(found)
    others = (name for name, find in _KINDS.items() if kind not in {"auto", name} and not isinstance(find(), str))
    if other := next(others, ""):
        raise MissingRequirement(
            f'[commands] sandbox = "{kind}" does not work here: {"; ".join(reasons)}',
            hint=f'Set [commands] sandbox = "auto" in .swarm/config.toml: {other} works here',
        )
    raise MissingRequirement(
        f"commands of agents need a sandbox, and there is none: {'; '.join(reasons)}",
        hint='Install bubblewrap (apt install bubblewrap), or accept the risk: [commands] sandbox = "none" '
        "in .swarm/config.toml",
    )


def notice(sandbox: Sandbox) -> str:
    """The notice about a sandbox at every start; empty where it holds back what it should, and nothing else."""
    limits = "; ".join((*sandbox.weaknesses, *sandbox.hindrances))
    if sandbox.name == "none":
        return f'NO SANDBOX ([commands] sandbox = "none"): {limits}'
    return f"commands of agents are confined by {sandbox.name}: {limits}" if limits else ""


_KINDS = {
    "bubblewrap": bubblewrap.available,
    "landlock": landlock.available,
    "sandbox-exec": seatbelt.available,
}

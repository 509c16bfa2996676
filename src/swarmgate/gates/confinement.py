"""Chooses the sandbox for the programs that gates start outside of a run: by hand, in CI or for the doctor.

What a work tree holds (its linters, plugins, build scripts) is code, whoever wrote it: the strongest sandbox of the
machine confines it. Where there is none, it has the user's rights, and the report says so.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from swarmgate.config import Commands
from swarmgate.errors import MissingRequirement
from swarmgate.gates import tool_environment
from swarmgate.workspace.programs import import_path, trusted
from swarmgate.workspace.sandbox.choice import Unconfined, choose
from swarmgate.workspace.sandbox.command_runner import CommandRunner
from swarmgate.workspace.sandbox.confine import confine
from swarmgate.workspace.sandbox.confinement import Confinement, Limits

if TYPE_CHECKING:
    from swarmgate.workspace.sandbox.confinement import Sandbox

BARE = "programs of gates ran with your rights, keys included"


def confined(root: Path, settings: Commands, *, guarded: tuple[Path, ...] = ()) -> CommandRunner:
    """The command runner for a work tree, sandboxed as the settings say.

    Raises:
        MissingRequirement: there is no such sandbox here.
        WorkspaceError: the repository lies so that nothing can guard it.
    """
    return _runner(choose(settings.sandbox), root, settings, guarded)


def by_hand(root: Path, settings: Commands | None = None) -> CommandRunner:
    """The command runner outside of a run: unsandboxed where no sandbox works, or in a home folder.

    Raises:
        MissingRequirement: the settings name a sandbox that does not work here.
        WorkspaceError: nothing can guard the repository; the work tree itself may have caused that, so it is an error.
    """
    settings = settings or Commands()
    try:
        sandbox = choose(settings.sandbox)
    except MissingRequirement:
        if settings.sandbox != "auto":
            raise
        sandbox = Unconfined()
    if import_path.is_within(os.path.expanduser("~"), str(root)):  # noqa: PTH111 - Path.home() raises without one
        sandbox = Unconfined()
    return _runner(sandbox, root, settings, ())


def unconfined_note(commands: CommandRunner | None) -> tuple[str, ...]:
    """The note for a report that programs ran without a sandbox; empty where none did."""
    return (f"NO SANDBOX: {BARE}",) if commands is not None and commands.sandbox.name == "none" else ()


def _runner(sandbox: Sandbox, root: Path, settings: Commands, guarded: tuple[Path, ...]) -> CommandRunner:
    bounds = Confinement(root=root, home=root)
    if sandbox.name != "none":
        bounds = confine(
            root,
            environ=trusted.given(),
            readable=(*settings.readable, str(tool_environment.folder())),
            writable=settings.writable,
            guarded=guarded,
            network=settings.network,
            limits=Limits(settings.memory_mb << 20, settings.processes, settings.file_mb << 20),
        )
    return CommandRunner(sandbox, bounds, inherit=settings.env, output_chars=settings.output_chars)

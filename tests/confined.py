"""What confines the commands of tests: the strongest sandbox of this machine, or none where it has none."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from swarmgate.errors import MissingRequirement
from swarmgate.workspace.sandbox.choice import Kind, choose
from swarmgate.workspace.sandbox.command_runner import CommandRunner
from swarmgate.workspace.sandbox.confine import confine

if TYPE_CHECKING:
    from pathlib import Path


def _strongest() -> Kind:
    try:
        choose()
    except MissingRequirement:
        return "none"
    return "auto"


SANDBOX = _strongest()
"""What `[commands] sandbox` of a project under test says."""
NO_PLUGINS = "PYTEST_DISABLE_PLUGIN_AUTOLOAD"
"""With it an inner pytest starts seven times faster; it has to be passed on to where commands are confined."""


def runner(root: Path, *, output_chars: int = 200_000) -> CommandRunner:
    """Runs commands in `root`; an inner pytest loads no plugins where the test says so."""
    return CommandRunner(
        choose(SANDBOX), confine(root, environ=os.environ), output_chars=output_chars, inherit=(NO_PLUGINS,)
    )

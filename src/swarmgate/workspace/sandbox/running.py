"""Runs one command confined, with a temporary folder of its own that is gone afterwards."""

from __future__ import annotations

import os
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from swarmgate.workspace import process
from swarmgate.workspace.sandbox.confinement import environment

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from swarmgate.workspace.process import Completed
    from swarmgate.workspace.sandbox.confinement import Confinement, Sandbox


async def run(
    command: Sequence[str] | str,
    *,
    sandbox: Sandbox,
    confinement: Confinement,
    timeout_s: float,
    env: Mapping[str, str] | None = None,
    output_limit: int = 200_000,
) -> Completed:
    """Run a command in the repository's root, confined; all that it started ends with it.

    Args:
        command: an argument list, or a string for `/bin/sh -c`.
        sandbox: what confines.
        confinement: to what.
        timeout_s: seconds until it is ended.
        env: variables on top of the harmless ones that are inherited.
        output_limit: characters kept of each of stdout and stderr.

    Raises:
        MissingRequirement: the sandbox's program is not there.
        WorkspaceError: the operating system refused to start it.
    """
    argv = ["/bin/sh", "-c", command] if isinstance(command, str) else list(command)
    if sandbox.name == "none":
        return await process.run(argv, cwd=confinement.root, timeout_s=timeout_s, env=env, output_limit=output_limit)
    variables = environment(os.environ, env)
    with tempfile.TemporaryDirectory(prefix="swarmgate-", ignore_cleanup_errors=True) as own:
        if sandbox.name != "bubblewrap":  # there, /tmp and the home are private by themselves
            confinement = replace(confinement, writable=(*confinement.writable, Path(own)))
            variables |= {"HOME": own, "TMPDIR": own} | {
                k: v for k, v in (env or {}).items() if k in {"HOME", "TMPDIR"}
            }
        return await process.run(
            sandbox.argv(argv, confinement),
            cwd=confinement.root, timeout_s=timeout_s, env=variables, inherit=False, output_limit=output_limit,
        )  # fmt: skip

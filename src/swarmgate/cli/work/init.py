"""`swarm init`: creates `.swarm/` in this repository."""

from __future__ import annotations

from pathlib import Path

from swarmgate.cli.terminal.options import Json, Repo
from swarmgate.cli.terminal.terminal import boundary


def command(repo: Repo = None, json: Json = False) -> None:
    """Make .swarm/ in this repository: settings, gates and prompts to override, the ledger.

    Languages, test command and branch are detected and written where you can change them.

    Example: cd my-repo && swarm init
    """
    with boundary(json) as terminal:
        from swarmgate.engine.initialise import initialise

        made = initialise((repo or Path.cwd()).resolve())
        before = f"  before:       there was a ledger here; its newest lines are kept in {made.earlier}"
        packages = f"  packages:     {', '.join(made.packages)}: suites are proposed at the end of .swarm/config.toml"
        verb = "Initialised" if made.created else "Already initialised (nothing was changed)"
        terminal.result(
            made,
            [
                f"{verb}: {made.root}/.swarm",
                f"  languages:    {', '.join(made.languages) or 'none detected'}",
                f"  test command: {made.test_command or 'none detected: set [tests] command'}",
                f"  branch:       {made.branch or 'none (detached HEAD)'}",
                *([packages] if made.packages else []),
                *([before] if made.earlier else []),
                'Next: name your models in .swarm/config.toml, then: swarm plan "GOAL"',
            ],
        )

"""`swarm init`: creates `.swarm/` in this repository, and offers its first commit where there is none."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from swarmgate.terminal.options import Json, Repo
from swarmgate.terminal.terminal import Terminal, boundary

Commit = Annotated[
    bool,
    typer.Option(
        "--commit", "--yes", "-y", help="Make the first commit without asking where there is none; git init, too."
    ),
]


def command(commit: Commit = False, repo: Repo = None, json: Json = False) -> None:
    """Make .swarm/ in this folder: settings, gates, the ledger.

    The folder is the top of a repository, or one below that: then the project is that folder alone. Languages, test
    command and branch are detected and written where you can change them. In a folder without git, or without a
    commit, it offers to make the first one. Exit code 1 when a secret stands in what would be committed.

    Example: cd my-repo && swarm init
    """
    with boundary(json) as terminal:
        from swarmgate.engine.initialise import initialise

        start = (repo or Path.cwd()).resolve()
        first = _first_commit(terminal, start, wanted=commit)
        made = initialise(start)
        before = f"  before:       there was a ledger here; its newest lines are kept in {made.earlier}"
        packages = f"  packages:     {', '.join(made.packages)}: suites are proposed at the end of .swarm/config.toml"
        part = f"  project:      this folder alone, of the repository {made.repository}"
        verb = "Initialised" if made.created else "Already initialised (nothing was changed)"
        terminal.result(
            {**made.model_dump(), "commit": first},
            [
                f"{verb}: {made.root}/.swarm",
                *([part] if made.root != made.repository else []),
                *([f"  first commit: {first[:12]}"] if first else []),
                f"  languages:    {', '.join(made.languages) or 'none detected'}",
                f"  test command: {made.test_command or 'none detected: set [tests] command'}",
                f"  branch:       {made.branch or 'none (detached HEAD)'}",
                *([packages] if made.packages else []),
                *([before] if made.earlier else []),
                "Next:",
                "  name your models in .swarm/config.toml: swarm docs models",
                "  swarm doctor: is everything there that the work needs?",
                '  swarm plan "GOAL": say what is wanted',
            ],
        )


def _first_commit(terminal: Terminal, start: Path, *, wanted: bool) -> str:
    """Makes the first commit where there is none and the user wants it; its id, empty where there was one or no wish.

    Without a terminal, and without --commit, nothing is made: that the commit is missing is told by who needs it.
    """
    from swarmgate.engine import first_commit

    asking = sys.stdin.isatty() and not terminal.as_json
    if not (wanted or asking):
        return ""
    if first_commit.outside_of_git(start):
        if not (wanted or typer.confirm(f"{start} is in no git repository. Make one here?", default=True, err=True)):
            return ""
        first_commit.make_repository(start)
        terminal.note(f"Made a git repository: {start}")
    first = first_commit.first_commit(start)
    if first is None:
        return ""
    terminal.note("\n".join(first.lines()))
    judged = first_commit.secrets(first)
    if judged.exit_code:
        _refuse(terminal, judged.rendered("json" if terminal.as_json else "text"), judged.exit_code)
    if not (wanted or typer.confirm("Make this commit?", default=not first.doubtful, err=True)):
        return ""
    return first_commit.make(first)


def _refuse(terminal: Terminal, report: str, exit_code: int) -> None:
    """Ends the command with what the secret scan says."""
    terminal.text(report)
    terminal.note(
        "swarm: nothing was committed\n"
        "  -> take the secret out, or name its file in .gitignore, then: swarm init. What is none, commit yourself."
    )
    raise typer.Exit(exit_code)

"""`swarm dispatch`: gives tasks to participants of the council, and shows their answers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from swarmgate.cli.council.verbs import add_list, council_of, group
from swarmgate.errors import BudgetExhausted, UsageError
from swarmgate.terminal.columns import gist
from swarmgate.terminal.options import Json, Repo
from swarmgate.terminal.terminal import boundary

app = group(
    "Have voices that only read work on tasks. "
    "Hold one with: swarm dispatch --mode MODE TASKS.toml (see: swarm dispatch hold --help). "
    "Or show and list those that were held. All take --json and --repo.\n\n"
    "Example: swarm dispatch --mode parallel tasks.toml",
    "for a file of that name",
    no_args_is_help=False,
)


@app.command("hold")
def hold(
    tasks: Annotated[str, typer.Argument(metavar="TASKS.toml", help="The tasks.")] = "",
    mode: Annotated[
        str,
        typer.Option(
            "--mode", metavar="MODE", help="single, parallel, chain or debate; else as the file says, or parallel."
        ),
    ] = "",
    rounds: Annotated[
        int | None,
        typer.Option("--rounds", metavar="N", help="Rounds of a debate; else as the file or [council] says."),
    ] = None,
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Have voices that only read work on tasks: one, several side by side, one after the other, or as a debate.

    The file is TOML, YAML or JSON, a table in `tasks` for each: `agent` (of the settings), `role` (architect, critic,
    coder, reviewer, test_engineer, sme) or `participant` (any name), `text` or `task`, and perhaps `model` or
    `model_tier`, and `folder`. All is kept in .swarm/discussions.
    The word `hold` may go. Exit code 1 when some tasks failed, or the debate rejects; 5 when all failed, 4 when a
    budget was used up.

    Example: swarm dispatch --mode parallel tasks.toml
    """
    with boundary(json) as terminal:
        if not tasks.strip():
            raise UsageError("no file of tasks is given", hint="swarm dispatch --mode parallel tasks.toml")
        from swarmgate.cli.council.run_session import run_session

        path = Path(tasks)
        result = run_session(
            repo, terminal, lambda swarm: swarm.council.dispatch_file(path, mode=mode, rounds=rounds), resume_command=""
        )
        terminal.result(*council_of(repo).dispatch_told(result))
        if result.exhausted:
            raise typer.Exit(BudgetExhausted.exit_code)
        rejected = result.outcome is not None and result.outcome.verdict != "APPROVE"
        raise typer.Exit(1 if rejected or result.succeeded < len(result.tasks) else 0)


@app.command("show")
def show(
    dispatch_id: Annotated[str, typer.Argument(metavar="ID", help="Of a dispatch; `swarm dispatch list` has them.")],
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Print a dispatch that is on record: its tasks, and what came of each.

    Example: swarm dispatch show 20261121-224500-3f2a
    """
    with boundary(json) as terminal:
        council = council_of(repo)
        terminal.result(*council.dispatch_told(council.dispatch_record(dispatch_id), tasks=True))


add_list(
    app,
    "dispatch",
    "List the dispatches on record, the newest first: the id, when it began, the mode, what came of it, the text.\n\n"
    "Example: swarm dispatch list",
    lambda row: [*list(row.values())[:4], gist(row["text"])],
    none="No dispatch is on record.",
)

"""`swarm orchestrate`: runs debates, decisions, critiques and tasks as the steps of a file."""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from swarmgate.cli.council.verbs import add_list, add_resume, add_show, group
from swarmgate.errors import CouncilFailed, UsageError
from swarmgate.terminal.columns import at, gist
from swarmgate.terminal.options import Json, Repo, Tokens, Usd, filled
from swarmgate.terminal.terminal import Terminal, boundary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from swarmgate.council.orchestration.model import Orchestration, Step
    from swarmgate.council.orchestration.results import OrchestrationOutcome
    from swarmgate.engine.swarm import Swarm


app = group(
    "Run the steps of a file: in order, at once, under a condition. "
    "Hold one with: swarm orchestrate FILE (see: swarm orchestrate hold --help). Or "
    "go on with, show and list those that were begun. All take --json and --repo.\n\n"
    "Example: swarm orchestrate pipeline.toml",
    "for a file of that name",
)


@app.command("hold")
def hold(
    file: Annotated[Path, typer.Argument(metavar="FILE", callback=filled, help="TOML, or Python: it is run.")],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the steps and what they would ask; ask nobody.")
    ] = False,
    tokens: Tokens = None,
    usd: Usd = None,
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Do the steps of a TOML or Python file: in order, at once, on a condition, or for each of several items.

    The word `hold` may go. Exit code 1 when a step failed, 5 when all failed, 4 when a budget was used up.

    Example: swarm orchestrate pipeline.toml --tokens 200000
    """
    with boundary(json) as terminal:
        from swarmgate.council.shared import new_id

        asked = _bounded(_swarm(repo).council.orchestration(file), tokens, usd)
        if dry_run:
            terminal.result(asked.model_dump(mode="json", exclude_unset=True), _planned(asked))
            return
        name = asked.id or new_id()
        from swarmgate.cli.council.run_session import run_session

        resume_command = f"swarm orchestrate resume {name}"
        outcome = run_session(
            repo, terminal, lambda swarm: swarm.council.orchestrate(asked, id=name), resume_command=resume_command
        )
        _finish(terminal, repo, outcome, name)


def _swarm(repo: Path | None) -> Swarm:
    from swarmgate.engine.swarm import Swarm

    return Swarm(repo)


def _bounded(asked: Orchestration, tokens: int | None, usd: float | None) -> Orchestration:
    """The orchestration with the bounds of the command line in the place of its own.

    Raises:
        UsageError: one is no number.
    """
    if usd is not None and not isfinite(usd):
        raise UsageError(f"--usd is {usd}", hint="Give a number of US dollars.")
    given = {"tokens": tokens, "usd": usd}
    return asked.model_copy(update={key: value for key, value in given.items() if value is not None})


def _finish(terminal: Terminal, _repo: Path | None, outcome: OrchestrationOutcome, _name: str) -> None:
    """Prints how it ended, and leaves with the exit code."""
    from swarmgate.council.orchestration.view import ended

    result = {**outcome.model_dump(mode="json"), "failures": [each.label for each in outcome.failures]}
    terminal.result(result, ended(outcome))
    if outcome.all_failed:
        raise typer.Exit(CouncilFailed.exit_code)
    raise typer.Exit(1 if outcome.failures else 0)


# --- for people ---


def _planned(asked: Orchestration) -> list[str]:
    """What would be done, of all kinds of steps."""
    bound = [f"{asked.tokens:,} tokens"] if asked.tokens is not None else []
    bound += [f"${asked.usd:g}"] if asked.usd is not None else []
    lines = [f"{asked.title or 'An orchestration'}: {len(asked.steps)} steps; nobody was asked."]
    lines += [f"All of it may use {' and '.join(bound)}."] if bound else []
    for step in asked.steps:
        lines += ["", *_plan_of(step)]
    return lines


def _plan_of(step: Step, depth: int = 0, name: str = "") -> list[str]:
    from swarmgate.council.orchestration.model import MapStep, ParallelStep

    indent = "  " * depth
    lines = [f"{indent}{step.id or name}: {step.kind}"]
    lines += [f"{indent}  when {step.when}"] if step.when else []
    match step:
        case ParallelStep():
            lines += [f"{indent}  {len(step.steps)} at once, at most {step.at_once} of them at a time"]
            lines += [line for each in step.steps for line in _plan_of(each, depth + 1)]
        case MapStep():
            lines += [f"{indent}  for each of {len(step.items)} items, at most {step.at_once} at a time:"]
            lines += [f"{indent}  - {gist(item)}" for item in step.items]
            lines += _plan_of(step.step, depth + 1, "step")
            lines += _plan_of(step.reduce, depth + 1, "reduce") if step.reduce else []
        case _:
            lines += [f"{indent}  {line}" for line in _asks(step)]
    for other in step.otherwise:
        lines += [f"{indent}  otherwise:", *_plan_of(other, depth + 1)]
    return lines


def _asks(step: Step) -> Iterator[str]:
    """The options of a pattern, a line each."""
    from swarmgate.council.orchestration.references import options, texts

    given = options(step)  # type: ignore[arg-type]  # a pattern: groups have been dealt with
    for place, text in texts(given):
        if not text:
            continue
        yield f"{'.'.join(str(part + 1 if isinstance(part, int) else part) for part in place)} = {gist(text)}"
    numbers = ((key, value) for key, value in given.items() if isinstance(value, (bool, int, float)))
    yield from (f"{key} = {str(value).lower()}" for key, value in numbers)


_WHICH = "Of an orchestration, as `list` shows it."
add_resume(
    app,
    "orchestration",
    "Go on with an orchestration after its last finished step; exit codes as of `hold`.\n\n"
    "Example: swarm orchestrate resume 20261121-224500-3f2a --usd 3",
    _finish,
    lambda council: council.resume_orchestration,
    which=_WHICH,
)
add_show(
    app,
    "orchestration",
    "Show an orchestration step by step: how each ended, its typed outcome, its output and its cost.\n\n"
    "Example: swarm orchestrate show 20261121-224500-3f2a",
    which=_WHICH,
)
add_list(
    app,
    "orchestration",
    "List the orchestrations, the newest first: the id, when it began, how it stands, finished steps, the title.\n\n"
    "Example: swarm orchestrate list",
    lambda row: [row["id"], at(row["began"]), row["status"], row["steps"], gist(row["title"])],
    notes=True,
)

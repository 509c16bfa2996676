"""`swarm orchestrate`: debates, decisions, critiques and tasks as the steps of a file, and what came of each."""

from __future__ import annotations

from functools import partial
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from swarmgate.cli.columns import at, columns, gist
from swarmgate.cli.default_verb import DefaultVerb
from swarmgate.cli.options import Json, Repo, Tokens, Usd, filled
from swarmgate.cli.terminal import Terminal, boundary
from swarmgate.errors import CouncilFailed, SwarmError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator

    from swarmgate.council.orchestration.model import Orchestration, Step
    from swarmgate.council.orchestration.results import OrchestrationOutcome, OrchestrationRecord, StepResult
    from swarmgate.engine.council import Council
    from swarmgate.engine.swarm import Swarm


class FileOrVerb(DefaultVerb):
    """The verbs of orchestrations; a file needs none."""

    otherwise = "for a file of that name"


app = typer.Typer(
    cls=FileOrVerb,
    help="Do the steps of a file one after the other: swarm orchestrate FILE (see: swarm orchestrate hold --help). Or "
    "go on with, show and list those that were begun. All take --json and --repo.\n\n"
    "Example: swarm orchestrate pipeline.toml",
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_Id = Annotated[str, typer.Argument(metavar="ID", callback=filled, help="Of an orchestration, as `list` shows it.")]


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
        _finish(terminal, repo, name, lambda swarm: swarm.council.orchestrate(asked, id=name))


@app.command("resume")
def resume(orchestration: _Id, tokens: Tokens = None, usd: Usd = None, repo: Repo = None, json: Json = False) -> None:
    """Go on with an orchestration after its last finished step; exit codes as of `hold`.

    Example: swarm orchestrate resume 20261121-224500-3f2a --usd 3
    """
    with boundary(json) as terminal:
        _finish(terminal, repo, orchestration, partial(_resumed, id=orchestration, tokens=tokens, usd=usd))


@app.command("show")
def show(orchestration: _Id, repo: Repo = None, json: Json = False) -> None:
    """Show an orchestration step by step: how each ended, its typed outcome, its output and its cost.

    Example: swarm orchestrate show 20261121-224500-3f2a
    """
    with boundary(json) as terminal:
        record = _swarm(repo).council.orchestration_record(orchestration)
        terminal.result(record, _shown(record))


@app.command("list")
def listing(repo: Repo = None, json: Json = False) -> None:
    """List the orchestrations, the newest first: the id, when it began, how it stands, finished steps, the title.

    Example: swarm orchestrate list
    """
    with boundary(json) as terminal:
        council = _swarm(repo).council
        rows = [_row(council, name) for name in council.orchestrations()]
        _tell_elsewhere(terminal, council)
        lines = columns(
            [[row["id"], at(row["began"]), row["status"], row["steps"], gist(row["title"])] for row in rows]
        )
        terminal.result(rows, lines or ["There is no orchestration here yet."])


def _tell_elsewhere(terminal: Terminal, council: Council) -> None:
    if told := council.elsewhere():
        terminal.note(told)


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


def _resumed(
    swarm: Swarm,
    *,
    id: str,  # noqa: A002 - the field's name
    tokens: int | None,
    usd: float | None,
) -> Coroutine[Any, Any, OrchestrationOutcome]:
    return swarm.council.resume_orchestration(id, tokens=tokens, usd=usd)


def _finish(
    terminal: Terminal,
    repo: Path | None,
    name: str,
    work: Callable[[Swarm], Coroutine[Any, Any, OrchestrationOutcome]],
) -> None:
    """Does it, prints how it ended, and leaves with the exit code."""
    from swarmgate.cli.holding import held

    outcome = held(repo, terminal, work, goes_on=f"swarm orchestrate resume {name}")
    told = {**outcome.model_dump(mode="json"), "failures": [each.label for each in outcome.failures]}
    terminal.result(told, _ended(outcome))
    if outcome.all_failed:
        raise typer.Exit(CouncilFailed.exit_code)
    raise typer.Exit(1 if outcome.failures else 0)


# --- for people ---


def _ended(outcome: OrchestrationOutcome) -> list[str]:
    lines = [f"Orchestration {outcome.id}{f': {outcome.title}' if outcome.title else ''}"]
    for step in outcome.steps:
        lines += _step(step)
    last = next((step for step in reversed(outcome.steps) if step.status == "done" and step.text), None)
    lines += ["", last.text] if last and not outcome.failed else []
    lines += ["", f"{len(outcome.steps)} steps ({_spent(outcome)}); all of it: swarm orchestrate show {outcome.id}"]
    if outcome.failed:
        why = next((step.why for step in outcome.steps if step.id == outcome.failed), "")
        lines += [f"It stopped at the step {outcome.failed}. {_way_on(outcome.id, why)}"]
    return lines


def _shown(record: OrchestrationRecord) -> list[str]:
    asked = record.orchestration
    title = f": {asked.title}" if asked.title else ""
    lines = [f"Orchestration {asked.id}{title}, {record.status}, {_counted(record)} steps"]
    for step in (*record.steps, *((record.partial,) if record.partial else ())):
        lines += ["", *_step(step, texts=True)]
    left = asked.steps[len(record.steps) + bool(record.partial) :]
    lines += ["", f"Still to do: {', '.join(step.id for step in left)}"] if left else []
    if record.status != "complete":
        why = record.partial.why if record.partial and record.status == "failed" else ""
        lines += ["", *([record.why] if record.why else []), _way_on(asked.id, why)]
    return lines


def _way_on(name: str, why: str) -> str:
    """How it goes on after a step that failed, and `why`; a bound that a step has of its own stands in the file."""
    if f"-{name}." in why and "budget" in why:
        return "A bound of that step is used up: change it in the file, and begin anew with: swarm orchestrate FILE"
    return f"Go on with: swarm orchestrate resume {name}"


def _step(step: StepResult, depth: int = 0, *, texts: bool = False) -> list[str]:
    """A line for a step and each of its parts; `texts`: with what they gave."""
    indent = "  " * depth
    fields = ", ".join(f"{name} {_value(value)}" for name, value in step.fields.items() if value != "")
    cost = f" ({_spent(step)})" if step.usage.calls else ""
    item = f" {gist(step.item, 60)!r}" if step.item else ""
    line = f"{indent}[{step.status}] {step.label}, {step.kind}{item}{f': {fields}' if fields else ''}{cost}"
    failed = any(part.status == "failed" for part in step.parts)  # each says why in its own line
    why = "" if failed and not step.fields else step.why.partition(":")[0] if failed else step.why
    lines = [line, *([f"{indent}  {why}"] if why else [])]
    if texts and step.record and step.status == "done":
        lines += [f"{indent}  record {step.record}", *(f"{indent}  | {each}" for each in step.text.splitlines())]
    for part in step.parts:
        lines += _step(part, depth + 1, texts=texts)
    return lines


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
    from swarmgate.council.orchestration.texts import options, texts

    given = options(step)  # type: ignore[arg-type]  # a pattern: groups have been dealt with
    for place, text in texts(given):
        if not text:
            continue
        yield f"{'.'.join(str(part + 1 if isinstance(part, int) else part) for part in place)} = {gist(text)}"
    numbers = ((key, value) for key, value in given.items() if isinstance(value, (bool, int, float)))
    yield from (f"{key} = {str(value).lower()}" for key, value in numbers)


def _row(council: Council, name: str) -> dict[str, str]:
    """One orchestration of the list; a damaged one is named as such."""
    try:
        record = council.orchestration_record(name)
    except SwarmError as error:
        return {"id": name, "began": "", "status": "damaged", "steps": "", "title": error.message}
    title = record.orchestration.title or ", ".join(step.id for step in record.orchestration.steps)
    return {"id": name, "began": record.began, "status": record.status, "steps": _counted(record), "title": title}


def _counted(record: OrchestrationRecord) -> str:
    return f"{len(record.steps)}/{len(record.orchestration.steps)}"


def _value(value: object) -> str:
    return f"{value:.2f}" if isinstance(value, float) else str(value).lower() if isinstance(value, bool) else str(value)


def _spent(of: StepResult | OrchestrationOutcome) -> str:
    from swarmgate.council.discussion.view.words import cost

    return cost(of.usage, of.seconds)

"""`swarm dispatch`: tasks for voices of the council, and what came of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from swarmgate.cli.columns import columns, gist
from swarmgate.cli.default_verb import DefaultVerb
from swarmgate.cli.options import Json, Repo
from swarmgate.cli.terminal import boundary
from swarmgate.errors import BudgetExhausted, SwarmError, UsageError

if TYPE_CHECKING:
    from swarmgate.domain.dispatch import DispatchedReply, DispatchResult
    from swarmgate.domain.usage import Usage
    from swarmgate.engine.council import Council
    from swarmgate.engine.swarm import Swarm


class FileOrVerb(DefaultVerb):
    """The verbs of dispatches; a file of tasks needs none."""

    otherwise = "for a file of that name"


app = typer.Typer(
    cls=FileOrVerb,
    help="Have voices that only read work on tasks: swarm dispatch --mode MODE TASKS.toml (see: swarm dispatch hold "
    "--help). Or show and list those that were held. All take --json and --repo.\n\n"
    "Example: swarm dispatch --mode parallel tasks.toml",
    rich_markup_mode=None,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command("hold")
def hold(
    tasks: Annotated[str, typer.Argument(metavar="TASKS.toml", help="The tasks.")] = "",
    mode: Annotated[
        str, typer.Option("--mode", metavar="MODE", help="single, parallel, chain or debate; else as the file says.")
    ] = "",
    rounds: Annotated[
        int | None,
        typer.Option("--rounds", metavar="N", help="Rounds of a debate; else as the file or [council] says."),
    ] = None,
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Have voices that only read work on tasks: one, several side by side, one after the other, or as a debate.

    The file is TOML, a `[[tasks]]` table a task: `role` (architect, critic, coder, reviewer, test_engineer, sme) or
    `participant` (any name), `text`, and perhaps `model` and `folder`. All is kept in .swarm/traces/dispatches.
    The word `hold` may go. Exit code 1 when some tasks failed, or the debate rejects; 5 when all failed, 4 when a
    budget was used up.

    Example: swarm dispatch --mode parallel tasks.toml
    """
    with boundary(json) as terminal:
        if not tasks.strip():
            raise UsageError("no file of tasks is given", hint="swarm dispatch --mode parallel tasks.toml")
        from swarmgate.cli.holding import held

        path = Path(tasks)
        result = held(
            repo, terminal, lambda swarm: swarm.council.dispatch_file(path, mode=mode, rounds=rounds), goes_on=""
        )
        terminal.result(_as_json(result), _lines(result, repo))
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
        result = _swarm(repo).council.dispatch_record(dispatch_id)
        terminal.result(_as_json(result), _lines(result, repo, tasks=True))


@app.command("list")
def listing(repo: Repo = None, json: Json = False) -> None:
    """List the dispatches on record, the newest first: the id, when it began, the mode, what came of it, the text.

    Example: swarm dispatch list
    """
    with boundary(json) as terminal:
        council = _swarm(repo).council
        rows = [_row(council, name) for name in council.dispatches()]
        lines = columns([[*list(row.values())[:4], gist(row["text"])] for row in rows])
        terminal.result(rows, lines or ["No dispatch is on record."])


def _swarm(repo: Path | None) -> Swarm:
    from swarmgate.engine.swarm import Swarm

    return Swarm(repo)


def _row(council: Council, dispatch_id: str) -> dict[str, str]:
    """One dispatch of the list; a damaged one is named as such."""
    try:
        found = council.dispatch_record(dispatch_id)
    except SwarmError as error:
        return {"id": dispatch_id, "began": "", "mode": "", "summary": "damaged", "text": error.message}
    began = found.started_at[:19].replace("T", " ") + " UTC"
    text = found.question or found.tasks[0].text
    summary = found.summary if found.finished else f"{found.summary}, open"
    return {"id": dispatch_id, "began": began, "mode": found.mode, "summary": summary, "text": text}


def _as_json(result: DispatchResult) -> dict[str, Any]:
    return {**result.model_dump(mode="json"), "succeeded": result.succeeded, "summary": result.summary}


def _lines(result: DispatchResult, repo: Path | None, *, tasks: bool = False) -> list[str]:
    """The dispatch for people; `tasks`: with what was asked."""
    words = _last_words(result, repo)
    rounds = f" of at most {result.rounds} rounds" if result.rounds else ""
    lines = [f"Dispatch {result.id}: {result.mode}{rounds}, {result.summary} ({_spent(result.usage, result.seconds)})"]
    if result.question:
        lines += [f"Question: {result.question}"]
    for number, reply in enumerate(result.replies):
        lines += ["", *_reply(reply, result.tasks[number].text if tasks else "", words.get(reply.name))]
    if outcome := result.outcome:
        lines += ["", f"{outcome.verdict}, by {outcome.decided_by}; all of it: swarm debate show {outcome.id}"]
        lines += [outcome.synthesis.summary] if outcome.synthesis else []
    if result.exhausted or result.failed:
        lines += ["", f"It ended early: {result.exhausted}" if result.exhausted else f"It failed: {result.failed}"]
    if not result.finished:
        lines += ["", "It is going on, or was ended before it was done."]
    return lines


def _last_words(result: DispatchResult, repo: Path | None) -> dict[str, list[str]]:
    """What the voices of a debate said in its last round, as prose and vote; nothing where it is not on record."""
    from swarmgate.engine import debate_replay

    try:
        return debate_replay.last_words(_swarm(repo).council.record(result.id)) if result.question else {}
    except SwarmError:
        return {}


def _reply(reply: DispatchedReply, asked: str, words: list[str] | None) -> list[str]:
    model = f"{reply.model}, " if reply.model else ""
    lines = [f"[{reply.number}] {reply.name} ({model}{_spent(reply.usage, reply.seconds)})"]
    lines += [f"> {line}" for line in asked.splitlines()]
    if reply.not_run:
        return [*lines, f"Not run: {reply.not_run}"]
    if reply.failed:
        tries = f" {reply.tries} times" if reply.tries > 1 else ""
        return [*lines, f"FAILED{tries}: {reply.failed}"]
    return [*lines, *(words or [reply.text]), *([f"[... {reply.cut:,} characters left out ...]"] if reply.cut else [])]


def _spent(usage: Usage, seconds: float) -> str:
    from swarmgate.engine.debate_replay import cost

    return cost(usage, seconds)

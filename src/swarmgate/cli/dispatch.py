"""`swarm dispatch`: tasks for voices of the council, and what came of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from swarmgate.cli.options import Json, Repo
from swarmgate.cli.terminal import boundary
from swarmgate.errors import BudgetExhausted, UsageError

if TYPE_CHECKING:
    from swarmgate.domain.dispatch import DispatchedReply, DispatchResult
    from swarmgate.domain.usage import Usage
    from swarmgate.engine.swarm import Swarm


class FileOrVerb(TyperGroup):
    """A group whose first word is one of its verbs, or else the file that it works on itself."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Reads the line; a verb, also one behind options, takes the place of the file."""
        behind = args if args and args[0].startswith("-") else args[:1]
        verb = next((word for word in behind if word in self.commands), "")
        if verb:
            args.remove(verb)
            return super().parse_args(ctx, ["", verb, *args])
        ctx.allow_interspersed_args = True
        return super().parse_args(ctx, args)


app = typer.Typer(cls=FileOrVerb, invoke_without_command=True, rich_markup_mode=None, add_completion=False)


@app.callback()
def dispatch(
    context: typer.Context,
    tasks: Annotated[str, typer.Argument(metavar="TASKS.toml", help="The tasks, or one of the commands below.")] = "",
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
    Exit code 1 when some tasks failed, 5 when all did, 4 when a budget was used up.

    Example: swarm dispatch --mode parallel tasks.toml
    """
    if context.invoked_subcommand:
        return
    with boundary(json) as terminal:
        if not tasks.strip():
            raise UsageError("no file of tasks is given", hint="swarm dispatch --mode parallel tasks.toml")
        from swarmgate.cli.holding import held

        path = Path(tasks)
        result = held(
            repo, terminal, lambda swarm: swarm.council.dispatch_file(path, mode=mode, rounds=rounds), goes_on=""
        )
        terminal.result(_as_json(result), _lines(result))
        if result.exhausted:
            raise typer.Exit(BudgetExhausted.exit_code)
        raise typer.Exit(0 if result.succeeded == len(result.tasks) else 1)


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
        terminal.result(_as_json(result), _lines(result, tasks=True))


@app.command("list")
def listing(repo: Repo = None, json: Json = False) -> None:
    """List the dispatches on record, the oldest first.

    Example: swarm dispatch list
    """
    with boundary(json) as terminal:
        found = _swarm(repo).council.dispatches()
        terminal.result(list(found), found or ["No dispatch is on record."])


def _swarm(repo: Path | None) -> Swarm:
    from swarmgate.engine.swarm import Swarm

    return Swarm(repo)


def _as_json(result: DispatchResult) -> dict[str, Any]:
    return {**result.model_dump(mode="json"), "succeeded": result.succeeded, "summary": result.summary}


def _lines(result: DispatchResult, *, tasks: bool = False) -> list[str]:
    """The dispatch for people; `tasks`: with what was asked."""
    rounds = f" of at most {result.rounds} rounds" if result.rounds else ""
    lines = [f"Dispatch {result.id}: {result.mode}{rounds}, {result.summary} ({_spent(result.usage, result.seconds)})"]
    if result.question:
        lines += [f"Question: {result.question}"]
    for number, reply in enumerate(result.replies):
        lines += ["", *_reply(reply, result.tasks[number].text if tasks else "")]
    if outcome := result.outcome:
        lines += ["", f"{outcome.verdict}, by {outcome.decided_by}; all of it: swarm debate show {outcome.id}"]
        lines += [outcome.synthesis.summary] if outcome.synthesis else []
    if result.exhausted or result.failed:
        lines += ["", f"It ended early: {result.exhausted}" if result.exhausted else f"It failed: {result.failed}"]
    if not result.finished:
        lines += ["", "It is going on, or was ended before it was done."]
    return lines


def _reply(reply: DispatchedReply, asked: str) -> list[str]:
    model = f"{reply.model}, " if reply.model else ""
    lines = [f"[{reply.number}] {reply.name} ({model}{_spent(reply.usage, reply.seconds)})"]
    lines += [f"> {line}" for line in asked.splitlines()]
    if reply.not_run:
        return [*lines, f"Not run: {reply.not_run}"]
    if reply.failed:
        tries = f" {reply.tries} times" if reply.tries > 1 else ""
        return [*lines, f"FAILED{tries}: {reply.failed}"]
    return [*lines, reply.text, *([f"[... {reply.cut:,} characters left out ...]"] if reply.cut else [])]


def _spent(usage: Usage, seconds: float) -> str:
    cost = "cost unknown" if usage.usd is None else f"${usage.usd:.4f}"
    return f"{usage.tokens:,} tokens, {cost}, {seconds:.1f} s"

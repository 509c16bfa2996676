"""`swarm debate`: several participants debate one question, with the verdict as exit code; shows earlier debates."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from swarmgate.cli.council.verbs import add_list, council_of, described, group
from swarmgate.errors import CouncilRefused
from swarmgate.terminal.columns import gist
from swarmgate.terminal.options import Diff, Files, Json, Repo, Tokens, Usd, filled, from_here
from swarmgate.terminal.terminal import Terminal, boundary

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from swarmgate.engine.swarm import Swarm


app = group(
    "Have several voices argue a question in rounds, and vote. "
    'Hold one with: swarm debate "QUESTION", or swarm debate FILE.toml (see: swarm debate hold --help). '
    "Or show, list and resume those that were held. All take --json and --repo.\n\n"
    'Example: swarm debate "Is the cache safe?"',
    "for a question of one word",
)

_HELP = "What can be given: swarm debate hold --help, swarm debate resume --help"

_Id = Annotated[str, typer.Argument(metavar="ID", callback=filled, help="The id of a debate, as `list` shows it.")]


@app.command("hold")
def hold(
    question: Annotated[
        str, typer.Argument(metavar="QUESTION | FILE.toml", callback=filled, help="What is debated; or all of it.")
    ],
    participant: Annotated[
        list[str] | None,
        typer.Option(
            "--participant",
            metavar="ID[=MODEL]",
            callback=filled,
            help="A voice, 2 to 8 of them; advocate and challenger by default.",
        ),
    ] = None,
    cast: Annotated[
        str | None,
        typer.Option(
            "--cast",
            metavar="NAME",
            callback=filled,
            help="Who sits there: vision-alignment is a Vision Alignment Meeting of product manager, user advocate, "
            "engineer and combatant. --participant gives one of them a model, or adds a voice.",
        ),
    ] = None,
    rounds: Annotated[
        int | None, typer.Option("--rounds", metavar="N", help="1 to 5, the last one is the vote; [council] rounds.")
    ] = None,
    moderator: Annotated[
        str | None,
        typer.Option("--moderator", metavar="ID[=MODEL]", callback=filled, help="A voice that may order the rounds."),
    ] = None,
    file: Files = None,
    diff: Diff = None,
    order: Annotated[
        str | None, typer.Option("--order", metavar="ORDER", help="Who is read first: fixed, or rotate (in turns).")
    ] = None,
    no_synthesis: Annotated[
        bool, typer.Option("--no-synthesis", help="The majority decides; the architect is not asked.")
    ] = False,
    tokens: Tokens = None,
    usd: Usd = None,
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Hold a debate to its verdict: several voices, in rounds, with a vote and a synthesis. The word `hold` may go.

    Exit code 0 when it approves, 1 when it rejects.

    A Vision Alignment Meeting: swarm debate "Sell the app by subscription" --cast vision-alignment

    Example: swarm debate "Is the cache safe?" --participant advocate=local/a --participant challenger=local/b
    """
    with boundary(json) as terminal:
        options: dict[str, Any] = {
            "participants": participant,
            "cast": cast,
            "rounds": rounds,
            "moderator": moderator,
            "files": None if file is None else [from_here(each, repo) for each in file],
            "diff": diff,
            "order": order,
            "synthesis": False if no_synthesis else None,
            "tokens": tokens,
            "usd": usd,
        }
        given = {key: value for key, value in options.items() if value is not None}
        hint = 'To debate a file: swarm debate "QUESTION" --file {path}.'
        in_file = described("debate", question, "question", hint)
        debate = in_file.get("id", "")
        if not debate:
            from swarmgate.council.shared import new_id

            given["id"] = debate = new_id()

        def work(swarm: Swarm) -> Coroutine[Any, Any, Any]:
            council = swarm.council
            return council.debate_file(Path(question), **given) if in_file else council.debate(question, **given)

        _finish(terminal, repo, _held(repo, terminal, debate, work))


@app.command("resume")
def resume(debate: _Id, tokens: Tokens = None, usd: Usd = None, repo: Repo = None, json: Json = False) -> None:
    """Go on with a debate that was interrupted, after its last message; exit codes as of `hold`.

    Example: swarm debate resume 20261121-224500-3f2a --usd 3
    """
    with boundary(json) as terminal:

        def work(swarm: Swarm) -> Coroutine[Any, Any, Any]:
            return swarm.council.resume(debate, tokens=tokens, usd=usd)

        _finish(terminal, repo, _held(repo, terminal, debate, work))


@app.command("show")
def show(
    debate: _Id,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", callback=filled, help="Write it there as one HTML page, too."),
    ] = None,
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Show a debate round by round: who said what, which claims were new, the votes, the verdict, the cost.

    Example: swarm debate show 20261121-224500-3f2a --html debate.html
    """
    with boundary(json) as terminal:
        council = council_of(repo)
        record = council.record(debate)
        if html is not None:
            html.write_text(council.debate_page(record), encoding="utf-8")
            terminal.note(f"The page is {html}")
        terminal.result(record, council.debate_lines(record))


add_list(
    app,
    "debate",
    "List the debates of the project, the newest first: the id, when it began, how it ended, and the question.\n\n"
    "Example: swarm debate list",
    lambda row: [row["id"], row["began"], row["status"], gist(row["question"])],
)


def _held(repo: Path | None, terminal: Terminal, debate: str, work: Callable[[Swarm], Coroutine[Any, Any, Any]]) -> str:
    from swarmgate.cli.council.run_session import run_session

    try:
        outcome = run_session(repo, terminal, work, resume_command=f"swarm debate resume {debate}")
    except CouncilRefused as error:
        raise error if error.hint else CouncilRefused(error.message, hint=_HELP) from None
    return str(outcome.id)


def _finish(terminal: Terminal, repo: Path | None, debate: str) -> None:
    """Prints how it ended and leaves with the verdict as the exit code."""
    result, lines = council_of(repo).debate_verdict(debate)
    terminal.result(result, [*lines, f"All of it: swarm debate show {debate}"])
    raise typer.Exit(0 if result["verdict"] == "APPROVE" else 1)

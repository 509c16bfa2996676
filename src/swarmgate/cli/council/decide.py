"""`swarm decide`: participants vote on one question, with the consensus as exit code; shows earlier decisions."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from swarmgate.cli.council.flag_errors import in_flags
from swarmgate.cli.council.verbs import add_list, add_show, described, group
from swarmgate.errors import ConfigError, CouncilRefused, UsageError
from swarmgate.terminal.columns import at, gist
from swarmgate.terminal.options import Diff, Files, Json, Repo, Timeout, Tokens, Usd, filled, from_here
from swarmgate.terminal.terminal import Terminal, boundary

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from swarmgate.council.decision.model import DecisionOutcome
    from swarmgate.council.facade import Council
    from swarmgate.engine.swarm import Swarm


app = group(
    "Have several decide a question, by a vote or by consensus. "
    'Hold one with: swarm decide "QUESTION", or swarm decide FILE.toml (see: swarm decide hold --help). '
    "This is what ADR 0007 calls the Discussion pattern; experts who argue without a vote: swarm discuss. "
    "Or show, list, answer and resume decisions. All take --json and --repo.\n\n"
    'Example: swarm decide "Do we drop Python 3.11?" --strategy unanimous',
    "for a question of one word",
)

_FLAGS = {
    "question": "QUESTION",
    "participants": "--participant",
    "participants.weight": "--weight",
    "strategy": "--strategy",
    "options": "--option",
    "threshold": "--threshold",
    "facilitator": "--facilitator",
    "humans": "--human",
    "weights": "--weight",
    "rounds": "--rounds",
    "files": "--file",
    "diff": "--diff",
    "tokens": "--tokens",
    "usd": "--usd",
    "timeout_s": "--timeout",
}
"""The flags of the keys of a request."""


@app.command("hold")
def hold(
    question: Annotated[
        str, typer.Argument(metavar="QUESTION | FILE.toml", callback=filled, help="What is decided; or all of it.")
    ],
    participant: Annotated[
        list[str] | None,
        typer.Option(
            "--participant",
            metavar="ID[=MODEL]",
            callback=filled,
            help="Who decides, 1 to 10 of them; a builder, an operator and a user by default.",
        ),
    ] = None,
    strategy: Annotated[
        str | None,
        typer.Option(
            "--strategy",
            metavar="NAME",
            callback=filled,
            help="unanimous, majority, supermajority, weighted, facilitator, approval or ranked; [council.decision].",
        ),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option", metavar="TEXT", callback=filled, help="What approval and ranked choose among; 2 to 10."
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            "--threshold", metavar="X", help="0 to 1, of unanimous (0.5), supermajority (2/3), weighted (0.7)."
        ),
    ] = None,
    facilitator: Annotated[
        str | None,
        typer.Option(
            "--facilitator",
            metavar="ID[=MODEL]",
            callback=filled,
            help="The participant that decides (strategy facilitator), else who sums up each round.",
        ),
    ] = None,
    human: Annotated[
        list[str] | None,
        typer.Option(
            "--human", metavar="NAME", callback=filled, help="A person who takes part, too: asked here, or later."
        ),
    ] = None,
    weight: Annotated[
        list[str] | None,
        typer.Option("--weight", metavar="ID=X", callback=filled, help="The weight of a participant, 0 to 1."),
    ] = None,
    rounds: Annotated[
        int | None, typer.Option("--rounds", metavar="N", help="The most rounds, 1 to 10; [council.decision] rounds.")
    ] = None,
    file: Files = None,
    diff: Diff = None,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Decide anew, also what was decided before as it is asked now.")
    ] = False,
    tokens: Tokens = None,
    usd: Usd = None,
    timeout: Timeout = None,
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Have several decide, in rounds, by a strategy, to a consensus or honestly to none. The word `hold` may go.

    Exit code 0 with a consensus, 1 without one. A person (`--human`, or `human = true` in the file) is asked at the
    terminal; without one the decision waits: exit code 3, and `swarm decide answer` goes on.

    Example: swarm decide "Which store?" --strategy ranked --option SQLite --option Postgres --option Redis
    """
    with boundary(json) as terminal:
        options: dict[str, Any] = {
            "participants": participant,
            "strategy": strategy,
            "options": option,
            "threshold": threshold,
            "facilitator": facilitator,
            "humans": human,
            "weights": None if weight is None else dict(map(_weight, weight)),
            "rounds": rounds,
            "files": None if file is None else [from_here(each, repo) for each in file],
            "diff": diff,
            "cache": False if no_cache else None,
            "tokens": tokens,
            "usd": usd,
            "timeout_s": timeout,
        }
        given = {key: value for key, value in options.items() if value is not None}
        hint = 'To decide on a file: swarm decide "QUESTION" --file {path}.'
        in_file = described("decision", question, "question", hint)
        from swarmgate.cli.council.run_session import run_session
        from swarmgate.council.shared import new_id

        decision = in_file.get("id", "")
        if not decision:
            given["default_id"] = decision = new_id()

        from swarmgate.cli.council.decide_interactive import people_at

        def work(swarm: Swarm) -> Coroutine[Any, Any, DecisionOutcome]:
            council = swarm.council
            given["people"] = people_at(terminal, swarm)
            return council.decide_file(Path(question), **given) if in_file else council.decide(question, **given)

        try:
            outcome = run_session(repo, terminal, work, resume_command=f"swarm decide resume {decision}")
        except (ConfigError, CouncilRefused) as error:
            page, verb = "swarm docs consensus#a-file", "swarm decide hold"
            raise in_flags(error, _FLAGS, given=given, in_file=bool(in_file), page=page, verb=verb) from None
        _finish(terminal, repo, outcome, decision)


def _weight(given: str) -> tuple[str, float]:
    """`ID=X` as the id and the number.

    Raises:
        UsageError: it is written otherwise.
    """
    name, _, number = (part.strip() for part in given.rpartition("="))
    try:
        value = float(number)
    except ValueError:
        value = math.nan
    if not name or math.isnan(value):
        raise UsageError(f"--weight {given!r} is not of the form ID=X", hint="For example: --weight ops=0.5")
    return name, value


def _finish(terminal: Terminal, repo: Path | None, outcome: DecisionOutcome, asked: str) -> None:
    """Prints how it ended and leaves with 0 where there is a consensus; `asked` is the id that it was to have."""
    from swarmgate.cli.council.cached_answer import CachedAnswer
    from swarmgate.council.decision.view import outcome_lines
    from swarmgate.engine.swarm import Swarm

    council = Swarm(repo).council
    record = council.decision_record(outcome.id)
    more = [f"All of it: swarm decide show {outcome.id}"]
    if outcome.ended_by == "timeout":
        more.append(f"It can go on: swarm decide resume {outcome.id}")
    elif record.part_of:
        more.append(f"What it is a part of goes on with: swarm orchestrate resume {record.part_of}")
    stands = [
        each.model_dump(mode="json", include={"participant", "stand", "agreement", "approves", "ranking", "excluded"})
        for each in (record.rounds[-1].contributions if record.rounds else ())
    ]
    top = {"id": outcome.id, "status": record.status, "question": record.decision.question}
    answered, lines = CachedAnswer(asked, outcome.id), outcome_lines(record)
    marked = answered.lines(lines, cost=lines[-1])
    terminal.result(answered.data({**top, **outcome.model_dump(mode="json"), "stands": stands}), [*marked, *more])
    raise typer.Exit(0 if outcome.consensus else 1)


_Id = Annotated[str, typer.Argument(metavar="ID", callback=filled, help="The id of a decision, as `list` shows it.")]


@app.command("resume")
def resume(decision: _Id, tokens: Tokens = None, usd: Usd = None, repo: Repo = None, json: Json = False) -> None:
    """Go on with a decision that was interrupted, waits, or whose time was up, after what is whole.

    Exit codes as of `hold`.

    Example: swarm decide resume 20261121-224500-3f2a --usd 3
    """
    with boundary(json) as terminal:
        _goes_on(terminal, repo, decision, lambda council: council.resume_decision, tokens=tokens, usd=usd)


@app.command("answer")
def answer(
    decision: _Id,
    who: Annotated[str, typer.Option("--as", metavar="NAME", help="Who you are, where several people take part.")] = "",
    stand: Annotated[str, typer.Option("--stand", metavar="STAND", help="agree, disagree or abstain.")] = "",
    level: Annotated[
        float | None, typer.Option("--level", metavar="X", help="How far you agree, 0 to 1; as the stand has it.")
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option("--option", metavar="TEXT", callback=filled, help="Of a vote, by its words or its letter."),
    ] = None,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; the others read it.")] = "",
    tokens: Tokens = None,
    usd: Usd = None,
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Give your stand or your vote in a decision that waits for you, and go on with it; exit codes as of `hold`.

    Example: swarm decide answer 20261121-224500-3f2a --stand disagree --reason "Who pays for it?"
    """
    with boundary(json) as terminal:
        from swarmgate.council.decision.user_choices import PersonalVote

        vote = PersonalVote(stand=stand, level=level, options=tuple(option or ()), reason=reason)
        more = {"vote": vote, "who": who, "tokens": tokens, "usd": usd}
        _goes_on(terminal, repo, decision, lambda council: council.answer_decision, **more)


def _goes_on(
    terminal: Terminal, repo: Path | None, decision: str, work: Callable[[Council], Callable[..., Any]], **more: Any
) -> None:
    from swarmgate.cli.council.decide_interactive import people_at
    from swarmgate.cli.council.run_session import run_session

    def resumed(swarm: Swarm) -> Any:
        return work(swarm.council)(decision, people=people_at(terminal, swarm), **more)

    outcome = run_session(repo, terminal, resumed, resume_command=f"swarm decide resume {decision}")
    _finish(terminal, repo, outcome, decision)


add_show(
    app,
    "decision",
    "Show a decision round by round: who stood where with what level, who did not count and why, what is open.\n\n"
    "Example: swarm decide show 20261121-224500-3f2a",
)
add_list(
    app,
    "decision",
    "List the decisions of the project, the newest first: the id, when it began, how it ended, and the question.\n\n"
    "Example: swarm decide list",
    lambda each: [each.id, at(each.began), each.status, each.strategy, gist(each.question)],
    every="Those that an orchestration held, too.",
    notes=True,
)

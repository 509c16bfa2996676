"""`swarm discuss`: experts with opposing interests discuss an open question; shows earlier discussions."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from swarmgate.cli.council.flag_errors import in_flags
from swarmgate.cli.council.verbs import add_list, council_of, group
from swarmgate.errors import CouncilRefused, UsageError, WaitingForUser
from swarmgate.terminal.columns import at, gist
from swarmgate.terminal.options import Events, Files, Json, Repo, Timeout, Tokens, Usd, filled, from_here, no_path
from swarmgate.terminal.terminal import Terminal, boundary

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from swarmgate.council.discussion.model import DiscussionRecord
    from swarmgate.engine.swarm import Swarm


app = group(
    "Have experts with opposing interests discuss a topic. "
    'Hold one with: swarm discuss "TOPIC" (see: swarm discuss hold --help). '
    "Or show, list and resume those that were held. All take --json and --repo.\n\n"
    'Example: swarm discuss "How should sessions be kept?" --mode lightweight --yes',
    "for a topic of one word",
)

_FLAGS = {
    "topic": "TOPIC",
    "mode": "--mode",
    "rounds": "--rounds",
    "models": "--model",
    "files": "--file",
    "diff": "--diff",
    "tokens": "--tokens",
    "usd": "--usd",
    "timeout_s": "--timeout",
    "problem_definition": "--problem",
}
"""The flags of the keys of a request; what `--personas` gave keeps its keys, which stand in a file."""

_Id = Annotated[str, typer.Argument(metavar="ID", callback=filled, help="The id of a discussion, as `list` shows it.")]
_Mode = Annotated[
    str | None, typer.Option("--mode", metavar="MODE", callback=filled, help="deep, standard or lightweight.")
]
_Personas = Annotated[
    Path | None,
    typer.Option("--personas", metavar="FILE", callback=filled, help="The experts, as a TOML, YAML or JSON file."),
]
_Yes = Annotated[bool, typer.Option("--yes", help="Take the cast, and follow the moderator; nobody is asked.")]
_Interactive = Annotated[
    bool, typer.Option("--interactive", help="Take part: you may speak after each step (needs a terminal).")
]
_Choose = Annotated[
    list[str] | None,
    typer.Option(
        "--choose",
        metavar="WHAT[=TEXT]",
        callback=filled,
        help="What comes after this round: follow, deep-dive, different-angle, synthesize or pause, perhaps with "
        "into what; once more for the next round.",
    ),
]
_Constraint = Annotated[
    str | None,
    typer.Option(
        "--constraint",
        metavar="TEXT",
        callback=filled,
        help="What holds from the next round on; such a round comes first.",
    ),
]


@app.command("hold")
def hold(
    topic: Annotated[str, typer.Argument(metavar="TOPIC", callback=filled, help="What is discussed.")],
    mode: _Mode = None,
    rounds: Annotated[
        int | None, typer.Option("--rounds", metavar="N", help="The most rounds, 1 to 10; else as the mode has it.")
    ] = None,
    personas: _Personas = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            metavar="ROLE=MODEL",
            callback=filled,
            help="The model of a fixed role or of an expert of --personas; repeatable.",
        ),
    ] = None,
    file: Files = None,
    diff: Annotated[str, typer.Option("--diff", metavar="REV", help="Discuss the work tree's change against it.")] = "",
    name: Annotated[
        str | None,
        typer.Option("--name", metavar="ID", callback=filled, help="Its id; else made of the time."),
    ] = None,
    problem: Annotated[
        str | None, typer.Option("--problem", metavar="TEXT", callback=filled, help="What is to be solved.")
    ] = None,
    scope: Annotated[
        str, typer.Option("--scope", metavar="TEXT", help="With --problem: what belongs to it, and what does not.")
    ] = "",
    success: Annotated[
        list[str] | None,
        typer.Option("--success", metavar="TEXT", callback=filled, help="With --problem: a criterion; repeatable."),
    ] = None,
    yes: _Yes = False,
    interactive: _Interactive = False,
    choose: _Choose = None,
    constraint: _Constraint = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Discuss anew what was discussed before.")] = False,
    tokens: Tokens = None,
    usd: Usd = None,
    timeout: Timeout = None,
    events: Events = False,
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Hold a discussion: experts argue in rounds, what they say is counted, and what holds is synthesised.

    You confirm who takes part, and choose after each round how it goes on; --yes skips both. Without a terminal and
    without --yes the cast is prepared and waits: exit code 3. The word `hold` may go.

    Example: swarm discuss "How should sessions be kept?" --mode lightweight --yes
    """
    with boundary(json) as terminal:
        no_path(topic, "topic", 'To discuss a file: swarm discuss "TOPIC" --file {path}')
        from swarmgate.cli.council.discuss_answer_modes import GivenAnswers, choices_of, people_for
        from swarmgate.cli.council.discuss_result import finish
        from swarmgate.council.shared import new_id

        answering = partial(people_for, terminal, yes=yes, interactive=interactive)
        answering(None)
        asked, choices = name or new_id(), choices_of(choose or [], constraint)
        options: dict[str, Any] = {
            "mode": mode,
            "rounds": rounds,
            "personas": personas or (),
            "models": dict(_model(each) for each in model or []),
            "problem_definition": _problem(problem, scope, success or []),
            "files": [from_here(each, repo) for each in file or []],
            "diff": diff,
            "user": interactive,
            "cache": False if no_cache or choices else None,
            "id": asked,
            "tokens": tokens,
            "usd": usd,
            "timeout_s": timeout,
            "on_event": _on_event(events),
        }

        def work(swarm: Swarm) -> Coroutine[Any, Any, DiscussionRecord]:
            return swarm.council.discuss(
                topic, people=GivenAnswers(answering(swarm), swarm.council.edited_cast, choices=choices), **options
            )

        finish(terminal, council_of(repo), _held(repo, terminal, asked, work, quiet=events), asked=asked, left=choices)


@app.command("resume")
def resume(
    discussion: _Id,
    yes: _Yes = False,
    interactive: _Interactive = False,
    choose: _Choose = None,
    constraint: _Constraint = None,
    mode: _Mode = None,
    personas: _Personas = None,
    tokens: Tokens = None,
    usd: Usd = None,
    events: Events = False,
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Go on with a discussion that waits for you, was paused, or was interrupted; what is done is not done again.

    --mode and --personas are for a cast that was not confirmed yet. Exit codes as of `hold`.

    Example: swarm discuss resume 20261121-224500-3f2a --choose deep-dive="key rotation"
    """
    with boundary(json) as terminal:
        from swarmgate.cli.council.discuss_answer_modes import GivenAnswers, check, choices_of, people_for
        from swarmgate.cli.council.discuss_result import finish
        from swarmgate.council.discussion.request import mode_of
        from swarmgate.engine.swarm import Swarm

        choices = choices_of(choose or [], constraint)
        answers: dict[str, Any] = {"mode": mode_of(mode) if mode else None, "personas": personas, "choices": choices}
        answering = partial(people_for, terminal, yes=yes, interactive=interactive)
        answering(None)
        check(Swarm(repo).council.discussion_record(discussion), answers)

        def work(swarm: Swarm) -> Coroutine[Any, Any, DiscussionRecord]:
            people = GivenAnswers(answering(swarm), swarm.council.edited_cast, **answers)
            on_event = _on_event(events)
            return swarm.council.resume_discussion(discussion, people=people, tokens=tokens, usd=usd, on_event=on_event)

        record = _held(repo, terminal, discussion, work, quiet=events)
        finish(terminal, council_of(repo), record, asked=discussion, left=choices)


@app.command("show")
def show(
    discussion: _Id,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", callback=filled, help="Write who countered whom there, as a page."),
    ] = None,
    export: Annotated[
        Path | None,
        typer.Option("--export", metavar="DIR", callback=filled, help="Write every file of its record there."),
    ] = None,
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Show a discussion round by round: who said what to whom, what was counted, the choices, the synthesis, the cost.

    Example: swarm discuss show 20261121-224500-3f2a --html discussion.html
    """
    with boundary(json) as terminal:
        from swarmgate.cli.council.discuss_result import check_places, data, save
        from swarmgate.council.discussion.view.plain_text import text_lines

        check_places(html, export)
        council = council_of(repo)
        record = council.discussion_record(discussion)
        saved = save(council, discussion, html=html, export=export)
        onward = [] if record.status == "complete" else [f"Go on with: swarm discuss resume {discussion}"]
        terminal.result(data(council, record), saved or [*text_lines(record), *onward])


add_list(
    app,
    "discussion",
    "List the discussions of the project, the newest first: the id, when it began, how far it is, and the topic.\n\n"
    "Example: swarm discuss list",
    lambda each: [each.id, at(each.began), each.status, gist(each.topic)],
    every="Those that a decision or an orchestration held, too.",
)


# --- what is given ---


def _model(given: str) -> tuple[str, str]:
    role, _, model = (part.strip() for part in given.partition("="))
    if not role or not model:
        raise UsageError(f"--model {given!r} is not of the form ROLE=MODEL", hint="--model moderator=local/senior")
    return role, model


def _problem(statement: str | None, scope: str, success: list[str]) -> dict[str, Any] | None:
    if statement is None and (scope or success):
        raise UsageError("--scope and --success go with --problem", hint='--problem "What is to be solved"')
    return {"statement": statement, "scope": scope, "success_criteria": success} if statement else None


def _on_event(events: bool) -> Callable[[Any], None] | None:
    from swarmgate.terminal.progress import json_line

    return json_line if events else None


def _held(
    repo: Path | None,
    terminal: Terminal,
    discussion: str,
    work: Callable[[Swarm], Coroutine[Any, Any, DiscussionRecord]],
    *,
    quiet: bool,
) -> DiscussionRecord:
    from swarmgate.cli.council.run_session import run_session

    try:
        return run_session(repo, terminal, work, resume_command=f"swarm discuss resume {discussion}", quiet=quiet)
    except WaitingForUser:
        return council_of(repo).discussion_record(discussion)
    except CouncilRefused as error:
        page, verb = "swarm docs discussion#personas", "swarm discuss hold"
        raise in_flags(error, _FLAGS, given=_FLAGS, in_file=False, page=page, verb=verb) from None

"""`swarm critique`: judges and improves a version until it is good enough; shows earlier critiques."""

from __future__ import annotations

import re
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
    from collections.abc import Coroutine

    from swarmgate.council.critique.model import CritiqueOutcome
    from swarmgate.engine.swarm import Swarm


app = group(
    "Make something, judge it and improve it. "
    'Hold one with: swarm critique "TASK", or swarm critique FILE.toml (see: swarm critique hold --help). '
    "Or show, list and resume what was made. All take --json and --repo.\n\n"
    'Example: swarm critique "Write the release notes of 2.0" --out NOTES.md',
    "for a task of one word",
)

_FLAGS = {
    "task": "TASK",
    "criteria": "--criterion",
    "criteria.command": "--command",
    "criteria.gate": "--gate",
    "draft": "--draft",
    "target": "--target",
    "iterations": "--iterations",
    "stop": "--stop",
    "model": "--model",
    "evaluator": "--evaluator",
    "name": "--name",
    "adaptive": "--adaptive",
    "files": "--file",
    "diff": "--diff",
    "tokens": "--tokens",
    "usd": "--usd",
    "timeout_s": "--timeout",
}
"""The flags of the keys of a request."""
_MOST_BYTES = 4_000_000

_Id = Annotated[str, typer.Argument(metavar="ID", callback=filled, help="The id of a critique, as `list` shows it.")]
_Out = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", callback=filled, help="Write the best version there, too.")
]
_Force = Annotated[bool, typer.Option("--force", help="With --out: replace what is there.")]


@app.command("hold")
def hold(
    task: Annotated[
        str, typer.Argument(metavar="TASK | FILE.toml", callback=filled, help="What is made; or all of it.")
    ],
    criterion: Annotated[
        list[str] | None,
        typer.Option(
            "--criterion",
            metavar="NAME[:WEIGHT[:THRESHOLD]]=DESCRIPTION",
            callback=filled,
            help="What it is judged by, 1 to 10; correctness, completeness and clarity by default.",
        ),
    ] = None,
    command: Annotated[
        list[str] | None,
        typer.Option(
            "--command", metavar="COMMAND", callback=filled, help="A criterion that is met when this ends with 0."
        ),
    ] = None,
    gate: Annotated[
        list[str] | None,
        typer.Option("--gate", metavar="GATE", callback=filled, help="A criterion that is met when this gate passes."),
    ] = None,
    draft: Annotated[
        Path | None, typer.Option("--draft", metavar="FILE", callback=filled, help="A first version to improve.")
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            metavar="PATH",
            callback=filled,
            help="Where, in a copy of the project, commands and gates see it.",
        ),
    ] = None,
    iterations: Annotated[
        int | None, typer.Option("--iterations", metavar="N", help="1 to 10; see [council.critique] iterations.")
    ] = None,
    stop: Annotated[
        float | None, typer.Option("--stop", metavar="X", help="The weighted mean that is good enough, 0 to 1.")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model", metavar="MODEL", callback=filled, help="provider/model, agent or role of who makes it."
        ),
    ] = None,
    evaluator: Annotated[
        str | None,
        typer.Option("--evaluator", metavar="MODEL", callback=filled, help="Of who judges it, in the same way."),
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", callback=filled, help="Shared by runs of the same kind.")
    ] = None,
    adaptive: Annotated[
        bool, typer.Option("--adaptive", help="Learn the weights from past runs of that name; they are shown.")
    ] = False,
    file: Files = None,
    diff: Diff = None,
    out: _Out = None,
    force: _Force = False,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Ask anew, also where the same was asked for before.")
    ] = False,
    tokens: Tokens = None,
    usd: Usd = None,
    timeout: Timeout = None,
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Make a version, have it judged, improve it, until it is good enough; the best one is given, not the last one.

    The best version goes to stdout, the scores to stderr. The word `hold` may go. Exit code 0 when every criterion
    meets its threshold and the mean is good enough, 1 when not.

    Example: swarm critique "Write a slugify function" --target src/slug.py --command "pytest -q tests/test_slug.py"
    """
    with boundary(json) as terminal:
        from swarmgate.cli.council.run_session import run_session
        from swarmgate.council.shared import new_id

        options: dict[str, Any] = {
            "criteria": _criteria(criterion or [], command or [], gate or []) or None,
            "draft": None if draft is None else _text(draft),
            "target": target,
            "iterations": iterations,
            "stop": stop,
            "model": model,
            "evaluator": evaluator,
            "name": name,
            "adaptive": adaptive or None,
            "files": None if file is None else [from_here(each, repo) for each in file],
            "diff": diff,
            "cache": False if no_cache else None,
            "tokens": tokens,
            "usd": usd,
            "timeout_s": timeout,
        }
        given = {key: value for key, value in options.items() if value is not None}
        _check_out(out, draft, repo, force=force)
        hint = 'To improve a file: swarm critique "TASK" --draft FILE.'
        in_file = described("critique", task, "task", hint)
        critique = in_file.get("id", "")
        if not critique:
            given["default_id"] = critique = new_id()

        def work(swarm: Swarm) -> Coroutine[Any, Any, CritiqueOutcome]:
            council = swarm.council
            return council.critique_file(Path(task), **given) if in_file else council.critique(task, **given)

        try:
            outcome = run_session(repo, terminal, work, resume_command=f"swarm critique resume {critique}")
        except (ConfigError, CouncilRefused) as error:
            page, verb = "swarm docs commands#swarm-critique", "swarm critique hold"
            raise in_flags(error, _FLAGS, given=given, in_file=bool(in_file), page=page, verb=verb) from None
        _finish(terminal, repo, outcome, out, asked=critique)


@app.command("resume")
def resume(
    critique: _Id,
    out: _Out = None,
    force: _Force = False,
    tokens: Tokens = None,
    usd: Usd = None,
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Go on with a critique that was interrupted, after its last whole iteration; exit codes as of `hold`.

    Example: swarm critique resume 20261121-224500-3f2a --usd 3
    """
    with boundary(json) as terminal:
        _check_out(out, None, repo, force=force)
        from swarmgate.cli.council.run_session import run_session

        def work(swarm: Swarm) -> Coroutine[Any, Any, CritiqueOutcome]:
            return swarm.council.resume_critique(critique, tokens=tokens, usd=usd)

        outcome = run_session(repo, terminal, work, resume_command=f"swarm critique resume {critique}")
        _finish(terminal, repo, outcome, out, asked=critique)


add_show(
    app,
    "critique",
    "Show a critique: a table of every iteration's scores, the reasons, the best version, the cost.\n\n"
    "Example: swarm critique show 20261121-224500-3f2a",
)
add_list(
    app,
    "critique",
    "List the critiques of the project, the newest first: the id, when it began, how it ended, and the task.\n\n"
    "Example: swarm critique list",
    lambda each: [each.id, at(each.began), each.status, gist(each.task)],
    every="Those that a decision or an orchestration held, too.",
    notes=True,
)


def _check_out(out: Path | None, draft: Path | None, repo: Path | None, *, force: bool) -> None:
    """Whether the result may be written to --out, where that is given.

    Raises:
        UsageError: it may not.
    """
    if out is not None:
        from swarmgate.engine.swarm import Swarm
        from swarmgate.terminal.result_file import check_out

        check_out(out, draft, root=Swarm(repo).folder.root.resolve(), force=force)


def _criteria(criteria: list[str], commands: list[str], gates: list[str]) -> list[Any]:
    """All criteria as the facade takes them; those of programs are named after the program."""
    programs: list[dict[str, str]] = []
    for key, given in (("command", commands), ("gate", gates)):
        for each in given:
            first = re.sub(r"[^A-Za-z0-9._-]", "", each.split()[0].rpartition("/")[2]).lstrip("._-")[:30] or key
            same = sum(re.fullmatch(rf"{re.escape(first)}(-\d+)?", other["name"]) is not None for other in programs)
            programs.append({"name": f"{first}-{same + 1}" if same else first, key: each})
    return [*criteria, *programs]


def _text(draft: Path) -> str:
    """The text of the draft.

    Raises:
        UsageError: it cannot be read as text.
    """
    from swarmgate.workspace.files import regular

    try:
        text = regular.given(draft, limit=_MOST_BYTES).decode()
    except UnicodeDecodeError as error:
        raise UsageError(f"--draft: {draft} is not UTF-8 text (byte {error.start})") from None
    except OSError as error:
        raise UsageError(f"--draft: {draft} cannot be read: {error.strerror or error}") from None
    if not text.strip():
        raise UsageError(f"--draft: {draft} is empty", hint="Leave the option out: a first version is made then.")
    return text


def _finish(terminal: Terminal, repo: Path | None, outcome: CritiqueOutcome, out: Path | None, *, asked: str) -> None:
    """Prints the best version, and the scores on the side; leaves with whether it is good enough.

    `asked` is the id that it was to have. That another record answers is told in the progress: stdout is the version.
    """
    from swarmgate.cli.council.cached_answer import CachedAnswer
    from swarmgate.council.critique.view import score_lines
    from swarmgate.engine.swarm import Swarm
    from swarmgate.terminal.result_file import save

    record = Swarm(repo).council.critique_record(outcome.id)
    for line in score_lines(record):
        terminal.note(line)
    if out is not None:
        save(out, outcome.version)
        terminal.note(f"The best version is in {out}")
    terminal.note(f"All of it: swarm critique show {outcome.id}")
    weights = {"given_weights": record.critique.given_weights, "learnt_from": record.critique.learnt_from}
    evaluations = [each.model_dump(mode="json", exclude={"usage"}) for each in record.iterations]
    top = {"id": outcome.id, "status": record.status, "task": record.critique.task}
    result = {**top, **outcome.model_dump(mode="json"), **weights, "evaluations": evaluations}
    terminal.result(CachedAnswer(asked, outcome.id).data(result), outcome.version.split("\n"))
    raise typer.Exit(0 if outcome.passed else 1)

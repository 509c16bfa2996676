"""`swarm plan`: turns a goal into a plan that waits for approval."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from swarmgate.cli.work.run_loop import drive, finish
from swarmgate.errors import UsageError
from swarmgate.terminal.options import Json, Plain, Repo, Verbose
from swarmgate.terminal.terminal import Terminal, boundary

if TYPE_CHECKING:
    from swarmgate.engine.reports.outcome import RunOutcome


def command(
    goal: Annotated[str, typer.Argument(metavar="GOAL", help="What is wanted, in your words.")] = "",
    spec: Annotated[
        Path | None, typer.Option("--from", metavar="FILE", help="A file that holds the specification.")
    ] = None,
    answer: Annotated[
        list[str] | None, typer.Option("--answer", metavar="N=TEXT", help="Answer question N of the architect.")
    ] = None,
    plain: Plain = False,
    verbose: Verbose = False,
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Have the architect plan a goal and the critic review the plan.

    Questions that the repository cannot answer are asked here; without a terminal they are printed, exit code 3.

    Example: swarm plan "Build JWT auth"
    """
    with boundary(json) as terminal:
        text, source = _read(spec)
        goal = goal.strip() or _first_line(text)
        answers = dict(_answer(given) for given in answer or [])
        shown = partial(drive, repo, terminal, plain=plain, verbose=verbose)
        outcome = shown(lambda swarm: swarm.plan(goal, spec=text, source=source, answers=answers))
        while outcome.questions and sys.stdin.isatty() and not terminal.as_json:
            given = _ask(terminal, outcome)
            outcome = shown(lambda swarm, given=given: swarm.plan(answers=given))  # type: ignore[misc]  # mypy cannot infer a lambda with a default
        finish(terminal, outcome)


def _read(spec: Path | None) -> tuple[str, str]:
    if spec is None:
        return "", ""
    from swarmgate.workspace.files import regular

    try:
        text = regular.given(spec).decode()
    except (OSError, ValueError) as error:  # a name with a NUL in it is a ValueError
        if isinstance(error, UnicodeDecodeError):
            raise UsageError(f"{spec} is not UTF-8 text (byte {error.start}).", hint="Save it as UTF-8.") from None
        raise UsageError(f"{spec} cannot be read: {getattr(error, 'strerror', None) or error}.") from None
    if not text.strip():
        raise UsageError(f"{spec} is empty.")
    return text, spec.name


def _first_line(text: str) -> str:
    return next((line.strip("# ").strip() for line in text.splitlines() if line.strip("# ").strip()), "")


def _answer(given: str) -> tuple[int, str]:
    number, equals, text = given.partition("=")
    if not equals or not number.strip().isdigit() or not text.strip():
        raise UsageError(f"--answer {given!r} is not of the form N=TEXT.", hint='For example: --answer 1="HS256"')
    return int(number), text.strip()


def _ask(terminal: Terminal, outcome: RunOutcome) -> dict[int, str]:
    terminal.note("The architect needs answers:")
    return {number: typer.prompt(f"{number}. {text}", err=True) for number, text in outcome.questions}

"""Command-line options that several verbs share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from swarmgate.errors import UsageError

T = TypeVar("T")


def filled(value: T) -> T:
    """Refuses an empty value: a variable that is not set must not turn a check into one of nothing."""
    for each in value if isinstance(value, (list, tuple)) else [value]:
        if isinstance(each, str) and not each.strip():
            raise typer.BadParameter("the value is empty (a variable that is not set?)")
        if each == Path():
            raise typer.BadParameter("the value is empty, or the current folder (a variable that is not set?)")
    return value


def from_here(file: str, repo: Path | None) -> str:
    """The file from where the user is, if it is there and not outside of the folder that was named; else as it is."""
    here = Path(file).absolute()
    if not os.path.exists(here):  # noqa: PTH110 - it may be no path at all, which this takes for none
        return file
    return str(here) if repo is None or here.resolve().is_relative_to(repo.resolve()) else file


def no_path(text: str, meant: str, hint: str) -> None:
    """Refuses a path where words are meant: then the text of that file is meant, and not its name.

    Args:
        text: what is given.
        meant: what it should be: `question`.
        hint: what to give; `{path}` becomes the file, or PATH where it is none.

    Raises:
        UsageError: a file, or a folder, has this name.
    """
    if os.path.exists(text):  # noqa: PTH110 - it may be too long for a path, which this takes for none
        what, file = "a folder" if Path(text).is_dir() else "a file", text if Path(text).is_file() else "PATH"
        raise UsageError(f"{text} is {what}, and no {meant}", hint=hint.replace("{path}", file))


Repo = Annotated[
    Path | None, typer.Option("--repo", metavar="DIR", help="A folder in the repository; the current one by default.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON only on stdout, progress as JSON lines on stderr.")]
Plain = Annotated[
    bool, typer.Option("--plain", help="Print lines only: nothing is drawn, coloured or wrapped, as in a pipe.")
]
Verbose = Annotated[
    bool,
    typer.Option("--verbose", help="Show whole diffs, the output of commands, agents' words, and gates that passed."),
]
TaskId = Annotated[str, typer.Argument(metavar="TASK", help="The id of a task, such as 1.2.")]
Events = Annotated[
    bool, typer.Option("--events", help="Print every event on stderr as one line of JSON, in the place of progress.")
]
Tokens = Annotated[
    int | None,
    typer.Option("--tokens", metavar="N", min=1, help="Tokens that all of it may use; see [council] total_tokens."),
]
Usd = Annotated[
    float | None,
    typer.Option("--usd", metavar="X", min=0, help="US dollars that all of it may use; see [council] usd."),
]
Files = Annotated[
    list[str] | None,
    typer.Option(
        "--file",
        metavar="PATH",
        callback=filled,
        help="A file of the repository that it is about, from here or from its root; repeatable.",
    ),
]
Diff = Annotated[
    str | None,
    typer.Option("--diff", metavar="REV", callback=filled, help="It is about the work tree's change against REV."),
]
Timeout = Annotated[
    float | None, typer.Option("--timeout", metavar="S", help="Longest time of one voice in one step, in seconds.")
]

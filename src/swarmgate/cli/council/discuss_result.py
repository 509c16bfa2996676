"""Prints the result of `swarm discuss`, as text, as JSON or as files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from swarmgate.cli.council.cached_answer import CachedAnswer
from swarmgate.errors import UsageError

if TYPE_CHECKING:
    from swarmgate.council.discussion.model import Choice, DiscussionRecord
    from swarmgate.council.facade import Council
    from swarmgate.terminal.terminal import Terminal

_WAITS = 3


def finish(
    terminal: Terminal, council: Council, record: DiscussionRecord, *, asked: str, left: Sequence[Choice] = ()
) -> None:
    """Prints how it ended, or what it waits for, which is exit code 3; and the given choices that are `left`."""
    from swarmgate.cli.council.discuss_answer_modes import at_terminal, written
    from swarmgate.council.views.formatting import cost

    answered = CachedAnswer(asked, record.discussion.id)
    unmade = [written(each) for each in left]
    lines = answered.lines(
        _lines(council, record, shown=at_terminal(terminal)), cost=cost(record.usage, record.seconds)
    )
    lines += [f"Not reached: {each}" for each in unmade]
    terminal.result(answered.data({**data(council, record), "not_reached": unmade}), lines)
    raise typer.Exit(0 if record.status == "complete" else _WAITS)


def data(council: Council, record: DiscussionRecord) -> dict[str, Any]:
    """The record as JSON, with its id and where its files are."""
    name = record.discussion.id
    return {"id": name, **record.model_dump(mode="json"), "artifacts": council.discussion_places(name)}


def _lines(council: Council, record: DiscussionRecord, *, shown: bool) -> Sequence[str]:
    """The state of a discussion in lines; `shown`: a cast that waits is on the screen already."""
    from swarmgate.council.discussion.view.terminal import cast_lines, outcome_lines

    name, places = record.discussion.id, council.discussion_places(record.discussion.id)
    if record.status == "prepared" and record.cast is not None:
        files = [place for file, place in places.items() if file.startswith("personas/")]
        return [
            *([] if shown else [*cast_lines(record.discussion, record.cast), ""]),
            f"It waits for you. To discuss with these: swarm discuss resume {name} --yes",
            f"To change them first, edit these files, or give your own with --personas FILE: {', '.join(files)}",
        ]
    lines = outcome_lines(record)
    if record.status != "complete":
        return [*lines, f"Go on with: swarm discuss resume {name}"]
    made = [place for file, place in places.items() if file == "artifacts/synthesis.md"]
    return [*lines, *(f"The synthesis: {place}" for place in made), f"All of it: swarm discuss show {name}"]


def check_places(html: Path | None, export: Path | None) -> None:
    """Refuses places that nothing can be written to, before anything is read.

    Raises:
        UsageError: `html` is a folder, or in none; `export` is a file.
    """
    if html is not None and html.is_dir():
        raise UsageError(f"--html {html}: this is a folder", hint=f"Name a file: --html {html / 'discussion.html'}")
    if html is not None and not html.parent.is_dir():
        raise UsageError(f"--html {html}: there is no folder {html.parent}", hint="Make it, then try again.")
    if export is not None and export.exists() and not export.is_dir():
        raise UsageError(f"--export {export}: this is a file", hint="Name a folder; it is made where there is none.")


def save(council: Council, discussion: str, *, html: Path | None, export: Path | None) -> list[str]:
    """Writes the page, and all files of a record; a line for each that says where."""
    lines = []
    if html is not None:
        html.write_text(council.discussion_page(discussion), encoding="utf-8")
        lines.append(f"The page is {html}")
    if export is not None:
        _written(export, council.discussion_documents(discussion))
        lines.append(f"The files are in {export}")
    return lines


def _written(folder: Path, documents: dict[str, str]) -> None:
    """Writes each text under its name into a folder."""
    for name, text in documents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

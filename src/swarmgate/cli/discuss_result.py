"""What `swarm discuss` prints of a discussion: how it ended, or what it waits for; its record as JSON, and as files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from swarmgate.cli.terminal import Terminal
    from swarmgate.domain.discussion import DiscussionRecord
    from swarmgate.engine.council import Council

_WAITS = 3


def finish(terminal: Terminal, council: Council, record: DiscussionRecord, *, asked: str) -> None:
    """Prints how it ended, or what it waits for, which is exit code 3."""
    terminal.result(data(council, record), _lines(council, record, asked=asked))
    raise typer.Exit(0 if record.status == "complete" else _WAITS)


def data(council: Council, record: DiscussionRecord) -> dict[str, Any]:
    """The record as JSON, with its id and where its files are."""
    name = record.discussion.id
    return {"id": name, **record.model_dump(mode="json"), "artifacts": council.discussion_places(name)}


def _lines(council: Council, record: DiscussionRecord, *, asked: str) -> Sequence[str]:
    from swarmgate.engine.discussion_words import cast_lines, outcome_lines

    name, places = record.discussion.id, council.discussion_places(record.discussion.id)
    if record.status == "prepared" and record.cast is not None:
        files = [place for file, place in places.items() if file.startswith("personas/")]
        return [
            *cast_lines(record.discussion, record.cast),
            "",
            f"It waits for you. To discuss with these: swarm discuss resume {name} --yes",
            f"To change them first, edit these files, or give your own with --personas FILE: {', '.join(files)}",
        ]
    lines = outcome_lines(record)
    if record.status != "complete":
        return [*lines, f"Go on with: swarm discuss resume {name}"]
    if name != asked:
        lines.append("This was discussed before, and nothing has changed since. To discuss it anew: --no-cache")
    made = [place for file, place in places.items() if file == "artifacts/synthesis.md"]
    return [*lines, *(f"The synthesis: {place}" for place in made), f"All of it: swarm discuss show {name}"]


def written(folder: Path, documents: dict[str, str]) -> None:
    """Writes each text under its name into a folder."""
    for name, text in documents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

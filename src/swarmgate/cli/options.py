"""The options that every verb takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Repo = Annotated[
    Path | None, typer.Option("--repo", metavar="DIR", help="A folder in the repository; the current one by default.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON only on stdout, progress as JSON lines on stderr.")]
TaskId = Annotated[str, typer.Argument(metavar="TASK", help="The id of a task, such as 1.2.")]

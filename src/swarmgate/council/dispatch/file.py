"""Reads a dispatch request from a file (TOML, YAML, JSON) with `mode`, `question`, `rounds` and `tasks`."""

from __future__ import annotations

from pathlib import Path

from swarmgate.config.setting_errors import unknown
from swarmgate.council.dispatch.model import PREVIOUS, Dispatch, Mode
from swarmgate.council.dispatch.request import Where, checked, mode_of
from swarmgate.council.requests.request_file import begins, tables_of, text_of
from swarmgate.errors import CouncilRefused

KEYS = ("mode", "question", "rounds", "tasks")
"""What may stand in the file."""


def read(path: Path, *, mode: str = "", rounds: int | None = None, default_rounds: int = 2) -> Dispatch:
    """The dispatch that a file asks for.

    Args:
        path: of the file.
        mode: one of `Mode`; empty: the file says it, or its tasks are parallel ones.
        rounds: of a debate, instead of the file's.
        default_rounds: where neither says it.

    Raises:
        CouncilRefused: the file cannot be read, or not held; the message names file, line and key.
    """
    if mode:
        mode_of(mode)
    text = _text(path)
    values = tables_of(path, text)
    where = _places(path, text)
    for key in values:
        if key not in KEYS:
            raise CouncilRefused(f"{where(0, key)}{unknown(key, KEYS)}", hint=f"In the file stand: {', '.join(KEYS)}.")
    in_file = values.get("mode", "")
    if mode and in_file and mode != in_file:
        raise CouncilRefused(
            f"{where(0, 'mode')}`mode` is {in_file!r} here and {mode!r} on the command line",
            hint="Say it in one place.",
        )
    if not (mode or in_file) and PREVIOUS in str(values.get("tasks")):  # which is for a chain, and not to be guessed
        raise CouncilRefused(f"{path}: no mode is given", hint="Add: --mode single, parallel, chain or debate")
    return checked(
        mode or in_file or Mode.PARALLEL,
        values.get("tasks", ()),
        rounds=values.get("rounds") if rounds is None else rounds,
        question=values.get("question", ""),
        default_rounds=default_rounds,
        where=where,
    )


def places(path: Path) -> Where:
    """How messages about the tasks of a file begin: with file, line and task.

    Raises:
        CouncilRefused: it cannot be read.
    """
    return _places(path, _text(path))


def _places(path: Path, text: str) -> Where:
    """Names the line of a key; of a table where the key itself does not stand there, and no line where neither does."""

    def where(task: int, key: str) -> str:
        place = ("tasks", task - 1, key) if task else (key,)
        return begins(path, text, place, naming=False) + (f"task {task}: " if task else "")

    return where


def _text(path: Path) -> str:
    return text_of(
        path, "dispatch file", hint="Give the path of a file with `tasks`; the format: swarm dispatch --help"
    )

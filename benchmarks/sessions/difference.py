"""Compares two recordings of scripted sessions, without ids, times and other values that differ in every run."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sessions.play import ID

RECORDS = re.compile(r"(manifest\.json|journal\.jsonl|(^|/)rounds/|^files/traces/)")
"""Files whose inner format belongs to swarmgate alone, whether copied or exported."""

TOLD = re.compile(r"(^|/)(stderr|progress\.md)$")
"""Files that tell what happened as it happened: what went on at once stands there as it arrived, by chance."""

LONGEST = 60
"""Lines of one diff that are printed."""

EPOCH_S = 1e9
"""A JSON number from here on is a moment: seconds since 1970."""

ALIKE: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.MULTILINE), stands)
    for pattern, stands in (
        (r"[^\s\"'(<>]*/swarm-session-\w{8}", "<place>"),
        (r"\b127\.0\.0\.1:\d{4,5}", "<endpoint>"),
        (r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?( UTC|Z|[+-]\d\d:\d\d)?", "<time>"),
        (r"\b[0-9a-f]{64}\b|\b[0-9a-f]{40}\b|(?<=prompt )[0-9a-f]{12}\b", "<hash>"),
        (r"^ *\d+\.\d s(?= )", "<seconds>"),
        (r"\b\d[\d,]*\.\d+ s\b", "<seconds>"),
        (r"\d+\.\d\d(?=  +[\d,]+  +(at least |cost )?(\$|unknown))", "<seconds>"),  # the table of `swarm metrics`
    )
)


def differences(old: Path, new: Path, names: tuple[str, ...] = (), *, ignore_records: bool) -> Iterator[str]:
    """What differs, file by file.

    Args:
        old: a recording.
        new: another one.
        names: beginnings of the names of the sessions that count; none: all.
        ignore_records: whether the inner formats of records are left aside, too.
    """
    played = sorted({path.relative_to(side).as_posix() for side in (old, new) for path in side.glob("*/*")})
    for name in (each for each in played if each.startswith(names or "")):
        sides = [_read(side / name) for side in (old, new)]
        if not all(sides):
            yield f"{name}: only in {old if sides[0] else new}"
            continue
        for file in sorted({*sides[0], *sides[1]}):
            if ignore_records and RECORDS.search(file):
                continue
            before, after = (side.get(file) for side in sides)
            if before is None or after is None:
                yield f"{name}/{file}: only in {old if after is None else new}"
            elif not _same(file, before, after):
                yield f"{name}/{file}\n{_typed(sides[0], file)}{_diff(before, after)}"


def _same(file: str, before: str, after: str) -> bool:
    """Whether two texts say the same; of what is told as it happens, in whatever order."""
    return before == after or (
        TOLD.search(file) is not None and sorted(before.splitlines()) == sorted(after.splitlines())
    )


def _read(folder: Path) -> dict[str, str]:
    """The files of one session as they are compared; ids are numbered in the order in which the session told them."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    texts = {path.relative_to(folder).as_posix(): path.read_text("utf-8", "replace") for path in files}
    text = "\n".join([*texts.values(), *texts])
    numbered = {found: f"<id {number}>" for number, found in enumerate(dict.fromkeys(ID.findall(text)), start=1)}

    def named(text: str) -> str:
        return ID.sub(lambda found: numbered[found[0]], text)

    return {named(name): _alike(named(text)) for name, text in texts.items()}


def _alike(text: str) -> str:
    """A text without what no two runs share; JSON a key a line."""
    if (values := _values(text)) is not None:
        text = "\n".join(json.dumps(_timeless(each), indent=1, ensure_ascii=False) for each in values)
    for pattern, stands in ALIKE:
        text = pattern.sub(stands, text)
    return text


def _values(text: str) -> list[Any] | None:
    """The text as one JSON value, or as one a line; None: it is neither."""
    for parts in ([text], text.splitlines()):
        try:
            return [json.loads(part) for part in parts]
        except ValueError:
            continue
    return None


def _timeless(value: Any, key: str = "") -> Any:
    """A JSON value without durations and moments."""
    if isinstance(value, dict):
        return {name: _timeless(each, name) for name, each in value.items()}
    if isinstance(value, list):
        return [_timeless(each, key) for each in value]
    if isinstance(value, int | float) and not isinstance(value, bool) and (key == "seconds" or value > EPOCH_S):
        return "<seconds>"
    return value


def _typed(texts: dict[str, str], file: str) -> str:
    """The command that a file belongs to; empty: it is not of one command."""
    typed = texts.get(f"{file.rpartition('/')[0]}/argv", "")
    return f"  $ {typed.strip()}\n" if typed else ""


def _diff(before: str, after: str) -> str:
    lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), "old", "new", n=2, lineterm=""))
    more = [f"... {len(lines) - LONGEST} lines more"] if len(lines) > LONGEST else []
    return "".join(f"  {line}\n" for line in [*lines[2:LONGEST], *more])

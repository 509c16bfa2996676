"""Reads the labelled items of the debate experiment: a JSON Lines file of good and bad designs or patches.

    {"id": "cache-01", "kind": "design", "label": "bad", "category": "caching", "source": "written for swarmgate",
     "text": "the proposal as a reviewer reads it", "context": "optional: what it has to do with",
     "reason": "the flaw; of a good item: why it is sound"}

A participant is shown `context` and `text`, nothing else: neither must say whether the item is good. A line of QuixBugs
as `{"name", "spec", "buggy", "correct"}` is read as two items, the buggy and the correct program under the same spec.
"""

from __future__ import annotations

import ast
import difflib
import hashlib
import json
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, ValidationError

from swarmgate.domain.base import Frozen, Line, Text
from swarmgate.errors import UsageError
from swarmgate.workspace.files import regular

Label = Literal["good", "bad"]

UNBALANCED = 0.6
"""The share of one label from which a file counts as unbalanced: who always answers the same is right that often."""


class Item(Frozen):
    """One thing to judge. `label` says how it is, `reason` why: for a bad one the flaw, for a good one what is sound.

    `context` is what a reviewer has to know about the surroundings; `category` groups items in the report.
    """

    id: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$")]
    kind: Literal["design", "patch"]
    text: Text = Field(min_length=1)
    label: Label
    reason: Text = Field(min_length=1)
    category: Line = Field(min_length=1)
    source: Line = Field(min_length=1)
    context: Text = ""


@dataclass(frozen=True, slots=True)
class Fixtures:
    """The items of a file in its order, and what is doubtful about the file, a sentence each.

    `sha256` is that of the bytes that were read, in hex: the file may be another one by the time of the report.
    """

    items: tuple[Item, ...]
    warnings: tuple[str, ...] = ()
    sha256: str = ""


def load(path: Path) -> Fixtures:
    """The items of a file.

    Raises:
        UsageError: it cannot be read, has no items, or a line is not an item; the message names file, line and key.
    """
    try:
        content = regular.given(path, limit=regular.LIMIT_BYTES)
        text = content.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read: {error}", hint="Name a file of JSON lines.") from error
    items: list[Item] = []
    lines: dict[str, int] = {}
    for number, record in _records(path, text):
        for item in _items(record, f"{path}:{number}"):
            # Case does not tell items apart: people who read the report, and some file systems, would not see it.
            name = item.id.casefold()
            if name in lines:
                raise UsageError(
                    f"{path}:{number}: key 'id': {item.id!r} is already the id of line {lines[name]}",
                    hint="Every item has an id of its own; upper and lower case are the same.",
                )
            lines[name] = number
            items.append(item)
    if not items:
        raise UsageError(f"{path}: no items are in it", hint="What a line looks like: swarm docs evaluation#fixtures")
    return Fixtures(tuple(items), _warnings(path, tuple(items)), hashlib.sha256(content).hexdigest())


def _warnings(path: Path, items: tuple[Item, ...]) -> tuple[str, ...]:
    """What makes the numbers doubtful: more of one label than of the other, or the same text twice."""
    counts = Counter(item.label for item in items)
    found = []
    if max(counts.values()) > UNBALANCED * len(items):
        found.append(
            f"{path}: unbalanced: {counts['good']} good and {counts['bad']} bad items; who always answers the same is "
            "right more often than half of the time"
        )
    texts = Counter((item.context, item.text) for item in items)
    if repeated := sum(times > 1 for times in texts.values()):
        found.append(f"{path}: {repeated} texts stand in it more than once; they are no independent items")
    return tuple(found)


def _items(record: dict[str, Any], where: str) -> tuple[Item, ...]:
    if "buggy" in record and "correct" in record:
        return _quixbugs(record, where)
    try:
        item = Item.model_validate(record)
    except ValidationError as error:
        raise _refused(error, where) from error
    # Constraints on length are checked before white space is stripped.
    for key in ("text", "reason", "category", "source"):
        if not _visible(getattr(item, key)):
            raise UsageError(f"{where}: key {key!r}: empty")
    return (item,)


def _visible(text: str) -> bool:
    """Whether there is anything to see: no space, control or format character, nor a mark or filler alone."""
    return any(unicodedata.category(each)[0] not in "CZM" and each not in _FILLERS for each in text)


_FILLERS = "\u115f\u1160\u2800\u3164\uffa0"
"""Letters and symbols that look like nothing: Hangul fillers, the blank of Braille."""


def _refused(error: ValidationError, where: str) -> UsageError:
    first = error.errors()[0]
    key = ".".join(map(str, first["loc"]))
    got = "" if first["type"] in {"missing", "extra_forbidden"} else f" (it is {str(first['input'])[:60]!r})"
    keys = ", ".join(Item.model_fields)
    return UsageError(f"{where}: key {key!r}: {first['msg']}{got}", hint=f"The keys of an item: {keys}.")


def _quixbugs(record: dict[str, Any], where: str) -> tuple[Item, ...]:
    texts = [record.get(key) for key in ("name", "spec", "buggy", "correct")]
    if not all(isinstance(text, str) and text.strip() for text in texts):
        raise UsageError(f"{where}: keys 'name', 'spec', 'buggy' and 'correct': each is a text, and none is empty")
    name, spec, *programs = map(str, texts)
    buggy, correct = (_bare(source, f"{where}: key {key!r}") for source, key in zip(programs, _SIDES, strict=True))
    if buggy == correct:
        raise UsageError(f"{where}: keys 'buggy' and 'correct': the programs are the same but for their docstrings")
    extra_files = record.get("extra_files") or {}
    context = "\n\n".join(
        [f"What the function has to do:\n{spec}", *(f"{file}:\n{extra_files[file]}" for file in extra_files)]
    )
    shared = {"kind": "patch", "category": "algorithm", "source": "QuixBugs", "context": context}
    sides = {
        "bad": (buggy, f"The bug, and what it should read:\n{_difference(buggy, correct)}"),
        "good": (correct, "The corrected program of the set; it passes the set's tests."),
    }
    try:
        return tuple(
            Item.model_validate({**shared, "id": f"{name}.{label}", "label": label, "text": text, "reason": reason})
            for label, (text, reason) in sides.items()
        )
    except ValidationError as error:
        raise _refused(error, where) from error


_SIDES = ("buggy", "correct")


def _bare(source: str, where: str) -> str:
    """The program without docstrings, comments and its own layout, which tell a fixed program from a broken one."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError) as error:
        raise UsageError(f"{where}: not Python: {error}") from error
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list):
                body = [each for each in block if not _is_text(each)]
                setattr(node, field, body or [ast.Pass()] if block else [])
    return ast.unparse(ast.fix_missing_locations(tree))


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _difference(before: str, after: str) -> str:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
    return "\n".join(line for line in lines if not line.startswith(("---", "+++", "@@")))


def _records(path: Path, text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line, object_pairs_hook=_once)
        except _Twice as error:
            raise UsageError(f"{path}:{number}: key {error.key!r} stands there twice", hint="Leave one out.") from error
        except ValueError as error:
            raise UsageError(f"{path}:{number}: not JSON: {error}") from error
        except RecursionError as error:
            raise UsageError(f"{path}:{number}: nested too deep to be an item") from error
        if not isinstance(record, dict):
            raise UsageError(f"{path}:{number}: an item is a JSON object")
        yield number, record


class _Twice(ValueError):
    """An object has a key twice; JSON leaves open which one counts."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise _Twice(key)
        found[key] = value
    return found

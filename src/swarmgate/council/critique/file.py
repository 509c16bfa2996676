"""A critique described in a TOML file: the arguments of `Council.critique`, and every mistake with file, line and key.

task = "Write the release notes of 2.0"
iterations = 4

[[criteria]]
name = "accuracy"
description = "Every change that users notice is named, and nothing else."
weight = 1.0
threshold = 0.8
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, Field, ValidationError

from swarmgate.config.refusals import unknown
from swarmgate.council.described import tables_of, text_of
from swarmgate.council.pattern import Where
from swarmgate.council.toml_lines import line_of
from swarmgate.domain.base import Frozen
from swarmgate.errors import CouncilRefused

_STRICT = ConfigDict(frozen=True, extra="forbid", strict=True)


class CriterionTable(Frozen):
    """What may stand in a table `[[criteria]]`; limits are checked where the request is."""

    model_config = _STRICT

    name: str
    description: str = ""
    rubric: str = ""
    weight: float = 1.0
    threshold: float = 0.7
    command: str = ""
    gate: str = ""


class CritiqueFile(Frozen):
    """What may stand in the file; what is left out is as the options of `swarm critique` leave it."""

    model_config = _STRICT

    task: str
    criteria: list[CriterionTable] | None = None
    name: str = ""
    draft: str = ""
    target: str = ""
    iterations: int | None = None
    stop: float | None = None
    adaptive: bool = False
    model: str = ""
    evaluator: str = ""
    material: str = ""
    files: list[str] = Field(default_factory=list)
    diff: str = ""
    cache: bool | None = None
    id: str = ""
    tokens: int | None = Field(None, ge=1)
    usd: float | None = Field(None, ge=0)
    timeout_s: float | None = None


def places(path: Path) -> Where:
    """How messages about a key of the file begin: with file and line.

    Raises:
        CouncilRefused: it cannot be read.
    """
    text = _text(path)

    def begins(place: tuple[int | str, ...]) -> str:
        line = line_of(text, place, tables="criteria")
        return f"{path}{f', line {line}' if line else ''}: "

    return begins


def read(path: Path) -> dict[str, Any]:
    """The arguments of `Council.critique` that the file gives.

    Raises:
        CouncilRefused: it cannot be read, or a key is unknown or of another type; names file, line and key.
    """
    text = _text(path)
    values = tables_of(path, text)
    try:
        given = CritiqueFile.model_validate(values)
    except ValidationError as error:
        raise _refusal(path, error) from None
    found = {key: getattr(given, key) for key in values}
    if given.criteria is not None:
        found["criteria"] = [each.model_dump(exclude_unset=True) for each in given.criteria]
    return found


def _refusal(path: Path, error: ValidationError) -> CouncilRefused:
    first = error.errors(include_url=False, include_input=False)[0]
    place, what = tuple(first["loc"]), first["msg"]
    if first["type"] == "extra_forbidden":
        known: Iterable[str] = (CritiqueFile if len(place) == 1 else CriterionTable).model_fields
        what = unknown(str(place[-1]), known)
    elif first["type"] == "missing":
        place, what = place[:-1], f"the key `{place[-1]}` is missing"
    key = ".".join(str(part + 1 if isinstance(part, int) else part) for part in place)
    told = re.sub(r"^(Input|String|List) should", "must", what)
    return CouncilRefused(
        f"{places(path)(place)}{f'`{key}`: ' if key else ''}{told}",
        hint="Mend that, then try again; every key: docs/commands.md, swarm critique.",
    )


def _text(path: Path) -> str:
    return text_of(
        path, "critique file", hint=f"Give the path of a TOML file. For a task of these letters, add a blank: '{path} '"
    )

"""Reads a critique request from a TOML file and reports each mistake with file, line and key.

task = "Write the release notes of 2.0"
iterations = 4

[[criteria]]
name = "accuracy"
description = "Every change that users notice is named, and nothing else."
weight = 1.0
threshold = 0.8
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import ConfigDict, Field

from swarmgate.council.requests.request_file import Described
from swarmgate.domain.base import Frozen

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


FILE = Described(
    CritiqueFile,
    "critique file",
    asks="task",
    table=CriterionTable,
    keys="swarm docs commands#swarm-critique",
)


def read(path: Path) -> dict[str, Any]:
    """The arguments of `Council.critique` that the file gives.

    Raises:
        CouncilRefused: it cannot be read, or a key is unknown or of another type; names file, line and key.
    """
    given = FILE.read(path)
    found = {key: getattr(given, key) for key in given.model_fields_set}
    if given.criteria is not None:
        found["criteria"] = [each.model_dump(exclude_unset=True) for each in given.criteria]
    return found

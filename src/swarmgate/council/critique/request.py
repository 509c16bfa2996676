"""Validates the request for a critique before a model is called."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from swarmgate.agents.tools.answer_text import squeezed
from swarmgate.config import nearest
from swarmgate.council.critique.model import DEFAULT_CRITERIA, Criterion, Critique
from swarmgate.council.limits import (
    CRITERIA,
    ITERATIONS,
    MATERIAL,
    PERSONA,
    PROMPT,
    VOICE_SECONDS,
    WHOLE_SECONDS,
    Limit,
    sized,
    within,
)
from swarmgate.council.pattern import Where
from swarmgate.council.requests.seats import checked
from swarmgate.errors import CouncilRefused
from swarmgate.workspace.files import guard

SHARE = Limit(least=0, most=1)
"""Weights, thresholds and scores."""

_LINE = Limit(least=0, most=1_000, unit="characters")
_TOKENS = Limit(least=1, most=100_000_000, unit="tokens")
_SPELLED = re.compile(r"(?P<name>[^:=]*)(?::(?P<weight>[^:=]*)(?::(?P<threshold>[^:=]*))?)?=(?P<description>[\s\S]*)")
_FORM = "Write it as NAME=DESCRIPTION, NAME:WEIGHT=DESCRIPTION or NAME:WEIGHT:THRESHOLD=DESCRIPTION."

Given = Criterion | Mapping[str, Any] | str
"""A criterion as it may be given: itself, its fields, or `NAME[:WEIGHT[:THRESHOLD]]=DESCRIPTION`."""


_NUMBERS = {
    "iterations": (ITERATIONS, True),
    "stop": (SHARE, False),
    "tokens": (_TOKENS, True),
    "timeout_s": (VOICE_SECONDS, False),
    "whole_s": (WHOLE_SECONDS, False),
}
"""The limit of each number, and whether it is a whole one."""

_TEXTS = {"task": PROMPT, "material": MATERIAL, "draft": MATERIAL, "system": PERSONA, "name": _LINE, "target": _LINE}


def critique_of(
    *,
    id: str,  # noqa: A002 - the field's name
    task: str,
    criteria: Sequence[Given] | None = None,
    threshold: float = 0.7,
    gates: Collection[str] | None = None,
    where: Where = lambda _: "",
    **fields: Any,
) -> Critique:
    """A critique that can be held.

    Args:
        id: its name.
        task: what is made; not empty.
        criteria: 1 to 10; None: correctness, completeness and clarity.
        threshold: of a criterion that names none, 0 to 1.
        gates: the names of the gates that judge; None: they are not checked.
        where: how messages about a parameter begin.
        fields: the other fields of `Critique`.

    Raises:
        CouncilRefused: it cannot; the message names the parameter and its limit.
    """
    fields |= {"id": id, "task": task}
    for name in (each for each in _NUMBERS if each in fields):
        with _at(where, name):
            within(name, fields[name], _NUMBERS[name][0], whole=_NUMBERS[name][1])
    for name, limit in _TEXTS.items():
        with _at(where, name):
            sized(name, fields.get(name, ""), limit)
    given = DEFAULT_CRITERIA if criteria is None else criteria
    with _at(where, "criteria"):
        within("threshold", threshold, SHARE, whole=False)
        within("criteria", len(given), CRITERIA)
    made = tuple(_criterion(each, at, threshold, where) for at, each in enumerate(given))
    critique = checked(Critique, {**fields, "criteria": made}, "", first=1)
    _check_names(critique, where)
    for at, each in enumerate(made):
        _check_program(each, at, critique.target, gates, where)
    with _at(where, "criteria"):
        if not math.fsum(each.weight for each in made):
            raise CouncilRefused(
                "the weights of `criteria` sum to 0: the limit is more than 0", hint="Give one a weight."
            )
    with _at(where, "adaptive"):
        if critique.adaptive and not critique.name:
            raise CouncilRefused(
                "`adaptive` needs a `name`: weights are learnt from past runs of the same name",
                hint="Name what is made each time, such as notes: `name`",
            )
    return critique


@contextmanager
def _at(where: Where, *place: int | str) -> Iterator[None]:
    """Refusals of a block begin with where its key stands."""
    try:
        yield
    except CouncilRefused as error:
        raise CouncilRefused(f"{where(place)}{error.message}", hint=error.hint) from None


def _check_names(critique: Critique, where: Where) -> None:
    seen: dict[str, str] = {}
    for at, each in enumerate(critique.criteria):
        key = squeezed(each.name)
        with _at(where, "criteria", at, "name"):
            if key in seen:
                names = f"{each.name!r} and {seen[key]!r}"
                raise CouncilRefused(f"`criteria.{at + 1}.name`: {names} read as one name: each criterion has its own")
        seen[key] = each.name


def _check_program(each: Criterion, at: int, target: str, gates: Collection[str] | None, where: Where) -> None:
    place = f"criteria.{at + 1}"
    with _at(where, "criteria", at, "command" if each.command else "gate"):
        if each.command and each.gate:
            raise CouncilRefused(f"`{place}`: {each.name} has a `command` and a `gate`: it is judged by one of them")
        if each.gate and gates is not None and each.gate not in gates:
            close = nearest(each.gate, gates)
            hint = f"Did you mean {close}?" if close else f"There are: {', '.join(gates)}."
            raise CouncilRefused(f"`{place}.gate`: there is no gate {each.gate!r:.100} that judges", hint=hint)
        if each.programmatic and not target:
            kind = "command" if each.command else "gate"
            raise CouncilRefused(
                f"`target` is empty: {each.name} is judged by a {kind}, which sees the version as a file",
                hint="Say at which path of the repository it stands, such as src/app.py: `target`.",
            )


def _criterion(given: Given, at: int, threshold: float, where: Where) -> Criterion:
    place = f"criteria.{at + 1}"
    with _at(where, "criteria", at):
        fields = _fields(given, place)
    for key in (each for each in ("weight", "threshold") if each in fields):
        with _at(where, "criteria", at, key):
            within(f"{place}.{key}", fields[key], SHARE, whole=False)
    for name in ("description", "rubric", "command"):
        with _at(where, "criteria", at, name):
            sized(f"{place}.{name}", str(fields.get(name, "")), PERSONA)
    with _at(where, "criteria", at, "name"):
        return checked(Criterion, {"threshold": threshold, **fields}, place, first=1)


def _fields(given: Given, place: str) -> dict[str, Any]:
    if isinstance(given, Criterion):
        return given.model_dump(exclude_unset=True)
    if not isinstance(given, str):
        return dict(given)
    found = _SPELLED.fullmatch(given)
    if found is None:
        raise CouncilRefused(f"`{place}`: {given!r:.100} is no criterion", hint=_FORM)
    fields: dict[str, Any] = {"name": found["name"].strip(), "description": found["description"]}
    for key in ("weight", "threshold"):
        if found[key] is not None:
            fields[key] = _number(found[key], f"{place}.{key}")
    return fields


def _number(text: str, place: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise CouncilRefused(f"`{place}`: {text!r:.100} is no number: the limit is {SHARE}", hint=_FORM) from None


def target_in(root: Path, target: str) -> str:
    """The path at which versions are seen, from the root of the repository and without detours.

    Raises:
        UnsafePath: it is outside of the repository, in `.git` or `.swarm`, or no file could be there.
    """
    return guard.resolve(root, target).relative_to(root).as_posix()

"""The orchestration pattern, which combines councils as steps; public functions describe one in Python.

from swarmgate.council.orchestration import map_reduce, parallel, sequence, step, when

orchestration = sequence(
    map_reduce("risks", ["upload", "restart"], step("ask", participant="critic", text="What breaks in {item}?")),
    step("debate", "verdict", question="Does the design stand, after {risks}?"),
    when("verdict.verdict", equals="REJECT", then=step("ask", "repair", role="architect", text="Repair it: {verdict}")),
)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from swarmgate.config.setting_errors import unknown
from swarmgate.council.critique.model import Criterion
from swarmgate.council.decision.model import DecisionSeat
from swarmgate.council.discussion.model import Expert, ProblemDefinition
from swarmgate.council.dispatch.model import DispatchTask
from swarmgate.council.limits import DEPTH
from swarmgate.council.orchestration.model import KINDS, Condition, Orchestration, Step, Value
from swarmgate.council.orchestration.validation import Problem, checked, meant, spelled
from swarmgate.domain.review.votes import Seat
from swarmgate.errors import CouncilRefused

__all__ = ["map_reduce", "parallel", "sequence", "step", "when"]


def sequence(*steps: Step, title: str = "", id: str = "", tokens: int | None = None, usd: float | None = None) -> Any:  # noqa: A002 - the field's name
    """The orchestration that does these steps in order; `tokens` and `usd` bound their total usage.

    Raises:
        CouncilRefused: it cannot be carried out; the message names the step and the key.
    """
    given = {"id": id or None, "title": title or None, "steps": steps, "tokens": tokens, "usd": usd}
    given = {key: value for key, value in given.items() if value is not None}
    try:
        return checked(Orchestration.model_validate(given))
    except ValidationError as error:
        raise refused(error) from None


def step(kind: str, id: str = "", /, **options: Any) -> Step:  # noqa: A002 - the field's name
    """One step: debate, discuss, decide, critique, dispatch or ask, with the keys that it has in a TOML file.

    Raises:
        CouncilRefused: an unknown kind or key, or a value out of bounds.
    """
    return _made({**options, "kind": kind, **({"id": id} if id else {})})


def parallel(id: str, /, *steps: Step, **options: Any) -> Step:  # noqa: A002 - the field's name
    """Steps that are done at once; options are `at_once` and `least`."""
    return _made({**options, "kind": "parallel", "id": id, "steps": steps})


def map_reduce(
    id: str,  # noqa: A002 - the field's name
    items: Sequence[str] | str,
    step: Step,
    reduce: Step | None = None,
    **options: Any,
) -> Step:
    """`step` for each item, then `reduce` with all outputs; options are `at_once` and `least`.

    `items` are texts, or the path of a file of the repository with an item a line.
    """
    where = "items_file" if isinstance(items, str) else "items"
    inner = {"step": step, **({"reduce": reduce} if reduce else {})}
    return _made({**options, **inner, "kind": "map", "id": id, where: items})


def when(
    outcome: str,
    /,
    *,
    then: Step,
    otherwise: Step | Iterable[Step] = (),
    **test: Value,
) -> Step:
    """The step `then`, if a test of an earlier one's outcome (`vote.consensus`) holds; else the steps of `otherwise`.

    `test` is one of `equals`, `not_equals`, `at_least` and `at_most`.
    """
    name, _, field = outcome.partition(".")
    try:
        condition = Condition.model_validate({"step": name, "field": field, **test})
    except ValidationError as error:
        raise refused(error, ("when",)) from None
    others = (otherwise,) if isinstance(otherwise, BaseModel) else tuple(otherwise)
    return then.model_copy(update={"when": condition, **({"otherwise": others} if others else {})})


# --- how a description is refused ---


def refused(error: ValidationError, place: tuple[int | str, ...] = ()) -> CouncilRefused:
    """The first problem of a description, with its key."""
    problem = read(error, place)
    begins = f"`{spelled(problem.place)}`: " if problem.place else ""
    return CouncilRefused(f"{begins}{problem.what}", hint="Every key: swarm docs orchestration")


def read(error: ValidationError, place: tuple[int | str, ...] = ()) -> Problem:
    """The first problem of a description, in words; `place` is where what was read stands."""
    found = error.errors(include_url=False)
    first = next((each for each in found if each["type"] == "extra_forbidden"), found[0])  # what is missing is its own
    loc = (*place, *first["loc"])
    where = _without_kinds(loc)
    match first["type"]:
        case "extra_forbidden":
            return Problem(where, unknown(str(where[-1]), _known(loc)))
        case "missing":
            return Problem(where[:-1], f"the key `{where[-1]}` is missing")
        case "union_tag_not_found":
            return Problem(where, "the key `kind` is missing")
        case "union_tag_invalid":
            return Problem((*where, "kind"), _unknown_kind(first["input"]))
        case "string_pattern_mismatch":
            return Problem(where, f"{first['input']!r:.60} is too long, or has more than letters, digits, `_` and `-`")
        case "string_unicode":
            return Problem(where, "has half of a character (a lone surrogate), which no text can have")
        case "model_type" | "model_attributes_type" | "dict_type":
            return Problem(where, "must be a table")
    message = first["msg"].removeprefix("Value error, ").replace("valid tuple", "list").replace("Tuple", "List")
    return Problem(where, re.sub(r"^(Input|String|List) should", "must", message))


def _unknown_kind(given: Any) -> str:
    kind = str(given.get("kind") if isinstance(given, Mapping) else getattr(given, "kind", given))
    if kind in {"orchestrate", "orchestration"}:
        return f"an orchestration cannot orchestrate: the limit of depth is {DEPTH.most:g}"
    if kind in KINDS:
        return f"a {kind} step cannot stand inside of another one: the limit of depth is {DEPTH.most:g}"
    return f"unknown kind {kind[:60]!r}{meant(kind, KINDS)}"


def _without_kinds(loc: tuple[int | str, ...]) -> tuple[int | str, ...]:
    """The place in the file: without the words of the kinds that the unions add, and without those of other unions."""
    places: list[int | str] = []
    for at, part in enumerate(loc):
        before = loc[at - 1] if at else ""
        of_a_step = (
            at == 0
            or before in {"step", "reduce"}
            or (isinstance(before, int) and loc[at - 2] in {"steps", "otherwise"})
        )
        if not (of_a_step and part in KINDS and at + 1 <= len(loc) and not _is_key(loc, at)):
            places.append(part)
    while places and (places[-1] in _TYPES or str(places[-1]).startswith("literal[")):
        places.pop()
    return tuple(places)


def _is_key(loc: tuple[int | str, ...], at: int) -> bool:
    """Whether the first part of a place is a key of the file itself, and no kind: none of them is called so."""
    return at == 0 and loc[0] in Orchestration.model_fields


def _known(loc: tuple[int | str, ...]) -> Iterable[str]:
    """The keys that may stand in the table that a place is in."""
    kind = ""
    table: type[BaseModel] = Orchestration
    for part in loc[:-1]:
        if part in KINDS:
            kind = str(part)
            table = KINDS[kind]
        elif isinstance(part, str):
            table = _tables(kind).get(part, table)
    return table.model_fields


def _tables(kind: str) -> dict[str, type[BaseModel]]:
    return {
        "when": Condition,
        "participants": DecisionSeat if kind == "decide" else Seat,
        "moderator": Seat,
        "personas": Expert,
        "problem_definition": ProblemDefinition,
        "criteria": Criterion,
        "tasks": DispatchTask,
    }


_TYPES = {"bool", "int", "float", "str", "constrained-str"}
"""What pydantic adds to the place of a value that may be of several types."""


@cache
def _steps() -> TypeAdapter[Step]:
    return TypeAdapter(Step)


def _made(values: Mapping[str, Any]) -> Step:
    try:
        return _steps().validate_python(values)
    except ValidationError as error:
        raise refused(error) from None

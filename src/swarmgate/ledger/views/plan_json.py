"""Parses plan.json into the plan view, and reports errors with line and column."""

from __future__ import annotations

import json
from typing import Any

from pydantic import ValidationError

from swarmgate.domain.state.plan_view import PlanView
from swarmgate.errors import PlanSyntaxError
from swarmgate.ledger.views.edit_positions import position, second_key

_MOST_KEYS = 100
"""Keys of one object; a task has ten."""


def parse(text: str, *, name: str = "plan.json") -> PlanView:
    """The view that a text shows.

    Args:
        text: the whole file.
        name: how error messages call the file.

    Raises:
        PlanSyntaxError: it is not JSON, or not a plan, or says one thing twice; the message names line and column.
    """
    readable = _require_single_keys(text, name)  # first: a million wrong keys would be a million errors below
    try:
        view = PlanView.model_validate_json(text.removeprefix("\ufeff"))
    except ValidationError as error:
        first = error.errors()[0]
        if first["type"] == "json_invalid":  # which says where
            raise PlanSyntaxError(f"{name} {first['msg']}.") from None
        raise _error(text, name, first["loc"], first["msg"]) from None
    for index, phase in enumerate(view.phases):
        if phase.number != index + 1:
            problem = f"is {phase.number}, but phase {index + 1} is next"
            raise _error(text, name, ("phases", index, "number"), problem)
    if not readable:
        raise _error(text, name, (), "it holds a number or a nesting that no plan has")
    return view


def _error(text: str, name: str, path: tuple[str | int, ...], problem: str) -> PlanSyntaxError:
    line, column = position(text, path)
    what = f"{'.'.join(map(str, path))}: " if path else ""
    return PlanSyntaxError(f"{name} line {line}, column {column}: {what}{problem}.")


def _require_single_keys(text: str, name: str) -> bool:
    """Of a key that stands twice only the last would count, and what the user wrote first would be lost.

    Returns:
        Whether it is JSON that can be read at all.
    """

    def single(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(pairs) > _MOST_KEYS:
            raise PlanSyntaxError(f"{name} has an object of {len(pairs)} keys, which is none of a plan.")
        if len(made) != len(pairs):
            line, column, key = second_key(text)
            where = f" (task {made['id']})" if "id" in made else ""
            raise PlanSyntaxError(f"{name} line {line}, column {column} says {key!r} twice in one object{where}.")
        return made

    try:
        json.loads(text.removeprefix("\ufeff"), object_pairs_hook=single)
    except (ValueError, RecursionError):
        return False
    return True

"""plan.json: the plan as programs read and edit it: `PlanView` as JSON."""

from __future__ import annotations

import json
from typing import Any

from pydantic import ValidationError

from swarmgate.domain.view import PlanView
from swarmgate.errors import PlanSyntaxError
from swarmgate.ledger.places import position


def parse(text: str, *, name: str = "plan.json") -> PlanView:
    """The view that a text shows.

    Args:
        text: the whole file.
        name: how error messages call the file.

    Raises:
        PlanSyntaxError: it is not JSON, or not a plan, or says one thing twice; the message names line and column.
    """
    try:
        view = PlanView.model_validate_json(text.removeprefix("\ufeff"))
    except ValidationError as error:
        first = error.errors()[0]
        if not first["loc"]:
            raise PlanSyntaxError(f"{name} {first['msg']}.") from None
        raise _error(text, name, first["loc"], first["msg"]) from None
    for index, phase in enumerate(view.phases):
        if phase.number != index + 1:
            problem = f"is {phase.number}, but phase {index + 1} is next"
            raise _error(text, name, ("phases", index, "number"), problem)
    _require_single_keys(text, name)
    return view


def _error(text: str, name: str, path: tuple[str | int, ...], problem: str) -> PlanSyntaxError:
    line, column = position(text, path)
    return PlanSyntaxError(f"{name} line {line}, column {column}: {'.'.join(map(str, path))}: {problem}.")


def _require_single_keys(text: str, name: str) -> None:
    """Of a key that stands twice only the last would count, and what the user wrote first would be lost."""

    def single(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) != len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            where = f" (task {made['id']})" if "id" in made else ""
            raise PlanSyntaxError(f"{name} says {twice!r} twice in one object{where}.")
        return made

    json.loads(text.removeprefix("\ufeff"), object_pairs_hook=single)

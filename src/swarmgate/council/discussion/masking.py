"""Secrets out of what a discussion keeps, once and before anything is made of it.

What is cut, escaped or drawn later comes from masked texts: half a key, or one with escapes in it, is not known as one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from pydantic import BaseModel

from swarmgate.domain.discussion import Cast

M = TypeVar("M", bound=BaseModel)
Clean = Callable[[Any], Any]
"""Gives a JSON-ready value without secrets; of a record, what its fields name stays as it is."""


def unchanged(value: Any) -> Any:
    """The value as it is."""
    return value


def masked(model: M, clean: Clean) -> M:
    """The same without secrets in its free text; itself where it has none."""
    told = model.model_dump(mode="json", by_alias=False)
    plain = clean(told)
    return model if plain == told else type(model).model_validate(plain)


def masked_cast(cast: Cast, clean: Clean, *, generated: bool = False) -> Cast:
    """A cast without secrets, in names of experts neither. A generated id that would be masked becomes `expert-N`."""
    ids = {each.id: each.id for each in cast.experts}
    for number, each in enumerate(cast.experts if generated else (), start=1):
        if clean(each.id) != each.id:
            names = (f"expert-{at}" for at in range(number, number + 2 * len(ids)))
            ids[each.id] = next(name for name in names if name not in ids.values())
    experts = tuple(each.model_copy(update={"id": ids[each.id], "name": clean(each.name)}) for each in cast.experts)
    tensions = tuple(
        each.model_copy(update={"between": tuple(ids[one] for one in each.between)})
        if set(each.between) <= ids.keys()
        else each
        for each in cast.tensions
    )
    return masked(cast.model_copy(update={"experts": experts, "tensions": tensions}), clean)

"""Secrets out of the names of experts, which records keep as they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from swarmgate.council.discussion.model import Cast


def masked_cast(cast: Cast, clean: Callable[[Any], Any], *, generated: bool = False) -> Cast:
    """A cast without secrets, in names of experts neither. A generated id that would be masked becomes `expert-N`.

    Args:
        cast: as it came.
        clean: gives a JSON-ready value without secrets in its free text.
        generated: whether its ids are nobody's own.
    """
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
    named = cast.model_copy(update={"experts": experts, "tensions": tensions})
    return Cast.model_validate(clean(named.model_dump(mode="json")))

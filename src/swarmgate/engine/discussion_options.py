"""What a discussion may be given: its mode by name, its experts in any form, and models by who speaks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from swarmgate.config import nearest
from swarmgate.domain.discussion import EXTENTS, Cast, Expert, Mode
from swarmgate.errors import CouncilRefused


def mode_of(mode: Mode | str) -> Mode:
    """The mode of that name.

    Raises:
        CouncilRefused: there is none; the hint has the nearest.
    """
    with suppress(ValueError):
        return Mode(mode)
    close = nearest(str(mode), [str(each) for each in Mode])
    told = f"did you mean `{close}`?" if close else f"it is one of {', '.join(Mode)}"
    raise CouncilRefused(f"`mode` is {str(mode)!r:.60}: there is no such mode; {told}")


def given(
    personas: Cast | Path | Sequence[Expert | Mapping[str, Any]], models: Mapping[str, str]
) -> tuple[Cast, dict[str, str]]:
    """The experts with their models and tensions, and the models of fixed roles.

    Raises:
        CouncilRefused: a file or an expert is wrong, or a model is for nobody.
    """
    from swarmgate.engine import personas_file  # noqa: PLC0415 - late: most discussions have none

    if isinstance(personas, Path):
        personas = personas_file.read(personas)
    if not isinstance(personas, Cast):
        values = {"experts": [each.model_dump() if isinstance(each, Expert) else each for each in personas]}
        personas = personas_file.cast_of(values, begins=_begins) if personas else Cast(experts=())
    known = [*EXTENTS[Mode.DEEP].roles, *(each.id for each in personas.experts)]
    for name in models:
        if name not in known:
            close = nearest(name, known)
            told = f"did you mean `{close}`?" if close else f"known here: {', '.join(known)}"
            raise CouncilRefused(f"`models` names {name!r:.60}, who does not take part; {told}")
    experts = tuple(
        each.model_copy(update={"model": models[each.id]}) if each.id in models else each for each in personas.experts
    )
    fixed = {name: model for name, model in models.items() if name in EXTENTS[Mode.DEEP].roles}
    return personas.model_copy(update={"experts": experts}), fixed


def _begins(place: tuple[int | str, ...]) -> str:
    key = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place[1:])
    return f"`personas{key}`: "

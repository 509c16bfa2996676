"""Replaces the references `{step_id}` and `{item}` in the texts of an orchestration step.

`{{name}}` is the text `{name}` itself, and every other brace stands for itself, so code needs no more than that. What a
model wrote earlier is never pasted into an instruction: the reference becomes a name for it, and the output itself
stands in the material, or under a heading behind the task where a pattern has no material. What failed or was skipped
says so there; where the output itself is asked for, as a draft, it is empty: a notice is nothing to be judged or
improved. `{item}` is the user's own, and is put in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from swarmgate.council.orchestration.model import AskStep, DispatchStep, Leaf
from swarmgate.council.orchestration.results import StepResult

ITEM = "item"
"""The name of the item of a map; no step may have it."""

INSTRUCTIONS = ("question", "topic", "task", "text")
"""Keys in which a reference becomes a name of the output."""

MATERIALS = ("material", "draft")
"""Keys in which a reference becomes the output itself."""

_REFERENCE = re.compile(r"\{\{([A-Za-z][A-Za-z0-9_-]{0,29})\}\}|\{([A-Za-z][A-Za-z0-9_-]{0,29})\}")
Place = tuple[int | str, ...]


def references(text: str) -> tuple[str, ...]:
    """The names that a text refers to, each once, in order."""
    return tuple(dict.fromkeys(found[2] for found in _REFERENCE.finditer(text) if found[2]))


def texts(value: Any, place: Place = ()) -> Iterator[tuple[Place, str]]:
    """Every string in a JSON-ready value, with its place."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from texts(each, (*place, key))
    elif isinstance(value, (list, tuple)):
        for at, each in enumerate(value):
            yield from texts(each, (*place, at))


def options(step: Leaf) -> dict[str, Any]:
    """The step's own options that were given, as JSON-ready values."""
    return step.model_dump(mode="json", exclude_unset=True, exclude={"id", "kind", "when", "otherwise"})


def refers(place: Place) -> bool:
    """Whether a text at this place of a step's options may refer to outputs of steps."""
    return place[-1:] in {(key,) for key in INSTRUCTIONS} or place in {(key,) for key in MATERIALS}


def filled(step: Leaf, results: Mapping[str, StepResult], *, item: str | None = None, given: str = "") -> Leaf:
    """The step with its references resolved.

    Args:
        step: as described.
        results: of every step that stands before it, by id.
        item: of a map; None: it is not in one.
        given: what it gets without a reference: the outputs that `reduce` works on.
    """
    meant: dict[str, None] = {}
    own = isinstance(step, (AskStep, DispatchStep))

    def resolve(place: Place, text: str) -> str:
        named = _named(text, results) if refers(place) and place[0] not in MATERIALS else ()

        def put(found: re.Match[str]) -> str:
            literal, name = found[1], found[2]
            if name == ITEM and item is not None:
                return item
            if not refers(place):
                return found[0]
            if literal:
                return f"{{{literal}}}"
            if name in named:
                return f"the output of `{name}`"
            return results[name].output if name in results else found[0]

        put_in = _REFERENCE.sub(put, text)
        if own:
            return "\n\n".join([put_in, *_sections(named, results)])
        meant.update(dict.fromkeys(named))
        return put_in

    values = _mapped(options(step), resolve)
    below = "\n\n".join([*_sections(meant, results), *([given] if given else [])])
    if below:
        values |= _with_below(step, values, below)
    fixed = step.model_dump(mode="json", include={"id", "kind"})
    return type(step).model_validate({**fixed, **values})


def output(result: StepResult) -> str:
    """What a step gave, for the next one; says so where it gave nothing."""
    if result.status == "done":
        return result.text or "(It gave no text.)"
    return f"(This step {'failed' if result.status == 'failed' else 'was skipped'}: {result.why})"


def joined(parts: tuple[StepResult, ...]) -> str:
    """The outputs of the parts of a group or map, each under a heading."""
    return "\n\n".join(
        f"## {f'Item {each.part}: {each.item}' if each.part else f'The output of `{each.id}`'}\n{output(each)}"
        for each in parts
    )


def _named(text: str, results: Mapping[str, StepResult]) -> tuple[str, ...]:
    return tuple(name for name in references(text) if name in results)


def _sections(names: Iterable[str], results: Mapping[str, StepResult]) -> list[str]:
    return [f"## The output of `{name}`\n{output(results[name])}" for name in names]


def _with_below(step: Leaf, values: Mapping[str, Any], below: str) -> dict[str, Any]:
    """The options that carry what stands below: the material, or the texts of who has none."""
    if isinstance(step, AskStep):
        return {"text": f"{values['text']}\n\n{below}"}
    if isinstance(step, DispatchStep):
        if step.question:
            return {"question": f"{values['question']}\n\n{below}"}
        return {"tasks": [{**each, "text": f"{each['text']}\n\n{below}"} for each in values["tasks"]]}
    return {"material": "\n\n".join(filter(None, [values.get("material", ""), below]))}


def _mapped(value: Any, change: Callable[[Place, str], str], place: Place = ()) -> Any:
    if isinstance(value, str):
        return change(place, value)
    if isinstance(value, dict):
        return {key: _mapped(each, change, (*place, key)) for key, each in value.items()}
    if isinstance(value, list):
        return [_mapped(each, change, (*place, at)) for at, each in enumerate(value)]
    return value

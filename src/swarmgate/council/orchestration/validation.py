"""Validates an orchestration before it starts: names, references, conditions, depth and limits.

Every problem has the place in the description that it is about, for messages with file, line and key.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from swarmgate.council.dispatch.model import Mode
from swarmgate.council.limits import ITEMS, PROMPT, STEPS, TOPIC, sized, within
from swarmgate.council.orchestration.model import (
    ENDS,
    FIELDS,
    AskStep,
    Condition,
    DebateStep,
    DispatchStep,
    Leaf,
    MapStep,
    Orchestration,
    ParallelStep,
    Step,
)
from swarmgate.council.orchestration.references import INSTRUCTIONS, ITEM, Place, options, references, refers, texts
from swarmgate.council.requests.seats import numbered
from swarmgate.domain.review.votes import LEAST_SEATS
from swarmgate.errors import CouncilRefused

_RESERVED = (ITEM, "previous")


@dataclass(frozen=True)
class Problem:
    """What is wrong, and at which place: keys, and numbers from 0 in lists."""

    place: Place
    what: str


@dataclass
class _Seen:
    """The kinds of the steps so far, by id."""

    kinds: dict[str, str] = field(default_factory=dict)


def problems(orchestration: Orchestration) -> Iterator[Problem]:
    """Everything that is wrong, in the order of the description; nothing: it can be carried out."""
    yield from _limit(("steps",), "steps", sum(1 for _ in _all(orchestration.steps)))
    seen = _Seen()
    for at, step in enumerate(orchestration.steps):
        yield from _step(step, ("steps", at), seen)


def checked(orchestration: Orchestration) -> Orchestration:
    """The orchestration, if it can be carried out.

    Raises:
        CouncilRefused: it cannot; the message has the place of the first problem.
    """
    for problem in problems(orchestration):
        raise CouncilRefused(f"`{spelled(problem.place)}`: {problem.what}")
    return orchestration


def spelled(place: Place) -> str:
    """A place as users count: `steps.2.when.field`."""
    return ".".join(str(part + 1 if isinstance(part, int) else part) for part in place)


def inside(step: Step) -> Iterator[Step]:
    """The steps inside of one: of a group or map, and those that stand `otherwise`."""
    yield from _all(_inner(step))
    yield from _all(step.otherwise)


def handled(orchestration: Orchestration) -> frozenset[str]:
    """The steps whose failure a condition waits for: `ended` equals failed, or is not something else."""
    conditions = (step.when for step in _all(orchestration.steps) if step.when)
    return frozenset(when.step for when in conditions if when.field == "ended" and when.holds({"ended": "failed"}))


def models(orchestration: Orchestration) -> Iterator[tuple[Place, str]]:
    """Every model that is named, with its place."""
    whole = orchestration.model_dump(mode="json", exclude_unset=True)
    for place, text in texts(whole):
        if place[-1] in {"model", "evaluator"} or "models" in place[:-1]:
            yield place, text


def meant(word: str, known: Iterable[str]) -> str:
    """`; did you mean ...?`, or what is known."""
    names = list(known)
    close = difflib.get_close_matches(word, names, n=1)
    if close:
        return f"; did you mean `{close[0]}`?"
    return f"; known here: {', '.join(names)}" if names else ""


# --- inside ---


def _all(steps: Iterable[Step]) -> Iterator[Step]:
    for step in steps:
        yield step
        yield from inside(step)


def _inner(step: Step) -> tuple[Step, ...]:
    if isinstance(step, ParallelStep):
        return step.steps
    if isinstance(step, MapStep):
        return (step.step, *((step.reduce,) if step.reduce else ()))
    return ()


def _step(step: Step, place: Place, seen: _Seen) -> Iterator[Problem]:
    """A step that is named, with all that is in it; it is known to those behind it."""
    yield from _name(step, place, seen)
    yield from _when(step, place, seen)
    match step:
        case ParallelStep():
            yield from _parallel(step, place, seen)
        case MapStep():
            yield from _map(step, place, seen)
        case _:
            yield from _leaf(step, place, seen)
    inside = _Seen(dict(seen.kinds))
    for at, other in enumerate(step.otherwise):
        where = (*place, "otherwise", at)
        if other.otherwise:
            yield Problem((*where, "otherwise"), "stands inside of another `otherwise`: give it to the step itself")
        yield from _step(other, where, inside)
    seen.kinds |= inside.kinds
    if step.id:
        seen.kinds[step.id] = step.kind


def _name(step: Step, place: Place, seen: _Seen) -> Iterator[Problem]:
    if not step.id:
        yield Problem(place, "the key `id` is missing")
    elif step.id in seen.kinds:
        yield Problem((*place, "id"), f"there is another step {step.id!r}")
    elif step.id in _RESERVED:
        yield Problem((*place, "id"), f"`{step.id}` has a meaning of its own in texts: give another name")


def _when(step: Step, place: Place, seen: _Seen) -> Iterator[Problem]:
    if step.when is None:
        if step.otherwise:
            yield Problem((*place, "otherwise"), "needs a `when`: it is done where that does not hold")
        return
    yield from _condition(step.when, (*place, "when"), seen)


def _condition(when: Condition, place: Place, seen: _Seen) -> Iterator[Problem]:
    if len(when.tests) != 1:
        yield Problem(place, "has exactly one of `equals`, `not_equals`, `at_least` and `at_most`")
        return
    if when.step not in seen.kinds:
        yield Problem((*place, "step"), f"no step {when.step!r} stands before it{meant(when.step, seen.kinds)}")
        return
    kind = seen.kinds[when.step]
    known = {**FIELDS[kind], "ended": ENDS}
    if when.field not in known:
        what = f"`{when.field}` is no outcome of a {kind} step{meant(when.field, known)}"
        yield Problem((*place, "field"), what)
        return
    wanted, (name, value) = known[when.field], next(iter(when.tests.items()))
    number = wanted in {int, float}
    if isinstance(value, float) and not math.isfinite(value):
        yield Problem((*place, name), f"is {value}: give a number that can be reached")
    elif name in {"at_least", "at_most"} and not number:
        yield Problem((*place, name), f"`{when.field}` is no number: test it with `equals` or `not_equals`")
    elif name in {"equals", "not_equals"} and (wrong := _unlike(wanted, value)):
        yield Problem((*place, name), f"`{when.field}` is {wrong}")


def _unlike(wanted: type | tuple[str, ...], value: object) -> str:
    """What a value must be that is not of the wanted type; empty: it is."""
    if isinstance(wanted, tuple):
        return "" if value in wanted else f"one of {', '.join(wanted)}"
    if wanted is bool:
        return "" if isinstance(value, bool) else "true or false"
    if wanted is str:
        return "" if isinstance(value, str) else "a text"
    return "" if isinstance(value, (int, float)) and not isinstance(value, bool) else "a number"


def _parallel(step: ParallelStep, place: Place, seen: _Seen) -> Iterator[Problem]:
    """The members see what stands before the group, and not each other."""
    found: dict[str, str] = {}
    for at, member in enumerate(step.steps):
        where = (*place, "steps", at)
        if member.id and (member.id in found or member.id == step.id):
            yield Problem((*where, "id"), f"there is another step {member.id!r}")
        if member.otherwise:
            yield Problem((*where, "otherwise"), "stands inside of a parallel group: give it to the group")
        inside = _Seen(dict(seen.kinds))
        yield from _step(member, where, inside)
        found |= {name: kind for name, kind in inside.kinds.items() if name not in seen.kinds}
    if step.least > len(step.steps):
        yield Problem((*place, "least"), f"is {step.least}, and there are {len(step.steps)} steps")
    seen.kinds |= found


def _map(step: MapStep, place: Place, seen: _Seen) -> Iterator[Problem]:
    if "items" in step.model_fields_set and not step.items and not step.items_file:
        yield Problem((*place, "items"), f"is empty: the limit is {ITEMS}")
    elif bool(step.items) is bool(step.items_file):
        yield Problem(place, "has either `items` or `items_file`" + (", not both" if step.items else ""))
    elif step.items:
        yield from _limit((*place, "items"), "items", len(step.items))
        if step.least > len(step.items):
            yield Problem((*place, "least"), f"is {step.least}, and there are {len(step.items)} items")
        for at, item in enumerate(step.items):
            yield from _size((*place, "items", at), "item", item)
    for key, inner in (("step", step.step), ("reduce", step.reduce)):
        where = (*place, key)
        if inner is None:
            continue
        for name in ("id", "when", "otherwise"):
            if getattr(inner, name):
                yield Problem((*where, name), "stands inside of a map: give it to the map")
        yield from _leaf(inner, where, seen, item=key == "step")


def _leaf(step: Leaf, place: Place, seen: _Seen, *, item: bool = False) -> Iterator[Problem]:
    yield from _own_rules(step, place)
    for at, text in texts(options(step)):
        where = (*place, *at)
        if at[-1:] != ("text",) and at[-1] in INSTRUCTIONS and len(at) == 1 and not _optional(step, at):
            yield from _size(where, str(at[-1]), text)
        for name in references(text):
            if name == ITEM and not item:
                what = "`{item}` stands outside of the `step` of a map"
                yield from [Problem(where, f"{what}; for these letters write {{{{item}}}}")] if refers(at) else []
            elif name == ITEM or (name == "previous" and isinstance(step, DispatchStep)):
                continue
            elif refers(at) and name not in seen.kinds:
                what = f"{{{name}}}: no step {name!r} stands before it{meant(name, seen.kinds)}"
                yield Problem(where, f"{what}; for these letters write {{{{{name}}}}}")
            elif not refers(at) and name in seen.kinds:
                yield Problem(where, f"{{{name}}} can be said in instructions and material only")


def _optional(step: Leaf, at: Place) -> bool:
    return isinstance(step, DispatchStep) and at == ("question",)


def _own_rules(step: Leaf, place: Place) -> Iterator[Problem]:
    """What the patterns themselves would refuse, told before anybody is asked."""
    if isinstance(step, AskStep):
        if not (step.agent or step.role or step.participant):
            yield Problem(place, "has no `agent`, `role` or `participant`: one of them says who is asked")
        if step.agent and step.role:
            yield Problem(place, "has an `agent` and a `role`: give one of the two")
        if not step.text:
            yield Problem((*place, "text"), "must not be empty")
        if len(step.text) > PROMPT.most:
            yield Problem((*place, "text"), f"has {len(step.text):,} characters: the limit is {PROMPT.most:,.0f}")
    elif isinstance(step, DebateStep):
        ids = [each["id"] for each in numbered([each.model_dump() for each in step.participants])]
        twice = next((at for at, name in enumerate(ids) if name in ids[:at]), None)
        if twice is not None:
            yield Problem((*place, "participants", twice), f"there is another participant {ids[twice]!r}")
        if ids and len(ids) < LEAST_SEATS:
            yield Problem((*place, "participants"), f"there is {len(ids)}, and a debate has at least {LEAST_SEATS}")
    elif isinstance(step, DispatchStep) and step.rounds is not None and step.mode is not Mode.DEBATE:
        yield Problem((*place, "rounds"), "is legal with mode debate only")


def _limit(place: Place, name: str, number: int) -> Iterator[Problem]:
    try:
        within(name, number, STEPS if name == "steps" else ITEMS)
    except CouncilRefused as error:
        yield Problem(place, error.message)


def _size(place: Place, name: str, text: str) -> Iterator[Problem]:
    try:
        sized(name, text, PROMPT if name == "task" else TOPIC)
    except CouncilRefused as error:
        yield Problem(place, error.message)

"""The events that hooks can name, and the data that a hook command gets of one."""

from __future__ import annotations

import difflib
import types
from collections.abc import Mapping
from enum import Enum
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from swarmgate.domain.base import Frozen
from swarmgate.domain.events.automation import AUTOMATION_EVENTS, Happening
from swarmgate.domain.events.event import EVENTS
from swarmgate.domain.state.state import State

ACTOR = "hooks"
"""Who runs hooks, as automation's own events name it."""

NEVER = frozenset({"hook_ran"})
"""Events without a hook: it would start itself."""

HOOKABLE = tuple(name for name in (*EVENTS, *AUTOMATION_EVENTS) if name not in NEVER)
"""Every event that a command may be run on, by its type."""

VARIABLES = ("EVENT", "SEQ", "TASK", "PHASE", "ATTEMPT", "TIME", "REPO", "FOLDER")
"""The variables that a command gets, each with `SWARMGATE_` before it: `SWARM_...` are settings of `swarm`."""

_OWN = ("worker", "capability", "subscriber")
"""Fields in which automation's events name a worker."""

_SAMPLES = {"task": "1.1", "phase": 1, "attempt": 1, "reason": "a made-up event", "sha256": "0" * 64, "head": "0" * 64}
"""What stands in fields of these names, in the place of the plainest of their type."""


_ALSO = (
    frozenset({"completed", "closed", "finished", "done", "ended", "stopped", "paused"}),
    frozenset({"started", "begun", "delegated"}),
    frozenset({"amended", "changed", "edited", "updated"}),
    frozenset({"failed", "blocked", "ran", "run", "passed"}),
    frozenset({"found", "detected"}),
)
"""Words that a user may write for one another."""
_SLIP, _ALIKE = 0.9, 0.6
"""How alike a mistyped name is to the known one (1 is equal), and what comes near at all."""


def meant(event: str) -> str:
    """The event that a name most likely means; empty where none comes near.

    A slip of the pen first (`task_complete`), then what says the same of the same thing, then the same of another
    thing, then the same thing: `task_rejected` is `attempt_rejected`, `phase_finished` is `phase_closed`.
    """
    name = event.strip().lower().replace("-", "_")
    ranked = sorted(HOOKABLE, key=lambda known: (_nearness(name, known), _likeness(name, known)))
    best = ranked[-1]
    return best if _nearness(name, best) or _likeness(name, best) >= _ALIKE else ""


def _nearness(name: str, known: str) -> int:
    if _likeness(name, known) >= _SLIP:
        return 9
    (thing, verb), (its_thing, its_verb) = (_words(each) for each in (name, known))
    same_verb = 3 if verb == its_verb else 2 if any({verb, its_verb} <= group for group in _ALSO) else 0
    return (same_verb + 2 * (thing == its_thing)) if same_verb else 0


def _words(name: str) -> tuple[str, str]:
    """The thing, in the singular, and what happened to it."""
    thing, _, verb = name.rpartition("_")
    return thing.removesuffix("s"), verb


def _likeness(name: str, known: str) -> float:
    return difflib.SequenceMatcher(None, name, known).ratio()


def is_own(happening: Happening) -> bool:
    """Whether hooks themselves caused an event, such as `trigger_fired` of theirs: a hook on it would never end."""
    if happening.source != "automation":
        return False
    return happening.actor == ACTOR or any(happening.data.get(name) == ACTOR for name in _OWN)


def subject_of(happening: Happening) -> str:
    """The event with the task or the phase that it is about: what loop protection counts as the same trigger."""
    task, phase = happening.data.get("task"), happening.data.get("phase")
    about = f" task {task}" if task else f" phase {phase}" if phase else ""
    return f"{happening.type}{about}"


def variables_of(happening: Happening, state: State, repo: str, folder: str) -> dict[str, str]:
    """The variables of `VARIABLES`; what an event does not say is empty. Values are data, never part of a command.

    Args:
        happening: the event.
        state: the fold, which knows the phase of a task.
        repo: the repository, which a command may read.
        folder: the folder that it may write.
    """
    data = happening.data
    task = str(data.get("task") or "")
    phase = data.get("phase") or (state.plan.phase_numbers.get(task, "") if state.plan else "")
    values = (happening.type, happening.seq, task, phase, data.get("attempt") or "", happening.time, repo, folder)
    pairs = zip(VARIABLES, values, strict=True)
    return {f"SWARMGATE_{name}": str(value).replace("\0", "") for name, value in pairs}


def sample(event: str) -> dict[str, Any]:
    """A made-up event of a type, as JSON has it; `event` is one of `HOOKABLE`."""
    kind = EVENTS.get(event) or AUTOMATION_EVENTS[event]
    return kind.model_validate(_made_up(kind)).model_dump(mode="json")


def _made_up(kind: type[Frozen]) -> Mapping[str, Any]:
    fields = {name: field for name, field in kind.model_fields.items() if field.is_required() or name in _SAMPLES}
    plain = {name: _value(field.annotation) for name, field in fields.items()}
    own = {name: value for name, value in _SAMPLES.items() if name in plain and type(plain[name]) is type(value)}
    return plain | own


def _value(annotation: Any) -> Any:
    """Something that fits a field: the plainest of its type."""
    origin = get_origin(annotation)
    if origin is Literal:
        return get_args(annotation)[0]
    if origin is Annotated:
        return _value(get_args(annotation)[0])
    if origin in (Union, types.UnionType):
        return _value(get_args(annotation)[0])
    if origin is not None:
        return {} if issubclass(origin, Mapping) else ()
    if issubclass(annotation, Enum):
        return next(iter(annotation))
    if issubclass(annotation, Frozen):
        return _made_up(annotation)
    return {bool: True, int: 1, float: 1.0}.get(annotation, "sample")

"""Validates the request for a dispatch (mode, tasks, rounds, question) before a model is called."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, get_args

from pydantic import ValidationError

from swarmgate.config import nearest
from swarmgate.config.setting_errors import unknown
from swarmgate.council.dispatch.model import (
    MOST_CHAIN,
    MOST_TASKS,
    PREVIOUS,
    Dispatch,
    DispatchRole,
    DispatchTask,
    Means,
    Mode,
)
from swarmgate.council.requests.seats import numbered, renamed, seated
from swarmgate.domain.review.votes import LEAST_SEATS, MOST_ROUNDS, MOST_SEATS, Seat
from swarmgate.errors import CouncilRefused
from swarmgate.project import Project

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

ROLES: tuple[str, ...] = get_args(DispatchRole)
"""Who can be asked by role; a participant has any name."""

_BOUNDS = {
    Mode.SINGLE: (1, 1, "exactly one task"),
    Mode.PARALLEL: (1, MOST_TASKS, f"1 to {MOST_TASKS} tasks"),
    Mode.CHAIN: (1, MOST_CHAIN, f"1 to {MOST_CHAIN} tasks"),
    Mode.DEBATE: (LEAST_SEATS, MOST_SEATS, f"{LEAST_SEATS} to {MOST_SEATS} tasks, one for each participant"),
}
_HINT = f"modes: {', '.join(Mode)}; roles: {', '.join(ROLES)}, an agent of [agents], or a participant of any name"
_WHAT = {
    "participant": "must be a name of letters, digits, `.`, `_` and `-`, at most 40, a letter or digit first",
    "missing": "is missing",
    "string_type": "must be text",
}

Where = Callable[[int, str], str]
"""The beginning of a message about a key of a task, counted from 1; 0: about a key beside the tasks."""


def in_words(task: int, key: str) -> str:
    """`task 2: `."""
    del key
    return f"task {task}: " if task else ""


def means(asked: Dispatch, project: Project, where: Where = in_words) -> Means:
    """The participants of the tasks, as their agents and roles have them, and the bounds that hold.

    Raises:
        CouncilRefused: there is no such agent, or a role has no model.
    """
    seats = tuple(_seat(number, task, project, where) for number, task in enumerate(asked.tasks, start=1))
    return Means(seats, project.config.council)


def _seat(number: int, task: DispatchTask, project: Project, where: Where) -> Seat:
    given = task.model_dump(include={"agent", "role", "model", "model_tier", "folder"}, exclude_defaults=True)
    return Seat.model_validate(
        seated({"id": task.name, **given}, Seat.model_fields, project, lambda key: f"{where(number, key)}{task.name}: ")
    )


def checked(
    mode: str,
    tasks: Sequence[DispatchTask | Mapping[str, Any]],
    *,
    rounds: int | None = None,
    question: str = "",
    default_rounds: int = 2,
    where: Where = in_words,
) -> Dispatch:
    """A dispatch that can be held.

    Args:
        mode: one of `Mode`.
        tasks: as many as the mode allows; a mapping has the keys of `DispatchTask`.
        rounds: of a debate; None: `default_rounds`.
        question: of a debate; empty: the text of the tasks, where it is the same in all.
        default_rounds: `[council] rounds`.
        where: how messages begin.

    Raises:
        CouncilRefused: it cannot be held as asked.
    """
    known = mode_of(mode, where)
    least, most, words = _BOUNDS[known]
    count = len(_listed(tasks, where))
    if not least <= count <= most:
        raise _refused(f"{where(0, 'tasks')}there are {count} tasks: mode {known} takes {words}")
    found = tuple(_task(number, each, where) for number, each in enumerate(tasks, start=1))
    if known is Mode.DEBATE:
        return _debate(found, default_rounds if rounds is None else rounds, question, where)
    for key, given in (("rounds", rounds is not None), ("question", bool(question))):
        if given:
            raise _refused(f"{where(0, key)}`{key}` is legal with mode debate only, not with {known}")
    if known is Mode.CHAIN and PREVIOUS in found[0].text:
        raise _refused(f"{where(1, 'text')}`{PREVIOUS}` stands in the first task of a chain: there is no output before")
    return Dispatch(mode=known, tasks=found)


def mode_of(mode: str, where: Where = in_words) -> Mode:
    """The mode of that name.

    Raises:
        CouncilRefused: there is none; the message has the nearest, or all.
    """
    try:
        return Mode(mode)
    except ValueError:
        close = nearest(str(mode), Mode)
        meant = f"; did you mean `{close}`?" if close else f"; the modes are {', '.join(Mode)}"
        raise _refused(f"{where(0, 'mode')}unknown mode {mode!r}{meant}") from None


def _listed(tasks: Any, where: Where) -> Sequence[Any]:
    if not isinstance(tasks, (list, tuple)):
        raise _refused(f"{where(0, 'tasks')}`tasks` must be a list")
    return tasks


def _task(number: int, value: Any, where: Where) -> DispatchTask:
    if isinstance(value, DispatchTask):
        return value
    if not isinstance(value, Mapping):
        raise _refused(f"{where(number, '')}must be a table with `agent`, `role` or `participant`, and `text`")
    role = value.get("role", "")
    if role not in ("", *ROLES):
        close = nearest(role, ROLES) if isinstance(role, str) else None
        meant = f"did you mean `{close}`?" if close else f"the roles are {', '.join(ROLES)}"
        raise _refused(f"{where(number, 'role')}unknown role {role!r}; {meant}")
    try:
        return DispatchTask.model_validate(renamed(value), strict=True)
    except ValidationError as error:
        key, what = _problem(error.errors(include_url=False, include_input=False)[0])
        raise _refused(f"{where(number, key)}{what}") from None


def _problem(error: ErrorDetails) -> tuple[str, str]:
    """The key that an error is about, and what is wrong with it."""
    key = str(error["loc"][0]) if error["loc"] else ""
    if error["type"] == "extra_forbidden":
        return key, unknown(key, DispatchTask.model_fields)
    message = error["msg"].removeprefix("Value error, ")
    what = _WHAT.get(key) or _WHAT.get(error["type"]) or message
    return key, f"`{key}` {what}" if key else what


def _debate(tasks: tuple[DispatchTask, ...], rounds: Any, question: Any, where: Where) -> Dispatch:
    if isinstance(rounds, bool) or not isinstance(rounds, int) or not 1 <= rounds <= MOST_ROUNDS:
        raise _refused(f"{where(0, 'rounds')}`rounds` is {rounds!r}: a debate has 1 to {MOST_ROUNDS} rounds")
    if not isinstance(question, str):
        raise _refused(f"{where(0, 'question')}`question` must be text")
    called = numbered([{"id": task.name, "agent": task.agent, "role": task.role} for task in tasks])
    names = [each["id"] for each in called]
    twice = next((at for at, name in enumerate(names) if name in names[:at]), None)
    if twice is not None:
        begins = where(twice + 1, "participant")
        raise _refused(f"{begins}{names[twice]} takes part twice: a voice of a debate has a name of its own")
    own = tuple(
        task if task.name == name else task.model_copy(update={"participant": name})
        for task, name in zip(tasks, names, strict=True)
    )
    return Dispatch(mode=Mode.DEBATE, tasks=own, question=question.strip() or _question(own), rounds=rounds)


def _question(tasks: Sequence[DispatchTask]) -> str:
    """What a debate is about that names no question: its one task, or whether what the tasks are about should stand."""
    if len({task.text for task in tasks}) == 1:
        return tasks[0].text
    listed = "\n".join(f"- {task.name}: {task.text}" for task in tasks)
    return f"Should that stand which these tasks are about? Each participant has one of them.\n{listed}"


def _refused(message: str) -> CouncilRefused:
    return CouncilRefused(message, hint=_HINT)

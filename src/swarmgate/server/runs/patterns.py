"""The verbs of the council's facade by pattern, and which of their arguments may come over the network."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from swarmgate.config import is_program, nearest
from swarmgate.council.facade import Council as Facade
from swarmgate.council.patterns import PATTERNS
from swarmgate.errors import UsageError
from swarmgate.project import Project


class Verbs(NamedTuple):
    """The names of what begins and what resumes a record; `whole`: the request is one argument, a description."""

    begin: str
    resume: str
    whole: bool = False


_VERBS: dict[str, Verbs] = {
    "debate": Verbs("debate", "resume"),
    "discussion": Verbs("discuss", "resume_discussion"),
    "decision": Verbs("decide", "resume_decision"),
    "critique": Verbs("critique", "resume_critique"),
    "dispatch": Verbs("dispatch", "resume_dispatch"),
    "chat": Verbs("swarm", "resume_swarm"),
    "orchestration": Verbs("orchestrate", "resume_orchestration", whole=True),
}
_OURS = frozenset({"id", "default_id", "on_event", "where", "people"})
"""Arguments that are no request: the server's own."""
_TEXTS = frozenset({
    "question", "topic", "task", "text", "title", "content", "material", "draft", "brief", "system", "description",
    "rubric", "items", "initial", "options", "problem_definition", "context",
})  # fmt: skip
"""Keys whose values are what is talked about: whatever they begin with, they name nobody who speaks."""
_NO_PATHS = ("personas",)
"""Arguments that the command line takes a file for; over the network they are given as they are."""


def checked(pattern: str, request: Mapping[str, Any]) -> dict[str, Any]:
    """A request whose keys the pattern knows, and whose values name no files of the server and no programs.

    Which programs the server starts its settings say: who begins a council may name an agent of theirs that is one.

    Raises:
        UsageError: there is no such pattern, a key is unknown or missing, or a voice is to be a program.
    """
    verbs = _verbs(pattern)
    given = dict(request)
    if program := next(_programs(given), ""):
        raise UsageError(
            f"`{program[:80]}` is a program, and over the network none is named.",
            hint="Describe it in the settings of the project, as [agents.NAME], and name that agent.",
        )
    if verbs.whole:
        return given
    parameters = inspect.signature(getattr(_facade(), verbs.begin)).parameters
    known = {name: each for name, each in parameters.items() if name not in _OURS}
    for key in given:
        if key not in known:
            close = nearest(key, known)
            raise UsageError(
                f"A {pattern} has no `{key[:80]}`.",
                hint=f"Did you mean `{close}`?" if close else f"It has {', '.join(known)}.",
            )
    if missing := [name for name, each in known.items() if each.default is each.empty and name not in given]:
        raise UsageError(f"A {pattern} needs {', '.join(f'`{each}`' for each in missing)}.")
    if path := next((key for key in _NO_PATHS if isinstance(given.get(key), str)), ""):
        raise UsageError(f"`{path}` is a list over the network, no path of a file.")
    return given


def begin(facade: Facade, pattern: str, id: str, request: Mapping[str, Any]) -> Coroutine[Any, Any, Any]:  # noqa: A002 - the field's name
    """Begins a council under an id. What was answered before is held anew, since the id is that of a new record."""
    verbs = _verbs(pattern)
    verb: Callable[..., Coroutine[Any, Any, Any]] = getattr(facade, verbs.begin)
    if verbs.whole:
        return verb(dict(request), id=id)
    fresh = {"cache": False} if "cache" in inspect.signature(verb).parameters else {}
    return verb(**{**request, **fresh}, id=id)


def resume(facade: Facade, pattern: str, id: str, arguments: Mapping[str, Any]) -> Coroutine[Any, Any, Any]:  # noqa: A002 - the field's name
    """Resumes a council, or gives its outcome where it is over."""
    verb: Callable[..., Coroutine[Any, Any, Any]] = getattr(facade, _verbs(pattern).resume)
    return verb(id, **arguments)


def budgets(pattern: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Of these arguments, those that `resume` of a pattern takes: `tokens` and `usd`, where it has them."""
    known = inspect.signature(getattr(_facade(), _verbs(pattern).resume)).parameters
    return {key: value for key, value in arguments.items() if key in ("tokens", "usd") and key in known}


def _programs(value: Any, key: str = "") -> Iterator[str]:
    """The programs that a value names: as a model, or as `NAME=MODEL`, at whatever depth."""
    if isinstance(value, Mapping):
        for name, each in value.items():
            yield from _programs(each, str(name))
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _programs(each, key)
    elif isinstance(value, str) and key not in _TEXTS:
        said = (part.strip() for part in (value, value.partition("=")[2]))
        yield from (part for part in said if is_program(part))


def _verbs(pattern: str) -> Verbs:
    if pattern not in _VERBS:
        raise UsageError(f"There is no pattern {pattern[:80]!r}.", hint=f"The patterns are {', '.join(PATTERNS)}.")
    return _VERBS[pattern]


def _facade() -> Facade:
    """A facade of no project, to look at its verbs."""
    return Facade(Project(Path("/")), lambda: None)  # type: ignore[arg-type,return-value]  # nothing is held with it

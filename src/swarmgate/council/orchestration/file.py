"""Reads an orchestration from a TOML file, or a Python file that defines `orchestration`; reports file and line."""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path
from types import ModuleType

from pydantic import ValidationError

from swarmgate.council.orchestration import read as problem_of
from swarmgate.council.orchestration.model import Orchestration
from swarmgate.council.orchestration.validation import Problem, problems
from swarmgate.council.requests.request_file import begins, tables_of, text_of
from swarmgate.errors import CouncilRefused, SwarmError

_MODULE = "orchestration"
"""The name of a file that runs."""

_HINT = "Mend that, then try again; every key: swarm docs orchestration"


def read(path: Path) -> Orchestration:
    """The orchestration that a file describes; one that ends with `.py` is run for it.

    Raises:
        CouncilRefused: it cannot be read, raises an error, or describes none that can be carried out.
    """
    text = _text(path)
    return _from_python(path, text) if path.suffix == ".py" else _from_toml(path, text)


def _from_toml(path: Path, text: str) -> Orchestration:
    values = tables_of(path, text)
    try:
        given = Orchestration.model_validate(values)
    except ValidationError as error:
        problem = problem_of(error)
        raise _refused(path, text, problem) from None
    for problem in problems(given):
        raise _refused(path, text, problem)
    return given


def refusal(path: Path, problem: Problem) -> CouncilRefused:
    """A problem of what a file describes, with the line of a TOML file that it stands in."""
    return _refused(path, "" if path.suffix == ".py" else _text(path), problem)


def _refused(path: Path, text: str, problem: Problem) -> CouncilRefused:
    return CouncilRefused(f"{begins(path, text, problem.place)}{problem.what}", hint=_HINT)


def _from_python(path: Path, text: str) -> Orchestration:
    found = _run(path, text)
    if not isinstance(found, Orchestration):
        line = _line_that_binds(text)
        what = f"`orchestration` is of type {type(found).__name__}" if line else "it defines no `orchestration`"
        raise CouncilRefused(
            f"{path}{f', line {line}' if line else ''}: {what}",
            hint="End it with: orchestration = sequence(step(...), ...), from swarmgate.council.orchestration",
        )
    for problem in problems(found):
        raise _refused(path, "", problem)
    return found


def _run(path: Path, text: str) -> object:
    """What a file binds to `orchestration`."""
    try:
        with _as_module(path) as module:
            exec(compile(text, str(path), "exec"), vars(module))  # noqa: S102 - the user's own file, as asked for
            return vars(module).get("orchestration")
    except KeyboardInterrupt:
        raise
    except SyntaxError as error:
        line = f", line {error.lineno}" if error.lineno and error.filename == str(path) else ""
        raise CouncilRefused(f"{path}{line}: it is no Python: {error.msg}", hint=_HINT) from None
    except BaseException as error:  # noqa: BLE001 - the user's own file may raise anything
        frames = (each for each in traceback.extract_tb(error.__traceback__) if each.filename == str(path))
        line = max((f", line {each.lineno}" for each in list(frames)[-1:]), default="")
        message = error.message if isinstance(error, SwarmError) else f"{type(error).__name__}: {error}"
        raise CouncilRefused(f"{path}{line}: {message[:2000]}", hint=_HINT) from None


@contextmanager
def _as_module(path: Path) -> Iterator[ModuleType]:
    """A module of that file while it runs: known by its name, beside its neighbours; what it prints is no result."""
    module, folder = ModuleType(_MODULE), str(path.resolve().parent)
    module.__file__ = str(path)
    before = sys.modules.get(_MODULE)
    sys.modules[_MODULE] = module
    sys.path.insert(0, folder)
    try:
        with redirect_stdout(sys.stderr):
            yield module
    finally:
        with suppress(ValueError):
            sys.path.remove(folder)
        del sys.modules[_MODULE]
        if before is not None:
            sys.modules[_MODULE] = before


def _line_that_binds(text: str) -> int:
    found = re.search(r"^orchestration\b", text, re.MULTILINE)
    return text.count("\n", 0, found.start()) + 1 if found else 0


def _text(path: Path) -> str:
    return text_of(path, "orchestration file", hint="Give the path of a TOML or Python file; swarm docs orchestration")

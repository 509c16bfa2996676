"""A `sitecustomize` script that makes Python in a project's copy import code from the copy, not from the original.

An editable install, or a PYTHONPATH, names folders of the real project: tests in the copy would import the code that
they are kept away from. As `sitecustomize.py` at the front of PYTHONPATH (`workspace.checkout`), this runs in each
Python before the program does: it turns those folders into the copy's, and says at the end which modules came from the
real project nevertheless. Standard library only.

Reads the file `places` beside it, with NUL between: the real project, the copy, a folder for the answer (a file a
process), and the folders of the real project that the copy shares. The environment names none of them.
"""

from __future__ import annotations

import atexit
import importlib.machinery
import importlib.util
import os
import sys
from typing import Any

PLACES = "places"
"""The name of the file that says what leads where."""


def moved(path: str, real: str, copy: str, shared: tuple[str, ...] = ()) -> str:
    """Maps a path in the real project to the copy; any other path, and a shared one, stays as it is."""
    place = os.path.realpath(path)
    if not within(place, real) or any(within(place, each) for each in shared):
        return path
    return copy + place[len(real) :]


def within(path: str, folder: str) -> bool:
    """Whether a path is a folder or lies below it, by the text; links are not followed."""
    return path == folder or path.startswith(folder + os.sep)


def _all_moved(value: Any, *where: Any) -> Any:
    """The same for what an editable install keeps: texts, lists and dictionaries of paths."""
    if isinstance(value, str):
        return moved(value, *where)
    if isinstance(value, list):
        return [_all_moved(each, *where) for each in value]
    return {key: _all_moved(each, *where) for key, each in value.items()} if isinstance(value, dict) else value


def _redirect() -> None:
    here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - pathlib costs each start 10 ms
    with open(os.path.join(here, PLACES), "rb") as file:  # noqa: PTH118, PTH123 - pathlib is slow
        real, copy, answers, *shared = map(os.fsdecode, file.read().split(b"\0"))
    where = (real, copy, tuple(shared))
    sys.path[:] = [moved(path, *where) for path in sys.path]
    for finder in sys.meta_path:  # setuptools' editable installs: a finder with a table in its module
        module = sys.modules.get(getattr(finder, "__module__", "") or type(finder).__module__)
        for name in ("MAPPING", "NAMESPACES"):
            table = getattr(module, name, None)
            if isinstance(table, dict):
                table.update(_all_moved(table, *where))
    seen = os.path.join(answers, str(os.getpid()))  # noqa: PTH118 - pathlib is slow
    _write_report(seen, ())
    atexit.register(lambda: _write_report(seen, tuple(_strays(real, (*shared, os.path.realpath(sys.prefix))))))


def _strays(real: str, shared: tuple[str, ...]) -> list[str]:
    named = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
    files = [os.path.realpath(each) for each in named if isinstance(each, str)]
    return sorted({each for each in files if within(each, real) and not any(within(each, one) for one in shared)})


def _write_report(place: str, strays: tuple[str, ...]) -> None:
    try:
        with open(place, "w", encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - pathlib is slow
            file.write("".join(f"{each}\n" for each in strays))
    except OSError:
        return  # a sandbox of the tests' own; no answer is an answer, too


def _next() -> None:
    """The environment's own `sitecustomize`, which this one stands before."""
    here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - pathlib is slow
    sys.path[:] = [path for path in sys.path if path != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


if __name__ == "sitecustomize":
    _redirect()
    _next()

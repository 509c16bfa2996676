"""Checks the syntax of Python files and notebooks with Python's own compiler, for the project's oldest version.

compile() is the arbiter. It cannot tell two things, and ruff's parser is asked about them, once for all files: whether
code that is accepted here is too new for the oldest version the project runs on, and whether code that is rejected here
is only newer than this interpreter.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from typing import Any

from swarmgate.gates.source import notebooks, python_tree
from swarmgate.gates.syntax.documents import strict_json
from swarmgate.gates.syntax.problem import Problem

VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"
_MAGIC = re.compile(r"^\s*(?:%|!|\?|cd\s|[\w.]+\?{1,2}\s*$|[^#'\"]*=\s*[%!]\w)")
_CELL_MAGIC = re.compile(r"^\s*%%(\w+)")
_PYTHON_CELLS = {"time", "timeit", "capture", "prun", "python", "python3"}
_INDENT = re.compile(r"^\s*")


def check(content: bytes) -> Problem | None:
    """What keeps the source from compiling on this interpreter."""
    try:
        python_tree.check(content)
    except SyntaxError as error:
        return _problem(error)
    except (ValueError, RecursionError, MemoryError) as error:
        return Problem(0, 0, f"cannot be compiled: {str(error) or type(error).__name__}")
    return None


def _problem(error: SyntaxError, line: int | None = None) -> Problem:
    message = (error.msg or "invalid syntax").partition(" (<file>")[0]
    return Problem(line or error.lineno or 0, max(error.offset or 0, 0), f"not valid Python {VERSION}: {message}")


def check_notebook(content: bytes) -> list[Problem] | str:
    """The notebook's JSON, and its code cells where they are Python; IPython's magics and top-level await are legal."""
    text = content.decode("utf-8-sig", "replace")
    wrong = strict_json(text)
    if wrong:
        return [wrong]
    notebook: Any = json.loads(text)
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        return []
    if _language(notebook) != "python":
        return []
    problems, position = [], 0
    for cell in notebook["cells"]:
        source = notebooks.code(cell)
        if source is None:
            continue
        line, position = notebooks.line_of(text, source, position)
        result = _cell(source)
        if result and "raises-exception" not in (cell.get("metadata") or {}).get("tags", ()):
            where = f" (line {result.lineno} of the cell)"
            problems.append(
                Problem(line + max((result.lineno or 1) - 1, 0), 0, f"not valid Python {VERSION}: {result.msg}{where}")
            )
    return problems[:3]


def _language(notebook: dict[str, Any]) -> str:
    metadata = notebook.get("metadata") or {}
    info, kernel = metadata.get("language_info") or {}, metadata.get("kernelspec") or {}
    if str(info.get("version", "")).startswith("2") or kernel.get("name") == "python2":
        return "python 2"
    return str(info.get("name") or kernel.get("language") or "python").lower()


def _cell(source: str) -> SyntaxError | None:
    magic = _CELL_MAGIC.match(source)
    if magic and magic[1] not in _PYTHON_CELLS:
        return None
    try:
        with python_tree.quiet():
            compile(_without_magics(source), "<cell>", "exec", dont_inherit=True, flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except SyntaxError as error:
        return error
    except (ValueError, RecursionError, MemoryError):
        return None
    return None


def _without_magics(source: str) -> str:
    lines, going = [], False
    for line in source.split("\n"):
        magic = going or bool(_MAGIC.match(line))
        indent = _INDENT.match(line)
        lines.append((indent[0] if indent else "") + "pass" if magic and not going else "" if going else line)
        going = magic and line.rstrip().endswith("\\")
    return "\n".join(lines)


def read_ruff(output: str) -> dict[str, list[Problem]]:
    """What `ruff check --output-format json` said of syntax, by the file's name.

    Raises:
        ValueError, KeyError, TypeError: the output is not what it should be.
    """
    found: dict[str, list[Problem]] = {}
    for item in json.loads(output or "[]"):
        if item["code"] in {None, "invalid-syntax"}:
            where, message = item["location"], str(item["message"]).removeprefix("SyntaxError: ")
            found.setdefault(item["filename"], []).append(Problem(where["row"], where["column"], message))
    return found

"""Writes docs/misbehaviour.md from the cases in the tests: what was tried, and what held.

Run it with `python docs/render_misbehaviour.py`. The tests are read, not imported: each function that is decorated with
`@case(area, tried, held)` (tests/misbehaviour/case.py) is a row. The text between the two marks of the page is derived
and not to be edited. A test (tests/misbehaviour/test_page.py) fails while the page differs from what would be written.
"""  # noqa: INP001 - a script beside the pages that it writes, not a package

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from derived import Derived

TESTS = Path(__file__).parent.parent / "tests"

AREAS = {
    "files": "Files and scope",
    "commands": "Commands and the sandbox",
    "loops": "Loops, limits and budgets",
    "lies": "Lies",
    "order": "Order",
    "exploits": "Exploits of benchmarks",
    "programs": "Agent programs as roles",
}
"""The areas of cases by key, with the titles of their sections."""


class Row(NamedTuple):
    """One case: its area, what was tried, what held, and the test that does it, as `file::function`."""

    area: str
    tried: str
    held: str
    test: str


def rows(tests: Path = TESTS) -> list[Row]:
    """Every case, those of the suite itself first, in the order of files and of functions in them.

    Raises:
        ValueError: a case is no test, its area is unknown, or its texts are no literals.
    """
    found: list[Row] = []
    for path in sorted(tests.rglob("test_*.py"), key=lambda path: ("misbehaviour" not in path.parts, path)):
        text = path.read_text(encoding="utf-8")
        if "misbehaviour.case" in text:
            found += _rows_of(path, ast.parse(text))
    return found


def _rows_of(path: Path, tree: ast.Module) -> Iterator[Row]:
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for mark in node.decorator_list:
            if not (isinstance(mark, ast.Call) and isinstance(mark.func, ast.Name) and mark.func.id == "case"):
                continue
            area, tried, held = (ast.literal_eval(argument) for argument in mark.args)
            if area not in AREAS or not node.name.startswith("test_"):
                raise ValueError(f"{path}:{node.lineno}: a case is a test, in one of {', '.join(AREAS)}")
            yield Row(area, tried, held, f"{path.relative_to(TESTS.parent).as_posix()}::{node.name}")


def body() -> str:
    """The counts, the sentence about escapes and false alarms, and a table for each area."""
    found = rows()
    of_area = {area: [row for row in found if row.area == area] for area in AREAS}
    counts = ["| area | cases |", "|---|---|"]
    counts += [f"| {AREAS[area]} | {len(each)} |" for area, each in of_area.items()]
    commands, edits, alarms = _ordinary()
    lines = [
        *counts,
        f"| all | {len(found)} |",
        "",
        f"Escapes from sandbox or scope: 0 in {len(found)} cases; with one, its test would fail.",
        f"False alarms: {alarms} on {commands} ordinary commands and {edits} ordinary edits,",
        "by `tests/misbehaviour/test_ordinary.py`.",
    ]
    for area, each in of_area.items():
        lines += ["", f"## {AREAS[area]}", "", "| tried | held |", "|---|---|"]
        lines += [f"| {_cell(row.tried)} | {_cell(row.held)} |" for row in each]
    return "\n".join([*lines, ""])


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _ordinary() -> tuple[int, int, int]:
    """How many ordinary commands and edits there are, and how many of both raise an alarm."""
    listed = (TESTS / "workspace/command_policy/ordinary.txt").read_text(encoding="utf-8").split("\n%\n")[1:]
    edits, alarms = (_size(name, of) for name, of in (("edits.py", "EDITS"), ("test_ordinary.py", "FALSE_ALARMS")))
    return len(listed), edits, alarms


def _size(name: str, of: str) -> int:
    """The length of a tuple that a file of the suite writes out.

    Raises:
        ValueError: it writes none out under that name.
    """
    for node in ast.parse((TESTS / "misbehaviour" / name).read_text(encoding="utf-8")).body:
        names = [each.id for each in getattr(node, "targets", ()) if isinstance(each, ast.Name)]
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple) and of in names:
            return len(node.value.elts)
    raise ValueError(f"{name} has no tuple {of}")


DERIVED = Derived(Path(__file__).with_name("misbehaviour.md"), Path(__file__).name, body)

if __name__ == "__main__":
    sys.exit(DERIVED.write())

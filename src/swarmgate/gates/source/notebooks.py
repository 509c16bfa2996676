"""Reads the code cells of Jupyter notebooks, and maps a line of a cell to a line of the file."""

from __future__ import annotations

import json
from typing import Any


def line_of_cell(content: bytes, cell: int, row: int) -> int:
    """The line of a notebook's file in which a row of a cell stands, both counted from 1; 0 where it is not found."""
    text, line, position = content.decode("utf-8-sig", "replace"), 0, 0
    try:
        cells = json.loads(text)["cells"][:cell]
    except (ValueError, KeyError, TypeError, RecursionError):
        return 0
    for each in cells:
        source = code(each)
        if source is not None:
            line, position = line_of(text, source, position)
            position += bool(source)
    listed = bool(cells) and isinstance(cells[-1], dict) and isinstance(cells[-1].get("source"), list)
    return line + (row - 1 if listed else 0)


def code(cell: Any) -> str | None:
    """The source of a code cell; None for any other cell."""
    if not isinstance(cell, dict) or cell.get("cell_type") != "code":
        return None
    source = cell.get("source", "")
    return source if isinstance(source, str) else "".join(map(str, source)) if isinstance(source, list) else None


def line_of(text: str, source: str, position: int) -> tuple[int, int]:
    """The line in which the first line of a source stands, looked for from a position on; and the position of it."""
    first = json.dumps(source.split("\n", 1)[0], ensure_ascii=False)[1:-1]
    found = text.find(first, position) if first else -1
    return (text.count("\n", 0, found) + 1, found) if found >= 0 else (1, position)

"""Compiles Python files in memory for the oldest Python version that the project supports."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

from swarmgate.config import toml_text
from swarmgate.domain.review.finding import Finding, Severity
from swarmgate.gates.source import python_tree
from swarmgate.workspace.files import regular

if TYPE_CHECKING:
    from pathlib import Path

    from swarmgate.gates.source.file import SourceFile

_LOWEST = re.compile(r"(?:>=|~=|==|\^|~|>)\s*3\.(\d+)")
_OLDEST = 7
"""Below this, `ast` knows too little of the old grammar to judge."""


def target(root: Path) -> int | None:
    """The minor version of Python 3 that `requires-python` begins with; None when it is not stated."""
    try:
        data = toml_text.loads(regular.text(root / "pyproject.toml"))
        declared = _declared(data)
    except (OSError, ValueError, AttributeError):
        return None
    versions = [int(match) for match in _LOWEST.findall(declared)]
    return min(versions) if versions else None


def scan_file(source: SourceFile, minor: int | None) -> list[Finding] | str:
    """The compile errors of one file; a reason where this interpreter cannot tell."""
    if source.language != "python":
        return source.language or "unknown"
    if minor is not None and minor > sys.version_info.minor:
        return f"Python that needs 3.{minor}"
    error = _compile(source.content, minor)
    if error is None:
        return []
    line, column, message = error
    return [
        Finding(
            rule="python-compile",
            path=source.path,
            line=line,
            column=column,
            severity=Severity.CRITICAL,
            message=message,
        )
    ]


def _compile(content: bytes, minor: int | None) -> tuple[int, int, str] | None:
    version = f"3.{sys.version_info.minor}"
    try:
        python_tree.check(content)
        if minor is not None and _OLDEST <= minor < sys.version_info.minor:
            version = f"3.{minor}, which requires-python allows"
            python_tree.check_for(content, minor)
    except SyntaxError as error:
        return error.lineno or 0, max(error.offset or 0, 0), f"does not compile as Python {version}: {error.msg}"
    except (ValueError, RecursionError, MemoryError) as error:
        return 0, 0, f"cannot be compiled: {str(error) or type(error).__name__}"
    return None


def _declared(data: dict[str, Any]) -> str:
    poetry = toml_text.table(data, "tool", "poetry", "dependencies").get("python", "")
    return str(toml_text.table(data, "project").get("requires-python") or poetry)

"""Determines which files JavaScript test runners collect: by their defaults, or by a list in package.json.

Settings that are code (`vitest.config.ts`) are read by the runner alone: then nothing is known here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from swarmgate.workspace.detect import script_runner
from swarmgate.workspace.files import globs

SUFFIXES = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts")

_ANY = "{js,jsx,mjs,cjs,ts,tsx,mts,cts}"
_NODE = "{js,mjs,cjs,ts,mts,cts}"
_DEFAULTS = {
    "jest": (f"**/__tests__/**/*.{_ANY}", f"**/*.{{test,spec}}.{_ANY}", f"**/{{test,spec}}.{_ANY}"),
    "vitest": (f"**/*.{{test,spec}}.{_ANY}",),
    "node": (
        *(f"**/*{mark}test.{_NODE}" for mark in (".", "-", "_")),
        f"**/test-*.{_NODE}",
        f"**/test.{_NODE}",
        f"**/test/**/*.{_NODE}",
    ),
    "mocha": ("./test/*.{js,cjs,mjs}",),
}
"""Jest: `testMatch`; vitest: `include`; node: "Running tests from the command line"; mocha: `spec`."""
_CONFIGURED = ("jest.config.*", "vitest.config.*", "vite.config.*", "vitest.workspace.*", ".mocharc.*")
_OTHER_CHOICES = frozenset({"roots", "projects", "testRegex", "rootDir", "preset"})


def excluded(path: str, kind: str, command: str, files: Sequence[str], read: Callable[[str], str]) -> str:
    """Why a runner passes over a file; empty where it does not, or where nobody can tell."""
    patterns, where = _patterns(kind, command, files, read)
    if not patterns or any(globs.matches(path, each) for each in patterns):
        return ""
    return f"{where} = {' '.join(patterns)}"


def _patterns(kind: str, command: str, files: Sequence[str], read: Callable[[str], str]) -> tuple[tuple[str, ...], str]:
    manifest = _object(read("package.json"))
    scripts = manifest.get("scripts")
    script = scripts.get("test") if isinstance(scripts, dict) else None
    line = script if isinstance(script, str) and script_runner(script) == kind else command
    words = [word for word in line.split() if word not in {"run", "npx", "node", "--test", kind}]
    if words or any(globs.matches(path, each) for path in files for each in _CONFIGURED):
        return (), ""  # arguments, options and code choose, each in its own way
    table = manifest.get(kind)
    if table is None:
        return _DEFAULTS.get(kind, ()), f"{kind}'s own choice"
    given = table.get("testMatch") if isinstance(table, dict) and not _OTHER_CHOICES & {*table} else None
    if kind != "jest" or not isinstance(given, list):
        return (), ""
    return tuple(str(each).removeprefix("<rootDir>/") for each in given), "testMatch"


def _object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}

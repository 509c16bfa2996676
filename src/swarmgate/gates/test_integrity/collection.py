"""Decides by its name whether a test runner collects a file."""

from __future__ import annotations

import re

_NAMES = {
    ".py": r"(?:^|/)(?:test_[^/]*|[^/]*_test|tests?)\.py$",
    ".go": r"_test\.go$",
    ".java": r"(?:^|/)(?:Test[^/]*|[^/]*(?:Tests?|TestCase|IT))\.java$",
    ".js": r"\.(?:test|spec)\.[cm]?[jt]sx?$|(?:^|/)(?:__tests__|tests?|specs?)/",
}
_COMPILED = {suffix: re.compile(pattern) for suffix, pattern in _NAMES.items()}


def is_collected(path: str) -> bool:
    """Whether the test runner collects this file by its name; always, for languages without such names."""
    suffix = re.sub(r"^\.[cm]?[jt]sx?$", ".js", path[path.rfind(".") :])
    pattern = _COMPILED.get(suffix)
    return pattern is None or bool(pattern.search(path))

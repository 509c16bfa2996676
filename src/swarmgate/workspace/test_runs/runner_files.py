"""Recognizes configuration files of test runners, which affect tests in other files."""

from __future__ import annotations

import re
import unicodedata

_OWN = re.compile(
    r"conftest\.py|\.?pytest\.(?:ini|toml)|tox\.ini|setup\.cfg|(?:site|user)customize\.py|"
    r"(?:jest|vitest|vite|playwright|cypress|karma|ava|babel|wdio)\.(?:config|conf|workspace|setup)\.\w+|"
    r"\.mocharc(?:\.\w+)?|\.babelrc(?:\.\w+)?|\.rspec(?:-local)?|phpunit(?:\.dist)?\.xml(?:\.dist)?|go\.mod"
)
_SHARED = re.compile(
    r"pyproject\.toml|setup\.py|noxfile\.py|\.env|package\.json|tsconfig[\w.]*\.json|Cargo\.toml|build\.rs|"
    r"pom\.xml|build\.gradle(?:\.kts)?|Makefile|Rakefile|composer\.json|Gemfile|go\.work|[\w.]+\.(?:csproj|runsettings)",
    re.IGNORECASE,
)


def steers(path: str) -> bool:
    """Whether a file, by its name on any file system, is there for test runners: it can switch tests off."""
    return _OWN.fullmatch(_name(path)) is not None


def may_steer(path: str) -> bool:
    """Whether a file, by its name, says how tests are run, alone or besides other things."""
    return steers(path) or _SHARED.fullmatch(_name(path)) is not None


def _name(path: str) -> str:
    return unicodedata.normalize("NFKC", path).casefold().rpartition("/")[2]

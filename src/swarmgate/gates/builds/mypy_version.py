"""Finds the version of mypy that a project pins, because another version reports other errors."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from swarmgate.workspace.files import regular

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_PLACES = (
    "uv.lock", "poetry.lock", "pdm.lock", "pylock.toml", "requirements*.txt", "*requirements.txt", "requirements/*.txt",
    "constraints*.txt", "pyproject.toml", "setup.cfg", "tox.ini", "noxfile.py", ".pre-commit-config.yaml",
)  # fmt: skip
_PINNED = re.compile(
    r"^name = \"mypy\"\nversion = \"(?P<lock>\d[\w.]*)\"|(?<![\w-])mypy(?:\[[\w,\s]*\])?\s*===?\s*(?P<exact>\d[\w.]*)"
    r"|mirrors-mypy[\"']?\s*\n\s*rev:\s*[\"']?v?(?P<hook>\d[\w.]*)|^mypy = \"(?P<poetry>\d[\w.]*)\"",
    re.MULTILINE,
)
_VERSION = re.compile(r"\d+\.\d+")


def mypy(folder: Path) -> str:
    """The version that the files of a folder pin mypy to; empty where none does."""
    for text in _texts(folder):
        found = _PINNED.search(text)
        if found:
            return str(next(filter(None, found.groups())))
    return ""


def is_another(pinned: str, version_output: str) -> bool:
    """Whether a program's version output is of another release (major and minor) than the pinned one."""
    wanted, here = _VERSION.match(pinned), _VERSION.search(version_output)
    return bool(wanted and here and wanted[0] != here[0])


def _texts(folder: Path) -> Iterator[str]:
    for pattern in _PLACES:
        for place in sorted(folder.glob(pattern)):
            if place.is_file():
                yield regular.read(place).decode("utf-8", "replace")

"""Adapts a project's ruff settings where the bundled ruff does not know all of them.

A selector that another version of ruff knows, an option that earlier ones had, or a version that is asked for, makes
ruff refuse to look at anything: that says nothing of the change. A copy of the settings without them is used; any other
mistake in them stays an error.
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from swarmgate.config import toml_text
from swarmgate.workspace.files import regular

if TYPE_CHECKING:
    from collections.abc import Iterable

FILES = ("ruff.toml", ".ruff.toml", "pyproject.toml")
"""What ruff reads its settings from, in the nearest folder that has one of them; the last one only with a section."""

_UNKNOWN = re.compile(r"Unknown rule selector `([\w-]+)`")
_REMOVED = re.compile(r"rules have been removed and cannot be selected:((?:[\s|]*- [A-Z]+\d*\b)+)")
_VERSION = re.compile(r"Required version `[^`]+` does not match")
_REQUIRED = re.compile(r"^\s*required-version\s*=.*$", re.MULTILINE)
_FORMER = {
    "show-source": re.compile(r"unknown field `show-source`"),
    "tab-size": re.compile(r"unknown field `tab-size`"),
    "output-format": re.compile(r"unknown variant `text`, expected one of `concise`"),
    "format": re.compile(r"invalid type: string \S+ expected struct FormatOptions"),
}
"""Options of ruff before 0.5, and what newer ones say of them; `format` chose how findings are printed."""
_EXTENDS = re.compile(r"^(\s*extend\s*=\s*)([\"'])(?P<path>[^\"'\n]+)\2", re.MULTILINE)

VERSION = "required-version"
"""Stands for a demand of another version among what is left out."""


def refused(stderr: str) -> frozenset[str]:
    """The settings that ruff's error output names as unknown; empty where it failed for another reason."""
    found = set(_UNKNOWN.findall(stderr))
    for each in _REMOVED.finditer(stderr):
        found.update(re.findall(r"- ([A-Z]+\d*)", each[1]))
    found.update(name for name, said in _FORMER.items() if said.search(stderr))
    return frozenset(found | ({VERSION} if _VERSION.search(stderr) else set()))


def by_file(root: Path, paths: Iterable[str]) -> dict[Path | None, list[str]]:
    """The paths by the settings file that applies to them, None where none does."""
    groups: defaultdict[Path | None, list[str]] = defaultdict(list)
    for path in paths:
        groups[_nearest(root, (root / path).parent)].append(path)
    return dict(groups)


def without(settings: Path, left_out: Iterable[str], folder: Path, *, depth: int = 0) -> Path:
    """A copy of settings, and of those that they extend, without some of them; in a folder of its own."""
    text = regular.text(settings)
    for name in _FORMER.keys() & set(left_out):
        text = re.sub(rf"^\s*{name}\s*=.*$", "", text, flags=re.MULTILINE)
    for selector in left_out:
        text = re.sub(rf"([\"']){re.escape(selector)}\1\s*,?", "", text)
    text = _REQUIRED.sub("", text)

    def extended(match: re.Match[str]) -> str:
        place = (settings.parent / Path(match["path"]).expanduser()).resolve()
        if place.is_file() and depth < _DEPTH:
            place = without(place, left_out, folder, depth=depth + 1)
        return f'{match[1]}"{place.as_posix()}"'

    copy = folder / str(depth) / settings.name
    copy.parent.mkdir(exist_ok=True)
    copy.write_text(_EXTENDS.sub(extended, text), encoding="utf-8")
    return copy


def note(left_out: Iterable[str]) -> str:
    """The note that names the settings that were left out."""
    return f"ruff here does not know {', '.join(sorted(left_out))} of the project's settings: judged without"


def has_section(folder: Path) -> bool:
    """Whether the pyproject.toml there configures ruff.

    Raises:
        OSError, ValueError: it cannot be read.
    """
    return "ruff" in toml_text.table(toml_text.loads(regular.text(folder / "pyproject.toml")), "tool")


def selects(settings: Path) -> bool:
    """Whether a settings file says which rules it wants, or takes that from a file that it extends.

    Raises:
        OSError, ValueError: it cannot be read.
    """
    found = toml_text.loads(regular.text(settings))
    own = toml_text.table(found, "tool", "ruff") if settings.name == "pyproject.toml" else found
    keys = {*own, *toml_text.table(own, "lint")}
    return bool(keys & {"select", "extend-select", "extend"})


_DEPTH = 8
"""So many settings may extend one another."""


def _nearest(root: Path, folder: Path) -> Path | None:
    while folder.is_relative_to(root):
        for name in FILES:
            if (folder / name).is_file() and (name != "pyproject.toml" or has_section(folder)):
                return folder / name
        folder = folder.parent
    return None

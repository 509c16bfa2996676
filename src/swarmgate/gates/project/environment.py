"""Finds the project's virtual environments and node_modules on disk and what can be imported from them.

swarmgate's own environment says nothing about the project, unless it lies in the repository, or the project itself is
installed in it in development mode. Nothing is imported or run: files and folders are looked up by name.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import sys
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_NAMES = (".venv", "venv", "env", ".env", "virtualenv", ".virtualenv")
VARIABLES = ("VIRTUAL_ENV", "CONDA_PREFIX", "UV_PROJECT_ENVIRONMENT")
"""They name the environment that is active."""
_SUFFIXES = (".py", ".pyi", ".so", ".pyd")
_MAPPING = re.compile(r"MAPPING[^=]*=\s*(\{[^\n]*\})")


class Environment:
    """The folders from which the project's interpreter would import what is installed."""

    def __init__(self, root: Path, folders: Iterable[str] = ("",)) -> None:
        """`folders` are those below `root` where an environment may lie: the root itself and those of manifests."""
        self._root = root
        self._folders = [self._root / folder for folder in folders]

    @cached_property
    def sites(self) -> tuple[Path, ...]:
        """The site-packages folders; none where the project has no visible environment."""
        return tuple(site for prefix in self.prefixes for site in _sites(prefix))

    @cached_property
    def prefixes(self) -> tuple[Path, ...]:
        """The folders of the environments, the project's own before the active one."""
        return tuple(dict.fromkeys(self._prefixes()))

    @cached_property
    def _names(self) -> frozenset[str]:
        found = set()
        for folder in self._search():
            try:
                entries = [each.name for each in folder.iterdir()]
            except OSError:
                continue
            for entry in entries:
                stem, dot, _ = entry.partition(".")
                if (not dot or entry.endswith(_SUFFIXES)) and stem:
                    found.add(stem)
        return frozenset(found) | frozenset(self._editable())

    @property
    def names(self) -> frozenset[str]:
        """Every top-level name that can be imported."""
        return self._names

    def provided_by(self, distribution: str) -> frozenset[str]:
        """The top-level names that an installed distribution provides, by its record; empty where not installed."""
        pattern = re.compile(
            rf"^{re.escape(distribution).replace('-', '[-_.]+')}-[^-]+\.(dist-info|egg-info)$", re.IGNORECASE
        )
        for site in self.sites:
            for entry in site.iterdir():
                if pattern.match(entry.name):
                    return frozenset(_recorded(entry))
        return frozenset()

    def _prefixes(self) -> Iterator[Path]:
        for folder in self._folders:
            for name in _NAMES:
                if (folder / name / "pyvenv.cfg").is_file():
                    yield folder / name
            if (folder / "__pypackages__").is_dir():
                yield folder / "__pypackages__"
            yield from _by_tool(folder)
        own = Path(sys.prefix).resolve()
        for variable in VARIABLES:
            value = os.environ.get(variable)
            if value and Path(value).is_dir() and (Path(value).resolve() != own or self._is_ours(own)):
                yield Path(value)
        if own.is_relative_to(self._root):
            yield own

    def _is_ours(self, prefix: Path) -> bool:
        """Whether the project is installed in development mode in the environment that runs us."""
        root = f"file://{self._root.as_posix()}"
        for site in _sites(prefix):
            for record in site.glob("*.dist-info/direct_url.json"):
                text = record.read_text("utf-8", "replace")
                if f'"{root}"' in text or f'"{root}/' in text:
                    return True
        return False

    def _search(self) -> Iterator[Path]:
        for site in self.sites:
            yield site
            for link in site.glob("*.pth"):
                for line in link.read_text("utf-8", "replace").splitlines():
                    if line.strip() and not line.startswith(("import ", "import\t", "#")):
                        yield site / line.strip()

    def _editable(self) -> Iterator[str]:
        """Names of setuptools' finders of packages in development."""
        for site in self.sites:
            for finder in site.glob("__editable___*_finder.py"):
                found = _MAPPING.search(finder.read_text("utf-8", "replace"))
                if found:
                    yield from re.findall(r"'([^'.]+)[^']*'\s*:", found[1])


def _sites(prefix: Path) -> list[Path]:
    found = [*prefix.glob("lib/python3*/site-packages"), *prefix.glob("lib64/python3*/site-packages")]
    found += [prefix / "Lib" / "site-packages", *prefix.glob("3*/lib")]
    return [each for each in dict.fromkeys(path.resolve() for path in found) if each.is_dir()]


def _by_tool(folder: Path) -> Iterator[Path]:
    """Where Poetry and Pipenv keep the environment of a folder, by their naming schemes."""
    if (folder / "Pipfile").is_file():
        home = Path(os.environ.get("WORKON_HOME") or Path.home() / ".local/share/virtualenvs")
        yield from home.glob(f"*-{_digest(str(folder / 'Pipfile'))}") if home.is_dir() else ()
    if (folder / "poetry.lock").is_file():
        cache = os.environ.get("POETRY_CACHE_DIR")
        for home in (
            (Path(cache),) if cache else (Path.home() / ".cache/pypoetry", Path.home() / "Library/Caches/pypoetry")
        ):
            yield from (home / "virtualenvs").glob(f"*-{_digest(str(folder))}-py*")


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode()[:8]


def _recorded(folder: Path) -> Iterator[str]:
    for name in ("top_level.txt", "RECORD"):
        try:
            text = (folder / name).read_text("utf-8", "replace")
        except OSError:
            continue
        for line in text.splitlines():
            first = line.split(",", maxsplit=1)[0].split("/", maxsplit=1)[0].strip()
            if first and not first.endswith((".dist-info", ".data", "..", ".pth")) and first != "__pycache__":
                yield first.partition(".")[0]

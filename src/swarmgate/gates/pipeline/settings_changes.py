"""Reports changes to the files that configure the gates: tool settings, attributes, gate definitions.

Such a change is legitimate as often as not, so it does not block; but no reader of the report shall miss it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swarmgate.config import toml_text
from swarmgate.errors import ConfigError
from swarmgate.gates import baseline
from swarmgate.gates.cache import environment
from swarmgate.gates.lint import ruff
from swarmgate.workspace.files import paths, regular
from swarmgate.workspace.files.globs import matches

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from swarmgate.domain.review.change import ChangedFile, ChangeSet
    from swarmgate.workspace.git.repository import Repository

_SETTINGS = (
    "ruff.toml", ".ruff.toml", ".flake8", ".pylintrc", "pylintrc", "mypy.ini", ".mypy.ini", "pyrightconfig.json",
    "setup.cfg", "tox.ini", ".bandit", "bandit.{yaml,yml,toml}", ".semgrepignore", ".secrets.baseline", "ty.toml",
    ".eslintrc*", ".eslintignore", "eslint.config.*", "biome.{json,jsonc}", "tsconfig*.json", ".prettierignore",
    ".golangci.{yml,yaml,toml}", "clippy.toml", ".clippy.toml", "rustfmt.toml", ".rustfmt.toml", ".shellcheckrc",
    ".jscpd.json", ".coveragerc", ".gitleaksignore", ".gitleaks.toml",
)  # fmt: skip
_SECTIONS = ("ruff", "mypy", "pyright", "ty", "bandit", "pylint", "flake8", "semgrep", "coverage")
_ATTRIBUTES = ".gitattributes"
_PYPROJECT = "pyproject.toml"
_OWN = ".swarm/gates/"
_CONFIG = ".swarm/config.toml"
_KEYS = 6
_NO_JUDGES = frozenset({".editorconfig", ".python-version", "go.work", "package.json"})
"""Of the configurations of tools, those that take nothing out of a gate's sight."""


def edits(repository: Repository, change: ChangeSet, *, by_hand: bool) -> tuple[str, ...]:
    """One sentence for each gate configuration file that the change edits.

    Raises:
        WorkspaceError: git failed.
    """
    touched = [file for file in change.files if any(matches(path, glob) for path in file.touched for glob in _WATCHED)]
    messages = [] if not touched else list(_settings(repository, change, touched))
    return (*messages, *_own(repository, change.base, by_hand=by_hand), *_unseen(repository, change))


_WATCHED = (*_SETTINGS, _PYPROJECT, _ATTRIBUTES)


def _settings(repository: Repository, change: ChangeSet, touched: list[ChangedFile]) -> Iterator[str]:
    before = repository.read_many(change.base, [file.old_path or file.path for file in touched])
    after = repository.read_many(change.tree, [file.path for file in touched])
    for file in touched:
        name = file.path.rsplit("/", 1)[-1]
        if name == _ATTRIBUTES:
            yield f"this change edits {file.path}: what it newly declares counts from the next revision on"
            continue
        old, new = before.get(file.old_path or file.path, b""), after.get(file.path, b"")
        keys = _keys(name, old, new)
        if keys is None:
            yield f"this change edits {file.path}, by which it is judged"
        elif keys:
            more = f" and {len(keys) - _KEYS} more" if len(keys) > _KEYS else ""
            yield f"this change edits {file.path}, by which it is judged: {', '.join(keys[:_KEYS])}{more}"


def _keys(name: str, old: bytes, new: bytes) -> list[str] | None:
    """The settings that differ; None where the form of the file does not tell."""
    if not name.endswith(".toml"):
        return None
    try:
        was, now = (toml_text.loads(content.decode("utf-8")) for content in (old, new))
    except ValueError:
        return None
    if name == _PYPROJECT:
        was, now = ({key: toml_text.table(data, "tool").get(key) for key in _SECTIONS} for data in (was, now))
    return sorted(_differing(was, now))


def _differing(was: Any, now: Any, prefix: str = "") -> Iterator[str]:
    if was == now:
        return
    if isinstance(was, dict | None) and isinstance(now, dict | None) and (was or now):
        was, now = was or {}, now or {}
        for key in was.keys() | now.keys():
            yield from _differing(was.get(key), now.get(key), f"{prefix}.{key}" if prefix else key)
    else:
        yield prefix


def _own(repository: Repository, base: str, *, by_hand: bool) -> Iterator[str]:
    """What differs between the base and the work tree in `.swarm/gates/`, which is no part of a change."""
    before, now = _own_before(repository, base), _own_now(repository.root)
    counts = "the work tree's counts" if by_hand else "the base revision's counts"
    for name in sorted(before.keys() | now.keys()):
        was, is_ = before.get(name, b""), now.get(name, b"")
        if was == is_:
            continue
        if name == _CONFIG:
            keys = sorted(_differing(_gates_of(was), _gates_of(is_), "gates")) if was else []
            if keys:
                yield f"{name} differs from the base revision: {', '.join(keys[:_KEYS])}"
        elif name == baseline.FILE:
            more = _fresh(was, is_)
            if more:
                yield f"{name} accepts {more} more than the base revision ({counts})"
        elif was or not is_:
            yield f"{name} differs from the base revision"


def _fresh(was: bytes, now: bytes) -> str:
    try:
        known = {each.fingerprint for each in baseline.parse(was)} if was else set()
        more = sum(each.fingerprint not in known for each in baseline.parse(now)) if now else 0
    except ConfigError:
        return "what cannot be read,"
    return f"{more} finding{'s' if more > 1 else ''}" if more else ""


def _own_before(repository: Repository, base: str) -> Mapping[str, bytes]:
    names = [path for path in repository.list_tree(base) if path == _CONFIG or path.rpartition("/")[0] == _OWN[:-1]]
    return repository.read_many(base, names) if names else {}


def _own_now(root: Path) -> Mapping[str, bytes]:
    folder = root / _OWN
    files = [*sorted(folder.glob("*.toml")), root / baseline.FILE] if folder.is_dir() else []
    found = {f"{_OWN}{path.name}": path for path in files} | {_CONFIG: root / _CONFIG}
    return {name: regular.read(path) for name, path in found.items() if path.is_file()}


def _gates_of(content: bytes) -> Any:
    """The table of the gates in a `config.toml`: of the rest, nothing judges."""
    try:
        return toml_text.loads(content.decode("utf-8")).get("gates")
    except ValueError:
        return None


def _unseen(repository: Repository, change: ChangeSet) -> Iterator[str]:
    """Settings of tools that are on disk and not in the tree, and those of ruff above a project that has none."""
    root = repository.root
    names = [name for name in environment.CONFIGURATIONS if name not in _NO_JUDGES]
    folders = environment.folders_of(root, change.paths)
    present = [place for folder in folders for name in names if (place := folder / name).is_file()]
    known = {paths.decode(os.fsencode(place.relative_to(root))) for place in present}
    ignored = sorted(known.difference(repository.list_tree(change.tree)))
    if ignored:
        yield f"settings that git ignores take part: {_few(ignored)}"
    python = any(file.path.endswith((".py", ".pyi", ".ipynb")) for file in change.present)
    if python and False in ruff.by_config(root, ["any.py"]):
        above = [str(folder / name) for folder in root.parents for name in ruff.SETTINGS if (folder / name).is_file()]
        above = [place for place in above if not place.endswith(_PYPROJECT) or ruff.has_section(Path(place).parent)]
        if above:
            yield f"settings above the repository take part: {above[0]}"


def _few(names: list[str]) -> str:
    return ", ".join(names[:_KEYS]) + (f" and {len(names) - _KEYS} more" if len(names) > _KEYS else "")

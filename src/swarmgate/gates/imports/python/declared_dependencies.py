"""Collects the dependencies and the Python version that the manifests of a tree declare.

Read leniently, because it only ever excuses an import: a name that any manifest, tox or nox file, conda environment,
Dockerfile or workflow installs is declared. What a change *adds* is read strictly, by the SBOM's readers (`unused`).
"""

from __future__ import annotations

import ast
import posixpath
import re
import tomllib
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from swarmgate.config import toml_text
from swarmgate.gates.project.view import ancestors
from swarmgate.gates.sbom import formats
from swarmgate.gates.sbom.formats import Role
from swarmgate.gates.sbom.model import normal
from swarmgate.gates.sbom.readers import requirements
from swarmgate.gates.source import python_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from swarmgate.gates.project.view import View

_REQUIREMENT = re.compile(r"^\s*['\"]?([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[([^\]]*)\])?\s*(?:[<>=!~;@(,]|$|#|['\"]|\s)")
_INSTALLS = re.compile(
    r"(?:pip3?|uv|conda|mamba|poetry|pdm)\s+(?:-\S+\s+)*(?:pip\s+)?(?:install|add)\b((?:[^\n\\&|;]|\\\n)*)"
)
_WITH = re.compile(r"--(?:with|from)[= ](\S+)")
_LIST_KEYS = re.compile(r"(dependenc|requires|deps$|groups?$|packages$|extras|script)", re.IGNORECASE)
_PROGRAMS = {"setup.py", "noxfile.py", "dodo.py", "fabfile.py", "tasks.py", "conf.py"}
_OTHERS = (".py", ".pyi", ".js", ".ts", ".tsx", ".jsx", ".md", ".rst", ".json", ".html", ".css", ".svg", ".png", ".go")
_PYTHON = re.compile(r">=?\s*(\d+)\.(\d+)|[\^~]=?\s*(\d+)\.(\d+)|==\s*(\d+)\.(\d+)")
_INLINE = re.compile(r"^# /// script\s*$(.*?)^# ///\s*$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Manifest:
    """One parsed manifest: normalised names of distributions, the lowest Python version, its own name."""

    names: frozenset[str] = frozenset()
    python: tuple[int, int] | None = None
    own: str = ""


@dataclass
class Declared:
    """The manifests of one tree, parsed when needed."""

    view: View
    _readers: dict[str, Callable[[str, str], Manifest]] = field(init=False)
    _read: dict[str, Manifest] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._readers = {path: reader for path in self.view.files if (reader := reader_of(path)) is not None}

    @property
    def any(self) -> bool:
        """Whether the project declares a dependency anywhere."""
        return any(each.names for each in self.all())

    def near(self, path: str) -> list[Manifest]:
        """The manifests in the folders above a file, the nearest first."""
        above = {folder: n for n, folder in enumerate(ancestors(path))}
        wanted = [each for each in self._readers if posixpath.dirname(each) in above]
        return self._manifests(sorted(wanted, key=lambda each: (above[posixpath.dirname(each)], each)))

    def all(self) -> list[Manifest]:
        """Every manifest."""
        return self._manifests(sorted(self._readers))

    def names(self) -> frozenset[str]:
        """The distributions of all manifests."""
        return frozenset(name for each in self.all() for name in each.names)

    @cached_property
    def locked(self) -> frozenset[str]:
        """The distributions in the lock files, transitive dependencies included."""
        paths = [each for each in sorted(self.view.files) if (kind := formats.of(each)) and _is_lock(kind)]
        self.view.fetch(paths)
        found = set()
        for path in paths:
            kind = formats.of(path)
            reading = formats.read(path, self.view.content(path) or b"", kind, lambda _: None) if kind else None
            if reading is not None and not isinstance(reading, formats.Unreadable):
                found |= {normal("pypi", each.name) for each in reading.components}
        return frozenset(found)

    def _manifests(self, paths: list[str]) -> list[Manifest]:
        self.view.fetch(path for path in paths if path not in self._read)
        for path in paths:
            if path not in self._read:
                self._read[path] = self._readers[path](path, self.view.text(path))
        return [self._read[path] for path in paths]


def inline(text: str) -> frozenset[str]:
    """The dependencies of a script's own metadata block (PEP 723)."""
    block = _INLINE.search(text)
    if block is None:
        return frozenset()
    body = "\n".join(line.removeprefix("#").removeprefix(" ") for line in block[1].splitlines())
    return _toml("script", body).names


def reader_of(path: str) -> Callable[[str, str], Manifest] | None:
    """The reader for a file of this name; None for files that declare nothing."""
    name = posixpath.basename(path).lower()
    if name in {"pyproject.toml", "pipfile", "hatch.toml", "pixi.toml", "uv.toml"}:
        return _toml
    if name in _PROGRAMS:
        return _code
    if name.endswith(_OTHERS):  # most files of a tree
        return None
    if name in {"setup.cfg", "tox.ini", "pytest.ini", "mypy.ini", ".coveragerc"}:
        return _ini
    if re.match(r"(environment|conda|meta|dev-environment|recipe)[\w.-]*\.ya?ml$", name):
        return _conda
    if name.startswith(("dockerfile", "containerfile", "makefile", "justfile")) or name.endswith(".dockerfile"):
        return _commands
    if (name.endswith((".yml", ".yaml")) and "/workflows/" in f"/{path}") or name in {".gitlab-ci.yml", ".travis.yml"}:
        return _commands
    if name in {".readthedocs.yml", ".readthedocs.yaml", "appveyor.yml", "azure-pipelines.yml", "taskfile.yml"}:
        return _commands
    if name.endswith((".sh", ".ipynb")):
        return _commands
    kind = formats.of(path)
    listing = kind is not None and kind.type == "pypi" and kind.role is not Role.LOCK
    return _requirements if listing or _is_list(path) else None


def _is_lock(kind: formats.Format) -> bool:
    return kind.type == "pypi" and kind.role is Role.LOCK


def _is_list(path: str) -> bool:
    return path.endswith((".txt", ".in", ".pip")) and any(
        word in path.lower() for word in ("require", "reqs", "deps", "dependenc")
    )


def _manifest(path: str, texts: Iterable[str], **other: Any) -> Manifest:
    names: set[str] = set()
    for text in texts:
        names |= set(_names(text))
    return Manifest(frozenset(names), **other) if path else Manifest(frozenset(names))


def _names(text: str) -> Iterator[str]:
    """The distributions of one requirement: its own, and those that its extras are named after."""
    if "://" in text:
        address = text.split("#", maxsplit=1)[0].split("@git", maxsplit=1)[0].rstrip("/")
        base = posixpath.basename(re.sub(r"@[^/]*$", "", address)).removesuffix(".git")
        yield normal("pypi", re.split(r"-\d", base)[0])
        egg = re.search(r"egg=([\w.-]+)", text)
        if egg:
            yield normal("pypi", egg[1])
    found = _REQUIREMENT.match(text)
    if found:
        yield normal("pypi", found[1])
        yield from (normal("pypi", extra.strip()) for extra in (found[2] or "").split(",") if extra.strip())


def _requirements(path: str, text: str) -> Manifest:
    lines = [line for _, line in requirements.lines(text)]
    return _manifest(path, [re.sub(r"^(?:-e|--editable)[ =]+", "", line) for line in lines])


def _toml(path: str, text: str) -> Manifest:
    try:
        data = toml_text.loads(text)
    except tomllib.TOMLDecodeError:
        return Manifest(frozenset(name for line in text.splitlines() for name in _names(line.strip(" \t,"))))
    texts: list[str] = []
    _collect(data, "", texts)
    if posixpath.basename(path).lower() == "pipfile":
        texts += [name for table in data.values() if isinstance(table, dict) for name in table]
    project, poetry = toml_text.table(data, "project"), toml_text.table(data, "tool", "poetry")
    wish = str(project.get("requires-python") or toml_text.table(poetry, "dependencies").get("python") or "")
    own = str(project.get("name") or poetry.get("name") or "")
    return _manifest(path, texts, python=_lowest(wish), own=normal("pypi", own))


def _collect(value: Any, key: str, texts: list[str]) -> None:
    """Every string and key of a TOML table below a key that speaks of dependencies."""
    if isinstance(value, dict):
        if re.search(r"dependencies$|requires$", key):
            texts += list(value)
        for name, below in value.items():
            _collect(below, key if _LIST_KEYS.search(key) and not _LIST_KEYS.search(name) else name, texts)
    elif isinstance(value, list):
        for each in value:
            _collect(each, key, texts)
    elif isinstance(value, str) and _LIST_KEYS.search(key):
        texts.append(value)
        texts += [word for found in _INSTALLS.findall(value) for word in found.split()]


def _code(path: str, text: str) -> Manifest:
    """setup.py and its like: every string that reads as a requirement."""
    try:
        tree = python_tree.parse(text.encode("utf-8", "replace"))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Manifest(frozenset(normal("pypi", word) for word in re.findall(r"['\"]([A-Za-z][\w.-]+)", text)))
    strings = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    short = [line for each in strings for line in each.splitlines() if len(line) < 200]  # noqa: PLR2004 - no prose
    found = re.search(r"python_requires\s*=\s*['\"]([^'\"]+)", text)
    return _manifest(path, short, python=_lowest(found[1]) if found else None)


def _ini(path: str, text: str) -> Manifest:
    lines = [part for line in text.splitlines() for part in (line.strip(), line.partition("=")[2].strip()) if part]
    lines += [part.strip() for line in lines for part in line.split(":")[1:]]  # tox: `py311: requests`
    lines += [word for found in _INSTALLS.findall(text) for word in found.split()]
    found = re.search(r"python_requires\s*=\s*([^\n]+)", text)
    return _manifest(path, lines, python=_lowest(found[1]) if found else None)


def _conda(path: str, text: str) -> Manifest:
    lines = [line.strip().lstrip("- ") for line in text.splitlines()]
    return _manifest(path, [re.sub(r"^[\w-]+::", "", line).strip("'\"") for line in lines if line])


def _commands(path: str, text: str) -> Manifest:
    found = [*_INSTALLS.findall(text), *_WITH.findall(text)]
    words = [word.strip("'\"`,)") for each in found for word in each.replace('\\"', " ").split()]
    return _manifest(path, [word for word in words if not word.startswith(("-", "$", "."))])


def _lowest(wish: str) -> tuple[int, int] | None:
    found = _PYTHON.search(wish)
    if not found:
        return None
    major, minor = [int(part) for part in found.groups() if part is not None][:2]
    return major, minor

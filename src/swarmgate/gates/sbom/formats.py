"""The table of manifest and lock file formats: which reader parses which file."""

from __future__ import annotations

import json
import posixpath
import re
import tomllib
from dataclasses import dataclass
from enum import Enum
from importlib import import_module
from typing import TYPE_CHECKING

from swarmgate.gates.project.files import Trait, traits_of
from swarmgate.gates.sbom.model import Document, Malformed

if TYPE_CHECKING:
    from collections.abc import Callable

    from swarmgate.gates.sbom.model import Reading

MAX_BYTES = 100_000_000
"""A lock above this size is not read; the largest seen in public repositories have 10 MB."""

_CONFLICT = re.compile(r"^(?:<{7} .*|>{7} .*)$", re.MULTILINE)
_TOML_PLACE = re.compile(r"\(at line (\d+), column \d+\)")
_SAMPLES = {"fixtures", "fixture", "testdata", "__fixtures__"}
"""Folders whose locks are data of tests, and nothing that the project installs."""


class Role(Enum):
    """What a file is to its ecosystem. The components of a MANIFEST count only where no lock speaks for it."""

    MANIFEST = "manifest"
    LOCK = "lock"
    LIST = "list"
    """Both at once: it asks, and its own list is what is installed (requirements.txt, go.mod, pom.xml)."""


@dataclass(frozen=True, slots=True)
class Format:
    """One kind of file: the purl type of its components, its role, its reader, and the files its reader looks at.

    The reader is `module.function` of this package, imported when a file is read: most changes touch no such file.
    """

    type: str
    role: Role
    reader: str
    siblings: tuple[str, ...] = ()

    def read(self, document: Document) -> Reading:
        """The document through the reader. Raises what readers raise."""
        module, _, function = self.reader.partition(".")
        found: Reading = getattr(import_module(f"swarmgate.gates.sbom.readers.{module}"), function)(document)
        return found


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Why a file could not be parsed, and where."""

    path: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}" if self.line else f"{self.path}: {self.message}"


_PROPS = tuple(f"{folder}Directory.Packages.props" for folder in ("", "../", "../../"))
_REQUIREMENTS = Format("pypi", Role.LIST, "requirements.read")
_INPUT = Format("pypi", Role.MANIFEST, "requirements.read")
_PYLOCK = Format("pypi", Role.LOCK, "python_locks.pylock")
_GEMFILE, _GEMFILE_LOCK = Format("gem", Role.MANIFEST, "bundler.manifest"), Format("gem", Role.LOCK, "bundler.lock")
_PACKAGE_LOCK = Format("npm", Role.LOCK, "npm.lock")
_GRADLE = Format("maven", Role.LOCK, "gradle.read")
_PROJECT = Format("nuget", Role.MANIFEST, "nuget.project", _PROPS)

_BY_NAME = {
    "pyproject.toml": Format("pypi", Role.MANIFEST, "pyproject.read"),
    "pipfile": Format("pypi", Role.MANIFEST, "pyproject.pipfile"),
    "poetry.lock": Format("pypi", Role.LOCK, "poetry.read", ("pyproject.toml",)),
    "uv.lock": Format("pypi", Role.LOCK, "python_locks.uv"),
    "pdm.lock": Format("pypi", Role.LOCK, "python_locks.pdm"),
    "pipfile.lock": Format("pypi", Role.LOCK, "python_locks.pipenv"),
    "pylock.toml": _PYLOCK,
    "package.json": Format("npm", Role.MANIFEST, "npm.manifest"),
    "package-lock.json": _PACKAGE_LOCK,
    "npm-shrinkwrap.json": _PACKAGE_LOCK,
    "yarn.lock": Format("npm", Role.LOCK, "yarn.read"),
    "pnpm-lock.yaml": Format("npm", Role.LOCK, "pnpm.read"),
    "cargo.toml": Format("cargo", Role.MANIFEST, "cargo.manifest"),
    "cargo.lock": Format("cargo", Role.LOCK, "cargo.lock", ("Cargo.toml",)),
    "go.mod": Format("golang", Role.LIST, "golang.manifest", ("go.sum",)),
    "go.sum": Format("golang", Role.LOCK, "golang.sums", ("go.mod",)),
    "pom.xml": Format("maven", Role.LIST, "maven.read"),
    "gradle.lockfile": _GRADLE,
    "buildscript-gradle.lockfile": _GRADLE,
    "composer.json": Format("composer", Role.MANIFEST, "composer.manifest"),
    "composer.lock": Format("composer", Role.LOCK, "composer.lock"),
    "gemfile": _GEMFILE,
    "gems.rb": _GEMFILE,
    "gemfile.lock": _GEMFILE_LOCK,
    "gems.locked": _GEMFILE_LOCK,
    "packages.lock.json": Format("nuget", Role.LOCK, "nuget.lock"),
}
_ASKS = r"[\w.-]*requirements?[\w.-]*|(?:requirements?|reqs)/[^/]+"
_BY_PATTERN = (
    (re.compile(rf"(?:^|/)(?:{_ASKS}|constraints[\w.-]*)\.txt$"), _REQUIREMENTS),
    (re.compile(rf"(?:^|/)(?:{_ASKS})\.in$"), _INPUT),
    (re.compile(r"(?:^|/)pylock\.[\w-]+\.toml$"), _PYLOCK),
    (re.compile(r"\.(?:cs|fs|vb)proj$"), _PROJECT),
)  # fmt: skip


def of(path: str) -> Format | None:
    """The format that a name stands for; None for every other file, and in folders of others' code or of samples."""
    found = _BY_NAME.get(posixpath.basename(path).lower())
    if found is None:
        found = next((each for pattern, each in _BY_PATTERN if pattern.search(path.lower())), None)
    if found is None or Trait.VENDORED in traits_of(path) or _SAMPLES & set(path.lower().split("/")[:-1]):
        return None
    return found


def included() -> Format:
    """The format of a file that a requirements file names, whatever its own name is."""
    return _REQUIREMENTS


def read(path: str, content: bytes, kind: Format, sibling: Callable[[str], bytes | None]) -> Reading | Unreadable:
    """One file through its reader. Whatever is wrong with it becomes a value that names the line."""
    text = _decoded(path, content)
    if isinstance(text, Unreadable):
        return text
    conflict = _CONFLICT.search(text) if "<<<<<<<" in text or ">>>>>>>" in text else None
    if conflict:
        line = text.count("\n", 0, conflict.start()) + 1
        return Unreadable(path, line, "an unresolved merge conflict")

    def read_sibling(name: str) -> str | None:
        found = sibling(name)
        return None if found is None else found.decode("utf-8-sig", "replace")

    try:
        return kind.read(Document(path, text, read_sibling))
    except Malformed as error:
        return Unreadable(path, error.line, str(error))
    except json.JSONDecodeError as error:
        return Unreadable(path, error.lineno, f"not valid JSON: {error.msg}")
    except tomllib.TOMLDecodeError as error:
        place = _TOML_PLACE.search(str(error))
        line = int(place[1]) if place else text.count("\n") + 1
        return Unreadable(path, line, f"not valid TOML: {str(error).partition(' (at')[0]}")
    except (AttributeError, KeyError, IndexError, TypeError, ValueError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        return Unreadable(path, 0, f"it has not the shape of its format: {reason}")
    except RecursionError:
        return Unreadable(path, 0, "nested too deeply")


def _decoded(path: str, content: bytes) -> str | Unreadable:
    if len(content) > MAX_BYTES:
        return Unreadable(path, 0, f"larger than {MAX_BYTES // 1_000_000} MB")
    coding = "utf-16" if content[:2] in {b"\xff\xfe", b"\xfe\xff"} else "utf-8-sig"  # as pip reads its files
    try:
        return content.decode(coding)
    except UnicodeDecodeError as error:
        return Unreadable(path, content.count(b"\n", 0, error.start) + 1, "not UTF-8")

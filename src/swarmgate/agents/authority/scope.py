"""Finds the changed files that lie outside the scope declared for a task. Pure.

Inside are: the declared files; what `[authority.coder] allow` and `[scope] artefacts` name; and what goes with declared
files by itself, up to `MOST_IMPLIED` files: tests by the name of one, new `__init__.py` on the way to one, a lock file
whose manifest is in the change or in the scope, and build output that was not there before.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

from swarmgate.agents.authority.authority import no_test
from swarmgate.domain.review.change import ChangedFile, ChangeKind
from swarmgate.workspace.files import globs

# Lock file -> the manifests that its tool makes it from.
_LOCKS = {
    "package-lock.json": ("package.json",),
    "npm-shrinkwrap.json": ("package.json",),
    "pnpm-lock.yaml": ("package.json", "pnpm-workspace.yaml"),
    "yarn.lock": ("package.json",),
    "bun.lock": ("package.json",),
    "bun.lockb": ("package.json",),
    "uv.lock": ("pyproject.toml",),
    "poetry.lock": ("pyproject.toml",),
    "pdm.lock": ("pyproject.toml",),
    "Pipfile.lock": ("Pipfile",),
    "Cargo.lock": ("Cargo.toml",),
    "go.sum": ("go.mod",),
    "go.work.sum": ("go.work", "go.mod"),
    "Gemfile.lock": ("Gemfile",),
    "composer.lock": ("composer.json",),
    "gradle.lockfile": ("build.gradle", "build.gradle.kts"),
    "packages.lock.json": (),
    "mix.lock": ("mix.exs",),
    "pubspec.lock": ("pubspec.yaml",),
    "Package.resolved": ("Package.swift",),
}
_OUTPUT = (
    "**/__pycache__/**", "*.py[cod]", "*.egg-info/**", "**/*.egg-info/**", ".coverage", ".coverage.*", "htmlcov/**",
    "coverage/**", "**/.pytest_cache/**", "**/.mypy_cache/**", "**/.ruff_cache/**", "**/node_modules/**", "dist/**",
    "build/**", "**/dist/**", "**/build/**", "target/**", "**/target/debug/**", "**/target/release/**", ".next/**",
    "*.tsbuildinfo", "*.class", "*.o", "*.obj", "**/.gradle/**", "**/obj/**/*.{dll,pdb,cache,json}", "*.junit.xml",
)  # fmt: skip
_MARKERS = frozenset({"__init__.py", "mod.rs"})
"""Files without which a folder is no package or module."""

MOST_IMPLIED = 500
"""Files that are inside of a scope though nobody declared them: caches of a test run have some hundreds. Of more,
none is: thousands of files are no side effect that goes without saying."""

_TEST_NAME = re.compile(r"^(?:test_|Test(?=[A-Z]))|(?:_test|_spec|[.-]test|[.-]spec|Tests?|Spec)$")


@dataclass(frozen=True)
class ScopeRules:
    """What belongs to any scope: `is_test` says which paths are tests, `artefacts` and `allow` are globs."""

    is_test: Callable[[str], bool] = no_test
    artefacts: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()


def outside(files: Iterable[ChangedFile], scope: Collection[str], rules: ScopeRules) -> tuple[str, ...]:
    """The paths of the change that lie outside of the scope, sorted; a renamed file's old path counts as well."""
    changed = tuple(files)
    declared = {str(PurePosixPath(path)) for path in scope}
    touched = {path for file in changed for path in file.touched} | declared
    beyond = {
        path: file.kind is ChangeKind.ADDED
        for file in changed
        for path in file.touched
        if path not in declared and not named(path, rules)
    }
    subjects, folders = _subjects(declared), _folders(declared)
    implied = {
        path
        for path, is_new in beyond.items()
        if _is_test_of(path, subjects, rules)
        or _is_lock(path, touched)
        or (is_new and (is_output(path) or _is_marker(path, folders)))
    }
    return tuple(sorted(beyond if len(implied) > MOST_IMPLIED else beyond.keys() - implied))


def is_output(path: str) -> bool:
    """Whether a path is one where compilers, bundlers and test runs leave their output."""
    return _any(path, _OUTPUT)


def belongs(path: str, declared: Collection[str], rules: ScopeRules) -> bool:
    """Whether a path that was not declared belongs to the scope by its name alone."""
    return named(path, rules) or _is_test_of(path, _subjects(declared), rules)


def named(path: str, rules: ScopeRules) -> bool:
    """Whether the user's settings name a path as one that belongs to any scope."""
    return _any(path, rules.artefacts) or _any(path, rules.allow)


def _subjects(declared: Collection[str]) -> frozenset[str]:
    return frozenset(PurePosixPath(each).stem.lower() for each in declared)


def _folders(declared: Collection[str]) -> frozenset[PurePosixPath]:
    return frozenset(folder for each in declared for folder in PurePosixPath(each).parents)


def _is_test_of(path: str, subjects: Collection[str], rules: ScopeRules) -> bool:
    subject = _subject(path) if rules.is_test(path) else ""
    return bool(subject) and subject in subjects


def _is_marker(path: str, folders: Collection[PurePosixPath]) -> bool:
    place = PurePosixPath(path)
    return place.name in _MARKERS and place.parent in folders


def _subject(path: str) -> str:
    """What a test is for, by its name: `jwt` of `tests/test_jwt.py`, `src/jwt.test.ts` and `JwtTest.java`."""
    stem = PurePosixPath(path).stem
    subject = _TEST_NAME.sub("", stem)
    return subject.lower() if subject != stem else ""


def _is_lock(path: str, touched: Collection[str]) -> bool:
    place = PurePosixPath(path)
    if place.name not in _LOCKS:
        return False
    manifests = _LOCKS[place.name]
    near = (PurePosixPath(each) for each in touched)
    return any(
        (each.name in manifests or (place.name == "packages.lock.json" and each.suffix in {".csproj", ".fsproj"}))
        and each.is_relative_to(place.parent)
        for each in near
    )


def _any(path: str, patterns: Iterable[str]) -> bool:
    return any(globs.matches(path, pattern) for pattern in patterns)

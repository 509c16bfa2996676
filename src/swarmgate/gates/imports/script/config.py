"""Reads the configuration of a JavaScript project: package.json, tsconfig paths, bundler aliases."""

from __future__ import annotations

import json
import posixpath
import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from swarmgate.gates.project.view import ancestors

if TYPE_CHECKING:
    from swarmgate.gates.project.view import View

_DEPENDS = (
    "dependencies", "devDependencies", "peerDependencies", "optionalDependencies", "overrides", "resolutions",
    "peerDependenciesMeta", "engines", "browser", "alias", "catalog",
)  # fmt: skip
_CONFIG = re.compile(
    r"^(?:(?:vite|vitest|webpack|rollup|jest|babel|nuxt|next|astro|svelte|metro|esbuild|rspack|rsbuild|snowpack|craco|"
    r"quasar|vue|ember-cli-build|karma|storybook|main|tsup|rolldown|playwright|cypress|docusaurus|farm|modern)[\w.-]*"
    r"\.(?:[cm]?[jt]s|json)|\.babelrc(?:\.\w+)?|tsconfig[\w.-]*\.json|jsconfig[\w.-]*\.json|import[-_]?map\.json|"
    r"deno\.jsonc?|aliases?\.[cm]?[jt]s|gruntfile\.[cm]?js|gulpfile\.[cm]?js|bower\.json)$",
    re.IGNORECASE,
)
_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TRAILING = re.compile(r",(\s*[}\]])")


@dataclass(frozen=True, slots=True)
class Package:
    """One package.json: its folder, name, the packages that it names, its `imports` and `exports`."""

    folder: str
    name: str = ""
    depends: frozenset[str] = frozenset()
    imports: frozenset[str] = frozenset()
    exports: Any = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Paths:
    """The `paths` and `baseUrl` of a tsconfig: (pattern, folders of the tree that it stands for)."""

    base: str | None = None
    patterns: dict[str, tuple[str, ...]] = field(default_factory=dict)


class ScriptConfig:
    """The configuration files of one tree, read when asked for."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._packages: dict[str, Package | None] = {}
        self._paths: dict[str, Paths] = {}

    def packages_above(self, path: str) -> list[Package]:
        """The package.json files in the folders above a file, the nearest first."""
        return [each for folder in ancestors(path) if (each := self.package(folder)) is not None]

    def package(self, folder: str) -> Package | None:
        """The package.json of a folder."""
        if folder not in self._packages:
            place = posixpath.join(folder, "package.json")
            self._packages[folder] = _package(folder, self._view.text(place)) if place in self._view.files else None
        return self._packages[folder]

    @cached_property
    def every_package(self) -> dict[str, Package]:
        """All packages of the tree, by name."""
        places = [path for path in self._view.files if posixpath.basename(path) == "package.json"]
        self._view.fetch(places)
        found = (self.package(posixpath.dirname(place)) for place in sorted(places, key=lambda each: -each.count("/")))
        return {each.name: each for each in found if each is not None and each.name}

    @cached_property
    def every_dependency(self) -> frozenset[str]:
        """What any package.json of the tree names."""
        _ = self.every_package
        return frozenset(name for each in self._packages.values() if each for name in each.depends)

    def paths_for(self, path: str) -> list[Paths]:
        """The tsconfig and jsconfig files in the folders above a file, with what they extend."""
        found = []
        for folder in ancestors(path):
            names = [
                each for each in self._by_folder.get(folder, ())
                if re.match(r"(?:ts|js)config[\w.-]*\.json$", posixpath.basename(each))
            ]  # fmt: skip
            self._view.fetch(names)
            found += [self._tsconfig(name, ()) for name in names]
        return found

    def mentions(self, prefix: str) -> bool:
        """Whether a bundler's or compiler's configuration names this first part of a specifier as an alias."""
        quoted = re.escape(prefix)
        pattern = rf"""["'`^/]{quoted}(?:/?\*|/|\$|/\(\.\*\))?["'`/$(]|(?:^|[\s{{,]){quoted}\s*:"""
        return re.search(pattern, self._aliases, re.MULTILINE) is not None

    @cached_property
    def locked(self) -> str:
        """The text of the lock files: a package that stands there is installed for somebody."""
        names = {"package-lock.json", "yarn.lock", "pnpm-lock.yaml", "npm-shrinkwrap.json", "bun.lock"}
        places = [path for path in self._view.files if posixpath.basename(path) in names]
        self._view.fetch(places)
        return "\n".join(self._view.text(place) for place in places)

    @cached_property
    def _by_folder(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for path in sorted(self._view.files):
            if _CONFIG.match(posixpath.basename(path)):
                found.setdefault(posixpath.dirname(path), []).append(path)
        return found

    @cached_property
    def _aliases(self) -> str:
        places = [path for paths in self._by_folder.values() for path in paths]
        self._view.fetch(places)
        packages = [path for path in self._view.files if posixpath.basename(path) == "package.json"]
        self._view.fetch(packages)
        own = (text for path in packages if '"alias' in (text := self._view.text(path)) or "moduleNameMapper" in text)
        return "\n".join([*(self._view.text(place) for place in places), *own])

    def _tsconfig(self, path: str, seen: tuple[str, ...]) -> Paths:
        if path in self._paths:
            return self._paths[path]
        data = _json(self._view.text(path))
        options = data.get("compilerOptions") or {}
        folder = posixpath.dirname(path)
        base = options.get("baseUrl") if isinstance(options, dict) else None
        root = _join(folder, base) if isinstance(base, str) else None
        table = options.get("paths") if isinstance(options, dict) else None
        patterns = {
            key: tuple(_join(root if root is not None else folder, each) for each in values if isinstance(each, str))
            for key, values in (table.items() if isinstance(table, dict) else ())
            if isinstance(values, list)
        }
        extended = data.get("extends")
        for parent in [extended] if isinstance(extended, str) else extended if isinstance(extended, list) else []:
            place = _join(folder, parent if str(parent).endswith(".json") else f"{parent}.json")
            if place in self._view.files and place not in seen:
                above = self._tsconfig(place, (*seen, path))
                root = above.base if root is None else root
                patterns = {**above.patterns, **patterns}
        self._paths[path] = Paths(root, patterns)
        return self._paths[path]


def _package(folder: str, text: str) -> Package:
    data = _json(text)
    depends: set[str] = set()
    for key in _DEPENDS:
        table = data.get(key)
        if isinstance(table, dict):
            depends |= {name.rpartition("@")[0] if "@" in name[1:] else name for name in table}
    for key in ("bundledDependencies", "bundleDependencies"):
        depends |= set(data.get(key) or ()) if isinstance(data.get(key), list) else set()
    own = data.get("imports")
    return Package(
        folder, str(data.get("name") or ""), frozenset(depends),
        frozenset(own) if isinstance(own, dict) else frozenset(), data.get("exports"), text,
    )  # fmt: skip


def _json(text: str) -> dict[str, Any]:
    """An object of JSON with comments and trailing commas; empty where it cannot be read."""
    for lenient in (False, True):
        try:
            data = json.loads(_TRAILING.sub(r"\1", _COMMENT.sub(r"\1", text)) if lenient else text)
        except (ValueError, RecursionError):
            continue
        return data if isinstance(data, dict) else {}
    return {}


def _join(folder: str, name: str) -> str:
    joined = posixpath.normpath(posixpath.join(folder, name))
    return "" if joined == "." else joined

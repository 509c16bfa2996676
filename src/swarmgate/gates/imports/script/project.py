"""Resolves import specifiers in a JavaScript or TypeScript project as Node, TypeScript and bundlers do."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING

from swarmgate.gates.imports.script import source
from swarmgate.gates.imports.script.config import ScriptConfig
from swarmgate.gates.imports.script.source import Exports

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from swarmgate.gates.project.view import View

SCRIPT_SUFFIXES = (
    ".ts", ".tsx", ".d.ts", ".mts", ".cts", ".d.mts", ".d.cts", ".js", ".jsx", ".mjs", ".cjs", ".json", ".vue",
    ".svelte", ".astro", ".node", ".wasm", ".css", ".scss", ".sass", ".less", ".styl", ".graphql", ".gql", ".svg",
    ".coffee", ".res", ".flow", ".es6", ".es", ".mdx", ".md", ".html", ".marko", ".js.flow", ".d.json.ts",
)  # fmt: skip
READABLE = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
_WRITTEN_AS = {
    ".js": (".ts", ".tsx", ".d.ts", ".jsx", ".js.flow"), ".jsx": (".tsx", ".d.ts"), ".mjs": (".mts", ".d.mts"),
    ".cjs": (".cts", ".d.cts"),
}  # fmt: skip
"""TypeScript imports the file that will be there: what stands in for it in the sources."""
_PLATFORM = re.compile(
    r"^\.(?:ios|android|native|web|windows|macos|desktop|browser|node|server|client|worker|electron|d|shared|common|prod|dev|development|production|esm|cjs|global|module)(?:\.\w+)?\.\w+$"
)


_PLAIN_EXPORT = re.compile(
    rb"^[ \t]*export[ \t]+(?:default\b|(?:declare[ \t]+)?(?:(?:async[ \t]+)?function[ \t]*\*?|(?:abstract[ \t]+)?class|"
    rb"const(?:[ \t]+enum)?|let|var|enum|type|interface|namespace)[ \t]*\b([\w$]+))",
    re.MULTILINE,
)


class ScriptProject:
    """The modules of one tree."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.config = ScriptConfig(view)
        self._exports: dict[str, Exports] = {}
        self._plain: dict[str, frozenset[str]] = {}

    @classmethod
    def of(cls, view: View) -> ScriptProject:
        """The shared instance for a tree."""
        found: ScriptProject = view.shared.setdefault(cls, cls(view))
        return found

    def relative(self, specifier: str, importer: str) -> list[str]:
        """The files that a relative specifier stands for; none when it leads nowhere."""
        return self.at(self.target(specifier, importer))

    @staticmethod
    def target(specifier: str, importer: str) -> str:
        """The path that a relative specifier names, without query and loaders; starts with `..` outside of the tree."""
        clean = re.split(r"[?#]", specifier.rpartition("!")[2])[0] or specifier
        joined = posixpath.normpath(posixpath.join(posixpath.dirname(importer), clean))
        return "" if joined == "." else joined

    def at(self, target: str, *, depth: int = 0) -> list[str]:
        """The files that a path without or with its suffix stands for, a folder by its index or its package.json."""
        files = self.view.files
        found = [each for each in _candidates(target) if each in files]
        if found:
            return found
        index = posixpath.join(target, "index") if target else "index"
        if target in self.view.folders:
            inside = [index + suffix for suffix in SCRIPT_SUFFIXES if index + suffix in files]
            package = self.config.package(target)
            if inside or package is None or depth > 2:  # noqa: PLR2004 - package.json leads to package.json at most so often
                return inside
            mains = re.findall(
                r'"(?:main|module|types|typings|browser|source|import|default)"\s*:\s*"([^"]+)"', package.text
            )
            led = (self.at(self.target(main, posixpath.join(target, "x")), depth=depth + 1) for main in mains)
            return next((each for each in led if each), [])
        folder, stem = posixpath.split(target)
        near = [each for each in self._by_folder.get(folder, ()) if each.startswith(f"{stem}.")]
        return [posixpath.join(folder, each) for each in near if _PLATFORM.match(each[len(stem) :])]

    def by_paths(self, specifier: str, importer: str) -> list[str]:
        """The files that a `paths` pattern or `baseUrl` of a tsconfig above leads to."""
        led = (self.at(target) for target, _ in self.path_targets(specifier, importer))
        return next((found for found in led if found), [])

    def path_targets(self, specifier: str, importer: str) -> Iterator[tuple[str, bool]]:
        """Where tsconfig files say that a specifier lies; True: a pattern (not `*`) says so, False: `baseUrl`."""
        for config in self.config.paths_for(importer):
            for pattern, targets in config.patterns.items():
                head, star, tail = pattern.partition("*")
                if specifier == pattern or (star and specifier.startswith(head) and specifier.endswith(tail)):
                    middle = specifier[len(head) : len(specifier) - len(tail)] if star else ""
                    for target in targets:
                        yield posixpath.normpath(target.replace("*", middle, 1)), pattern != "*"
            if config.base is not None:
                yield posixpath.normpath(posixpath.join(config.base, specifier)), False

    def has(self, paths: Iterable[str], name: str) -> bool:
        """Whether one of the files exports a name; True where no reading can tell."""
        return any(self._exports_name(path, name, set()) for path in paths)

    def exports_of(self, path: str) -> Exports:
        """What one file exports."""
        if path not in self._exports:
            content = self.view.content(path)
            readable = path.endswith(READABLE) and content is not None
            self._exports[path] = source.exports(content or b"", path) if readable else Exports(open=True)
        return self._exports[path]

    def _exports_name(self, path: str, name: str, seen: set[str]) -> bool:
        if path in seen:
            return False
        seen.add(path)
        content = self.view.content(path)
        if content is None or not path.endswith(READABLE):
            return True
        if path not in self._plain:
            self._plain[path] = _plainly(content)
        if name in self._plain[path] or (
            (b"@typedef" in content or b"@callback" in content) and name.encode() in content
        ):
            return True  # a type of a JSDoc comment is exported as well
        found = self.exports_of(path)
        if found.open or name in found.names:
            return True
        return name != "default" and any(self._star(path, star, name, seen) for star in found.stars)

    def _star(self, path: str, specifier: str, name: str, seen: set[str]) -> bool:
        targets = self.relative(specifier, path) if specifier.startswith(".") else self.by_paths(specifier, path)
        return not targets or any(self._exports_name(each, name, seen) for each in targets)

    @cached_property
    def _by_folder(self) -> dict[str, list[str]]:
        found: defaultdict[str, list[str]] = defaultdict(list)
        for path in self.view.files:
            folder, name = posixpath.split(path)
            found[folder].append(name)
        return found


def _candidates(target: str) -> Iterator[str]:
    yield target
    for suffix, others in _WRITTEN_AS.items():
        if target.endswith(suffix):
            yield from (target[: -len(suffix)] + other for other in others)
    yield from (target + suffix for suffix in SCRIPT_SUFFIXES)


def _plainly(content: bytes) -> frozenset[str]:
    """The exports that the text shows without being parsed."""
    return frozenset((name or b"default").decode("utf-8", "replace") for name in _PLAIN_EXPORT.findall(content))

"""Checks that the files, exports and packages that a JavaScript or TypeScript file imports exist."""

from __future__ import annotations

import difflib
import posixpath
import re
from functools import cached_property
from typing import TYPE_CHECKING

from swarmgate.domain.review.finding import Finding, Severity
from swarmgate.gates.imports.exempt_files import Builds, Kind, kind_of
from swarmgate.gates.imports.model import Guard, Import
from swarmgate.gates.imports.script import builtins, source
from swarmgate.gates.imports.script.known_packages import brought_by, known
from swarmgate.gates.imports.script.project import ScriptProject
from swarmgate.gates.project.files import Trait, traits_of
from swarmgate.gates.project.view import ancestors
from swarmgate.workspace.code import grammars

if TYPE_CHECKING:
    from collections.abc import Iterator

    from swarmgate.gates.project.view import View

_SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_NAME = re.compile(r"^(?:@[a-z0-9~_.-][\w.~-]*/)?[a-z0-9_~.-][\w.~-]*$", re.IGNORECASE)
_AMBIENT = re.compile(r"declare\s+module\s+['\"]([^'\"]+)['\"]")
_ALIAS = (".", "~", "@/", "/", "$", "^", "<", "%", "{")


class ScriptChecker:
    """Checks the JavaScript and TypeScript imports of one tree; everything read is cached."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.project = ScriptProject.of(view)
        self.builds = Builds(view)

    def check(self, path: str, content: bytes) -> list[Finding]:
        """The findings of one file; none for one that cannot be read in time or is data of tests."""
        if kind_of(path) is Kind.DATA:
            return []
        try:
            found = [each for each in source.imports(content, path) if each.guard is not Guard.OPTIONAL]
        except grammars.TooSlow:
            return []
        targets = [
            one for each in found if each.module.startswith(".") for one in self.project.relative(each.module, path)
        ]
        self.view.fetch(targets)
        return [finding for each in found for finding in self._check(path, each)] + list(
            self._of_node(path, content, found)
        )

    def _check(self, path: str, each: Import) -> Iterator[Finding]:
        specifier = each.module
        if specifier.startswith(("./", "../")) or specifier in {".", ".."}:
            yield from self._relative(path, each)
        elif _SCHEME.match(specifier):
            yield from self._scheme(path, each)
        elif "!" in specifier:
            return
        else:
            yield from self._bare(path, each)

    def _of_node(self, path: str, content: bytes, found: list[Import]) -> Iterator[Finding]:
        """What is taken from Node's own modules and is not there."""
        node = [each for each in found if self._is_node(path, each.module)]
        for each in node:
            for name in each.names:
                if builtins.is_absent(each.module, name):
                    yield self._no_name(path, each, "unresolved-name", name)
        for one in builtins.absent(path, content, lambda module: self._is_node(path, module)) if node else ():
            place = Import(one.module, line=one.line, column=one.column)
            yield self._no_name(path, place, "unresolved-attribute", one.name)

    def _is_node(self, path: str, module: str) -> bool:
        """Whether a specifier means Node's own module, and no package of that name that goes before it."""
        if builtins.names(module) is None:
            return False
        packages = self.project.config.packages_above(path)
        own = any(_package_of(module) in each.depends for each in packages) or self.project.by_paths(module, path)
        return module.startswith("node:") or not own

    @staticmethod
    def _no_name(path: str, each: Import, rule: str, name: str) -> Finding:
        near = builtins.nearest(each.module, name)
        hint = f"did you mean `{near}`?" if near else "use a name that the module has"
        return _finding(path, each, rule, Severity.HIGH, f"Node's `{each.module}` has no `{name}`", hint)

    def _scheme(self, path: str, each: Import) -> Iterator[Finding]:
        """Node's own modules are a closed list; of other schemes only a slip of `node:` is certain."""
        scheme, _, module = each.module.partition(":")
        wrong = scheme == "node" and not {module, module.split("/", maxsplit=1)[0]} & known("builtin")
        if wrong or (scheme != "node" and sorted(scheme) == sorted("node")):
            near = _nearest(module, known("builtin")) if wrong else module
            hint = f"did you mean `node:{near}`?" if near else ""
            yield _finding(path, each, "unresolved-module", Severity.HIGH, f"Node has no module `{each.module}`", hint)

    def _relative(self, path: str, each: Import) -> Iterator[Finding]:
        found = self.project.relative(each.module, path)
        if found:
            yield from self._names(path, each, found)
            return
        target = self.project.target(each.module, path)
        if target.startswith("..") or "*" in target or "${" in target or self.builds.may_make(target):
            return
        folder, stem = posixpath.split(target)
        near = difflib.get_close_matches(stem, self._stems(folder), n=1)
        hint = f"did you mean `{each.module.removesuffix(stem)}{near[0]}`?" if near else ""
        yield _finding(
            path, each, "unresolved-module", Severity.HIGH, f"`{each.module}` leads to no file: {target}", hint
        )

    def _names(self, path: str, each: Import, files: list[str]) -> Iterator[Finding]:
        for name in each.names:
            if self.project.has(files, name):
                continue
            own = sorted(name for file in files for name in self.project.exports_of(file).names)
            near = difflib.get_close_matches(name, own, n=1)
            item = "default export" if name == "default" else f"export `{name}`"
            hint = f"did you mean `{near[0]}`?" if near else "import what the module exports, or export it there"
            yield _finding(path, each, "unresolved-name", Severity.HIGH, f"`{each.module}` has no {item}", hint, name)

    def _bare(self, path: str, each: Import) -> Iterator[Finding]:
        specifier, project = each.module, self.project
        led = project.by_paths(specifier, path)
        if led:
            yield from self._names(path, each, led)
            return
        name = _package_of(specifier)
        if specifier.split("/", maxsplit=1)[0] in known("virtual"):
            return
        if specifier.startswith("#"):
            yield from self._subpath_import(path, each)
            return
        missed = [target for target, sure in project.path_targets(specifier, path) if sure]
        if missed and not self._is_there(path, name) and self._is_project(missed):
            message = f"`{specifier}` fits `paths` of a tsconfig and leads to no file: {missed[0]}"
            yield _finding(path, each, "unresolved-module", Severity.HIGH, message)
            return
        if (
            missed
            or specifier.startswith(_ALIAS)
            or specifier == "@"
            or not _NAME.match(name)
            or self._is_there(path, name)
        ):
            return
        if self._is_elsewhere(path, name):
            return
        yield from self._undeclared(path, each, name)

    def _is_project(self, targets: list[str]) -> bool:
        """Whether all targets lie in folders of the tree, and no build makes them."""
        return all(
            posixpath.dirname(each) in self.view.folders
            and not self.builds.may_make(each)
            and "node_modules" not in each
            for each in targets
        )

    def _subpath_import(self, path: str, each: Import) -> Iterator[Finding]:
        packages = self.project.config.packages_above(path)
        keys = packages[0].imports if packages else frozenset()
        fits = any(each.module == key or ("*" in key and each.module.startswith(key.partition("*")[0])) for key in keys)
        if keys and not fits and not self.project.config.mentions(each.module.split("/", maxsplit=1)[0]):
            message = f"`{each.module}` is no key of `imports` in {posixpath.join(packages[0].folder, 'package.json')}"
            yield _finding(path, each, "unresolved-module", Severity.HIGH, message)

    def _is_there(self, path: str, name: str) -> bool:
        """Whether Node, the host, a package.json above or a node_modules folder brings the package."""
        config = self.project.config
        if (
            name in known("builtin")
            or name.split("/", maxsplit=1)[0] in known("builtin")
            or {name, name.split("/", maxsplit=1)[0]} & known("hosts")
        ):
            return True
        packages = config.packages_above(path)
        if not packages or name in config.every_package:
            return True
        types = "@types/" + name.removeprefix("@").replace("/", "__")
        depends = {one for each in packages for one in (*each.depends, each.name)}
        if name in depends or types in depends:
            return True
        provided = {one for each in depends for one in brought_by(each)}
        if {name, name.split("/", maxsplit=1)[0]} & provided or (
            name.startswith("@") and name[1:].split("/", maxsplit=1)[0] in depends
        ):
            return True
        modules = (posixpath.join(folder, "node_modules", each) for folder in ancestors(path) for each in (name, types))
        return any(self.view.on_disk(each) for each in modules)

    def _is_elsewhere(self, path: str, name: str) -> bool:
        """Whether an alias, an ambient declaration or a folder from which sources are found excuses the name."""
        first = name.split("/", maxsplit=1)[0]
        for folder in ancestors(path):
            for root in (folder, posixpath.join(folder, "src"), posixpath.join(folder, "app")):
                if posixpath.join(root, first) in self.view.folders or self.project.at(posixpath.join(root, first)):
                    return True
        config = self.project.config
        return config.mentions(name) or config.mentions(first) or self._is_ambient(name)

    def _is_ambient(self, name: str) -> bool:
        return any(name == each or ("*" in each and name.startswith(each.partition("*")[0])) for each in self._ambient)

    @cached_property
    def _ambient(self) -> frozenset[str]:
        places = [path for path in self.view.files if path.endswith((".d.ts", ".d.mts", ".d.cts"))]
        self.view.fetch(places)
        found = (each for place in places for each in _AMBIENT.findall(self.view.text(place)))
        return frozenset(each for each in found if not each.startswith(("*", ".")))

    def _undeclared(self, path: str, each: Import, name: str) -> Iterator[Finding]:
        config = self.project.config
        transitive = re.search(rf"""(?:^|[\s"'/]){re.escape(name)}["'@:\s]""", config.locked, re.MULTILINE) is not None
        if transitive or name in config.every_dependency:
            where = (
                "the lock file has it for another package" if transitive else "another package of the tree declares it"
            )
            message = f"no package.json above declares `{name}`; {where}"
            yield _finding(
                path, each, "undeclared-dependency", Severity.LOW, message, "declare it where it is used", name
            )
            return
        declared = {one for package in config.packages_above(path) for one in package.depends}
        scope = name.split("/", maxsplit=1)[0]
        kin = name.startswith("@") and any(one.startswith(f"{scope}/") for one in declared)
        if kin or name in known("packages") or scope in known("scopes"):
            # Packages of one scope often bring each other; a lock would say so.
            informs = (kin and not config.locked) or Trait.TEST in traits_of(path)
            message = f"`{name}` is imported, and no package.json above declares it"
            severity = Severity.LOW if informs else Severity.MEDIUM
            yield _finding(path, each, "undeclared-dependency", severity, message, f"declare it: {name}", name)
            return
        near = _nearest(name, declared | known("packages"))
        message = (
            f"`{name}` is neither in the project, Node itself, the declared dependencies nor node_modules: "
            "an invented package?"
        )
        hint = f"did you mean `{near}`?" if near else "import what is there, or declare the dependency"
        yield _finding(path, each, "invented-package", Severity.HIGH, message, hint, name)

    def _stems(self, folder: str) -> list[str]:
        prefix = f"{folder}/" if folder else ""
        return sorted(
            {each[len(prefix) :].partition(".")[0] for each in self.view.files if posixpath.dirname(each) == folder}
        )


def _package_of(specifier: str) -> str:
    parts = specifier.split("/")
    return "/".join(parts[:2]) if specifier.startswith("@") else parts[0]


def _nearest(name: str, others: set[str] | frozenset[str]) -> str:
    found = difflib.get_close_matches(name, sorted(others - {name}), n=1, cutoff=0.75)
    return found[0] if found else ""


def _finding(
    path: str, each: Import, rule: str, severity: Severity, message: str, hint: str = "", subject: str = ""
) -> Finding:
    foreign = rule in {"invented-package", "undeclared-dependency"}
    if kind_of(path) is Kind.ASIDE or (foreign and each.guard is Guard.TYPING):
        severity = Severity.LOW
    return Finding(
        rule=rule,
        path=path,
        line=each.line,
        column=each.column,
        severity=severity,
        message=message,
        suggestion=hint,
        subject=subject or each.module,
    )

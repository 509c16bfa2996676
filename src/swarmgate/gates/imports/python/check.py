"""Checks that the modules and names that a Python file imports exist."""

from __future__ import annotations

import difflib
import posixpath
import re
from functools import cached_property
from typing import TYPE_CHECKING

from swarmgate.domain.review.finding import Finding, Severity
from swarmgate.gates.imports.exempt_files import Builds, Kind, kind_of
from swarmgate.gates.imports.model import Guard
from swarmgate.gates.imports.python import declared_dependencies as python_declared
from swarmgate.gates.imports.python import known_packages, source, stdlib
from swarmgate.gates.imports.python import top_level_names as python_names
from swarmgate.gates.imports.python.declared_dependencies import Declared
from swarmgate.gates.imports.python.members import PythonMembers
from swarmgate.gates.imports.python.modules import PythonNames
from swarmgate.gates.imports.python.project import PythonProject
from swarmgate.gates.imports.python.top_level_names import Origin
from swarmgate.gates.project.environment import Environment
from swarmgate.gates.project.files import Trait, traits_of
from swarmgate.gates.project.view import ancestors
from swarmgate.gates.sbom.model import normal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from swarmgate.gates.imports.model import Import
    from swarmgate.gates.imports.python.project import Place
    from swarmgate.gates.project.view import View

_PATH_GAMES = re.compile(
    rb"__path__\s*(?:\+?=|\.)|sys\.modules\[|sys\.modules\.|sys\.meta_path|extend_path|declare_namespace|LazyModule"
)
_PUTS_ON_PATH = re.compile(
    rb"\bsys\.(?:path|modules|meta_path)\b|addsitedir|syspath|PYTHONPATH|pytester|testdir|makepyfile|spec_from_file|SourceFileLoader|create_module|load_module"
)


class PythonChecker:
    """Checks the Python imports of one tree; everything read is cached."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.declared = Declared(view)
        self.builds = Builds(view)

    @cached_property
    def project(self) -> PythonProject:
        """The modules of the tree."""
        return PythonProject.of(self.view)

    @cached_property
    def names(self) -> PythonNames:
        """The names of the project's modules."""
        return PythonNames(self.view, self.project)

    @cached_property
    def members(self) -> PythonMembers:
        """The checker of imported members."""
        return PythonMembers(self.view, self.project, self.names, self._is_ours, self.python)

    def _is_ours(self, module: str, importer: str) -> bool:
        return _File(self, importer, b"").is_ours(module.partition(".")[0])

    @cached_property
    def environment(self) -> Environment:
        """The environments of the project."""
        manifests = {"", *(posixpath.dirname(p) for p in self.view.files if p.endswith(("pyproject.toml", "setup.py")))}
        return Environment(self.view.repository.root, sorted(manifests))

    @cached_property
    def python(self) -> tuple[int, int] | None:
        """The lowest version that a manifest names."""
        found = [each.python for each in self.declared.all() if each.python]
        return min(found) if found else None

    def check(self, path: str, content: bytes) -> list[Finding]:
        """The findings of one file; none for test data or a file that does not parse (the syntax gate reports it)."""
        if kind_of(path) is Kind.DATA:
            return []
        try:
            found = source.imports(content)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return []
        self.view.fetch(file for each in found for place in self._places(each, path) for file in place.files)
        checker = _File(self, path, content)
        findings = [
            finding for each in found if each.guard is not Guard.OPTIONAL for finding in checker.check_import(each)
        ]
        try:
            return findings + self.members.check(path, content)
        except RecursionError:
            return findings  # nested deeper than its walk

    def _places(self, each: Import, path: str) -> list[Place]:
        if each.level:
            place = self.project.relative(each.module, each.level, path)
            return [place] if place else []
        return self.project.locate(each.module, path)

    def package_of(self, place: Place, part: str) -> bool:
        """Whether the package that lacks a module plays games with its path, so that nothing is certain."""
        games = _PATH_GAMES.search(self.view.content(posixpath.join(place.package, "__init__.py")) or b"") is not None
        return games or self.builds.may_make(posixpath.join(place.package, part.split(".", maxsplit=1)[0]))


class _File:
    """The judgement of one file's imports."""

    def __init__(self, checker: PythonChecker, path: str, content: bytes) -> None:
        self._checker = checker
        self._path = path
        self._content = content
        self._aside = kind_of(path) is Kind.ASIDE

    def check_import(self, each: Import) -> Iterator[Finding]:
        if each.level:
            yield from self._relative(each)
        else:
            yield from self._absolute(each)

    def _relative(self, each: Import) -> Iterator[Finding]:
        project = self._checker.project
        written = "." * each.level + each.module
        place = project.relative(each.module, each.level, self._path)
        if place is None or (each.level > self._path.count("/") and not project.is_package("") and place.missing):
            yield self._finding(
                "relative-beyond-top", each, Severity.HIGH, f"`{written}` leads beyond the top-level package"
            )
        elif place.missing:
            if not self._checker.package_of(place, place.missing):
                yield self._no_module(each, place, written)
        else:
            yield from self._names(each, place, written)

    def _absolute(self, each: Import) -> Iterator[Finding]:
        checker, top = self._checker, each.module.split(".")[0]
        if top in known_packages.hosts():
            return
        if python_names.standard(top, None) is Origin.STANDARD and top != "test":  # a name that projects use as well
            yield from self._removed_module(each, top)
            if stdlib.knows(top, checker.python) and not checker.project.locate(
                each.module.partition(".")[0], self._path
            ):
                yield from self._standard(each)
            return
        places = checker.project.locate(each.module, self._path)
        if places and not places[0].missing:
            own = [place for place in places if not place.missing]
            if self.is_ours(top):
                yield from self._names(each, own[0], each.module, own)
            return
        if top == "test":
            return
        if places and (checker.project.is_own(top, self._path) or top in checker.project.top_level):
            yield from self._missing(each, top, places)
        elif top in checker.project.anywhere or checker.builds.may_make(top) or self._makes(top):
            return  # imported from a folder that something puts on the path
        else:
            yield from self._foreign(each, top, self._from_outside(each, top))

    def _missing(self, each: Import, top: str, places: list[Place]) -> Iterator[Finding]:
        """A module that a package of the project lacks, as far as that is certain."""
        moved = each.deferred and b"sys.path." in self._content
        games = any(self._checker.package_of(place, place.missing) for place in places)
        if self.is_ours(top) and not moved and not games:
            yield self._no_module(each, places[0], each.module)

    def _makes(self, top: str) -> bool:
        """Whether the file, a test, writes such a module itself: it names it in quotes, and plays with the path."""
        word = re.escape(top.encode())
        if not re.search(rb"[\"'/]%b(?:\.\w+)*[\"'/]|\bdef %b\b" % (word, word), self._content):
            return False
        above = [posixpath.join(folder, "conftest.py") for folder in ancestors(self._path)]
        self._checker.view.fetch(above)
        texts = (self._content, *(self._checker.view.content(path) or b"" for path in above))
        return any(_PUTS_ON_PATH.search(text) for text in texts)

    def is_ours(self, top: str) -> bool:
        """Whether a top-level name is the project's and not a package of the same name."""
        if self._checker.project.is_own(top, self._path):
            return True
        if any(each.own == normal("pypi", top) for each in self._checker.declared.near(self._path)):
            return True
        return python_names.standard(top, None) is None and self._from_outside(None, top) is Origin.UNKNOWN

    def _names(self, each: Import, place: Place, written: str, others: list[Place] | None = None) -> Iterator[Finding]:
        names = self._checker.names
        for name in each.names:
            if name == "*" or any(names.has(one, name) for one in others or [place]):
                continue
            if (
                self._checker.package_of(place, name)
                if not place.files
                else self._checker.builds.may_make(f"{place.folder}/{name}")
            ):
                continue
            near = difflib.get_close_matches(name, names.known(place), n=1)
            yield self._finding(
                "unresolved-name", each, Severity.HIGH, f"`{written}` has no `{name}`",
                f"did you mean `{near[0]}`?" if near else "import a name that the module defines, or define it there",
                name,
            )  # fmt: skip

    def _removed_module(self, each: Import, top: str) -> Iterator[Finding]:
        if top not in known_packages.removed():
            return
        python = self._checker.python
        if python_names.standard(top, python) is Origin.REMOVED and self._from_outside(each, top) is not None:
            version = ".".join(map(str, known_packages.removed()[top]))
            yield self._finding(
                "removed-module", each, Severity.MEDIUM, f"Python has no `{top}` from {version} on",
                "use its replacement, or support older versions only",
            )  # fmt: skip

    def _standard(self, each: Import) -> Iterator[Finding]:
        """A module or a name that the standard library has in no version, or not in the lowest supported one."""
        if any(part.startswith("_") for part in each.module.split(".")):
            return
        if not stdlib.is_module(each.module):
            above, _, last = each.module.rpartition(".")
            near = difflib.get_close_matches(last, stdlib.names(above) or (), n=1)
            yield self._finding(
                "unresolved-module", each, Severity.HIGH, f"the standard library has no `{each.module}`",
                f"did you mean `{above}.{near[0]}`?" if near else "",
            )  # fmt: skip
            return
        names = stdlib.names(each.module)
        for name in each.names:
            if names is None or name == "*" or name.startswith("_") or stdlib.is_module(f"{each.module}.{name}"):
                continue
            if name not in names:
                near = difflib.get_close_matches(name, names, n=1)
                yield self._finding(
                    "unresolved-name", each, Severity.HIGH, f"`{each.module}` has no `{name}`",
                    f"did you mean `{near[0]}`?" if near else "import a name that the module has",
                )  # fmt: skip
            else:
                yield from self._other_version(each, names[name], f"`{each.module}` has `{name}`")
        yield from self._other_version(each, stdlib.life(each.module), f"there is a module `{each.module}`")

    def _other_version(self, each: Import, name: stdlib.Name, version_text: str) -> Iterator[Finding]:
        lacking = name.lacking(self._checker.python)
        if lacking and name.name not in known_packages.removed():
            severity = Severity.LOW if each.deferred or Trait.TEST in traits_of(self._path) else Severity.MEDIUM
            hint = "ask for the version first, or use what every supported version has"
            yield self._finding("unresolved-name", each, severity, f"{version_text} {lacking}", hint)

    def _from_outside(self, each: Import | None, top: str) -> Origin | None:
        """Where a name that is not the project's comes from; None where that is settled."""
        declared = self._checker.declared
        near = {name for manifest in declared.near(self._path) for name in manifest.names}
        if python_names.declared(top, near) or top in self._checker.environment.names:
            return None
        rest = declared.names() | python_declared.inline(self._content.decode("utf-8", "replace"))
        own = {manifest.own for manifest in declared.all() if manifest.own}
        if python_names.declared(top, rest | own) or python_names.declared(top, declared.locked):
            return None
        if top in known_packages.python_2() and each is not None:
            return Origin.OLD
        return Origin.KNOWN if python_names.is_known(top) else Origin.UNKNOWN

    def _foreign(self, each: Import, top: str, origin: Origin | None) -> Iterator[Finding]:
        if origin is None:
            return
        loose = not self._checker.declared.any and not self._checker.environment.sites
        if origin is Origin.OLD:
            message = f"`{top}` is a module of Python 2"
            yield self._finding(
                "removed-module", each, Severity.MEDIUM, message, f"use `{known_packages.python_2()[top]}`"
            )
        elif origin is Origin.KNOWN:
            if not loose:
                informs = each.deferred or Trait.TEST in traits_of(self._path)
                severity = Severity.LOW if informs else Severity.MEDIUM
                message = f"`{top}` is imported, and no manifest of the project declares it"
                names = ", ".join(sorted(known_packages.providers().get(top, {top})))
                yield self._finding("undeclared-dependency", each, severity, message, f"declare it: {names}", top)
        else:
            yield self._invented(each, top, loose=loose)

    def _invented(self, each: Import, top: str, *, loose: bool) -> Finding:
        project = self._checker.project
        declared = (name.replace("-", "_") for name in self._checker.declared.names())
        near = python_names.nearest(top, [*project.top_level, *declared])
        slip = bool(near) and python_names.is_slip(top, near)
        severity = Severity.HIGH if not loose else Severity.MEDIUM if slip else Severity.LOW
        message = (
            f"`{top}` is neither in the project, the standard library, the declared dependencies nor the environment: "
            "an invented package?"
        )
        hint = f"did you mean `{near}`?" if near else "import what is there, or declare the dependency that brings it"
        return self._finding("invented-package", each, severity, message, hint, top)

    def _no_module(self, each: Import, place: Place, written: str) -> Finding:
        project = self._checker.project
        first = place.missing.split(".")[0]
        near = difflib.get_close_matches(first, project.modules.get(place.package, ()), n=1)
        inside = place.package or "the root of the repository"
        return self._finding(
            "unresolved-module", each, Severity.HIGH, f"`{written}` is not in the project: {inside} has no `{first}`",
            f"did you mean `{near[0]}`?" if near else "", first,
        )  # fmt: skip

    def _finding(
        self, rule: str, each: Import, severity: Severity, message: str, suggestion: str = "", subject: str = ""
    ) -> Finding:
        if each.guard is Guard.TYPING or self._aside:
            severity = Severity.LOW
        return Finding(
            rule=rule, path=self._path, line=each.line, column=each.column,
            severity=severity, message=message, suggestion=suggestion, subject=subject,
        )  # fmt: skip

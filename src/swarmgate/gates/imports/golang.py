"""Checks the imports of a Go file against the standard library, the module's packages and go.mod."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from swarmgate.domain.review.finding import Finding, Severity
from swarmgate.gates.imports.exempt_files import Builds, Kind, kind_of
from swarmgate.gates.project.view import ancestors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from swarmgate.gates.project.view import View

_PACKAGES = """
archive arena bufio builtin bytes cmd cmp compress container context crypto database debug embed encoding errors
expvar flag fmt go hash html image index internal io iter log maps math mime net os path plugin reflect regexp
runtime simd slices sort strconv strings structs sync syscall testing text time unicode unique unsafe vendor weak C
"""
_STANDARD = frozenset(_PACKAGES.split())
"""The first parts of the standard library's packages (pkg.go.dev/std)."""
_CLAUSE = re.compile(rb'^import\s+(?:\(([^)]*)\)|((?:[\w.]+\s+)?"[^"\n]+"))', re.MULTILINE)
_PATH = re.compile(rb'"([^"\n]+)"')
_REQUIRE = re.compile(r"^\s*(?:require\s+|replace\s+)?\"?([\w.~-]+(?:/[\w.~+!-]+)*)\"?\s+(?:v\d|=>)", re.MULTILINE)


class GoChecker:
    """The checker of one tree."""

    def __init__(self, view: View) -> None:
        self.view = view
        self._builds = Builds(view)

    def check(self, path: str, content: bytes) -> list[Finding]:
        """The findings of one file; none where there is no go.mod above it, or for test data."""
        mod = next(
            (each for folder in ancestors(path) if (each := posixpath.join(folder, "go.mod")) in self.view.files), ""
        )
        if not mod or kind_of(path) is Kind.DATA or "testdata" in path:
            return []
        text = self.view.text(mod)
        own = re.search(r'^module\s+"?([^\s"]+)', text, re.MULTILINE)
        modules = {own[1]: posixpath.dirname(mod)} if own else {}
        required = set(_REQUIRE.findall(text)) | self._workspace()
        return list(self._check(path, content, modules, required))

    def _workspace(self) -> set[str]:
        """The modules of the tree, where a go.work or a replacement joins them."""
        places = [path for path in self.view.files if posixpath.basename(path) == "go.mod"]
        self.view.fetch(places)
        names = (re.search(r'^module\s+"?([^\s"]+)', self.view.text(place), re.MULTILINE) for place in places)
        return {found[1] for found in names if found}

    def _check(self, path: str, content: bytes, modules: dict[str, str], required: set[str]) -> Iterator[Finding]:
        for name, line in _imports(content):
            home = next((each for each in modules if name == each or name.startswith(f"{each}/")), None)
            if home is not None:
                folder = posixpath.join(modules[home], name[len(home) + 1 :])
                deeper = any(name == each or name.startswith(f"{each}/") for each in required - {home})
                if not (deeper or self._has_package(folder) or self._builds.may_make(folder)):
                    yield _finding(
                        path, line, "unresolved-module", f"the module has no package `{name}`: no {folder}/*.go"
                    )
            elif name.startswith("."):
                continue
            elif "." not in name.split("/")[0]:
                if name.split("/")[0] not in _STANDARD and not any(name.startswith(each) for each in required):
                    yield _finding(path, line, "unresolved-module", f"the standard library has no package `{name}`")
            elif not any(name == each or name.startswith(f"{each}/") for each in required):
                message = f"`{name}` is neither in the module nor required by go.mod: an invented package?"
                yield _finding(path, line, "invented-package", message, name)

    def _has_package(self, folder: str) -> bool:
        prefix = f"{folder}/" if folder else ""
        return any(
            each.startswith(prefix) and each.endswith((".go", ".s", ".proto")) and "/" not in each[len(prefix) :]
            for each in self.view.files
        )


def _imports(content: bytes) -> Iterator[tuple[str, int]]:
    end = re.search(rb"^(?:func|type|var|const)\b", content, re.MULTILINE)
    for clause in _CLAUSE.finditer(content, 0, end.start() if end else len(content)):
        start = clause.start(1) if clause[1] is not None else clause.start(2)
        body = re.sub(
            rb"//[^\n]*|/\*.*?\*/", lambda found: b" " * len(found[0]), clause[1] or clause[2], flags=re.DOTALL
        )
        for found in _PATH.finditer(body):
            line = content.count(b"\n", 0, start + found.start()) + 1
            yield found[1].decode("utf-8", "replace"), line


def _finding(path: str, line: int, rule: str, message: str, subject: str = "") -> Finding:
    severity = Severity.LOW if kind_of(path) is Kind.ASIDE else Severity.HIGH
    hint = "go get it, or import a package that is there" if rule == "invented-package" else ""
    return Finding(rule=rule, path=path, line=line, severity=severity, message=message, suggestion=hint,
                   subject=subject)  # fmt: skip

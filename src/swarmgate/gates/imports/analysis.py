"""Analyses the imports of a whole change and compares them with the base, so that only new problems are reported."""

from __future__ import annotations

import posixpath
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from swarmgate.domain.review.finding import Severity
from swarmgate.gates.imports import cycles, importers, lookalikes, test_code, unused
from swarmgate.gates.imports.edges import PYTHON, SCRIPT
from swarmgate.gates.imports.golang import GoChecker
from swarmgate.gates.imports.python import source as python_source
from swarmgate.gates.imports.python.check import PythonChecker
from swarmgate.gates.imports.rust import RustChecker
from swarmgate.gates.imports.script.check import ScriptChecker
from swarmgate.gates.project.files import Trait, language_of, traits_of
from swarmgate.gates.project.view import View
from swarmgate.gates.sbom import formats
from swarmgate.gates.source import comparison
from swarmgate.gates.source.file import Revision, SourceFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from swarmgate.domain.review.change import ChangedFile, ChangeSet
    from swarmgate.domain.review.finding import Finding
    from swarmgate.gates.imports.cycles import Graph
    from swarmgate.gates.job import Job

_NOT_OURS = {Trait.VENDORED, Trait.GENERATED}

IMPORTERS = 300
"""So many unchanged files are looked at again because the change took away what they import."""


class Checker(Protocol):
    """Checks the imports of one file of one tree."""

    def check(self, path: str, content: bytes) -> list[Finding]:
        """The findings of one file."""
        ...


_CHECKERS: dict[str, Callable[[View], Checker]] = {
    "python": PythonChecker, "javascript": ScriptChecker, "typescript": ScriptChecker, "vue": ScriptChecker,
    "svelte": ScriptChecker, "go": GoChecker, "rust": RustChecker,
}  # fmt: skip


def concerns(change: ChangeSet, sources: Sequence[SourceFile]) -> bool:
    """Whether the change touches code of these languages or a manifest."""
    if any(source.language in _CHECKERS for source in sources):
        return True
    return any(_is_code(path) or formats.of(path) is not None for path in change.paths)


class _Side:
    """One tree and its checkers."""

    def __init__(self, view: View) -> None:
        self.view = view
        self._checkers: dict[Callable[[View], Checker], Checker] = {}

    def check(self, path: str, language: str, content: bytes) -> list[Finding]:
        make = _CHECKERS[language]
        if make not in self._checkers:
            self._checkers[make] = make(self.view)
        return self._checkers[make].check(path, content)


class Analysis:
    """The import analysis of one job. `files` counts the checked files, `stopped` is set at the time limit."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._head = _Side(job.project.head)
        self._used: dict[str, bool] = {}
        self._earlier: Graph | None = None
        self.files = 0
        self.stopped = False

    @cached_property
    def _base(self) -> _Side:
        return _Side(self._job.project.base)

    def changed_files(self) -> list[Finding]:
        """The findings of the changed files; those that the base revision had in its own tree are old."""
        found: list[Finding] = []
        for source in self._job.sources:
            if source.language not in _CHECKERS:
                continue
            if self._job.stop.is_set():
                self.stopped = True
                break
            self.files += 1
            self._job.at(source.path)
            findings = self._head.check(source.path, source.language, source.content)
            if findings:
                found += map(self._softened, self._against_base(source, findings))
        return found

    def _softened(self, finding: Finding) -> Finding:
        """A package that other files imported before the change is none that the change invented: it informs."""
        if finding.rule not in {"invented-package", "undeclared-dependency"} or not finding.new:
            return finding
        name = finding.subject
        if name not in self._used:
            python = language_of(finding.path) == "python"
            words = [f"import {name}", f"from {name}"] if python else [f"'{name}", f'"{name}']
            self._used[name] = bool(
                importers.grep(self._base.view, words, PYTHON if python else (*SCRIPT, ".go", ".rs"))
            )
        if not self._used[name]:
            return finding
        message = f"{finding.message} (files that the change does not bring import it already)"
        return finding.model_copy(update={"severity": Severity.LOW, "message": message})

    def broken_importers(self) -> list[Finding]:
        """The findings of unchanged files that import what the change removed or renamed."""
        taken = self._taken_away()
        if not taken or self._job.stop.is_set():
            return []
        changed = set(self._job.change.paths)
        users = {each.path for uses in importers.of(self._base.view, taken).values() for each in uses} - changed
        found = []
        for path in sorted(users & self._head.view.files)[:IMPORTERS]:
            content, language = self._head.view.content(path), language_of(path)
            if content is None or language not in _CHECKERS or traits_of(path) & _NOT_OURS:
                continue
            findings = self._head.check(path, language, content)
            source = SourceFile.of(
                path,
                language,
                traits_of(path),
                content,
                old=Revision(path, language, self._base.view.content(path) or b""),
            )
            found += [each for each in self._against_base(source, findings) if each.new]
        return found

    def new_cycles(self) -> list[Finding]:
        """The import cycles that the change introduced."""
        sources = [each for each in self._job.sources if each.path.endswith((*PYTHON, *SCRIPT))]
        if not sources or self._job.stop.is_set():
            return []
        pairs = [(each.path, each.base_path) for each in sources]
        return cycles.introduced(self._graph, self._base_graph, pairs)

    def imported_tests(self) -> list[Finding]:
        """The tests that changed product files import."""
        if self._job.stop.is_set():
            return []
        return list(test_code.imported(self._job.sources, self._graph, self._base_graph))

    @cached_property
    def _graph(self) -> Graph:
        return cycles.Graph(self._head.view)

    def _base_graph(self) -> Graph:
        if self._earlier is None:
            self._earlier = cycles.Graph(self._base.view)
        return self._earlier

    def new_dependencies(self) -> list[Finding]:
        """The new dependencies that nothing imports, and those with suspicious names."""
        if self._job.stop.is_set() or not any(formats.of(path) for path in self._job.change.paths):
            return []
        checker = PythonChecker(self._head.view)
        sides = self._head.view, self._base.view, self._job.change, checker.environment
        return [*unused.unused(*sides), *lookalikes.lookalikes(*sides)]

    def _against_base(self, source: SourceFile, findings: Sequence[Finding]) -> list[Finding]:
        before = self._base.check(source.base_path, source.language, source.was.content) if source.old else ()
        return comparison.compare(source, findings, before)

    def _taken_away(self) -> list[str]:
        """The files of the base that are gone, or that lost a name that others may import."""
        files = [each for each in self._job.change.files if each.old_mode and _is_code(each.old_path or each.path)]
        self._base_fetch(files)
        return [each.old_path or each.path for each in files if self._lost(each)]

    def _base_fetch(self, files: Iterable[ChangedFile]) -> None:
        paths = [each.old_path or each.path for each in files]
        if paths:
            self._base.view.fetch(paths)

    def _lost(self, file: ChangedFile) -> bool:
        old = file.old_path or file.path
        if not file.exists or file.path != old:
            return True
        before, now = self._base.view.content(old), self._head.view.content(file.path)
        if before is None or now is None:
            return False
        if before == now:
            return False
        language = language_of(old)
        pair = SourceFile(Revision(old, language, before), Revision(file.path, language, now))
        memory = self._job.memory
        return isinstance(memory.of_pair("imports.names", pair, _names_lost) if memory else _names_lost(pair), str)


def _names_lost(pair: SourceFile) -> Sequence[Finding] | str:
    """In a word that the file lost a name that others may import; nothing where it did not."""
    lost = _public(pair.base_path, pair.was.content) - _public(pair.path, pair.content)
    return "names were lost" if lost else ()


def _public(path: str, content: bytes) -> set[str]:
    if path.endswith(PYTHON):
        return set(python_source.definitions(content).names)
    from swarmgate.gates.imports.script import source as script_source  # noqa: PLC0415 - late: Python changes need no grammar

    return set(script_source.exports(content, path).names)


def _is_code(path: str) -> bool:
    return path.endswith((*PYTHON, *SCRIPT)) and "node_modules" not in posixpath.dirname(path).split("/")

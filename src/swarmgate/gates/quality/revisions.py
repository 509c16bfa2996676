"""Loads the old and new revision of every changed code file for the measurements."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from swarmgate.gates import loosened_settings
from swarmgate.gates.project.files import CODE, language_of, traits_of
from swarmgate.gates.source.file import Revision, SourceFile

if TYPE_CHECKING:
    from swarmgate.gates.job import Job

_FURTHER = (".m", ".mm", ".sol", ".f90", ".f95", ".f03", ".f08")
"""Code that only lizard knows: Objective-C, Solidity, Fortran."""


@dataclass(frozen=True)
class Change:
    """The code files of a change; `deleted` are those that it deleted, `adopted` the judges of which it asks more."""

    files: tuple[SourceFile, ...]
    deleted: tuple[SourceFile, ...] = ()
    adopted: frozenset[str] = frozenset()

    @cached_property
    def fresh(self) -> dict[str, frozenset[int]]:
        """The added lines of each file, without those whose text the change took away elsewhere: they were moved."""
        left = Counter(line for file in (*self.files, *self.deleted) for line in _stripped(file.was.text))
        for file in self.files:
            added = file.added_lines
            left.subtract(line for number, line in enumerate(_stripped(file.now.text), 1) if number not in added)
        fresh = {}
        for file in self.files:
            lines, new = _stripped(file.now.text), set()
            for number in sorted(file.added_lines):
                text = lines[number - 1] if number <= len(lines) else ""
                if left[text] > 0:
                    left[text] -= 1
                elif text:
                    new.add(number)
            fresh[file.path] = frozenset(new)
        return fresh

    @cached_property
    def product(self) -> tuple[SourceFile, ...]:
        """The files that are no tests."""
        return tuple(file for file in self.files if not file.is_test)


def is_code(file: SourceFile) -> bool:
    """Whether a file holds program code: data, markup, styles and documents have no complexity."""
    known = file.language in CODE or file.path.lower().endswith(_FURTHER)
    return known and not file.path.endswith(".pyi")


def read(job: Job) -> Change:
    """The code files of the job, and the deleted ones that the gate asks for too."""
    files = tuple(filter(is_code, job.sources))
    if not files:
        return Change(())
    deleted = [
        SourceFile(Revision(file.path, language_of(file.path)), None, traits_of(file.path))
        for file in job.change.files
        if not file.exists and not file.binary and file.old_mode.startswith("100")
    ]
    selected = list(filter(is_code, job.definition.files.select(deleted).sources))
    contents = job.repository.read_many(job.change.base, [file.path for file in selected]) if selected else {}
    adopted = loosened_settings.adopted(job.repository, job.change)
    return Change(files, tuple(_holding(file, contents.get(file.path, b"")) for file in selected), adopted)


def _holding(file: SourceFile, content: bytes) -> SourceFile:
    return replace(file, old=replace(file.was, content=content))


def _stripped(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n")]

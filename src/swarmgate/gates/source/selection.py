"""Selects the files of a change that a gate scans, by language, kind and globs, with reasons for the others."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import field_validator

from swarmgate.domain.base import Frozen
from swarmgate.gates.project.files import OPTIONAL, READ_BYTES, UNREADABLE, Trait, Trust
from swarmgate.workspace.files.globs import matches
from swarmgate.workspace.files.paths import encode

if TYPE_CHECKING:
    from collections.abc import Iterable

    from swarmgate.gates.source.file import SourceFile


@dataclass(frozen=True, slots=True)
class Selection:
    """The selected files, and how many files were skipped, by trait.

    `unread` are those that it would look at and whose content is not here.
    """

    sources: tuple[SourceFile, ...]
    skipped: Counter[str]
    unread: tuple[str, ...] = ()

    @property
    def note(self) -> str:
        """`3 skipped: 2 binary, 1 large`, or empty; and how many were not read to their end."""
        parts = ", ".join(f"{count} {trait}" for trait, count in sorted(self.skipped.items()))
        cut = sum(source.cut for source in self.sources)
        notes = [f"{self.skipped.total()} skipped: {parts}"] if parts else []
        notes += [f"{cut} not read beyond {READ_BYTES / 1e6:g} MB"] if cut else []
        return "; ".join(notes)


class FileFilter(Frozen):
    """The filter of a gate: files that match `include`, not `exclude`, with a language, without a `skip` trait.

    Globs: `workspace.files.globs`. No `include` and no `languages` means every file. Links, submodules and binary files
    are never read; large ones (their beginning) and text with NUL bytes where `read` says so. `trust`: what is
    believed of a file that the change wrote.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    skip: tuple[Trait, ...] = (Trait.VENDORED, Trait.GENERATED, Trait.MINIFIED, Trait.LOCK)
    read: tuple[Trait, ...] = ()
    trust: Trust = Trust.NAME

    @field_validator("read")
    @classmethod
    def _readable(cls, value: tuple[Trait, ...]) -> tuple[Trait, ...]:
        if not set(value) <= OPTIONAL:
            raise ValueError(f"a gate can ask to read {' and '.join(sorted(OPTIONAL))} files, no others")
        return value

    def accepts(self, path: str, language: str) -> bool:
        """Whether globs and languages include this file, whatever its traits."""
        path = os.fsdecode(encode(path))  # a name that is no UTF-8 is quoted in our records
        included = not self.include or any(matches(path, pattern) for pattern in self.include)
        excluded = any(matches(path, pattern) for pattern in self.exclude)
        return included and not excluded and (not self.languages or language in self.languages)

    def select(self, sources: Iterable[SourceFile]) -> Selection:
        """Split the files of a change into selected ones and the count of those skipped for a trait."""
        barred, taken, skipped = (UNREADABLE - set(self.read)) | frozenset(self.skip), [], Counter[str]()
        unread = []
        for source in sources:
            if not self.accepts(source.path, source.language):
                continue
            source = source.trusted(self.trust)  # noqa: PLW2901 - the same file, with less said of it
            reasons = [trait for trait in Trait if trait in source.traits & barred]
            if not reasons:
                taken.append(source)
            elif reasons == [Trait.UNREAD]:
                unread.append(source.path)
            else:
                skipped[reasons[0].value] += 1
        return Selection(tuple(taken), skipped, tuple(unread))

    def narrower_than(self, base: FileFilter) -> tuple[str, ...]:
        """What this filter excludes and `base` does not, by its keys; empty when nothing."""
        limits = {
            "include": bool(self.include) and not (base.include and set(base.include) <= set(self.include)),
            "exclude": not set(self.exclude) <= set(base.exclude),
            "languages": bool(self.languages) and not (base.languages and set(base.languages) <= set(self.languages)),
            "skip": not set(self.skip) <= set(base.skip),
            "read": not set(base.read) <= set(self.read),
            "trust": list(Trust).index(self.trust) > list(Trust).index(base.trust),
        }
        return tuple(key for key, narrower in limits.items() if narrower)

"""Both sides of a change as this gate wants them: suites of tests, and the product beside them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from swarmgate.gates import behaviour
from swarmgate.gates.project.files import MAX_BYTES, Trait, language_of, traits_of
from swarmgate.gates.test_integrity.definitions import names
from swarmgate.gates.test_integrity.reading import LANGUAGES, read
from swarmgate.workspace import grammars

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from swarmgate.domain.change import ChangeSet
    from swarmgate.gates.project.index import Project
    from swarmgate.gates.test_integrity.model import Suite

_NO_CODE = frozenset({Trait.VENDORED, Trait.GENERATED, Trait.LOCK})
DATA = re.compile(r"(?:^|/)(?:fixtures?|testdata|test[-_]data|__snapshots__|__fixtures__|__mocks__)/")


@dataclass(frozen=True)
class File:
    """One changed file: its paths and contents, empty on the side where it is not there."""

    old_path: str
    path: str
    old: bytes
    new: bytes

    @property
    def name(self) -> str:
        """Where it is, or was."""
        return self.path or self.old_path


@dataclass
class Change:
    """The changed files, and the tests in them. `unread`: files of tests that no grammar could read."""

    project: Project
    files: tuple[File, ...]
    unread: list[str] = field(default_factory=list)

    @cached_property
    def old(self) -> list[Suite]:
        """The changed files of tests as they were."""
        return list(self._suites(lambda file: (file.old_path, file.old)))

    @cached_property
    def new(self) -> list[Suite]:
        """The changed files of tests as they are."""
        return list(self._suites(lambda file: (file.path, file.new)))

    @property
    def moved(self) -> dict[str, str]:
        """Where files are now, by where they were."""
        return {file.old_path: file.path for file in self.files if file.old_path and file.path}

    def _suites(self, side: Callable[[File], tuple[str, bytes]]) -> Iterator[Suite]:
        for file in self.files:
            path, content = side(file)
            differs = file.old != file.new or file.old_path != file.path
            if not (path and content and differs and holds_tests(path)):
                continue
            try:
                yield read(path, language_of(path), content)
            except (grammars.TooSlow, RecursionError):
                self.unread.append(path)

    @cached_property
    def product(self) -> tuple[File, ...]:
        """The files of code that are no tests."""
        return tuple(file for file in self.files if _is_product(file.old_path) or _is_product(file.path))

    @cached_property
    def behaves(self) -> bool:
        """Whether the product may do something else than before: code of its own, or data that is no document."""
        return any(behaviour.differs(file.name, file.old, file.new) for file in self.files if not _is_beside(file.name))

    @cached_property
    def gone(self) -> frozenset[str]:
        """The names that the product defined before the change and does not define any more, and words it asked for."""
        changed = [file for file in self.product if file.old != file.new]
        was = [names(file.old_path, file.old) for file in changed]
        now = [names(file.path, file.new) for file in changed]
        asked = frozenset().union(*(each.words for each in was)) - frozenset().union(*(each.words for each in now))
        left = frozenset().union(*(each.defined for each in was)) - frozenset().union(*(each.defined for each in now))
        if not left:
            return asked
        others = self.project.head.mentioning(sorted(left), sorted(LANGUAGES), self.project.stopped)
        places = {file.path for file in changed}
        still = (names(path, content).defined for path, content in others.items() if path not in places)
        return asked | (left - frozenset().union(*still))

    def lost(self, about: Collection[str]) -> list[str]:
        """The gone names that a test is about."""
        return sorted(self.gone & set(about), key=lambda word: (-len(word), word))


def files_of(project: Project, change: ChangeSet) -> tuple[File, ...]:
    """The changed regular files with their contents."""
    sides = []
    for file in change.files:
        old = (file.old_path or file.path) if file.old_mode.startswith("100") else ""
        new = file.path if file.exists and file.new_mode.startswith("100") else ""
        if not file.binary and (old or new):
            sides.append((old, new))
    before = project.base.contents([old for old, _ in sides if old])
    after = project.head.contents([new for _, new in sides if new])
    return tuple(
        File(old, new, before.get(old, b""), after.get(new, b""))
        for old, new in sides
        if max(len(before.get(old, b"")), len(after.get(new, b""))) <= MAX_BYTES
    )


def holds_tests(path: str) -> bool:
    """Whether tests may stand in a file of this name; in Rust they stand beside the code."""
    if language_of(path) not in LANGUAGES or DATA.search(path) or traits_of(path) & _NO_CODE:
        return False
    return Trait.TEST in traits_of(path) or path.endswith(".rs")


def _is_product(path: str) -> bool:
    return bool(path) and behaviour.is_code(path) and not _is_beside(path)


def _is_beside(path: str) -> bool:
    traits = traits_of(path)
    return bool(traits & {Trait.TEST, Trait.DOC}) or path.startswith((".github/", "docs/"))

"""Loads the test suites and the product code of a change, before and after it."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from swarmgate.gates.project.files import MAX_BYTES, Trait, language_of, traits_of
from swarmgate.gates.source import behaviour
from swarmgate.gates.test_integrity.suites.definitions import Names, names
from swarmgate.gates.test_integrity.suites.parsing import LANGUAGES, read
from swarmgate.workspace.code import grammars

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from swarmgate.domain.review.change import ChangeSet
    from swarmgate.gates.project.index import Project
    from swarmgate.gates.test_integrity.suites.model import Suite

T = TypeVar("T")
_NO_CODE = frozenset({Trait.VENDORED, Trait.GENERATED, Trait.LOCK})
DATA = re.compile(r"(?:^|/)(?:fixtures?|testdata|test[-_]data|__snapshots__|__fixtures__|__mocks__)/")


@dataclass(frozen=True)
class File:
    """One changed file: its paths and contents, empty on the side where it does not exist."""

    old_path: str
    path: str
    old: bytes
    new: bytes

    @property
    def name(self) -> str:
        """The current path, or the old one."""
        return self.path or self.old_path


@dataclass
class Change:
    """The changed files, and the tests in them. `unread`: files of tests that no grammar could read."""

    project: Project
    files: tuple[File, ...]
    unread: list[str] = field(default_factory=list)

    @cached_property
    def old(self) -> list[Suite]:
        """The changed test files before the change."""
        return list(self._suites(lambda file: (file.old_path, file.old)))

    @cached_property
    def new(self) -> list[Suite]:
        """The changed test files after the change."""
        return list(self._suites(lambda file: (file.path, file.new)))

    @property
    def moved(self) -> dict[str, str]:
        """The new path of each file, by its old path."""
        return {file.old_path: file.path for file in self.files if file.old_path and file.path}

    def _suites(self, side: Callable[[File], tuple[str, bytes]]) -> Iterator[Suite]:
        for file in self.files:
            path, content = side(file)
            differs = file.old != file.new or file.old_path != file.path
            if not (path and content and differs and (holds_tests(path) or holds_tests(file.old_path))):
                continue
            try:
                yield read(path, language_of(path), content)
            except (grammars.TooSlow, RecursionError):
                self.unread.append(path)

    @cached_property
    def product(self) -> tuple[File, ...]:
        """The code files that are no tests."""
        return tuple(file for file in self.files if _is_product(file.old_path) or _is_product(file.path))

    @cached_property
    def behaves(self) -> bool:
        """Whether the product may behave differently: changed code, or data that is no document."""
        return any(behaviour.differs(file.name, file.old, file.new) for file in self.files if not _is_beside(file.name))

    @cached_property
    def _was(self) -> list[Names]:
        return [names(file.old_path, file.old) for file in self.product if file.old != file.new]

    @cached_property
    def _now(self) -> list[Names]:
        return [names(file.path, file.new) for file in self.product if file.old != file.new]

    def _left(self, of: Callable[[Names], Collection[T]]) -> frozenset[T]:
        """What the changed files of the product had and have no more."""
        return frozenset(one for each in self._was for one in of(each)) - frozenset(
            one for each in self._now for one in of(each)
        )

    def _elsewhere(self, wanted: Collection[str]) -> Iterator[tuple[str, bytes]]:
        """The files that say one of these words and did not change."""
        places = {file.path for file in self.product if file.old != file.new}
        found = self.project.head.mentioning(sorted(wanted), sorted(LANGUAGES), self.project.stopped)
        return ((path, content) for path, content in found.items() if path not in places)

    @cached_property
    def removed(self) -> frozenset[str]:
        """The names and words that the product defined or used before the change and no longer does."""
        words, left = self._left(lambda each: each.words), self._left(lambda each: each.defined)
        if not left:
            return words
        still = (names(path, content).defined for path, content in self._elsewhere(left))
        return words | (left - frozenset().union(*still))

    @cached_property
    def members(self) -> frozenset[tuple[str, str]]:
        """The members and parameters that types and functions of the product lost."""
        owners = frozenset(owner for each in self._now for owner, _ in each.members)
        return frozenset((owner, name) for owner, name in self._left(lambda each: each.members) if owner in owners)

    @cached_property
    def shrunk(self) -> frozenset[str]:
        """The functions of the product that lost code and gained nearly none."""
        was, now = (_functions(side) for side in (self._was, self._now))
        found = set()
        for title in was.keys() & now.keys():
            less, more = was[title] - now[title], now[title] - was[title]
            if less.total() >= _CODE and more.total() * _MOSTLY <= less.total() <= (less & self._lost).total() * 1.5:
                found.add(title)
        return frozenset(found)

    def deleted_for(self, path: str) -> str:
        """The deleted code file that a deleted test file is about, by folder and name; empty for none."""
        tests = next((file for file in self.files if file.old_path == path and not file.path), None)
        if tests is None:
            return ""
        words = set(re.findall(r"\w+", tests.old.decode("utf-8", "replace")))
        for file in self.files:
            parts = file.old_path.rpartition(".")[0].split("/")
            removed = not file.path and behaviour.is_code(file.old_path) and not holds_tests(file.old_path)
            if removed and {parts[-1], *parts[-2:-1]} <= words:
                return file.old_path
        return ""

    @cached_property
    def _lost(self) -> Counter[str]:
        """The tokens that the product has less of."""
        return _total(each.whole for each in self._was) - _total(each.whole for each in self._now)

    def lost(self, about: Collection[str]) -> list[str]:
        """The removed names that a test is about."""
        low = {each.lower() for each in about}
        members = {name for owner, name in self.members if name in about and owner.lower() in low}
        added = self._added
        found = (self.removed & set(about)) | {each for each in members if each not in added}
        return sorted(found, key=lambda word: (-len(word), word))

    @cached_property
    def _added(self) -> frozenset[str]:
        before = frozenset(one for each in self._was for one in each.members)
        return frozenset(name for each in self._now for owner, name in each.members if (owner, name) not in before)

    def taken(self, about: Collection[str], same_place: Collection[str]) -> list[str]:
        """What the change took out of the product that a test may have been about.

        Names that went from the test as well, members that moved to another type, members that nobody asks for any
        more, errors that are raised less often, and functions that lost code.
        """
        low = {each.lower() for each in about}
        found = set(self.removed & set(same_place))
        found |= {name for owner, name in self.members if name in about and owner.lower() in low}
        found |= {each for each in self.shrunk if each.lower() in low and len(each) >= _TELLING}
        found |= {each for each in about if _ERROR.search(each) and self._lost[each] > 0}
        for verb, expects in _FAILS.items():
            if self._lost[verb] + self._lost[f"{verb}!"] > 0 and any(expects.search(each) for each in about):
                found.add(verb)
        if any("deprecat" in each for each in low):
            found |= {each for each in self._lost if re.fullmatch(r"\w*[Dd]eprecat\w*", each)}
        unread = self._left(lambda each: each.read) & (set(about) | set(same_place))
        unread -= {one for each in self._now for one in (*each.defined, *each.words)}
        unread = frozenset(each for each in unread if len(each) > _TELLING)
        if unread:
            others = [content for path, content in self._elsewhere(unread) if _is_product(path)]
            found |= {each for each in unread if not any(_contains(content, each) for content in others)}
        return sorted(found, key=lambda word: (-len(word), word))

    @cached_property
    def _edited(self) -> frozenset[str]:
        """The words of the lines of the product that came or went."""
        words = set[str]()
        for file in self.product:
            if file.path.endswith(".rs"):
                continue  # its tests stand among these lines
            old, new = (Counter(side.split(b"\n")) for side in (file.old, file.new))
            lines = b"\n".join([*(old - new), *(new - old)]).decode("utf-8", "replace")
            words |= set(re.findall(r"\w+", lines))
        return frozenset(words)

    def inside(self, about: Collection[str]) -> list[str]:
        """The private names of a test that stand in edited lines of the product."""
        return sorted(each for each in about if _PRIVATE.match(each) and each in self._edited)

    def follows(self, was: Iterable[str], now: Iterable[str]) -> bool:
        """Whether the product exchanged the same old value for the same new value as a test did."""
        old, new = Counter(was), Counter(now)
        added = _total(each.whole for each in self._now) - _total(each.whole for each in self._was)
        return old != new and all(self._lost[each] for each in old - new) and all(added[each] for each in new - old)


_PRIVATE = re.compile(r"_(?!_*\w*__$)\w{2,}$|k[A-Z][A-Za-z]{2,}$")
"""An underscore before a name, and how modules of Node call the symbols that hide a member."""

_FAILS = {
    "panic": re.compile(r"^(?:Panics\w*|NotPanics|should_panic)$"),
    "raise": re.compile(r"^(?:raises|assertRaises\w*)$"),
    "throw": re.compile(r"^(?:assertThrows\w*|toThrow\w*|throws)$"),
    "warn": re.compile(r"^(?:warns|assertWarns\w*|recwarn)$"),
}
"""How code ends in an error or warns, and what tests expect it with."""

_ERROR = re.compile(r"(?:Error|Exception|Warning)$")
_TELLING = 3
"""Characters of a name that says something."""

_CODE = 12
"""Tokens that a function has to lose to have lost code: a small branch."""

_MOSTLY = 3
"""So many times what came has to be gone."""


def _functions(side: Iterable[Names]) -> dict[str, Counter[str]]:
    found: dict[str, Counter[str]] = {}
    for each in side:
        for title, held in each.functions.items():
            found[title] = found.get(title, Counter()) + held
    return found


def _total(counts: Iterable[Counter[str]]) -> Counter[str]:
    total = Counter[str]()
    for each in counts:
        total.update(each)
    return total


def _contains(content: bytes, word: str) -> bool:
    return bool(re.search(rb"(?<!\w)%s(?!\w)" % re.escape(word.encode()), content))


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

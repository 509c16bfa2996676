"""Data model of tests: suites, cases and assertions."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from swarmgate.gates.test_integrity.suites.tokens import Tokens


class Strength(IntEnum):
    """How strict an assertion is."""

    NOTHING = 0
    """It cannot fail: `assert True`, a comparison with itself, one that is never reached or whose failure is caught."""
    PRESENT = 2
    """Something true, or something at all."""
    BOUND = 3
    """A kind, an order, that it is another value, that some error comes."""
    PART = 4
    """A part of the value, a certain error."""
    EXACT = 5
    """The value."""


@dataclass(frozen=True)
class Assertion:
    """One assertion.

    `subject` is what it looks at and `expected` what it holds that against (empty for none); `idle` says why it cannot
    fail. `tolerance` is the difference that it lets pass, None where it names none.
    """

    line: int
    subject: Tokens
    expected: Tokens
    strength: Strength
    text: Tokens
    idle: str = ""
    tolerance: float | None = None

    @property
    def effect(self) -> Strength:
        """The effective strength: none where the assertion cannot fail."""
        return Strength.NOTHING if self.idle else self.strength


@dataclass
class Case:
    """A test, or (`helper`) an asserting function beside tests.

    `name` is dotted by its classes or blocks. `off` says how it is switched off whatever happens, `guarded` on what
    condition. `text` are the tokens of its body, `shell` those of its head: decorators and parameters. `shared_rows` is
    how often its class runs it, by a table of the class.
    """

    path: str
    name: str
    line: int
    text: Tokens
    shell: Tokens
    read: Callable[[], tuple[Assertion, ...]]
    off: str = ""
    guarded: str = ""
    read_rows: Callable[[], tuple[Tokens, ...]] = tuple
    helper: bool = False
    shared_rows: int = 0

    @cached_property
    def assertions(self) -> tuple[Assertion, ...]:
        """Its assertions, parsed when needed."""
        return self.read()

    @cached_property
    def bag(self) -> Counter[str]:
        """The token counts of its body."""
        return Counter(self.text)

    @cached_property
    def rows(self) -> tuple[Tokens, ...]:
        """The rows of its table, parsed when needed."""
        return self.read_rows()

    @property
    def short(self) -> str:
        """The name by itself."""
        return self.name if " " in self.name else self.name.rpartition(".")[2]


@dataclass
class Suite:
    """The tests of one file. `only`: the lines of focused tests, which skip all others."""

    path: str
    language: str
    cases: dict[str, Case]
    only: tuple[int, ...] = ()
    off: str = ""
    guarded: str = ""


class Rule(StrEnum):
    """The rules of the gate: one for each way of weakening a test."""

    REMOVED = "test-removed"
    REMOVED_WITH_CODE = "test-removed-with-code"
    OFF = "test-switched-off"
    NEW_OFF = "new-test-off"
    GUARDED = "test-guarded"
    FOCUSED = "test-focused"
    ASSERTION = "assertion-removed"
    WEAKER = "assertion-weakened"
    IDLE = "assertion-idle"
    EXPECTED = "expected-changed"
    ROWS = "test-cases-removed"
    REWRITTEN = "test-rewritten"
    MOCKED = "tested-code-mocked"
    SPECIAL = "special-cased-test"
    HOOK = "test-hook"
    SETTINGS = "runner-settings"
    COMMAND = "test-command"
    SNAPSHOT = "snapshot-changed"


@dataclass(frozen=True)
class Weakening:
    """One thing that makes tests weaker: where, how, the words that it is about; `test` is empty for no certain one.

    `same_place` are the words that went from the test together with it; `values` what was expected, and what is now.
    """

    rule: Rule
    path: str
    line: int
    test: str
    message: str
    about: frozenset[str] = frozenset()
    same_place: frozenset[str] = frozenset()
    values: tuple[Tokens, Tokens] = ((), ())

"""The stage that rejected an attempt or stopped a task, as parsed from the ledger and from plan.md."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Self

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from swarmgate.domain.base import Line


class Judge(StrEnum):
    """Who can reject an attempt or stop a task; gates, breakers and trajectory say which or what beside it."""

    GATES = "gates"
    BREAKER = "breaker"
    """A bound of a role's turn; nobody judged then."""
    TRAJECTORY = "trajectory"
    """What the attempts show together."""
    INSTALLED = "installed"
    """Agents changed what is installed for the project: only the user mends that."""
    SCOPE = "scope"
    ARCHITECT = "architect"
    CODER = "coder"
    REVIEWER = "reviewer"
    SECURITY_REVIEWER = "security_reviewer"
    TEST_ENGINEER = "test_engineer"
    TESTS = "tests"
    SWITCHED_OFF = "tests switched off"
    """Tests of before are gone, or kept from the runner."""
    PROVES_NOTHING = "tests prove nothing"
    """The new tests notice neither that the change is missing nor that it does nothing."""
    UNPROVEN = "unproven"
    """The change alters behaviour, and no test shows it: none is new, or none runs what was changed."""
    OLD_TESTS = "old tests"
    """Tests of before, in their old form, do not pass."""
    MUTATION = "mutation"
    ATTACKS = "adversarial_tests"
    """An adversarial test broke the change."""
    COMMIT = "commit"
    """Git, or a hook of the repository."""
    OTHER = ""
    """Nobody, or one that only ledgers of other versions know."""


_JUDGES = {judge.value: judge for judge in Judge if judge}


class Stage(str):
    """A judge, with the gates, the breaker or the pattern that it was: `gates: sast_scan, ruff`, `breaker: idle`.

    It is its own text, as the ledger, plan.md and people have it; what is decided is decided by `judge` and `names`.

    Attributes:
        judge: whose word it is.
        names: what stands behind its colon: the gates, the breaker or the pattern.
    """

    __slots__ = ("judge", "names")

    judge: Judge
    names: tuple[str, ...]

    def __new__(cls, text: str = "") -> Self:
        """The stage that a text names."""
        stage = super().__new__(cls, text)
        head, _, rest = text.partition(":")
        stage.judge = _JUDGES.get(head, Judge.OTHER)
        names = rest.strip().split(", ") if stage.judge is Judge.GATES else [rest.strip()]
        stage.names = tuple(filter(None, names))
        return stage

    @classmethod
    def of(cls, judge: Judge, *names: str) -> Self:
        """The stage of a judge: with the names of the gates, of the breaker or of the pattern."""
        return cls(f"{judge}: {', '.join(names)}" if names else judge)

    @property
    def parts(self) -> frozenset[str]:
        """What of it can be overruled: each gate; any other stage is one part."""
        return frozenset(self.names if self.judge is Judge.GATES and self.names else (str(self),))

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Reads it from a line of text, and writes it as one."""
        return core_schema.no_info_after_validator_function(cls, handler.generate_schema(Line))


NOBODY = Stage()
"""The stage of an attempt that nobody rejected."""
UNDECIDED = Stage.of(Judge.BREAKER, "debate")
"""The stage of an attempt whose review was a debate that decided nothing."""


def stopped_role(reason: str) -> str:
    """The role whose turn a breaker stopped: the first word of the reason, in ledgers of all versions."""
    return reason.partition(" ")[0]

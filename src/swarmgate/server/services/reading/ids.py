"""Ids of approvals and questions: they name the goal and the place in its ledger that was looked at."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

_GOAL = r"(?P<goal>[cg]-[0-9a-f]{12})"
_APPROVAL = re.compile(
    rf"{_GOAL}-(?:(?P<plan>plan)|phase-(?P<phase>[1-9][0-9]{{0,5}}))-(?P<seq>[0-9]{{1,15}})", re.ASCII
)
_QUESTION = re.compile(rf"{_GOAL}-q(?P<number>[1-9][0-9]{{0,8}})", re.ASCII)


class ApprovalId(NamedTuple):
    """What waits for approval, and since which entry of the ledger; `phase` is 0 of a plan."""

    goal: str
    phase: int
    seq: int

    @property
    def what(self) -> Literal["plan", "phase"]:
        """What it is about."""
        return "phase" if self.phase else "plan"

    def __str__(self) -> str:
        about = f"phase-{self.phase}" if self.phase else "plan"
        return f"{self.goal}-{about}-{self.seq}"


class QuestionId(NamedTuple):
    """A question, by its number."""

    goal: str
    number: int

    def __str__(self) -> str:
        return f"{self.goal}-q{self.number}"


def approval_id(text: str) -> ApprovalId | None:
    """The id that is written so; None: it is none."""
    found = _APPROVAL.fullmatch(text)
    return ApprovalId(found["goal"], int(found["phase"] or 0), int(found["seq"])) if found else None


def question_id(text: str) -> QuestionId | None:
    """The id that is written so; None: it is none."""
    found = _QUESTION.fullmatch(text)
    return QuestionId(found["goal"], int(found["number"])) if found else None

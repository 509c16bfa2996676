"""A labelled case of an evaluation: files before and after a change, and whether a gate should reject it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from swarmgate.domain.review.finding import Severity

if TYPE_CHECKING:
    from collections.abc import Mapping

    from swarmgate.domain.review.finding import Finding


@dataclass(frozen=True, slots=True)
class Case:
    """One case of a labelled set.

    `after` and `before` map paths to contents; no `before` means that every file is new. A finding counts when it is
    new, at least as severe as `severity`, and fits those of `cwes`, `rules` (beginnings of ids) and `line` that are
    given. `place` is what a reader of the table is told of a case that went wrong.
    """

    gate: str
    category: str
    expected: bool
    after: Mapping[str, bytes]
    before: Mapping[str, bytes] = field(default_factory=dict)
    cwes: frozenset[str] = frozenset()
    rules: tuple[str, ...] = ()
    line: int = 0
    severity: Severity = Severity.LOW
    place: str = ""

    def hit(self, finding: Finding) -> bool:
        """Whether this finding is what the label is about."""
        return (
            finding.new
            and finding.severity.rank >= self.severity.rank
            and (not self.cwes or finding.cwe in self.cwes)
            and (not self.rules or finding.rule.startswith(self.rules))
            and self.line in {0, finding.line}
        )

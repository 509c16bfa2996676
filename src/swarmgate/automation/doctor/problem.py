"""The records of the doctor's findings: a problem with its place, and the check that it belongs to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from swarmgate.ledger.check import Check
from swarmgate.ledger.settings.file import Edit


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is not as it should be.

    Attributes:
        check: the name of the check that found it.
        message: what is wrong, in a sentence.
        where: the file or the variable that it is about, as messages show it; empty: none.
        line: the line there; 0: none.
        hint: what to do about it.
        severity: an `error` keeps work from being done, or is a danger; a `warning` is what one should know.
        edits: what `--fix` does about it in the settings of the project, one after the other.
        fixable: whether `--fix` mends it.
    """

    check: str
    message: str
    where: str = ""
    line: int = 0
    hint: str = ""
    severity: Literal["error", "warning"] = "warning"
    edits: tuple[Edit, ...] = ()
    fixable: bool = False

    @property
    def text(self) -> str:
        """In one line, with its place first."""
        place = f"{self.where}{f' line {self.line}' if self.line else ''}: " if self.where else ""
        way = f" -> {self.hint}" if self.hint else ""
        return f"{place}{self.message}{way}{' (mended by: swarm doctor --fix)' if self.fixable else ''}"


def check_of(name: str, looked_at: str, problems: Iterable[Problem]) -> Check:
    """The check that problems make: errors fail it, warnings are shown."""
    found = tuple(problems)
    return Check(
        name,
        looked_at,
        tuple(dict.fromkeys(each.text for each in found if each.severity == "error")),
        tuple(dict.fromkeys(each.text for each in found if each.severity == "warning")),
    )

"""Data model of one match of a security scanner, before the scanners' results are merged."""

from __future__ import annotations

from dataclasses import dataclass, field

from swarmgate.domain.review.finding import Severity


@dataclass(frozen=True, slots=True)
class Hit:
    """A finding of one scanner. Lines and columns count from 1; `tool` is `swarmgate`, `bandit` or `ruff`.

    `code` is the scanner's own id (`B602`, `S602`, a rule id of ours), `cwe` is `CWE-78` or empty. `subject`: see
    `Finding`.
    """

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    tool: str
    code: str
    cwe: str
    severity: Severity
    message: str
    subject: str = ""


@dataclass(slots=True)
class Scanned:
    """The result of one scanner for a set of files.

    Hits, what it could not read (path -> why) or only in part (path -> a note), and which of our rules were asked.
    """

    hits: list[Hit] = field(default_factory=list)
    unread: dict[str, str] = field(default_factory=dict)
    partly: dict[str, str] = field(default_factory=dict)
    rules: frozenset[str] = frozenset()
    error: str = ""

    def take(self, other: Scanned) -> None:
        """Merge the result of a second scan of some files; for these it replaces what could not be read."""
        self.hits = list(dict.fromkeys([*self.hits, *other.hits]))
        self.unread = {**self.unread, **other.unread}
        self.partly = {**self.partly, **other.partly}
        self.error = self.error or other.error

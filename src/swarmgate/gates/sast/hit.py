"""What one scanner found at one place, before the scanners' lists are merged."""

from __future__ import annotations

from dataclasses import dataclass, field

from swarmgate.domain.finding import Severity


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
    """What a scanner says of a set of files.

    Hits, what it could not read (path -> why), what else to tell, and which of our rules were asked.
    """

    hits: list[Hit] = field(default_factory=list)
    unread: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    rules: frozenset[str] = frozenset()
    error: str = ""

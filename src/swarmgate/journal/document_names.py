"""The names that a record, or a text in one, may have."""

from __future__ import annotations

import re

from swarmgate.errors import LedgerError

JOURNAL = "journal.jsonl"
"""The name of the text that a record is; all others are views of it."""
PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,119}")
"""One part of a name; a text's has several, separated by `/`."""


def check_name(name: str) -> None:
    """Insists that a record or a text may have this name: no part of it leads out of its folder.

    Raises:
        LedgerError: it may not.
    """
    if not all(PART.fullmatch(part) for part in name.split("/")):
        raise LedgerError(f"{name[:200]!r} is no name of a record, or of a text in one.")

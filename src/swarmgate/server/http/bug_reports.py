"""Reports of bugs: a traceback without values or secrets, in the server's home, for its owner alone."""

from __future__ import annotations

import contextlib
import os
import traceback
from collections.abc import Iterable
from pathlib import Path

from swarmgate.domain.text.redaction import redact

MOST = 100
"""Reports that are kept; one bug that comes a thousand times does not fill the disk."""


def write(folder: Path, request: str, asked: str, error: BaseException, secrets: Iterable[str] = ()) -> str:
    """Writes a report; where it lies, or nothing where the disk refuses or there are enough.

    Args:
        folder: of reports.
        request: the id of the request.
        asked: its method and path.
        error: what was raised.
        secrets: keys of providers, to be masked.
    """
    text = f"request {request}: {asked}\n\n{''.join(traceback.format_exception(error))}"
    path = folder / f"bug-{request}.txt"
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if sum(1 for _ in folder.iterdir()) >= MOST:
            return ""
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(redact(text, secrets))
        return str(path)
    return ""

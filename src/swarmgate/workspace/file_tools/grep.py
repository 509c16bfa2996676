"""Searches files for a regular expression, as a separate process so that it can be stopped in time.

Reads JSON {root, pattern, files, matches} from stdin; prints JSON {lines, skipped, more}. Standard library only.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

_FILE_BYTES = 2_000_000
_LINE_CHARS = 2000
_OUTPUT_CHARS = 300
_PROBE_BYTES = 8000


def search(root: Path, pattern: str, files: list[str], matches: int) -> dict[str, object]:
    """Matching lines as `path:line: text`, at most `matches`; binary and very large files are counted as skipped."""
    expression = re.compile(pattern)
    lines: list[str] = []
    skipped = 0
    for name in files:
        try:
            data = (root / name).read_bytes() if (root / name).stat().st_size <= _FILE_BYTES else b"\0"
        except OSError:
            continue
        if b"\0" in data[:_PROBE_BYTES]:
            skipped += 1
            continue
        for number, line in enumerate(data.decode(errors="replace").splitlines(), 1):
            if expression.search(line[:_LINE_CHARS]):
                if len(lines) == matches:
                    return {"lines": lines, "skipped": skipped, "more": True}
                lines.append(f"{name}:{number}: {line[:_OUTPUT_CHARS]}")
    return {"lines": lines, "skipped": skipped, "more": False}


if __name__ == "__main__":
    request = json.load(sys.stdin)
    found = search(Path(request["root"]), request["pattern"], request["files"], request["matches"])
    json.dump(found, sys.stdout)

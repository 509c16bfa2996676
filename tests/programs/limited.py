"""A coding agent of the command line whose account has a limit until a moment, and that works after it.

    python limited.py UNTIL TEXT [EXIT_CODE]

UNTIL is in seconds since 1970, or a file: then the limit ends 2 seconds after the first call, which makes the file.
`{end}` in TEXT becomes the moment. Standard library only; it is run confined.
"""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path


def until(given: str) -> float:
    """The moment until which nothing is done."""
    if given.isdecimal():
        return int(given)
    mark = Path(given)
    if not mark.exists():
        mark.write_text(str(int(time.time()) + 2))
    return int(mark.read_text())


def main() -> int:
    """Says that the limit was reached, or writes the task's module; returns the exit code."""
    end, text = until(sys.argv[1]), sys.argv[2]
    brief = sys.stdin.read()
    if time.time() < end:
        sys.stdout.write(text.replace("{end}", str(end)) + "\n")
        return int(sys.argv[3]) if len(sys.argv) > 3 else 1
    task = re.search(r"^TASK: (.*)$", brief, re.MULTILINE)
    name = task[1] if task else ""
    Path(f"src/calc/part_{name}.py").write_text(f'"""A part."""\n\nVALUE = "{name}"\n')
    sys.stdout.write("I wrote it. A rate limit of 5 requests is kept: clients try again in 5 minutes.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""A coding agent of the command line whose account has a limit until a moment, and that works after it.

    python limited.py SECONDS_SINCE_1970 TEXT [EXIT_CODE]

`{end}` in TEXT becomes the moment. Standard library only; it is run confined.
"""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path


def main() -> int:
    """Says that the limit was reached, or writes the task's module; returns the exit code."""
    end, text = int(sys.argv[1]), sys.argv[2]
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

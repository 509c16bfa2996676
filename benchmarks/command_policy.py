"""Measures the speed of the command policy and its verdicts on the two command lists of the tests.

    python benchmarks/command_policy.py

Target: below 2 ms a line (median, parser made), at most 1 false alarm on the ordinary commands, none of the dangerous
ones let through.
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.workspace.command_policy.records import HOME, ROOT, dangerous, ordinary

from swarmgate.workspace.command_policy.policy import judge

RUNS = 5


def main() -> None:
    good, bad = ordinary(), [line for _, line in dangerous()]
    started = time.perf_counter()
    judge("ls", root=ROOT, home=HOME)
    first = time.perf_counter() - started
    taken = []
    for line in [*good, *bad] * RUNS:
        started = time.perf_counter()
        judge(line, root=ROOT, home=HOME)
        taken.append(time.perf_counter() - started)
    alarms = [line for line in good if not judge(line, root=ROOT, home=HOME).allowed]
    missed = [line for line in bad if judge(line, root=ROOT, home=HOME).allowed]
    print(f"first line, parser included: {first * 1e3:.1f} ms")
    slow = sorted(taken)[int(len(taken) * 0.99)]
    print(f"a line: median {statistics.median(taken) * 1e3:.2f} ms, 99% {slow * 1e3:.2f} ms")
    print(f"ordinary: {len(good)}, refused (false alarms): {len(alarms)}")
    print(f"dangerous: {len(bad)}, let through: {len(missed)}")
    for line in [*alarms, *missed]:
        print(f"  {line!r}")


if __name__ == "__main__":
    main()

"""Measures the cost of ledger anchors in git: time of an append with and without, and the growth of the repository.

    python benchmarks/anchors.py [LINES]

Targets: an append takes no tenth longer than in a folder without git, the end of a writer (its anchor) at most 20 ms,
and a ledger of 100,000 lines opens within 5% of the time that its fold takes. Medians of real files and a real git.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from swarmgate.domain.events.event import UsageRecorded
from swarmgate.domain.usage import Usage
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger

LINES = 100_000
APPENDS, WRITERS, OPENINGS = 500, 100, 5
USED = UsageRecorded(role="coder", usage=Usage(calls=3, prompt_tokens=900, completion_tokens=90, usd=0.01))


def median_ms(work: Callable[[], object], times: int) -> float:
    """How long a piece of work takes, in ms."""
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        taken.append((time.perf_counter() - began) * 1_000)
    return statistics.median(taken)


def project(place: Path, *, git: bool) -> SwarmFolder:
    """An empty project, in a repository or in a mere folder."""
    folder = SwarmFolder(place / ("git" if git else "bare"))
    folder.runtime.mkdir(parents=True)
    if git:
        subprocess.run(["git", "init", "--quiet"], cwd=folder.root, check=True)
    return folder


def append(ledger: Ledger) -> None:
    """One line, by itself."""
    ledger.append([USED], expect=ledger.state.seq)


def opened(folder: SwarmFolder) -> None:
    """A writer that records nothing."""
    Ledger.write(folder).close()


def size(folder: SwarmFolder) -> int:
    """Bytes of the objects in git."""
    return sum(path.stat().st_size for path in (folder.root / ".git/objects").rglob("*") if path.is_file())


def main() -> None:
    """Measures and prints."""
    lines = int(sys.argv[1]) if len(sys.argv) > 1 else LINES
    with tempfile.TemporaryDirectory() as place:
        without_git, with_git = (project(Path(place), git=git) for git in (False, True))
        for name, folder in (("without git", without_git), ("with git", with_git)):
            with Ledger.write(folder) as ledger:
                print(f"append, {name}: {median_ms(partial(append, ledger), APPENDS):.3f} ms")
        before, anchors = size(with_git), []
        for _ in range(WRITERS):
            ledger = Ledger.write(with_git)
            for _ in range(10):
                append(ledger)
            anchors.append(median_ms(ledger.close, 1))
        print(f"end of a writer, with its anchor: {statistics.median(anchors):.1f} ms (at most {max(anchors):.1f})")
        print(f"an anchor of 10 lines: {(size(with_git) - before) / WRITERS:,.0f} bytes of loose objects")
        subprocess.run(["git", "gc", "--quiet"], cwd=with_git.root, check=True)
        print(f"all of it, collected: {size(with_git):,} bytes for a ledger of {with_git.ledger.stat().st_size:,}")
        for name, folder in (("without git", without_git), ("with git", with_git)):
            with Ledger.write(folder) as ledger:
                missing = lines - ledger.state.seq
                for done in range(0, missing, 1_000):
                    ledger.append([USED] * min(1_000, missing - done), expect=ledger.state.seq)
            took = median_ms(partial(opened, folder), OPENINGS)
            print(f"opening {lines:,} lines to write, {name}: {took:,.0f} ms")


if __name__ == "__main__":
    main()

"""Tampers with every record piece by piece, and measures how much of it `swarm verify` finds.

    python benchmarks/tampered.py

A real project with two completed tasks and an approved phase. Each line of the ledger and of the plan files is altered,
deleted, doubled, swapped, cut off, and (of the ledger) rewritten with all hashes behind it; each file of evidence is
emptied, lengthened, swapped, deleted and replaced by a link; each commit of a task is amended. Target: all are found.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from crash import WAITING, finish
from workload import make_project, team

from swarmgate.engine import Swarm
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.workspace.process.background import serving

TASKS = 2
Lines = list[bytes]


def rehashed(lines: Lines, start: int) -> Lines:
    """The lines with the chain made whole again from one on, as a forger does who knows how."""
    found = lines[:start]
    for number, line in enumerate(lines[start:], start=start):
        before = found[-1][-67:-3] if number else b"0" * 64
        body = line.partition(b',"prev":"')[0] + b',"prev":"' + before + b'"'
        found.append(body + b',"hash":"' + hashlib.sha256(body).hexdigest().encode() + b'"}\n')
    return found


def altered(lines: Lines, at: int) -> Lines:
    """A line that says something else: the first of its digits is another."""
    place = next((n for n, byte in enumerate(lines[at]) if chr(byte).isalnum()), 0)
    other = b"7" if lines[at][place : place + 1] != b"7" else b"8"
    return [*lines[:at], lines[at][:place] + other + lines[at][place + 1 :], *lines[at + 1 :]]


def earlier(lines: Lines, at: int) -> Lines:
    """A line of another time."""
    return [*lines[:at], lines[at].replace(b'"time":"2', b'"time":"1', 1), *lines[at + 1 :]]


def swapped(lines: Lines, at: int) -> Lines:
    """A line and its neighbour in the other order."""
    other = at + 1 if at + 1 < len(lines) else at - 1
    found = list(lines)
    found[at], found[other] = found[other], found[at]
    return found


FORGERIES: dict[str, Callable[[Lines, int], Lines]] = {
    "altered": altered,
    "deleted": lambda lines, at: [*lines[:at], *lines[at + 1 :]],
    "doubled": lambda lines, at: [*lines[:at], lines[at], *lines[at:]],
    "swapped": swapped,
    "cut off": lambda lines, at: lines[:at],
    "cut within": lambda lines, at: [*lines[:at], lines[at][: len(lines[at]) // 2]],
}
CHAINED = {"altered": earlier, "rewritten with all hashes": lambda lines, at: rehashed(earlier(lines, at), at)}


def forged(path: Path, ways: dict[str, Callable[[Lines, int], Lines]]) -> Iterator[str]:
    """Makes each forgery of each line in its turn, says which it is, and takes it back."""
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    for what, way in ways.items():
        for at in range(len(lines)):
            data = b"".join(way(lines, at))
            if data != whole:
                path.write_bytes(data)
                yield f"a line of {path.name}: {what}"
    path.write_bytes(whole)


def replaced(path: Path, other: Path) -> Iterator[str]:
    """The same of a file of evidence."""
    whole = path.read_bytes()
    for what, data in (("emptied", b""), ("lengthened", whole + b" "), ("another's content", other.read_bytes())):
        path.write_bytes(data)
        yield f"a file of evidence: {what}"
    path.unlink()
    yield "a file of evidence: deleted"
    path.symlink_to(other)
    yield "a file of evidence: a link"
    path.unlink()
    path.write_bytes(whole)


def amended(root: Path) -> Iterator[str]:
    """The commits of tasks with another message, another author, another content."""

    def git(*arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True)

    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, check=True, capture_output=True, text=True).stdout
    (root / "tests" / "test_start.py").write_text("def test_start() -> None:\n    assert 1\n")
    git("commit", "--quiet", "--amend", "--no-edit", "--", "tests/test_start.py")
    yield "a commit: another content"
    git("reset", "--quiet", "--hard", head.strip())
    git("commit", "--quiet", "--amend", "-m", "Nothing to see")
    yield "a commit: without its trailers"
    git("reset", "--quiet", "--hard", head.strip())
    git("commit", "--quiet", "--allow-empty", "-C", "HEAD")
    yield "a commit: with the trailers of another"
    git("reset", "--quiet", "--hard", head.strip())


def every(folder: SwarmFolder) -> Iterator[str]:
    """All forgeries, one after the other."""
    yield from forged(folder.ledger, {**FORGERIES, **CHAINED})
    for view in (folder.plan_md, folder.plan_json):
        yield from forged(view, FORGERIES)
    files = sorted(path for path in folder.evidence.rglob("*") if path.is_file())
    for path, other in zip(files, [*files[1:], files[0]], strict=True):
        yield from replaced(path, other)
    yield from amended(folder.root)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        script = Path(name) / "script.json"
        script.write_text(json.dumps({"rules": team(TASKS)}))
        root = Path(name) / "project"
        with serving([sys.executable, "-m", "swarmgate.testing", str(script), "--until-stdin-closes"]) as base_url:
            folder = make_project(root, base_url)
            finish(root, "plan", "Parts", code=WAITING)
            finish(root, "approve")
            finish(root, "run", code=WAITING)
            finish(root, "approve")
        tried, found = Counter[str](), Counter[str]()
        for what in every(folder):
            tried[what] += 1
            found[what] += any(check.problems for check in Swarm(root).verify())
        assert not any(check.problems for check in Swarm(root).verify()), "what was taken back is whole again"
    print(f"{'tampered with':<48}{'tried':>6}{'found':>7}")
    for what, count in tried.items():
        print(f"{what:<48}{count:>6}{found[what]:>7}")
    print(f"{found.total()} of {tried.total()} found")
    raise SystemExit(0 if found.total() == tried.total() else 1)


if __name__ == "__main__":
    main()

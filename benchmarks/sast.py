"""Measures the gate `sast_scan`: precision and recall by category on labelled cases, and its speed.

    python benchmarks/sast.py labels DIR CSV [--half dev|held] [--suffix .py] [--least low|medium]
    python benchmarks/sast.py time FILE...

`CSV` has lines `name,category,true|false,cwe` (the form of the OWASP benchmarks), `DIR` the files `name` + suffix. A
case is positive when some finding of at least `--least` has a CWE of its category. The halves are drawn by the hash of
the name: rules and the analysis were developed on `dev` alone. `time` prints wall clock and processor seconds of one
scan in this process, imports included; run it on an idle machine, and again for what is kept between runs.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import hashlib
import resource
import time
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from swarmgate.domain.review.finding import Finding, Severity
from swarmgate.gates.adapters import sast
from swarmgate.gates.confinement import by_hand
from swarmgate.gates.definition import GateDefinition
from swarmgate.gates.job import Job
from swarmgate.gates.project.files import language_of
from swarmgate.gates.project.index import Project
from swarmgate.gates.source.file import SourceFile

if TYPE_CHECKING:
    from collections.abc import Sequence

_BATCH = 40
_KIN = {
    "cmdi": "77 78 88", "codeinj": "78 94 95 1336", "crypto": "326 327", "deserialization": "502",
    "hash": "326 327 328 759 760 916", "ldapi": "90", "pathtraver": "22 23 36 73", "redirect": "601",
    "securecookie": "614 1004 1275", "sqli": "89", "trustbound": "501", "weakrand": "330 338", "xpathi": "643",
    "xss": "79 80", "xxe": "611 776 827",
}  # fmt: skip


def main() -> None:
    """Read the command line and print the numbers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    labels = verbs.add_parser("labels")
    labels.add_argument("folder", type=Path)
    labels.add_argument("csv", type=Path)
    labels.add_argument("--half", choices=("dev", "held"))
    labels.add_argument("--suffix", default=".py")
    labels.add_argument("--least", type=Severity, default=Severity.LOW)
    timed = verbs.add_parser("time")
    timed.add_argument("files", type=Path, nargs="+")
    given = parser.parse_args()
    if given.verb == "labels":
        score(given.folder, given.csv, given.half, given.suffix, given.least)
    else:
        clock(given.files)


def score(folder: Path, table: Path, half: str | None, suffix: str, least: Severity) -> None:
    """Print true and false positives, their rates and Youden's index, a line a category."""
    with table.open(newline="") as lines:
        rows = [row for row in csv.reader(lines) if row and not row[0].startswith("#")]
    rows = [row for row in rows if half in {None, _half(row[0])}]
    found = scan([folder / f"{row[0]}{suffix}" for row in rows])
    counts: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for name, category, real, *cwe in rows:
        kin = {f"CWE-{number}" for number in (*_KIN.get(category, "").split(), *cwe[:1])}
        hit = any(each.cwe in kin and each.severity.rank >= least.rank for each in found[f"{name}{suffix}"])
        first = 0 if real == "true" else 2
        counts[category][first] += hit
        counts[category][first + 1] += 1
    rates = []
    for category, (true, positives, false, negatives) in sorted(counts.items()):
        tpr, fpr = true / max(positives, 1), false / max(negatives, 1)
        rates += [(tpr, fpr)] if positives else []
        print(f"{category:16}{true:5}/{positives:<5}{false:5}/{negatives:<5}{tpr:6.2f}{fpr:6.2f}{tpr - fpr:6.2f}")
    tpr, fpr = (sum(each) / len(rates) for each in zip(*rates, strict=True))
    print(f"mean over {len(rates)} categories: TPR {tpr:.3f}, FPR {fpr:.3f}, Youden {tpr - fpr:.3f}")


def clock(files: Sequence[Path]) -> None:
    """Print the time of one scan of these files."""
    began, before = time.perf_counter(), _processor()
    found = scan(files)
    lines = sum(path.read_bytes().count(b"\n") for path in files)
    blocking = sum(each.severity.rank >= Severity.MEDIUM.rank for findings in found.values() for each in findings)
    memory = [resource.getrusage(who).ru_maxrss // 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(f"{len(files)} files, {lines} lines: {time.perf_counter() - began:.2f} s", end=", ")
    print(f"processor {_processor() - before:.2f} s, memory {memory[0]} + {memory[1]} MB, {blocking} blocking")


def scan(files: Sequence[Path]) -> dict[str, list[Finding]]:
    """The findings by file name, as if every file were new."""
    gate = GateDefinition(id="sast_scan", title="measured", adapter="sast")
    sources = [SourceFile.of(f"app/{path.name}", language_of(path.name), content=path.read_bytes()) for path in files]
    found: dict[str, list[Finding]] = {path.name: [] for path in files}
    repository: Any = SimpleNamespace(root=Path.cwd(), sizes=lambda _: {})
    change: Any = SimpleNamespace(base="", files=())
    for start in range(0, len(sources), _BATCH):
        batch = tuple(sources[start : start + _BATCH])
        project = Project.of(repository, "", "")
        job = Job(gate, repository, change, batch, 600.0, project=project, commands=lambda: by_hand(Path.cwd()))
        outcome = asyncio.run(sast.run(job))
        for finding in outcome.findings:
            found[finding.path.removeprefix("app/")].append(finding)
        for word in (outcome.error, *outcome.notes[1:]):
            if word:
                print(f"note: {word}")
    return found


def _half(name: str) -> str:
    return "dev" if hashlib.sha256(name.encode()).digest()[0] % 2 else "held"


def _processor() -> float:
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


if __name__ == "__main__":
    main()

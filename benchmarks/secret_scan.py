"""Measures the precision, recall and speed of the gate `secret_scan` on labelled data.

python benchmarks/secret_scan.py leaky PATH       a checkout of Plazmaz/leaky-repo, against its own counts
python benchmarks/secret_scan.py creddata PATH    Samsung/CredData as its download_data.py lays it out (meta/, data/)
python benchmarks/secret_scan.py alarms PATH...   what is found in code that should hold nothing, per 1,000 lines
python benchmarks/secret_scan.py speed            medians for files that are made on the spot
"""

from __future__ import annotations

import csv
import statistics
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from swarmgate.domain.review.finding import Severity
from swarmgate.gates.adapters import secrets
from swarmgate.gates.project.files import MAX_BYTES, language_of, traits_of
from swarmgate.gates.source.file import SourceFile

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from swarmgate.domain.review.finding import Finding


def findings_of(name: str, content: bytes) -> list[Finding]:
    found = secrets.scan_file(SourceFile.of(name, language_of(name), traits_of(name), content))
    return [] if isinstance(found, str) else [each for each in found if each.severity is not Severity.INFO]


def files(root: Path) -> Iterator[tuple[Path, bytes]]:
    for path in sorted(root.rglob("*")) if root.is_dir() else [root]:
        if path.is_file() and not {".git", ".venv", "__pycache__"} & set(path.parts):
            content = path.read_bytes()
            if len(content) <= MAX_BYTES and b"\0" not in content[:8000]:
                yield path, content


def table(hit: int, false: int, missed: int) -> str:
    precision, recall = hit / max(1, hit + false), hit / max(1, hit + missed)
    score = 2 * precision * recall / max(1e-9, precision + recall)
    return (
        f"found {hit}, false {false}, missed {missed}: precision {precision:.3f}, recall {recall:.3f}, F1 {score:.3f}"
    )


def leaky(root: Path) -> None:
    rows = csv.reader((root / ".leaky-meta" / "secrets.csv").read_text().splitlines())
    risks = {row[0]: (int(row[1]), int(row[2])) for row in rows if row and not row[0].startswith("#")}
    hit = missed = false = 0
    print(f"{'file':44} {'risk':>5} {'also':>5} {'found':>6}")
    for name, (risk, also) in sorted(risks.items()):
        path = root / name
        if not path.is_file():
            print(f"{name:44} {risk:5} {also:5}    not in this checkout")
            continue
        found = len({each.line for each in findings_of(name, path.read_bytes())})
        print(f"{name:44} {risk:5} {also:5} {found:6}")
        hit, missed = hit + min(found, risk), missed + max(0, risk - found)
        false += max(0, found - risk - also)
    print(table(hit, false, missed))


def creddata(root: Path) -> None:
    """Line by line: a line is positive when one of its labels is T; F and X are both negative, as its README counts."""
    labels: defaultdict[str, dict[tuple[int, int], tuple[bool, str]]] = defaultdict(dict)
    for meta in sorted((root / "meta").glob("*.csv")):
        for row in csv.DictReader(meta.read_text().splitlines()):
            place, real = (int(row["LineStart"]), int(row["LineEnd"])), row["GroundTruth"] == "T"
            if real or place not in labels[row["FilePath"]]:
                labels[row["FilePath"]][place] = real, row["Category"]
    by_category: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for name, places in labels.items():
        path = root / name
        if not path.is_file():
            continue
        lines = {each.line for each in findings_of(name, path.read_bytes())}
        for (first, last), (real, category) in places.items():
            seen = any(number in lines for number in range(first, last + 1))
            by_category[category][{(1, 1): "hit", (1, 0): "missed", (0, 1): "false", (0, 0): "quiet"}[real, seen]] += 1
    print(f"{'category':40} {'hit':>6} {'missed':>7} {'false':>6} {'quiet':>7}")
    for category, counts in sorted(by_category.items(), key=lambda item: -item[1].total()):
        print(f"{category:40} {counts['hit']:6} {counts['missed']:7} {counts['false']:6} {counts['quiet']:7}")
    everything: Counter[str] = sum(by_category.values(), Counter())
    print("all categories:   ", table(everything["hit"], everything["false"], everything["missed"]))
    named = sum((counts for category, counts in by_category.items() if category != "UUID"), Counter[str]())
    print("without bare UUIDs:", table(named["hit"], named["false"], named["missed"]))


def alarms(roots: Sequence[Path]) -> None:
    rules, lines, count = Counter[str](), 0, 0
    for root in roots:
        for path, content in files(root):
            count, lines = count + 1, lines + content.count(b"\n")
            for each in findings_of(str(path.relative_to(root)) if path != root else path.name, content):
                rules[each.rule] += 1
                print(f"{path}:{each.line} {each.rule} {each.severity} {each.message}")
    print(
        f"{count} files, {lines} lines, {rules.total()} findings ({rules.total() * 1000 / max(1, lines):.4f} per 1,000)"
    )
    print(dict(rules.most_common()))


def speed() -> None:
    body = Path(statistics.__file__).read_bytes().split(b"\n")[:920]
    one = b"\n".join(body)
    minified = b"".join(b"function f%d(a,b){return a.token==b.key&&c[%d]}" % (n, n) for n in range(110_000))[:5_000_000]
    cases = {
        "one file of 920 lines": [("a.py", one)],
        "ten files of 920 lines": [("a.py", one)] * 10,
        "one line of 5 MB": [("a.js", minified)],
        "5 MB of base64": [("a.txt", b"QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo" * 143_000)],
        "5 MB of `password=`": [("a.env", b"password=" * 555_000)],
        "the same, a line each": [("a.env", b"password=a1b2c3d\n" * 300_000)],
    }
    findings_of("a.py", one)  # compiles the rules
    for name, batch in cases.items():
        times = []
        for _ in range(3 if len(batch[0][1]) > MAX_BYTES else 21):
            started = time.perf_counter()
            for path, content in batch:
                findings_of(path, content)
            times.append(time.perf_counter() - started)
        print(f"{name:28} {statistics.median(times):8.4f} s")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["leaky", root]:
            leaky(Path(root))
        case ["creddata", root]:
            creddata(Path(root))
        case ["alarms", *roots] if roots:
            alarms([Path(root) for root in roots])
        case ["speed"]:
            speed()
        case _:
            sys.exit(__doc__)

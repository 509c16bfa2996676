"""Measures the precision, recall and time of drift detection on labelled pairs and on ordinary texts.

    python benchmarks/drift.py [--pairs]

Parts of the pairs (`drift_pairs.jsonl`): on `tune`, `fresh`, `attacker` and `reported` the detector was tuned; on
`held-out`, `fresh-2` and `fresh-3` it was not (docs/drift.md). The floor calls a pair a contradiction where half of
the smaller text's content words are shared. Targets: precision at least 0.9 on every part; 200 decisions against
5,000 tasks in 2 s. `--pairs` names the pairs told wrongly.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.automation.drift.labelled import Pair, alarmed, contradicted, pairs

from swarmgate.automation.drift.comparison import LaterText
from swarmgate.automation.drift.detection import Material, detect
from swarmgate.automation.drift.report import Decision, Place, TextKind
from swarmgate.automation.drift.tokens import content, tokens
from swarmgate.domain.state.state import State

ROOT = Path(__file__).resolve().parent.parent
SPLITS = ("tune", "held-out", "fresh", "fresh-2", "fresh-3", "attacker", "reported")
SHARED = 0.5
DECISIONS, TASKS = 200, 5_000
PAIRS = 20_000
"""About as many pairs with ordinary texts are tried, evenly spread over all."""


def floor(pair: Pair) -> bool:
    """Plain word overlap."""
    one, other = content(tokens(pair.decision)), content(tokens(pair.later))
    return bool(one and other) and len(one & other) >= SHARED * min(len(one), len(other))


def row(name: str, rows: Sequence[Pair], says: Callable[[Pair], bool]) -> str:
    hits = sum(each.contradicts for each in rows if says(each))
    alarms, wanted = sum(map(says, rows)), sum(each.contradicts for each in rows)
    precision = f"{hits / alarms:.2f}" if alarms else "-"
    recall = f"{hits / wanted:.2f}" if wanted else "-"
    return f"{name:<28}{len(rows):>6}{wanted:>8}{alarms:>8}{precision:>11}{recall:>8}"


def table(every: Sequence[Pair]) -> None:
    print(f"{'':<28}{'pairs':>6}{'wanted':>8}{'told':>8}{'precision':>11}{'recall':>8}")
    parts = {"all": list(every)}
    parts |= {split: [each for each in every if each.split == split] for split in SPLITS}
    parts |= {kind: [each for each in every if each.kind == kind] for kind in sorted({each.kind for each in every})}
    for name, rows in parts.items():
        print(row(name, rows, contradicted))
        print(row(f"  floor: word overlap, {name}", rows, floor))


def ordinary() -> None:
    """Decisions of the pairs against sentences of this repository, which have nothing to do with them."""
    places = [ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "examples").rglob("*.md"))]
    texts = [
        line.strip(" -*>")
        for place in places
        for line in place.read_text(encoding="utf-8", errors="replace").splitlines()
        if re.match(r"\s*(?:[-*] )?[A-Z`*]", line) and len(line) > 40
    ]
    decisions = sorted({each.decision for each in pairs()})
    every = [(decision, text) for decision in decisions for text in texts]
    chosen = every[:: max(1, len(every) // PAIRS)]
    alarms = [(d, t) for d, t in chosen if alarmed(d, t)]
    print(f"\nordinary texts: {len(chosen)} pairs, {len(alarms)} alarms, {100 * len(alarms) / len(chosen):.3f} in 100")
    for decision, text in alarms:
        print(f"  {decision!r} | {text!r}")


def speed() -> None:
    """Texts of the pairs, many times, each with a word of its own."""
    known, place = pairs(), Place(file="plan.md", line=1)
    decisions = tuple(
        Decision(id=f"D{n}", text=f"{known[n % len(known)].decision} for module{n}", place=place)
        for n in range(DECISIONS)
    )
    laters = tuple(
        LaterText(TextKind.PLAN, f"{known[(n * 7 + part) % len(known)].later} in part{n}", place, str(n), f"Task {n}")
        for n in range(TASKS)
        for part in range(3)
    )
    started = time.process_time()
    report = detect(Material(State(), decisions, laters))
    taken = time.process_time() - started
    count = len(report.signals) + report.left_out
    print(f"\n{DECISIONS} decisions, {TASKS} tasks of 3 texts: {taken:.2f} s of processor time, {count} signals")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", action="store_true", help="name the pairs that were told wrongly")
    named = parser.parse_args().pairs
    every = pairs()
    table(every)
    for each in every if named else ():
        if contradicted(each) != each.contradicts:
            print(f"  {each.id} {each.label}: {each.decision!r} | {each.later!r} ({each.note})")
    ordinary()
    speed()


if __name__ == "__main__":
    main()

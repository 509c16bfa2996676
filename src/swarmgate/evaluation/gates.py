"""`swarm eval gates`: selects the labelled sets, locates their data, and reports the results."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from swarmgate.errors import UsageError
from swarmgate.evaluation import gate_runs, generated_sets, releases, report
from swarmgate.evaluation.labelled_sets import SETS
from swarmgate.gates.definition import load

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from swarmgate.evaluation.case import Case

RELEASES = "releases"
"""The set that is judged by the whole pipeline."""

SAMPLE = 100
"""Cases of a set that could be made as large as one likes; a hundred take a minute or less."""


def evaluate(
    wanted: Sequence[str] = (), *, gates: Sequence[str] = (), sample: int | None = None, seed: int = 0
) -> report.EvaluationReport:
    """Measure the gates on labelled sets.

    Args:
        wanted: `name` of a set that is made on the spot, or `name=path` of one whose data lies there; none means all
            that are made on the spot.
        gates: count only cases of these gates.
        sample: at most so many cases of a set, and changed files of each pair of releases, chosen at random; when None,
            `SAMPLE` of a set that is made on the spot and of releases, and all of any other.
        seed: of the choice.

    Raises:
        UsageError: a set or a gate is unknown, or its data is missing or damaged.
    """
    _require_known(gates)
    places = _places(wanted or tuple(generated_sets.SETS))
    sets = []
    for name, place in places:
        if name != RELEASES:
            most = sample if place or sample else SAMPLE
            sets.append(report.of_set(name, gate_runs.judge(_sampled(_cases(name, place), gates, most, seed))))
    folder = next((place for name, place in places if name == RELEASES), None)
    given = {name for name, _ in places}
    missing = tuple(f"{name}=PATH ({each.source})" for name, each in SETS.items() if name not in given)
    return report.EvaluationReport(
        sets=tuple(sets),
        releases=report.of_releases(releases.judge(folder, sample=sample or SAMPLE, seed=seed)) if folder else None,
        not_measured=() if wanted else (*missing, f"{RELEASES}=PATH (a folder of source distributions)"),
    )


def known() -> Mapping[str, str]:
    """Every set, with what it is and what data it needs."""
    needs = {f"{name}=PATH": f"{each.about}: {each.source}" for name, each in SETS.items()}
    own = {name: each.about for name, each in generated_sets.SETS.items()}
    return own | needs | {f"{RELEASES}=PATH": "differences of consecutive releases: a folder of source distributions"}


def _require_known(gates: Sequence[str]) -> None:
    known = [gate.id for gate in load()]
    for name in gates:
        if name not in known:
            raise UsageError(f"--gate: there is no gate {name!r}", hint=f"There are: {', '.join(known)}.")


def _places(wanted: Sequence[str]) -> list[tuple[str, Path | None]]:
    places: list[tuple[str, Path | None]] = []
    for each in wanted:
        name, named, path = each.partition("=")
        if name not in {*generated_sets.SETS, *SETS, RELEASES}:
            raise UsageError(f"there is no labelled set {name!r}", hint="`swarm eval list` names them all.")
        if (name in generated_sets.SETS) == bool(named):
            form = f"`{name}` alone" if name in generated_sets.SETS else f"`{name}=PATH`"
            raise UsageError(f"{each}: the set is named as {form}", hint="`swarm eval list` says what each needs.")
        place = Path(path).expanduser() if named else None
        if place is not None and not place.exists():
            raise UsageError(f"{place}: no such file or folder", hint=f"{name} is read from there.")
        places.append((name, place))
    return places


def _cases(name: str, place: Path | None) -> Iterator[Case]:
    return SETS[name].read(place) if place is not None else generated_sets.SETS[name].make()


def _sampled(cases: Iterator[Case], gates: Sequence[str], sample: int | None, seed: int) -> list[Case]:
    wanted = [case for case in cases if not gates or case.gate in gates]
    chance = random.Random(seed)  # noqa: S311 - a repeatable sample, no secret
    return wanted if sample is None or len(wanted) <= sample else chance.sample(wanted, sample)

"""The table of `swarm eval patches`: catch rate and false blocks by arm, rule, repository and model.

A hit is a wrong patch that was blocked, a false block a right one that was. Intervals are Wilson's (95%), arms are
compared by McNemar's exact test over the patches that both judged. What could not be judged is listed, and counts
nowhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from math import comb
from pathlib import Path

from swarmgate.domain.base import Frozen
from swarmgate.evaluation.patches.arms import Arm
from swarmgate.evaluation.patches.dataset import HUMAN
from swarmgate.evaluation.patches.rows import Row
from swarmgate.evaluation.score import Score, interval

PAGE = "report.html"
"""The name of the page that `page` renders, in the folder of the report."""
WRONGLY_SHOWN = 20
"""So many false blocks of an arm are listed in the terminal; the page and --json have all."""
BOTH = "all"

Interval = tuple[float, float]


class Group(Frozen):
    """Patches that are counted together: by arm, and by half, model, repository or rule where these are named.

    `score` counts wrong patches as positive: `recall` is the catch rate, `false_rate` that of false blocks.
    `seconds` is the median of the checks, `slowest` their 95th percentile.
    """

    arm: Arm
    name: str
    half: str
    score: Score
    catch: float | None
    catch_interval: Interval | None
    false: float | None
    false_interval: Interval | None
    youden: float | None
    seconds: float = 0.0
    slowest: float = 0.0


class Compared(Frozen):
    """Two arms over the same patches: how many only one of them got right, and McNemar's exact two-sided p."""

    first: Arm
    second: Arm
    patches: int
    only_first: int
    only_second: int
    p: float


class PatchesReport(Frozen):
    """All that was measured; `path` is the folder of the files."""

    arms: tuple[Group, ...]
    models: tuple[Group, ...]
    repositories: tuple[Group, ...]
    rules: tuple[Group, ...]
    compared: tuple[Compared, ...]
    rows: tuple[Row, ...]
    untried: dict[str, int]
    path: str = ""


def of_rows(rows: Sequence[Row]) -> PatchesReport:
    """Counts the rows."""
    judged = [row for row in rows if not row.trouble]
    agents = [row for row in judged if row.model != HUMAN]
    untried: dict[str, int] = {}
    for row in rows:
        if row.trouble:
            untried[f"{row.arm}: {row.trouble}"] = untried.get(f"{row.arm}: {row.trouble}", 0) + 1
    return PatchesReport(
        arms=_groups(agents, lambda _row: "agents' patches", halves=True),
        models=_groups(judged, lambda row: row.model, halves=True),
        repositories=_groups(agents, lambda row: row.repo),
        rules=_rules(judged),
        compared=_compared(agents),
        rows=tuple(rows),
        untried=untried,
    )


def _groups(rows: Sequence[Row], name: Callable[[Row], str], *, halves: bool = False) -> tuple[Group, ...]:
    found: dict[tuple[Arm, str, str], list[Row]] = {}
    for row in rows:
        for half in (BOTH, row.half) if halves else (BOTH,):
            found.setdefault((row.arm, name(row), half), []).append(row)
    arms = list(Arm)
    order = sorted(found, key=lambda key: (arms.index(key[0]), key[1], key[2] != BOTH, key[2]))
    return tuple(_group(*key, found[key]) for key in order)


def _group(arm: Arm, name: str, half: str, rows: Sequence[Row]) -> Group:
    score = sum((Score.of(expected=row.label == "wrong", found=bool(row.blocked)) for row in rows), Score())
    times = sorted(row.seconds for row in rows)
    return _counted(arm, name, half, score).model_copy(
        update={"seconds": times[len(times) // 2], "slowest": times[min(len(times) - 1, len(times) * 95 // 100)]}
    )


def _counted(arm: Arm, name: str, half: str, score: Score) -> Group:
    return Group(
        arm=arm, name=name, half=half, score=score, youden=score.youden,
        catch=score.recall, catch_interval=interval(score.tp, score.tp + score.fn),
        false=score.false_rate, false_interval=interval(score.fp, score.fp + score.tn),
    )  # fmt: skip


def _rules(rows: Sequence[Row]) -> tuple[Group, ...]:
    """What each rule that blocked anything would do by itself, the human fixes among the right ones."""
    found = []
    for arm in Arm:
        mine = [row for row in rows if row.arm is arm]
        blocked = {id(row): {each.rule for each in row.objections if each.blocks} for row in mine if row.blocked}
        for rule in sorted({rule for rules in blocked.values() for rule in rules}):
            hits = (Score.of(expected=row.label == "wrong", found=rule in blocked.get(id(row), ())) for row in mine)
            found.append(_counted(arm, rule, BOTH, sum(hits, Score())))
    return tuple(sorted(found, key=lambda each: (list(Arm).index(each.arm), -each.score.tp - each.score.fp)))


def _compared(rows: Sequence[Row]) -> tuple[Compared, ...]:
    right = {
        arm: {(row.model, row.id): bool(row.blocked) is (row.label == "wrong") for row in rows if row.arm is arm}
        for arm in Arm
    }
    pairs = [(a, b) for a, b in combinations(Arm, 2) if right[a] and right[b]]
    found = []
    for first, second in pairs:
        both = right[first].keys() & right[second].keys()
        one = sum(right[first][each] and not right[second][each] for each in both)
        two = sum(right[second][each] and not right[first][each] for each in both)
        found.append(
            Compared(first=first, second=second, patches=len(both), only_first=one, only_second=two, p=exact(one, two))
        )
    return tuple(found)


def exact(only_first: int, only_second: int) -> float:
    """The two-sided p of McNemar's exact test (a binomial one with 1/2); 1 where nothing is discordant."""
    trials, fewer = only_first + only_second, min(only_first, only_second)
    tail = float(sum(comb(trials, number) for number in range(fewer + 1)) / 2**trials)
    return min(1.0, 2 * tail)


def lines(found: PatchesReport) -> list[str]:
    """The report as text."""
    text = [*_table("arm", found.arms), "", *_table("model", found.models), ""]
    text += [*_table("repository", found.repositories), "", *_table("rule", found.rules), ""]
    for each in found.compared:
        text.append(
            f"{each.first} and {each.second} over {each.patches} patches: only the first was right {each.only_first} "
            f"times, only the second {each.only_second} times, McNemar's p {each.p:.3f}"
        )
    text += [*false_blocks(found.rows)]
    text += [f"not judged, {number}: {why}" for why, number in found.untried.items()]
    return [*text, f"{Path(found.path) / PAGE}"]


def false_blocks(rows: Iterable[Row], most: int = WRONGLY_SHOWN) -> list[str]:
    """The right patches that were blocked, a line each with why."""
    wrongly = [row for row in rows if row.blocked and row.label == "right"]
    told = [f"blocked, though right: {row.arm} {row.id} ({row.model}): {why(row)}" for row in wrongly]
    more = [f"and {len(told) - most} more"] if len(told) > most else []
    return [*told[:most], *more]


def why(row: Row) -> str:
    """What blocked a patch, in words."""
    found = next((each for each in row.objections if each.blocks), None)
    return f"{found.rule} {found.place}: {found.message}" if found else f"{row.blocked}: {row.reason}"


def share(part: float | None, span: Interval | None) -> str:
    """A rate with its interval, in percent; `-` where there is no case."""
    if part is None or span is None:
        return "-"
    return f"{100 * part:.1f}% ({100 * span[0]:.1f}-{100 * span[1]:.1f})"


def cells(each: Group) -> tuple[str, ...]:
    """What a table shows of a group."""
    score = each.score
    return (
        each.arm, each.name, each.half,
        f"{score.tp}/{score.tp + score.fn}", share(each.catch, each.catch_interval),
        f"{score.fp}/{score.fp + score.tn}", share(each.false, each.false_interval),
        "-" if each.youden is None else f"{each.youden:+.2f}",
        f"{each.seconds:.1f} s" if each.seconds else "",
    )  # fmt: skip


HEAD = ("arm", "", "half", "wrong", "caught (95%)", "right", "false blocks (95%)", "J", "median")


def _table(title: str, groups: Sequence[Group]) -> list[str]:
    rows = [(HEAD[0], title, *HEAD[2:]), *map(cells, groups)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(HEAD))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]

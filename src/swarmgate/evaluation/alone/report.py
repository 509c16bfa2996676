"""The table of `swarm eval alone`: what each arm resolved, what it handed in wrong, and what that cost.

Intervals are Wilson's (95%); the arms are compared by McNemar's exact test over the tasks that both worked on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from swarmgate.domain.base import Frozen
from swarmgate.domain.usage import Usage, cost_in_column
from swarmgate.evaluation.alone.outcome import Arm, Row
from swarmgate.evaluation.patches.report import Interval, exact, share
from swarmgate.evaluation.score import interval
from swarmgate.journal.disk_errors import writing
from swarmgate.workspace.files import atomic

JSON = "report.json"


class Total(Frozen):
    """One arm: of `tasks`, how many it `resolved`, `handed_in`, and handed in though they were `wrong`.

    `wrong_interval` is that of the share of what was handed in. `seconds` is the median of a task.
    """

    arm: Arm
    version: str
    tasks: int
    resolved: int
    resolved_interval: Interval | None
    handed_in: int
    wrong: int
    wrong_interval: Interval | None
    usage: Usage
    seconds: float


class Compared(Frozen):
    """Both arms over the same tasks: how many only one of them resolved, or handed in wrong, and McNemar's p."""

    what: str
    tasks: int
    only_mini: int
    only_swarm: int
    p: float


class AloneReport(Frozen):
    """All that was measured; `path` is the folder of the files, `untried` says what has no outcome."""

    model: str
    totals: tuple[Total, ...]
    compared: tuple[Compared, ...]
    rows: tuple[Row, ...]
    untried: tuple[str, ...] = ()
    path: str = ""


def of_rows(rows: Sequence[Row], *, model: str, versions: Mapping[Arm, str]) -> AloneReport:
    """Counts the rows; those with trouble count nowhere."""
    known = [row for row in rows if not row.trouble]
    return AloneReport(
        model=model,
        totals=tuple(
            _total(arm, version, [row for row in known if row.arm is arm]) for arm, version in versions.items()
        ),
        compared=_compared(known) if len(versions) == len(Arm) else (),
        rows=tuple(rows),
        untried=tuple(f"{row.id} by {row.arm}: {row.trouble}" for row in rows if row.trouble),
    )


def _total(arm: Arm, version: str, rows: Sequence[Row]) -> Total:
    handed_in, times = [row for row in rows if row.handed_in], sorted(row.seconds for row in rows)
    resolved = sum(row.handed_in and row.resolved for row in rows)
    return Total(
        arm=arm,
        version=version,
        tasks=len(rows),
        resolved=resolved,
        resolved_interval=interval(resolved, len(rows)),
        handed_in=len(handed_in),
        wrong=len(handed_in) - resolved,
        wrong_interval=interval(len(handed_in) - resolved, len(handed_in)),
        usage=sum((row.usage for row in rows), Usage()),
        seconds=times[len(times) // 2] if times else 0.0,
    )


def _compared(rows: Sequence[Row]) -> tuple[Compared, ...]:
    mini = {row.id: row for row in rows if row.arm is Arm.MINI}
    own = {row.id: row for row in rows if row.arm is Arm.SWARM}
    both = sorted(mini.keys() & own.keys())
    asked: dict[str, Callable[[Row], bool]] = {
        "resolved": lambda row: row.handed_in and row.resolved,
        "handed in wrong": lambda row: row.wrong,
    }
    found = []
    for what, is_so in asked.items():
        one = sum(is_so(mini[each]) and not is_so(own[each]) for each in both)
        two = sum(is_so(own[each]) and not is_so(mini[each]) for each in both)
        found.append(Compared(what=what, tasks=len(both), only_mini=one, only_swarm=two, p=exact(one, two)))
    return tuple(found)


def written(found: AloneReport, out: Path) -> AloneReport:
    """Writes the report into a folder.

    Raises:
        LedgerWriteFailed: the disk refused.
    """
    placed = found.model_copy(update={"path": str(out)})
    with writing(out / JSON):
        out.mkdir(parents=True, exist_ok=True)
        atomic.replace(out / JSON, placed.model_dump_json(indent=1), durable=False)
    return placed


_HEAD = ("arm", "tasks", "resolved (95%)", "handed in", "of these wrong (95%)", "tokens", "cost", "median")


def lines(found: AloneReport) -> list[str]:
    """The report as text."""
    rows = [_HEAD, *map(_cells, found.totals)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(_HEAD))]
    text = [f"model {found.model}", ""]
    text += ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    for each in found.compared:
        text.append(
            f"{each.what}, over {each.tasks} tasks: only {Arm.MINI} {each.only_mini}, only {Arm.SWARM} "
            f"{each.only_swarm}, McNemar's p {each.p:.3f}"
        )
    text += [f"handed in wrong: {row.id} by {row.arm}: {row.hidden}" for row in found.rows if row.wrong]
    text += [f"no outcome: {each}" for each in found.untried]
    return [*text, str(Path(found.path) / JSON)]


def _cells(each: Total) -> tuple[str, ...]:
    resolved = share(each.resolved / each.tasks if each.tasks else None, each.resolved_interval)
    wrong = share(each.wrong / each.handed_in if each.handed_in else None, each.wrong_interval)
    return (
        f"{each.arm} {each.version}", str(each.tasks), f"{each.resolved}: {resolved}", str(each.handed_in),
        f"{each.wrong}: {wrong}", f"{each.usage.tokens:,}", cost_in_column(each.usage), f"{each.seconds:.0f} s",
    )  # fmt: skip

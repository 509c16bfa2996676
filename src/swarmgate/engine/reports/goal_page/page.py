"""Writes the page of `swarm report`: the goal's record with its changes and plots, free of keys, as one file."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from swarmgate import html
from swarmgate.domain.base import Frozen
from swarmgate.domain.evidence.report import Standing
from swarmgate.domain.evidence.summary import in_words
from swarmgate.domain.spending.cost import COUNCILS, OUTSIDE
from swarmgate.domain.state.state import TaskStatus
from swarmgate.domain.text.redaction import masked
from swarmgate.domain.usage import Usage, cost_in_column
from swarmgate.engine.reports.goal import OUR_WORDS, GoalEvidence, GoalRecord, GoalTask, read_goal
from swarmgate.engine.reports.goal_page import plots
from swarmgate.engine.reports.goal_page.plots import Part, Plot, Value
from swarmgate.engine.reports.timeline import STAGES, since_first
from swarmgate.journal.disk_errors import writing
from swarmgate.ledger.councils.sessions import ROLE
from swarmgate.ledger.evidence.archive import read_plain
from swarmgate.ledger.evidence.evidence import PATCH, EvidenceStore
from swarmgate.ledger.files.page_place import require_free, shown
from swarmgate.project import Project
from swarmgate.workspace.files.atomic import replace

MARK = "/* A report of swarmgate; swarm report writes it anew. */"
"""Stands at the beginning of every page: what has it not is no page of ours, and is not replaced."""
_LINES, _WIDTH, _ALL = 400, 400, 600_000
"""Most lines of one change that are shown, characters of a line, and characters of all changes of a page."""
_TOKENS = {"prompt": "tokens of prompts", "cached": "tokens of prompts from a cache", "completion": "tokens of answers"}
_TESTED = {"shown": "criteria with a test", "open": "criteria without a test"}


class ShownChange(Frozen):
    """The change of a task's last attempt. `left` lines of it are not shown; `problem` says why none is."""

    task: str
    attempt: int
    text: str = ""
    left: int = 0
    problem: str = ""


class GoalReport(Frozen):
    """`swarm report --json`: what the page says; `path` is where it is, `size` its bytes."""

    record: GoalRecord
    changes: tuple[ShownChange, ...] = ()
    path: str = ""
    size: int = 0


def write_report(project: Project, *, phase: int = 0, out: Path | None = None) -> GoalReport:
    """Writes the page, by default to `.swarm/report.html`, and returns what it says.

    Raises:
        UsageError: there is no plan or no such phase, or the file must not be written there.
        ConfigError: the settings cannot be read, which name the keys that must not stand in a page.
        LedgerError: the ledger cannot be read.
        LedgerWriteFailed: the page could not be written.
    """
    folder = project.folder
    target = folder.report if out is None else out.absolute()
    require_free(target, folder, own=folder.report, mark=MARK, verb="report")
    report = goal_report(project, phase=phase)
    page = render(report).encode("utf-8", "replace")
    with writing(target):
        replace(target, page)
    return report.model_copy(update={"path": shown(target, folder), "size": len(page)})


def goal_report(project: Project, *, phase: int = 0) -> GoalReport:
    """What the page says of the goal, or of a phase, free of keys; nothing is written.

    Raises:
        UsageError, ConfigError, LedgerError: as `write_report`.
    """
    record = read_goal(project, phase=phase)
    report = GoalReport(record=record, changes=tuple(_changes(EvidenceStore(project.folder), record.evidence)))
    return GoalReport.model_validate(masked(report.model_dump(mode="json"), project.redact, names=OUR_WORDS))


def _changes(store: EvidenceStore, evidence: Iterable[GoalEvidence]) -> Iterator[ShownChange]:
    """The newest change of each task, as far as the page has room."""
    newest = {each.task: each for each in evidence if each.file == PATCH}
    room = _ALL
    for each in newest.values():
        if each.standing is not Standing.PRESENT:
            yield ShownChange(task=each.task, attempt=each.attempt, problem=f"its evidence is {each.standing}")
            continue
        data = read_plain(store.place(each.task, each.attempt, PATCH))
        if hashlib.sha256(data).hexdigest() != each.sha256:  # it changed since it was looked at
            yield ShownChange(task=each.task, attempt=each.attempt, problem=f"its evidence is {Standing.CHANGED}")
            continue
        lines = data.decode("utf-8", "replace").splitlines()
        text = "\n".join(line[:_WIDTH] for line in lines[:_LINES])[:room]
        room -= len(text)
        yield ShownChange(task=each.task, attempt=each.attempt, text=text, left=len(lines) - len(text.splitlines()))


def render(report: GoalReport) -> str:
    """The page."""
    record = report.record
    return html.rendered(
        __file__,
        "report.html",
        mark=MARK,
        money=cost_in_column,
        record=record,
        counts={status.value.replace("_", " "): count for status in TaskStatus if (count := record.count(status))},
        title=f"{record.title}{f': phase {record.phase}' if record.phase else ''}",
        timelines=[(phase.name, _timeline(record, phase.number)) for phase in record.phases],
        stages=plots.legend(STAGES),
        spent=list(_spent(record)),
        rejected=_rejected(record),
        reasons=_reasons(record),
        coverage=_coverage(record.tasks),
        changes=[(each, pieces(each.text)) for each in report.changes],
        used=in_words,
        took=_took(record),
    )


def pieces(patch: str) -> list[tuple[str, str]]:
    """The lines of a patch in runs of one kind: `file`, `place`, `added`, `removed`, or empty."""
    found: list[tuple[str, list[str]]] = []
    head = False
    for line in patch.splitlines():
        head = line.startswith("diff --git ") or (head and not line.startswith("@@"))
        kind = "file" if head else _KINDS.get(line[:1], "")
        if not found or found[-1][0] != kind:
            found.append((kind, []))
        found[-1][1].append(line)
    return [(kind, "\n".join(lines) + "\n") for kind, lines in found]


_KINDS = {"+": "added", "-": "removed", "@": "place"}


def _label(task: GoalTask) -> str:
    return plots.short(f"{task.id} {task.title}")


def _timeline(record: GoalRecord, phase: int) -> Plot | None:
    tasks = {each.id: _label(each) for each in record.tasks if each.phase == phase}
    times = since_first(each for each in record.times if each.task in tasks)
    return plots.timeline(f"Attempts and stages of phase {phase}", times, tasks)


def _took(record: GoalRecord) -> dict[str, float]:
    """Seconds at work on the attempts of each task."""
    found: Counter[str] = Counter()
    for each in record.times:
        for span in each.spans:
            found[each.task] += span.end - span.start  # type: ignore[assignment]  # a counter adds seconds as well
    return dict(found)


def _spent(record: GoalRecord) -> Iterator[tuple[str, Plot | None]]:
    """Plots of tokens and cost, by task and by role."""
    tasks = [(_label(each), each.used) for each in record.tasks if each.usage]
    other = sum((used for role, used in record.other.items() if role != ROLE), Usage())
    besides = ((OUTSIDE, other), (COUNCILS, record.other.get(ROLE, Usage())))
    by_task = [*tasks, *(each for each in besides if each[1] != Usage())]
    by_role = [(role, used) for role, used in _by_role(record).items() if used.calls]
    for who, used in (("task", by_task), ("role", by_role)):
        yield f"Tokens by {who}", plots.bars(f"Tokens by {who}", "tokens", [_tokens(*each) for each in used], _TOKENS)
        usd = [Value(label, cost_in_column(each), (Part(each.least_usd, "usd"),)) for label, each in used]
        unknown = any(each.usd is None for _, each in used) and not any(each.least_usd for _, each in used)
        where = ", where a price is known" if unknown else ""
        yield f"Cost by {who}{where}", plots.bars(f"Cost by {who}", "US dollars", usd, {"usd": "US dollars"})


def _by_role(record: GoalRecord) -> dict[str, Usage]:
    found: dict[str, Usage] = {}
    for usage in (*(each.usage for each in record.tasks), record.other):
        for role, used in usage.items():
            found[role] = found.get(role, Usage()) + used
    return dict(sorted(found.items(), key=lambda pair: -pair[1].tokens))


def _tokens(label: str, used: Usage) -> Value:
    fresh = Part(used.prompt_tokens - used.cached_tokens, "prompt")
    parts = (fresh, Part(used.cached_tokens, "cached"), Part(used.completion_tokens, "completion"))
    return Value(label, f"{used.tokens:,}", parts)


def _rejected(record: GoalRecord) -> Plot | None:
    counts = Counter(who for each in record.rejections for who in each.by)
    values = [Value(plots.short(who), str(count), (Part(count, "rejected"),)) for who, count in counts.most_common()]
    return plots.bars("Rejections by gate or judge", "rejections", values, {"rejected": "rejections"}, whole=True)


def _reasons(record: GoalRecord) -> list[tuple[str, str, list[str]]]:
    """Who rejected, why, and which attempts; the most frequent first."""
    found: dict[tuple[str, str], list[str]] = {}
    for each in record.rejections:
        found.setdefault((each.stage, each.reason), []).append(f"{each.task} attempt {each.attempt}")
    return sorted(((stage, why, of) for (stage, why), of in found.items()), key=lambda row: -len(row[2]))


def _coverage(tasks: Iterable[GoalTask]) -> Plot | None:
    values = []
    for each in tasks:
        tested = sum(bool(one.tests) for one in each.criteria)
        parts = (Part(tested, "shown"), Part(len(each.criteria) - tested, "open"))
        if each.criteria:
            values.append(Value(_label(each), f"{tested} of {len(each.criteria)}", parts))
    return plots.bars("Acceptance criteria that name a test", "criteria", values, _TESTED, whole=True)

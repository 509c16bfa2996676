"""Renders the description of a pull request as markdown, purely: goal, tasks, overrides, checkpoints, evidence, cost.

Words of agents stay words: they make no heading, no link, no table cell, and they mention, link and close nothing on a
forge. The goal is the user's, and what it refers to (`Fixes #12`) stays a reference.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

from swarmgate.domain.evidence.report import Standing
from swarmgate.domain.evidence.summary import in_words
from swarmgate.domain.plan.plan import id_key
from swarmgate.domain.state.state import TaskStatus
from swarmgate.domain.text.markdown import code, inline, prose
from swarmgate.engine.reports.goal import GoalEvidence, GoalRecord, GoalTask

BYTES = 60_000
"""Longest description: GitHub takes 65,536 characters."""
_TASKS, _ITEMS, _GOAL_LINES = 100, 40, 20
_REFERENCE = re.compile(r"(?<!\w)@(?=\w)|(?<!&)[#!](?=\w)|(?<=\w)-(?=\d+\b)")
"""What a forge takes for a mention or for the number of an issue: `@name`, `#12`, `own/er#12`, `!12`, `GH-12`."""
_MORE = "swarm report"
"""What lists everything."""


def description(record: GoalRecord, *, cost: bool = False) -> str:
    """The description, in at most `BYTES` bytes.

    Args:
        record: of the whole goal, free of keys.
        cost: tell tokens, money and time, too.
    """
    body = [
        *prose(record.goal, _GOAL_LINES),
        "",
        _standing(record),
        "",
        "## Tasks",
        "",
        *_tasks(record.tasks),
        *_section("Skipped", _noted(record, TaskStatus.SKIPPED)),
        *_section("Blocked", _noted(record, TaskStatus.BLOCKED)),
        *_section("To be done again", _noted(record, TaskStatus.PENDING, TaskStatus.IN_PROGRESS)),
        *_section("Overruled rejections", _overruled(record)),
        *_section("Tests that fail, and were overruled", (code(name) for name in record.known_red)),
        *_section("Asked of the user", map(_words, record.asked)),
        *_section("Checkpoints", _checkpoints(record)),
        *_section("Approved without a person", map(_words, record.unseen)),
        *_section("Cost", [in_words(record.used)] if cost else []),
    ]
    evidence = (
        f"\n\n## Evidence\n\nLedger position {record.seq}, SHA-256 `{record.head}`: chained over every line before it, "
        f"and so over the hashes of all evidence. {_looked_at(record.evidence)}\n"
    )
    text = _cut("\n".join(body), BYTES - len(evidence.encode())) + evidence
    return text + _hashes(record, BYTES - len(text.encode()))


def _cut(text: str, room: int) -> str:
    """Whole lines from the beginning, as many bytes as there is room for."""
    if len(text.encode()) <= room:
        return text
    more = f"\n\nThe rest: `{_MORE}`"
    begin = text.encode()[: room - len(more)].decode(errors="ignore")
    return begin.rpartition("\n")[0] + more


def _hashes(record: GoalRecord, room: int) -> str:
    """A table of as many hashes as there is room for: of what let the completed tasks pass."""
    last = {each.id: each.attempts for each in record.tasks if each.status is TaskStatus.COMPLETE}
    rows = [
        f"| {each.task} | {each.attempt} | {inline(each.file)} | `{each.sha256}` |\n"
        for each in record.evidence
        if last.get(each.task) == each.attempt
    ]
    begin = (
        "\n<details><summary>SHA-256 of the evidence of what was committed</summary>\n\n"
        "| task | attempt | file | SHA-256 |\n|---|---|---|---|\n"
    )
    end, most = "\n</details>\n", f"\n{len(rows)} more: `{_MORE}`\n"
    sizes = accumulate((len(row.encode()) for row in rows), initial=len(f"{begin}{most}{end}".encode()))
    shown = sum(size <= room for size in sizes) - 1
    if shown < 1:
        return ""
    left = len(rows) - shown
    return "".join([begin, *rows[:shown], f"\n{left} more: `{_MORE}`\n" if left else "", end])


def _standing(record: GoalRecord) -> str:
    counts = Counter(each.status for each in record.tasks)
    told = ", ".join(f"{count} {status.value.replace('_', ' ')}" for status, count in counts.items())
    state = "The goal is finished" if record.finished else "**The goal is not finished**"
    if record.abandoned:
        state = f"**The goal was abandoned** ({_words(record.abandoned)})"
    approved = sum(bool(each.approved) for each in record.phases)
    return (
        f"{state}: {_words(record.title)}. {len(record.tasks)} tasks ({told}), attempts rejected: "
        f"{len(record.rejections)}, {approved} of {len(record.phases)} phases approved."
    )


def _tasks(tasks: Sequence[GoalTask]) -> Iterator[str]:
    yield "| task | status | attempts | verdicts | commit |"
    yield "|---|---|---|---|---|"
    for each in sorted(tasks, key=lambda task: id_key(task.id) or (0, 0))[:_TASKS]:
        verdicts = _words("; ".join(each.proof), 400) or "-"
        commit = f"`{each.commit[:12]}`" if each.commit else "-"
        status = each.status.value.replace("_", " ")
        yield f"| {each.id} {_words(each.title, 120)} | {status} | {each.attempts} | {verdicts} | {commit} |"
    if len(tasks) > _TASKS:
        yield f"\n{len(tasks) - _TASKS} more: `{_MORE}`"


def _noted(record: GoalRecord, *statuses: TaskStatus) -> Iterator[str]:
    for each in record.tasks:
        if each.status in statuses and each.note:
            yield f"Task {each.id}, {_words(each.title, 120)}: {_words(each.note)}"


def _overruled(record: GoalRecord) -> Iterator[str]:
    for each in record.overruled:
        subject = each.subject[:1].upper() + each.subject[1:]
        yield f"{subject}, {_words(each.stage)}, by {_words(each.who)}: {_words(each.reason)}"


def _checkpoints(record: GoalRecord) -> Iterator[str]:
    if record.plan_approver:
        yield f"The plan, approved by {_words(record.plan_approver)}"
    for each in record.phases:
        when = (
            f", approved by {_words(each.approver)} on {each.approved[:10]}" if each.approved else ", not approved yet"
        )
        summary = f": {_words(each.summary, 600)}" if each.summary else ""
        yield f"Phase {each.number}, {_words(each.name)}{when}{summary}"
        yield from (f"  - {_words(text)}" for text in each.verdicts)
        yield from (f"  - Decided: {_words(text)}" for text in each.decisions)


def _looked_at(evidence: Sequence[GoalEvidence]) -> str:
    """What became of the files, as it was measured for this description."""
    counts = Counter(each.standing for each in evidence)
    good = counts[Standing.PRESENT] + counts[Standing.ARCHIVED]
    bad = [f"{counts[each]} {each.value}" for each in (Standing.CHANGED, Standing.MISSING) if counts[each]]
    but = f"; **{', '.join(bad)}**" if bad else ""
    return f"Of {len(evidence)} files, {good} are as recorded{but}."


def _section(title: str, lines: Iterable[str]) -> list[str]:
    """A heading with a list; nothing where there is nothing to list."""
    found = list(lines)
    listed = [line if line.startswith("  - ") else f"- {line}" for line in found[:_ITEMS]]
    more = [f"- {len(found) - _ITEMS} more: `{_MORE}`"] if len(found) > _ITEMS else []
    return ["", f"## {title}", "", *listed, *more] if found else []


def _words(text: str, most: int = 300) -> str:
    """Somebody's words on one line: no markup, and no reference that a forge would follow."""
    return _REFERENCE.sub(r"\g<0><!-- -->", inline(text, most))

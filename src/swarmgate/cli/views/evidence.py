"""`swarm evidence`: shows how complete the evidence of every attempt is, and applies its retention."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from swarmgate.terminal.columns import columns
from swarmgate.terminal.default_verb import DefaultVerb
from swarmgate.terminal.options import Json, Repo, filled
from swarmgate.terminal.terminal import boundary

if TYPE_CHECKING:
    from swarmgate.domain.evidence.report import EvidenceReport, Piece, Pruned, TaskEvidence


class TaskOrVerb(DefaultVerb):
    """The verbs of evidence; the id of a task, or nothing, needs none."""

    default = "show"
    otherwise = "for a task of that name"

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Alone it shows all tasks."""
        return super().parse_args(ctx, args or [self.default])


app = typer.Typer(
    cls=TaskOrVerb,
    help="Show how complete the evidence of every attempt is. See: swarm evidence show --help. "
    "Or archive what is old. All take --json and --repo.\n\nExample: swarm evidence 1.2 --summary",
    rich_markup_mode=None,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_MB = 1_000_000
_HEADS = {"final_gates": "final gates", "tests_before": "tests before", "tests_base": "tests base"}


@app.command("show")
def show(
    task: Annotated[
        str, typer.Argument(metavar="TASK", help="The id of a task, such as 1.2; all of them by default.")
    ] = "",
    summary: Annotated[bool, typer.Option("--summary", help="A readable page of each task.")] = False,
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Show which evidence of each attempt is there, and is what the ledger recorded. Changes nothing.

    Exit code 1 when a piece that is due is missing or was changed. In --json, `proven` says that none is, and
    `complete` that every task is complete besides. The word `show` may go.

    Example: swarm evidence 1.2 --summary
    """
    with boundary(json) as terminal:
        from swarmgate.engine.swarm import Swarm

        report = Swarm(repo).automation.evidence(task)
        terminal.result(report, _summaries(report) if summary else _table(report))
        raise typer.Exit(0 if report.proven else 1)


@app.command("summary")
def summary(
    task: Annotated[
        str, typer.Argument(metavar="TASK", help="The id of a task, such as 1.2; all of them by default.")
    ] = "",
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Show a readable page of each task: `swarm evidence show --summary`.

    Example: swarm evidence summary 1.2
    """
    show(task, summary=True, repo=repo, json=json)


@app.command("prune")
def prune(
    days: Annotated[
        int | None,
        typer.Option("--days", metavar="N", min=0, max=36_500, callback=filled, help="Keep what is younger than this."),
    ] = None,
    mb: Annotated[
        int | None,
        typer.Option("--mb", metavar="N", min=0, max=1_000_000, callback=filled, help="Keep no more than this of all."),
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Only say what would go.")] = False,
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Archive evidence of approved phases and earlier goals that is too old, or too much; oldest first.

    It goes to .swarm/history/evidence-archive/, where `swarm verify` and `swarm evidence` find it. That of an open
    phase stays. Without --days and --mb the bounds of [evidence] hold.

    Example: swarm evidence prune --days 30 --check
    """
    with boundary(json) as terminal:
        from swarmgate.engine.swarm import Swarm

        pruned = Swarm(repo).automation.prune(days=days, mb=mb, check=check)
        terminal.result(pruned, _pruned(pruned))


def _table(report: EvidenceReport) -> list[str]:
    """One row an attempt; then what is wrong, and what `*` means."""
    if not report.tasks:
        return ["There is no plan yet, so no evidence is due.", *_earlier(report)]
    kinds = _columns_of(report)
    rows = [["task", "attempt", "outcome", *(_HEADS.get(kind, kind) for kind in kinds)]]
    for task in report.tasks:
        for attempt in task.attempts:
            cells = {piece.kind.value: _cell(piece) for piece in attempt.pieces}
            rows.append([task.task, str(attempt.number), attempt.outcome.lower(), *(cells[kind] for kind in kinds)])
    lines = columns(rows) if len(rows) > 1 else ["No attempt was made yet."]
    if any("*" in cell for row in rows for cell in row):
        lines.append("* the ledger has no hash of it: it is there, and nothing proves that it is as it was")
    lines += [f"Phase {each.phase}, {each.verdict}: {each.standing}" for each in report.phases]
    blockers = [f"  Phase {each.phase}: {each.problem}" for each in report.phases if each.problem]
    blockers += [f"  Task {task.task}: {text}" for task in report.tasks for text in task.blockers]
    lines += (
        ["Blockers:", *blockers] if blockers else ["Every task is complete, and its evidence is as it was recorded."]
    )
    return [*lines, *_archived(report), *_links(report), *_earlier(report)]


def _columns_of(report: EvidenceReport) -> list[str]:
    """The kinds that are due anywhere, so that a narrow terminal shows what there is."""
    pieces = [piece for task in report.tasks for attempt in task.attempts for piece in attempt.pieces]
    due = {piece.kind for piece in pieces if piece.standing != "not due"}
    return list(dict.fromkeys(piece.kind.value for piece in pieces if piece.kind in due))


def _cell(piece: Piece) -> str:
    bare = piece.standing == "present" and not piece.recorded
    return f"{piece.standing.value}{'*' if bare else ''}"


def _archived(report: EvidenceReport) -> list[str]:
    places = {p.path for task in report.tasks for a in task.attempts for p in a.pieces if p.standing == "archived"}
    return [f"Archived in: {place}" for place in sorted(places)]


def _links(report: EvidenceReport) -> list[str]:
    if len(report.tasks) != 1:
        return []
    return [
        f"  {piece.path}"
        for attempt in report.tasks[0].attempts
        for piece in attempt.pieces
        if piece.standing == "present"
    ]


def _earlier(report: EvidenceReport) -> list[str]:
    return [f"Evidence of an earlier goal: {place}/" for place in report.earlier]


def _summaries(report: EvidenceReport) -> list[str]:
    return [line for task in report.tasks for line in _summary(task)] or ["There is no plan yet."]


def _summary(task: TaskEvidence) -> list[str]:
    return [f"## Task {task.task}: {task.summary[0]}", "", *task.summary[1:], ""]


def _pruned(pruned: Pruned) -> list[str]:
    verb = "would go" if pruned.check else "went"
    lines = [
        f"  goal {each.goal}, task {each.task}: {each.files} files, {each.size / _MB:.2f} MB, last event {each.last}"
        for each in pruned.tasks
    ]
    summary = f"{pruned.files} files of {len(pruned.tasks)} tasks {verb}, {pruned.size / _MB:.2f} MB"
    lines.append(f"{summary}; {pruned.left / _MB:.2f} MB of evidence stay." if pruned.tasks else "Nothing has to go.")
    lines += [f"Archived in: {pruned.archive}"] if pruned.archive else []
    lines += [f"Passed over, no file: {path}" for path in pruned.skipped]
    return [*lines, *([f"Note: {pruned.over}."] if pruned.over else [])]

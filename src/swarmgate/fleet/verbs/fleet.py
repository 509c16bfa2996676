"""`swarm fleet`: hands goals to workers on many machines, and sees to them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from swarmgate.errors import UsageError
from swarmgate.terminal.options import Json, Repo, filled
from swarmgate.terminal.terminal import boundary
from swarmgate.terminal.verb_group import VerbGroup

if TYPE_CHECKING:
    from swarmgate.fleet.facade import Decided, Fleet, FleetStatus, GoalRow, Shown

GoalName = Annotated[
    str, typer.Argument(metavar="GOAL", callback=filled, help="Such as calc:g-0123456789ab; of one repository, the id.")
]
Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; it goes on record.")]
Repository = Annotated[str, typer.Option("--repository", metavar="NAME", help="Of [fleet.repositories].")]

app = typer.Typer(
    cls=VerbGroup,
    help="Hand goals to workers on many machines, and see to them. Each verb below takes --json and --repo.\n\n"
    'Example: swarm fleet submit "Build JWT auth"',
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command("submit")
def submit(
    text: Annotated[str, typer.Argument(metavar="GOAL", help="What is wanted, in words.")] = "",
    spec: Annotated[Path | None, typer.Option("--spec", help="A file with more about it.")] = None,
    repository: Repository = "",
    queue: Annotated[
        str, typer.Option("--queue", metavar="NAME", help="The class of workers; see [fleet.queues].")
    ] = "",
    priority: Annotated[int, typer.Option("--priority", help="Goals of a higher one go first.")] = 0,
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Make a goal in the remote and put it in line. The settings of this project go with it.

    Example: swarm fleet submit "Build JWT auth" --priority 5
    """
    with boundary(json) as terminal:
        decided = _fleet(repo).submit(text, spec=_read(spec), repo=repository, queue=queue, priority=priority)
        terminal.result(decided, [decided.goal, *_told(decided)])


@app.command("approve")
def approve(goal: GoalName, repo: Repo = None, json: Json = False) -> None:
    """Approve what waits for you: the plan, or a phase's checkpoint.

    Example: swarm fleet approve calc:g-0123456789ab
    """
    with boundary(json) as terminal:
        decided = _fleet(repo).approve(goal)
        terminal.result(decided, [f"approved: {', '.join(decided.said)}", *_told(decided)])


@app.command("answer")
def answer(
    goal: GoalName,
    number: Annotated[int, typer.Argument(help="Of the question.")],
    text: Annotated[str, typer.Argument(metavar="ANSWER", help="In your words.")] = "",
    option: Annotated[int, typer.Option("--option", help="One of its options, from 1.")] = 0,
    decline: Annotated[bool, typer.Option("--decline", help="Leave it to whoever asked.")] = False,
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Answer a question of an agent, or of the architect.

    Example: swarm fleet answer calc:g-0123456789ab 1 "metres"
    """
    with boundary(json) as terminal:
        decided = _fleet(repo).answer(goal, number, text, option=option, decline=decline)
        terminal.result(decided, [f"question {number} is answered", *_told(decided)])


@app.command("revise")
def revise(
    goal: GoalName,
    text: Annotated[str, typer.Argument(metavar="TEXT", callback=filled, help="What should be different.")],
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Have the architect change the plan as you say.

    Example: swarm fleet revise calc:g-0123456789ab "no new dependency"
    """
    with boundary(json) as terminal:
        decided = _fleet(repo).revise(goal, text)
        terminal.result(decided, ["the architect revises the plan", *_told(decided)])


@app.command("skip")
def skip(
    goal: GoalName,
    task: Annotated[str, typer.Argument(metavar="TASK", callback=filled, help="Its id.")],
    reason: Reason = "",
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Give a task of a goal up.

    Example: swarm fleet skip calc:g-0123456789ab 1.2 --reason "not needed"
    """
    with boundary(json) as terminal:
        if not reason.strip():
            raise UsageError("To skip a task needs a reason; it goes on record.", hint='Add: --reason "..."')
        decided = _fleet(repo).skip(goal, task, reason=reason)
        terminal.result(decided, [f"task {task} is skipped", *_told(decided)])


@app.command("override")
def override(
    goal: GoalName,
    task: Annotated[str, typer.Argument(metavar="TASK", callback=filled, help="Its id.")],
    reason: Reason = "",
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Overrule the last rejection of a task.

    Example: swarm fleet override calc:g-0123456789ab 1.2 --reason "the finding is wrong"
    """
    with boundary(json) as terminal:
        decided = _fleet(repo).override(goal, task, reason=reason)
        terminal.result(decided, [f"overruled: {', '.join(decided.said)}", *_told(decided)])


@app.command("abandon")
def abandon(goal: GoalName, reason: Reason = "", repo: Repo = None, json: Json = False) -> None:
    """End a goal before its work is done; its branch stays.

    Example: swarm fleet abandon calc:g-0123456789ab --reason "done by hand"
    """
    with boundary(json) as terminal:
        decided = _fleet(repo).abandon(goal, reason=reason)
        terminal.result(decided, [f"{decided.goal} is abandoned"])


@app.command("retry")
def retry(
    goal: GoalName,
    task: Annotated[
        str, typer.Argument(metavar="TASK", help="A blocked one; without it the goal is taken up again.")
    ] = "",
    note: Annotated[str, typer.Option("--note", metavar="TEXT", help="For architect and coder.")] = "",
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Have a blocked task tried again, or a goal that an error or a budget ended.

    Example: swarm fleet retry calc:g-0123456789ab 1.2 --note "use the standard library"
    """
    with boundary(json) as terminal:
        decided = _fleet(repo).retry(goal, task=task, note=note)
        terminal.result(decided, [f"{decided.goal} is tried again", *_told(decided)])


@app.command("show")
def show(goal: GoalName, repo: Repo = None, json: Json = False) -> None:
    """Show where the work at a goal stands, and what you can do next.

    Example: swarm fleet show calc:g-0123456789ab
    """
    with boundary(json) as terminal:
        report = _fleet(repo).show(goal)
        terminal.result(report, _report(report))


@app.command("status")
def status(
    repository: Repository = "",
    everything: Annotated[bool, typer.Option("--all", help="Goals that are done, too.")] = False,
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Show goals, what is in line, and workers. What waits for you comes first.

    Example: swarm fleet status
    """
    with boundary(json) as terminal:
        found = _fleet(repo).status(repo=repository, all_goals=everything)
        terminal.result(found, _listing(found))


@app.command("drain")
def drain(
    worker: Annotated[str, typer.Argument(metavar="WORKER", help="Its name; without one, all of them.")] = "",
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Tell workers to end at their next safe point: to upgrade them, or to switch a machine off.

    Example: swarm fleet drain
    """
    with boundary(json) as terminal:
        told = _fleet(repo).drain(worker)
        terminal.result({"workers": told}, [f"told to end: {', '.join(told)}" if told else "there are no workers"])


@app.command("rebuild")
def rebuild(repo: Repo = None, json: Json = False) -> None:
    """Put every goal in line again that a worker can go on with. Whatever the database lost, git has it.

    Example: swarm fleet rebuild
    """
    with boundary(json) as terminal:
        put, known = _fleet(repo).rebuild()
        terminal.result({"queued": put, "goals": known}, [f"{put} of {known} goals were put in line"])


@app.command("run", context_settings={"ignore_unknown_options": True})
def run(
    argv: Annotated[list[str], typer.Argument(metavar="VERB ...", help="A verb of the council or eval, as it stands.")],
    repository: Repository = "",
    queue: Annotated[str, typer.Option("--queue", metavar="NAME", help="The class of workers.")] = "",
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Have a worker run a verb of the council, or of the evaluation, and print its answer as JSON.

    Example: swarm fleet run -- eval gates stubs
    """
    with boundary(json) as terminal:
        fleet = _fleet(repo)
        asked = fleet.ask(argv, repo=repository, queue=queue)
        terminal.note(f"{asked.goal} {asked.problem or 'is in line'}")
        answer = fleet.answer_of(asked.goal)
        terminal.text(answer.stdout)
        terminal.note(answer.stderr.strip()) if answer.exit_code else None
        raise typer.Exit(answer.exit_code if 0 <= answer.exit_code < 256 else 70)  # noqa: PLR2004 - what a shell takes


@app.command("metrics")
def metrics(repo: Repo = None, json: Json = False) -> None:
    """Print the numbers of the fleet as Prometheus reads them.

    Example: swarm fleet metrics
    """
    with boundary(json) as terminal:
        found = _fleet(repo).metrics()
        terminal.result(found, found.exposition().splitlines())


def _fleet(repo: Path | None) -> Fleet:
    from swarmgate.fleet.facade import Fleet

    return Fleet(repo)


def _read(spec: Path | None) -> str:
    if spec is None:
        return ""
    try:
        return spec.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{spec} cannot be read: {error}") from error


def _told(decided: Decided) -> list[str]:
    if decided.problem:
        return [f"on record, and no worker was told: {decided.problem}"]
    return ["in line: a worker goes on with it"] if decided.queued else []


def _listing(found: FleetStatus) -> list[str]:
    lines = [_goal(row) for row in found.goals] or ["no goals that are not done"]
    lines += ["", "Workers:", *(f"  {_worker(each)}" for each in found.workers)] if found.workers else []
    return [*lines, *(["", found.problem] if found.problem else [])]


def _goal(row: GoalRow) -> str:
    job = f"{row.job}{f' from {row.at}' if row.at else ''}" if row.job else ""
    more = "; ".join(filter(None, (job, f"by {row.worker}" if row.worker else "", row.until, row.why)))
    return f"{row.goal:<24} {row.standing:<9} {row.tasks:>6}  {row.title[:50]}{f'  ({more})' if more else ''}"


def _worker(each: Any) -> str:
    goal = each.goal or "waits for work"
    ends = ", ends" if each.draining else ""
    return f"{each.name}  {', '.join(each.queues)}  {goal}{ends}  ({each.version}, seen {each.silent_s:.0f} s ago)"


def _report(found: Shown) -> list[str]:
    """The report in lines; what can be done next is said in the fleet's own verbs."""
    report = found.status
    lines = [report.title or report.goal]
    for phase in report.phases:
        tasks = ", ".join(f"{count} {status.replace('_', ' ')}" for status, count in phase.tasks.items())
        lines.append(f"  phase {phase.number}, {phase.name}: {tasks}")
    lines += [f"  waiting for you: {report.waiting.replace('_', ' ')}"] if report.waiting else []
    lines += [f"  question {each.number}: {each.text}" for each in found.questions]
    lines += ["Next:", *(f"  {_own(each, found.goal)}" for each in report.actions)] if report.actions else []
    return lines


_WORDS = ("approve", "answer", "revise", "retry", "skip", "override", "abandon")


def _own(action: str, goal: str) -> str:
    """An action with the words of this verb: `swarm approve` is `swarm fleet approve GOAL` here."""
    for word in _WORDS:
        action = action.replace(f"swarm {word}", f"swarm fleet {word} {goal}")
    return action

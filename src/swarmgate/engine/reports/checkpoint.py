"""Shows the checkpoint of a phase: what was built, at what cost, what is open, and what comes next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from swarmgate.domain.actor import actor_in_words
from swarmgate.domain.base import Frozen
from swarmgate.domain.evidence.summary import in_words
from swarmgate.domain.guard import Effect
from swarmgate.domain.plan.plan import Task
from swarmgate.domain.state.plan_view import attempt_line
from swarmgate.domain.state.state import Attempt, State, TaskRecord, TaskStatus
from swarmgate.domain.usage import Usage
from swarmgate.ledger.context.redaction import without_keys
from swarmgate.ledger.views.describe import finding_lines, first_line

_NAMED = 12
"""As many tasks, and as many files, are named on the terminal; the page of the phase has all."""


class TaskSummary(Frozen):
    """One task at a checkpoint. `attempts` are those that did not simply succeed, a line each, with their reasons.

    `mutants` says how many faults in its changed lines the tests noticed; empty where none were tried.
    """

    id: str
    title: str
    status: TaskStatus
    commit: str
    attempts: tuple[str, ...]
    files: tuple[str, ...]
    usage: Usage
    mutants: str = ""

    @property
    def lines(self) -> Iterator[str]:
        """The same for the terminal."""
        done = self.status is TaskStatus.COMPLETE
        used = [in_words(self.usage)] if self.usage != Usage() else []
        told = ", ".join([f"commit {self.commit[:12]}" if done else "given up", *used])
        yield f"  {'ok' if done else 'skip':4}  Task {self.id}: {self.title} ({told})"
        yield from (f"        {line}" for line in self.attempts)
        if self.mutants:
            yield f"        mutants: {self.mutants}"
        if self.files:
            yield f"        {_listed(self.files)}"


class Checkpoint(Frozen):
    """The end of a phase, for the user who approves it.

    `created` are the titles of its completed tasks, `files` what they changed, `skipped` the titles of those that
    were given up. `summary`, `decisions` and `lessons` are the architect's, `asked` what agents asked the user,
    with the answers. `usage` is that of the phase. `warnings` say what stays open: remarks of reviewers who
    approved, what guards saw, what was overruled. `drift` says where what is there contradicts decisions on record;
    None: nobody compared. `next_phase` is 0 and `next_name` empty after the last phase.
    """

    phase: int
    name: str
    created: tuple[str, ...]
    files: tuple[str, ...]
    skipped: tuple[str, ...]
    next_phase: int
    next_name: str
    summary: str = ""
    tasks: tuple[TaskSummary, ...] = ()
    usage: Usage = Usage()
    decisions: tuple[str, ...] = ()
    lessons: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    drift: tuple[str, ...] | None = None

    @property
    def lines(self) -> list[str]:
        """The same for the terminal, in short."""
        told = (("Created", self.created), ("Skipped", self.skipped), ("Files", self.files))
        further = f"proceed to Phase {self.next_phase}: {self.next_name}?" if self.next_phase else "finish?"
        return [
            *(f"{title}: {_listed(names)}" for title, names in told if names),
            "",
            f"Ready to {further}",
        ]

    @property
    def page(self) -> list[str]:
        """The same for the terminal, with each task, what it took, and what is open."""
        lines = [*self.summary.splitlines(), "", "Tasks:", *(line for task in self.tasks for line in task.lines)]
        for title, mark, found in (
            ("Decisions", "-", self.decisions),
            ("Lessons", "-", self.lessons),
            ("Asked of you", "-", self.asked),
            ("Drift from decisions on record (swarm drift)", "WARN", self.drift or ()),
            ("Open warnings", "WARN", self.warnings),
        ):
            more = [f"  {'':{len(mark)}}  and {len(found) - _NAMED} more"] if len(found) > _NAMED else []
            gap = "  " if mark == "WARN" else " "
            rows = [f"  {mark}{gap}{text}" for text in found[:_NAMED]]
            lines += ["", f"{title}:", *rows, *more] if found else []
        used = [f"Cost: {in_words(self.usage)}"] if self.usage != Usage() else []
        return [*lines, "", *used, *self.lines]


def checkpoint(state: State) -> Checkpoint | None:
    """The checkpoint at which the work waits; None while the current phase is not done."""
    number, plan = state.current_phase, state.plan
    if plan is None or state.finished or not state.phase_settled(number):
        return None
    phase, record = plan.phase(number), state.phase(number)
    tasks = tuple(_task(task, state.task(task.id)) for task in phase.tasks)
    following = number + 1 if number < len(plan.phases) else 0
    return Checkpoint(
        phase=number,
        name=phase.name,
        created=tuple(task.title for task in tasks if task.status is TaskStatus.COMPLETE),
        files=tuple(dict.fromkeys(path for task in tasks for path in task.files)),
        skipped=tuple(task.title for task in tasks if task.status is TaskStatus.SKIPPED),
        next_phase=following,
        next_name=plan.phase(following).name if following else "",
        summary=without_keys(record.summary),
        tasks=tasks,
        usage=state.usage_by_phase.get(number, Usage()),
        decisions=tuple(map(without_keys, record.decisions)),
        lessons=tuple(map(without_keys, record.lessons)),
        asked=tuple(f"task {task.id}, {each.in_words}" for task in phase.tasks for each in state.asked_about(task.id)),
        warnings=tuple(map(without_keys, dict.fromkeys(_warnings(state, phase.tasks)))),
    )


def _task(task: Task, record: TaskRecord) -> TaskSummary:
    lines = (
        f"Attempt {line.number}: {line.mark}{f' ({line.stage})' if line.stage else ''}"
        f"{f' - {first_line(line.reason)}' if line.reason else ''}"
        for attempt in record.attempts
        if (line := attempt_line(attempt))
    )
    given_up = [f"Given up: {record.reason}"] if record.status is TaskStatus.SKIPPED else []
    last = record.last if record.status is TaskStatus.COMPLETE else None
    return TaskSummary(
        id=task.id,
        title=without_keys(task.title),
        status=record.status,
        commit=record.commit,
        attempts=tuple(map(without_keys, (*lines, *given_up))),
        files=tuple(dict.fromkeys((*last.files, *last.tests, *last.attacks))) if last else (),
        usage=record.usage,
        mutants=last.mutants.text if last and last.mutants else "",
    )


def _warnings(state: State, tasks: Iterable[Task]) -> Iterator[str]:
    """What is open at the end of a phase, though it may go on."""
    if state.known_red:
        yield f"tests that fail in the newest commit, and were overruled: {_listed(state.known_red)}"
    if state.qa_skipped:
        yield f"{state.qa_skipped} completed in a row without the approval of both the reviewer and the test engineer"
    if state.sandbox == "none":
        yield "nothing confined the commands of agents in the newest run ([commands] sandbox)"
    for task in tasks:
        record = state.task(task.id)
        for _, each in sorted(record.overrides.items()):
            yield f"task {task.id}: {each.stage} overruled by {actor_in_words(each.by)}: {first_line(each.reason)}"
        if record.last is not None and record.status is TaskStatus.COMPLETE:
            yield from (f"task {task.id}, {text}" for text in _remarks(record, record.last))


def _remarks(record: TaskRecord, last: Attempt) -> Iterator[str]:
    """What guards warned of in the attempt that was taken, and what those remarked who approved it."""
    for note in record.guards:
        if note.attempt == last.number and note.effect is Effect.WARNED:
            yield f"{note.rule}: {first_line(note.detail)}"
    for name, review in (
        ("reviewer", last.second_review or last.review),
        ("security review", last.security_review),
        ("test engineer", last.tests_review),
        ("adversarial tests", last.adversarial_review),
    ):
        yield from (f"{name}: {line}" for line in (finding_lines(review) if review else ()))


def _listed(names: Iterable[str]) -> str:
    found = list(names)
    more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    return ", ".join(found[:_NAMED]) + more

"""Renders history/phase-N.md: what a phase built, its rejections, cost, decisions and lessons.

It is rendered from the state alone, so it comes back when it is deleted. What people and models wrote stays words, and
what looks like a key in it is masked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from swarmgate.domain.actor import actor_in_words, name_of
from swarmgate.domain.evidence.summary import duration, in_words
from swarmgate.domain.plan.plan import Task
from swarmgate.domain.state.state import PhaseRecord, Question, State, TaskRecord, TaskStatus
from swarmgate.domain.text import markdown
from swarmgate.domain.text.markdown import code
from swarmgate.domain.usage import Usage
from swarmgate.ledger.context.redaction import without_keys
from swarmgate.ledger.views.describe import finding_lines, verdict_in_words

_FILES = 20
"""As many changed files of a task are named."""


class History:
    """Renders the pages of closed phases, each again only when something that it shows is another."""

    def __init__(self) -> None:
        self._rendered: dict[int, tuple[object, ...]] = {}
        self._pages: dict[int, str] = {}

    def pages(self, state: State) -> Iterator[tuple[str, str]]:
        """The file name and the text of every closed phase of the present plan."""
        for number, phase in state.plan.numbered if state.plan else ():
            if not state.phase(number).closed:
                continue
            records = tuple(state.task(task.id) for task in phase.tasks)
            used, debate = state.usage_by_phase.get(number), state.plan_debate
            inputs = (state.goals, phase, state.phase(number), records, used, debate)
            if self._rendered.get(number) != inputs:
                self._pages[number] = render_history(state, number, phase.name, tuple(phase.tasks))
                self._rendered[number] = inputs
            yield f"phase-{number}.md", self._pages[number]


def render_history(state: State, number: int, name: str, tasks: tuple[Task, ...]) -> str:
    """The page of one closed phase."""
    record = state.phase(number)
    done = [(task, state.task(task.id)) for task in tasks]
    sections: tuple[tuple[str, list[str]], ...] = (
        ("Tasks", [line for task, its in done for line in _built(task, its)]),
        ("Decisions", [f"- {inline(text)}" for text in record.decisions]),
        ("Reviews of the phase", list(_reviews(record))),
        ("Approval", list(_approval(record))),
        ("Rejections", list(_rejections(done))),
        ("Answers of the user", [line for task in tasks for line in _answers(state.asked_about(task.id))]),
        ("Overrides", [line for task, its in done for line in _overrides(task, its)]),
        ("Cost", list(_cost(state.usage_by_phase.get(number), done))),
        ("Lessons", [f"- {inline(text)}" for text in record.lessons]),
        ("Councils", list(_councils(state, number, done))),
        ("Evidence", list(_evidence(state, done))),
    )
    lines = [f"# Phase {number}: {inline(name)}", "", *(inline(line, 1_000) for line in record.summary.split("\n"))]
    for title, body in sections:
        if body:
            lines += ["", f"## {title}", "", *body]
    return "\n".join(lines) + "\n"


def inline(text: str, most: int = 300) -> str:
    """`markdown.inline` of a text without its keys."""
    return markdown.inline(without_keys(text), most)


def _built(task: Task, record: TaskRecord) -> Iterator[str]:
    complete = record.status is TaskStatus.COMPLETE
    what = f"commit {record.commit[:12]}" if complete else record.status.value
    count = len(record.attempts)
    yield f"- Task {task.id}: {inline(task.title)} ({what}, {count} attempt{'' if count == 1 else 's'})"
    if record.status is TaskStatus.SKIPPED:
        yield f"  - Given up: {inline(record.reason)}"
    last = record.last
    if complete and last is not None:
        files = tuple(dict.fromkeys((*last.files, *last.tests, *last.attacks)))
        more = f" and {len(files) - _FILES} more" if len(files) > _FILES else ""
        if files:
            yield f"  - Changed: {', '.join(map(code, files[:_FILES]))}{more}"


def _rejections(done: Iterable[tuple[Task, TaskRecord]]) -> Iterator[str]:
    """By stage, the most frequent first."""
    groups: dict[str, list[str]] = {}
    for task, record in done:
        for each in record.attempts:
            if each.stage:
                message = f"  - Task {task.id}, attempt {each.number}: {inline(each.reason)}"
                groups.setdefault(each.stage, []).append(message)
    for stage, lines in sorted(groups.items(), key=lambda group: (-len(group[1]), group[0])):
        yield f"- {inline(stage)}: {len(lines)}"
        yield from lines


def _reviews(record: PhaseRecord) -> Iterator[str]:
    """The verdicts on the phase as a whole, of all rounds, and whether the user overruled them."""
    for each in record.reviews:
        model = f" by {code(each.review.model)}" if each.review.model else ""
        yield f"- {inline(verdict_in_words(each))}{model}"
        yield from (f"  - {inline(line)}" for line in finding_lines(each.review))
    for stage, why in sorted(record.overruled.items()):
        yield f"- Overruled by {inline(actor_in_words(record.overruled_by[stage]))}, {stage}: {inline(why)}"


def _approval(record: PhaseRecord) -> Iterator[str]:
    """What approved it in the user's place, or which person did, where they are known by name."""
    if record.approved_by:
        yield f"- Without a person, by {inline(record.approved_by)}"
    elif name := name_of(record.approver):
        yield f"- By {inline(name)}"


def _answers(questions: Iterable[Question]) -> Iterator[str]:
    for each in questions:
        yield f"- Task {each.task}, {inline(each.in_words)}"


def _overrides(task: Task, record: TaskRecord) -> Iterator[str]:
    for stage, each in sorted(record.overrides.items()):
        yield f"- Task {task.id}, {inline(stage)}, by {inline(actor_in_words(each.by))}: {inline(each.reason)}"


def _cost(used: Usage | None, done: Iterable[tuple[Task, TaskRecord]]) -> Iterator[str]:
    """Of the phase, of each task, and of each role as far as its turns in tasks were counted."""
    roles: dict[str, tuple[int, float]] = {}
    tasks = []
    for task, record in done:
        if record.usage != Usage():
            tasks.append(f"  - Task {task.id}: {in_words(record.usage)}")
        for turn in record.turns:
            tokens, seconds = roles.get(turn.role, (0, 0.0))
            roles[turn.role] = tokens + turn.tokens, seconds + turn.seconds
    if used is not None and used != Usage():
        yield f"- Phase: {in_words(used)}"
    if tasks:
        yield "- By task:"
        yield from tasks
    if roles:
        yield "- By role, in turns on tasks:"
        yield from (f"  - {role}: {tokens:,} tokens, {duration(s)}" for role, (tokens, s) in sorted(roles.items()))


def _councils(state: State, number: int, done: Iterable[tuple[Task, TaskRecord]]) -> Iterator[str]:
    """The debates that reviews of the phase were; with the first phase that on the plan."""
    if number == 1 and state.plan_debate is not None and state.plan_debate.debate:
        yield f"- The plan: debate {code(state.plan_debate.debate)}, {_ended(state.plan_debate.verdict)}"
    for task, record in done:
        for each in record.attempts:
            if each.debate is not None and each.debate.debate:
                message = f"debate {code(each.debate.debate)}, {_ended(each.debate.verdict)}"
                yield f"- Task {task.id}, attempt {each.number}: {message}"


def _ended(verdict: str | None) -> str:
    return str(verdict) if verdict else "nothing was decided"


def _evidence(state: State, done: Iterable[tuple[Task, TaskRecord]]) -> Iterator[str]:
    tasks = [task.id for task, record in done if record.attempts]
    if tasks:
        yield f"- Tasks {', '.join(tasks)}: `.swarm/evidence/TASK/attempt-N/`"
        yield f"- Once work on a later goal begins: `.swarm/history/goal-{state.goals}/evidence/`"
        yield "- What was pruned: `.swarm/history/evidence-archive/`"

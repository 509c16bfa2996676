"""What is derived from the state and lies in `.swarm/` for people and programs: plan.md, plan.json, history, context.

Only the fold decides what stands in these files; they can be deleted at any time and come back. A task that did not
change is not rendered again, so one status change costs the same in a plan of 5,000 tasks as the file's own size.
"""

from __future__ import annotations

import json
from typing import NamedTuple

from pydantic import ValidationError

from swarmgate.domain.plan import Complexity, Task
from swarmgate.domain.state import State, TaskRecord, TaskStatus
from swarmgate.domain.view import PhaseView, PlanView, TaskView, phase_status, task_view
from swarmgate.errors import PlanSyntaxError
from swarmgate.ledger.folder import SwarmFolder
from swarmgate.ledger.plan_md import render_head, render_phase, render_task
from swarmgate.workspace.atomic import replace

_BEGIN, _END = "<!-- swarm: derived from the ledger, do not edit -->", "<!-- swarm: end -->"


class _Rendered(NamedTuple):
    """One task in both files, and what it was rendered from."""

    task: Task
    record: TaskRecord
    markdown: str
    json: str


class Projector:
    """Renders the state into the files of one folder, remembering what it rendered."""

    def __init__(self, folder: SwarmFolder) -> None:
        self._folder = folder
        self._rendered: dict[str, _Rendered] = {}
        self._written: dict[str, str] = {}

    def project(self, state: State) -> None:
        """Brings every derived file up to date with the state."""
        if state.plan is not None:
            markdown, as_json = self.plan_texts(state)
            replace(self._folder.plan_md, markdown, durable=False)
            replace(self._folder.plan_json, as_json, durable=False)
            for number, phase in state.plan.numbered:
                if state.phase(number).closed:
                    text = render_history(state, number, phase.name, tuple(phase.tasks))
                    self._write_changed(f"phase-{number}.md", text)
        self._project_context(state)

    def plan_texts(self, state: State) -> tuple[str, str]:
        """plan.md and plan.json of a state that has a plan."""
        plan = state.plan
        if plan is None:
            raise ValueError("a state without a plan has no plan files")
        markdown, phases = [render_head(plan.title, state.seq)], []
        for number, phase in plan.numbered:
            rows = [self._render(state, task) for task in phase.tasks]
            status = phase_status(state, number)
            size = max((t.complexity for t in phase.tasks), key=list(Complexity).index, default=Complexity.SMALL)
            markdown.append(render_phase(number, phase.name, status, len(rows), size))
            markdown.extend(row.markdown for row in rows)
            head = json.dumps({"number": number, "name": phase.name, "status": status}, ensure_ascii=False)[:-1]
            tasks = ",\n".join(row.json for row in rows)
            phases.append(f'{head}, "tasks": [\n{tasks}\n]}}')
        head = json.dumps({"title": plan.title, "seq": state.seq}, ensure_ascii=False)[:-1]
        return "".join(markdown), f'{head}, "phases": [\n' + ",\n".join(phases) + "\n]}\n"

    def _render(self, state: State, task: Task) -> _Rendered:
        record = state.tasks.get(task.id) or _UNTOUCHED
        known = self._rendered.get(task.id)
        if known is not None and known.record is record and (known.task is task or known.task == task):
            return known
        view = task_view(state, task)
        row = _Rendered(task, record, render_task(view), view.model_dump_json())
        self._rendered[task.id] = row
        return row

    def _write_changed(self, name: str, text: str) -> None:
        if self._written.get(name) == text:
            return
        self._folder.history.mkdir(parents=True, exist_ok=True)
        replace(self._folder.history / name, text, durable=False)
        self._written[name] = text

    def _project_context(self, state: State) -> None:
        """Keeps the derived part of context.md; everything outside its two marks is the user's own."""
        derived = render_context(state)
        if not derived or self._written.get("context.md") == derived:
            return
        path = self._folder.context
        old = path.read_text(encoding="utf-8", errors="surrogateescape") if path.exists() else "# Context\n"
        before, begin, rest = old.partition(_BEGIN)
        _, end, after = rest.partition(_END)
        if begin and not end:
            before, after = old.rstrip() + "\n\n", "\n"
        text = (
            f"{before if begin else old.rstrip() + chr(10) * 2}{_BEGIN}\n{derived}{_END}{after if begin else chr(10)}"
        )
        replace(path, text.encode("utf-8", "surrogateescape"), durable=False)
        self._written["context.md"] = derived


_UNTOUCHED = TaskRecord()


def parse_json(text: str, *, name: str = "plan.json") -> PlanView:
    """The view that plan.json shows.

    Raises:
        PlanSyntaxError: it is not JSON, or not a plan; the message names line or key.
    """
    try:
        data = json.loads(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        raise PlanSyntaxError(f"{name} line {error.lineno} column {error.colno}: {error.msg}.") from None
    try:
        return PlanView(
            title=data["title"],
            seq=data["seq"],
            phases=tuple(
                PhaseView(**{**phase, "tasks": tuple(TaskView(**task) for task in phase["tasks"])})
                for phase in data["phases"]
            ),
        )
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(str(part) for part in problem["loc"])
        raise PlanSyntaxError(f"{name} ({error.title}) {where}: {problem['msg']}.") from None
    except (KeyError, TypeError) as error:
        raise PlanSyntaxError(f"{name} lacks a part of a plan, or a part has the wrong form: {error}.") from None


def render_history(state: State, number: int, name: str, tasks: tuple[Task, ...]) -> str:
    """history/phase-N.md: what was built, what was rejected on the way, what was decided and learnt."""
    record = state.phase(number)
    lines = [f"# Phase {number}: {name}", "", record.summary, "", "## Tasks", ""]
    for task in tasks:
        done = state.task(task.id)
        what = f"commit {done.commit[:12]}" if done.status is TaskStatus.COMPLETE else done.status.value
        lines.append(f"- Task {task.id}: {task.title} ({what}, {len(done.attempts)} attempts)")
        lines += [f"  - Attempt {a.number}: rejected ({a.stage}) - {a.reason}" for a in done.attempts if a.stage]
    for title, items in (("Decisions", record.decisions), ("Lessons", record.lessons)):
        if items:
            lines += ["", f"## {title}", "", *(f"- {item}" for item in items)]
    return "\n".join(lines) + "\n"


def render_context(state: State) -> str:
    """The derived part of context.md: decisions of closed phases and overrides. Empty when there is neither."""
    lines: list[str] = []
    closed = [(number, state.phase(number)) for number in sorted(state.phases)]
    decisions = [f"- {text} (phase {number})" for number, record in closed for text in record.decisions]
    lessons = [f"- {text} (phase {number})" for number, record in closed for text in record.lessons]
    overrides = [f"- Task {o.task}, {o.stage}: {o.reason} ({o.time})" for o in state.overrides]
    for title, items in (("Decisions", decisions), ("Overrides", overrides), ("Patterns", lessons)):
        if items:
            lines += [f"## {title}", "", *items, ""]
    return "\n".join(lines)

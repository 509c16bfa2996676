"""What is derived from the state and lies in `.swarm/` for people and programs: plan.md, plan.json, history, context.

Only the fold decides what stands in these files; they can be deleted at any time and come back. A task that did not
change is not rendered again, so one status change costs the same in a plan of 5,000 tasks as the file's own size.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from swarmgate.domain.plan import Complexity, Task
from swarmgate.domain.state import State, TaskRecord, TaskStatus
from swarmgate.domain.view import PlanView, phase_status, task_view
from swarmgate.errors import PlanSyntaxError
from swarmgate.ledger.folder import SwarmFolder
from swarmgate.ledger.plan_md import render_head, render_phase, render_task
from swarmgate.workspace.atomic import replace

DERIVED_BEGIN, DERIVED_END = "<!-- swarm: derived from the ledger, do not edit -->", "<!-- swarm: end -->"
"""The marks around the derived part of context.md; everything outside of them is the user's own."""
_DERIVED = re.compile(f"{DERIVED_BEGIN}(?:(?!{DERIVED_BEGIN}).)*?{DERIVED_END}".encode(), re.DOTALL)


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
        self._stamps: dict[str, tuple[int, ...]] = {}

    def project(self, state: State) -> None:
        """Brings every derived file up to date with the state."""
        if state.plan is not None:
            markdown, as_json = self.plan_texts(state)
            self._replace(self._folder.plan_md, markdown)
            self._replace(self._folder.plan_json, as_json)
            for number, phase in state.plan.numbered:
                if state.phase(number).closed:
                    text = render_history(state, number, phase.name, tuple(phase.tasks))
                    self._write_changed(f"phase-{number}.md", text)
        self._project_context(state)

    def read(self, path: Path) -> bytes | None:
        """The content of a plan file, which may be replaced from now on; None when there is none.

        Raises:
            OSError: it is there and cannot be read.
        """
        stamp = _stamp(path)
        if stamp is None:
            return None
        data = path.read_bytes()
        self._stamps[path.name] = stamp
        return data

    def _replace(self, path: Path, text: str) -> None:
        """Writes a plan file, unless somebody changed it since: that edit stays for the next reconcile pass."""
        known, stamp = self._stamps.get(path.name), _stamp(path)
        if known and stamp and known != stamp:
            return
        replace(path, text, durable=False)
        self._stamps[path.name] = _stamp(path) or ()

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
        old = path.read_bytes() if path.exists() else b"# Context\n"
        block = f"{DERIVED_BEGIN}\n{derived}{DERIVED_END}".encode()
        new, found = _DERIVED.subn(lambda _: block, old, count=1)
        replace(path, new if found else old + b"\n" + block + b"\n", durable=False)
        self._written["context.md"] = derived


_UNTOUCHED = TaskRecord()


def _stamp(path: Path) -> tuple[int, ...] | None:
    """What tells two versions of a file apart; None when there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def parse_json(text: str, *, name: str = "plan.json") -> PlanView:
    """The view that plan.json shows.

    Raises:
        PlanSyntaxError: it is not JSON, or not a plan; the message names line or key.
    """
    try:
        view = PlanView.model_validate_json(text.removeprefix("\ufeff"))
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(str(part) for part in problem["loc"])
        raise PlanSyntaxError(f"{name} {where + ': ' if where else ''}{problem['msg']}.") from None
    for index, phase in enumerate(view.phases):
        if phase.number != index + 1:
            raise PlanSyntaxError(f"{name} phases.{index}.number: is {phase.number}, but phase {index + 1} is next.")
    return view


def render_history(state: State, number: int, name: str, tasks: tuple[Task, ...]) -> str:
    """history/phase-N.md: what was built, what was rejected on the way, what was decided and learnt."""
    record = state.phase(number)
    lines = [f"# Phase {number}: {name}", "", record.summary, "", "## Tasks", ""]
    for task in tasks:
        done = state.task(task.id)
        what = f"commit {done.commit[:12]}" if done.status is TaskStatus.COMPLETE else done.status.value
        lines.append(f"- Task {task.id}: {task.title} ({what}, {len(done.attempts)} attempts)")
        lines += [f"  - Attempt {a.number}: rejected ({a.stage}) - {a.reason}" for a in done.attempts if a.stage]
        lines += [f"  - Overridden by the user: {stage} - {why}" for stage, why in sorted(done.overrides.items())]
    for title, items in (("Decisions", record.decisions), ("Lessons", record.lessons)):
        if items:
            lines += ["", f"## {title}", "", *(f"- {item}" for item in items)]
    return "\n".join(lines) + "\n"


def render_context(state: State) -> str:
    """The derived part of context.md: decisions of closed phases and overrides. Empty when there is neither."""
    lines: list[str] = []
    closed = [(_when(state, *key), state.memory[key]) for key in sorted(state.memory)]
    decisions = [f"- {text} ({when})" for when, record in closed for text in record.decisions]
    lessons = [f"- {text} ({when})" for when, record in closed for text in record.lessons]
    overrides = [f"- Task {o.task}, {o.stage}: {o.reason} ({o.time})" for o in state.overrides]
    for title, items in (("Decisions", decisions), ("Overrides", overrides), ("Patterns", lessons)):
        if items:
            lines += [f"## {title}", "", *items, ""]
    return "\n".join(lines).replace("<!--", "<!\u200b--")  # nothing in it may look like one of the marks


def _when(state: State, goal: int, phase: int) -> str:
    return f"phase {phase}" if goal == state.goals else f"goal {goal}, phase {phase}"

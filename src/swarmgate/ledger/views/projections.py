"""Writes all views of the state into `.swarm/`: plan.md, plan.json, history, context.md.

Only the fold decides what stands in these files; they can be deleted at any time and come back. A task that did not
change is not rendered again, so one status change costs the same in a plan of 5,000 tasks as the file's own size.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from swarmgate.domain.plan.plan import Complexity, Phase, Plan, Task
from swarmgate.domain.state.plan_view import PhaseView, PlanView, TaskView, phase_status, task_view, verdict_lines
from swarmgate.domain.state.state import State, TaskRecord
from swarmgate.ledger.context.context_file import DERIVED_BEGIN, DERIVED_END, unmarked, update, with_block
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.views.describe import first_line
from swarmgate.ledger.views.last_saves import LastSaves
from swarmgate.ledger.views.plan_file import PlanFile
from swarmgate.ledger.views.plan_md import render_head, render_phase, render_task
from swarmgate.workspace.files.atomic import replace
from swarmgate.workspace.files.folders import make

if TYPE_CHECKING:
    from swarmgate.ledger.views.history import History


class _Rendered(NamedTuple):
    """One task in both files, and what it was rendered from."""

    task: Task
    record: TaskRecord
    view: TaskView
    markdown: str
    json: str


class Projector:
    """Renders the state into the files of one folder, remembering what it rendered."""

    def __init__(self, folder: SwarmFolder) -> None:
        self._folder = folder
        self._rendered: dict[str, _Rendered] = {}
        self._written: dict[str, str] = {}
        self._texts: tuple[State, tuple[str, str]] | None = None
        self.plan_md = PlanFile(folder.plan_md)
        self.plan_json = PlanFile(folder.plan_json)
        self.saves = LastSaves(folder.runtime)

    @cached_property
    def _history(self) -> History:
        """Renders the pages of closed phases."""
        from swarmgate.ledger.views.history import History  # noqa: PLC0415 - for start-up: `swarm status` renders no page

        return History()

    def project(self, state: State) -> None:
        """Brings every derived file up to date with the state."""
        if state.plan is not None:
            markdown, as_json = self.plan_texts(state)
            self.plan_md.replace(markdown.encode())
            self.plan_json.replace(as_json.encode())
            for name, text in self._history.pages(state):
                self._write_changed(name, text)
        self._project_context(state)

    def edited(self) -> tuple[tuple[int, ...] | None, ...]:
        """What tells this version of the two plan files from others, where one is not as it was left; else empty."""
        found = tuple(file.stamp() for file in (self.plan_md, self.plan_json))
        return () if found == (self.plan_md.left, self.plan_json.left) else found

    def differing(self, state: State) -> tuple[str, ...]:
        """The plan files that are not, byte for byte, what a state says; none where it has no plan."""
        if state.plan is None:
            return ()
        files = zip((self.plan_md, self.plan_json), self.plan_texts(state), strict=True)
        return tuple(file.path.name for file, text in files if file.read(known=text.encode()).data != text.encode())

    def plan_texts(self, state: State) -> tuple[str, str]:
        """plan.md and plan.json of a state that has a plan."""
        if self._texts is None or self._texts[0] is not state:
            self._texts = state, self._plan_texts(state, _plan_of(state))
        return self._texts[1]

    def _plan_texts(self, state: State, plan: Plan) -> tuple[str, str]:
        if len(self._rendered) > 2 * len(plan.tasks) + _SPARE:
            self._rendered = {task_id: self._rendered[task_id] for task_id in plan.tasks if task_id in self._rendered}
        markdown, phases = [render_head(plan.title, state.seq)], []
        for number, phase in plan.numbered:
            rows = [self._render(state, task) for task in phase.tasks]
            status = phase_status(state, number)
            sizes = {task.complexity for task in phase.tasks}
            size = next((each for each in reversed(Complexity) if each in sizes), Complexity.SMALL)
            verdicts = verdict_lines(state, number)
            markdown.append(render_phase(number, phase.name, status, len(rows), size, verdicts))
            markdown.extend(row.markdown for row in rows)
            keys: dict[str, object] = {"number": number, "name": phase.name, "status": status}
            keys |= {"verdicts": [each.model_dump() for each in verdicts]} if verdicts else {}
            head = json.dumps(keys, ensure_ascii=False)[:-1]
            tasks = ",\n".join(row.json for row in rows)
            phases.append(f'{head}, "tasks": [\n{tasks}\n]}}')
        head = json.dumps({"title": plan.title, "seq": state.seq}, ensure_ascii=False)[:-1]
        return "".join(markdown), f'{head}, "phases": [\n' + ",\n".join(phases) + "\n]}\n"

    def view(self, state: State) -> PlanView:
        """What the two files show at a state that has a plan: `view_of`, of tasks that are rendered already."""
        plan = _plan_of(state)
        phases = (
            PhaseView.model_construct(
                number=number,
                name=phase.name,
                status=phase_status(state, number),
                verdicts=verdict_lines(state, number),
                tasks=tuple(self._render(state, task).view for task in phase.tasks),
            )
            for number, phase in plan.numbered
        )
        return PlanView.model_construct(title=plan.title, seq=state.seq, phases=tuple(phases))

    @property
    def known(self) -> Mapping[str, TaskView]:
        """The rendered tasks by their text in plan.md."""
        return {row.markdown: row.view for row in self._rendered.values()}

    def plan_of(self, view: PlanView) -> Plan:
        """The structure that a view shows, with the very tasks of the rendered plan where it shows those."""
        phases = (
            Phase.model_construct(name=phase.name, tasks=tuple(self._task_of(task) for task in phase.tasks))
            for phase in view.phases
        )
        return Plan(title=view.title, phases=tuple(phases))

    def _task_of(self, view: TaskView) -> Task:
        row = self._rendered.get(view.id)
        if row is not None and row.view is view:
            return row.task
        made = view.task
        return row.task if row is not None and row.task == made else made

    def _render(self, state: State, task: Task) -> _Rendered:
        record = state.tasks.get(task.id) or _UNTOUCHED
        known = self._rendered.get(task.id)
        if known is not None and known.record is record and (known.task is task or known.task == task):
            return known
        view = task_view(state, task)
        row = _Rendered(task, record, view, render_task(view), view.model_dump_json())
        self._rendered[task.id] = row
        return row

    def _write_changed(self, name: str, text: str) -> None:
        if self._written.get(name) == text:
            return
        make(self._folder.history)
        replace(self._folder.history / name, text, durable=False)
        self._written[name] = text

    def _project_context(self, state: State) -> None:
        """Keeps the derived part of context.md; everything outside its two marks is the user's own."""
        derived = render_context(state)
        if not derived or self._written.get("context.md") == derived:
            return
        if update(self._folder.context, lambda old: with_block(old, DERIVED_BEGIN, DERIVED_END, derived)):
            self._written["context.md"] = derived  # where the lock was not to be had, the next append tries again


_UNTOUCHED = TaskRecord()

_SPARE = 100
"""Rendered tasks that are kept although the plan has lost them."""


def _plan_of(state: State) -> Plan:
    if state.plan is None:
        raise ValueError("a state without a plan has no plan files")
    return state.plan


def render_context(state: State) -> str:
    """The derived part of context.md: debates on the plan, decisions of closed phases and overrides; empty for none."""
    lines: list[str] = []
    closed = [(_when(state, *key), state.memory[key]) for key in sorted(state.memory)]
    decisions = [f"- {text} ({when})" for when, record in closed for text in record.decisions]
    lessons = [f"- {text} ({when})" for when, record in closed for text in record.lessons]
    overrides = [f"- Task {o.task}, {o.told} ({o.time})" for o in state.overrides]
    whole = {key: record for key, record in state.memory.items() if key[0] != state.goals}
    whole |= {(state.goals, number): record for number, record in state.phases.items()}
    overrides += [
        f"- {_when(state, *key).capitalize()}, {stage}: {reason}"
        for key in sorted(whole)
        for stage, reason in sorted(whole[key].overruled.items())
    ]
    debated = [
        f"- Round {number}, debate {review.debate}: {review.verdict} - {first_line(review.summary)}"
        for number, review in enumerate(state.plan_reviews, start=1)
        if review.debate
    ]
    for title, items in (
        ("Reviews of the plan", debated),
        ("Decisions", decisions),
        ("Overrides", overrides),
        ("Patterns", lessons),
    ):
        if items:
            lines += [f"## {title}", "", *items, ""]
    return unmarked("\n".join(lines))


def _when(state: State, goal: int, phase: int) -> str:
    return f"phase {phase}" if goal == state.goals else f"goal {goal}, phase {phase}"

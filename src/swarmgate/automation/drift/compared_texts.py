"""Collects the texts that decisions are compared with: tasks, briefs, experts' answers, later decisions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from swarmgate.automation.drift.comparison import LaterText
from swarmgate.automation.drift.report import Decision, Place, TextKind
from swarmgate.automation.drift.tokens import rows
from swarmgate.domain.events.event import Entry, GoalSet, GuidanceGiven, PhaseClosed, PlanSaved, TaskDelegated
from swarmgate.domain.state.state import Guidance, State, TaskStatus

_SHORTEST = 8
"""An answer's line is looked up by its beginning; shorter ones are too common."""


@dataclass(slots=True)
class Record:
    """What the ledger says about places: where phases were closed, tasks delegated, the plan saved, answers given."""

    closed: dict[tuple[int, int], int] = field(default_factory=dict)
    briefs: dict[str, tuple[int, str]] = field(default_factory=dict)
    answers: dict[str, int] = field(default_factory=dict)
    goal: int = 0
    plan: int = 0


def record(entries: Iterable[Entry]) -> Record:
    """The places of a ledger; briefs are those of the present goal, the newest of each task."""
    found, goals = Record(), 0
    for entry in entries:
        event = entry.event
        if isinstance(event, GoalSet):
            goals += 1
            found.goal, found.plan = entry.seq, 0
            found.briefs.clear()
        elif isinstance(event, PhaseClosed):
            found.closed[goals, event.phase] = entry.seq
        elif isinstance(event, TaskDelegated):
            if event.instructions:
                found.briefs[event.task] = (entry.seq, event.instructions)
        elif isinstance(event, PlanSaved):
            found.plan = entry.seq
        elif isinstance(event, GuidanceGiven):
            found.answers[event.answer] = entry.seq
    return found


def plan_texts(state: State, lines: Mapping[str, int]) -> Iterator[LaterText]:
    """Titles, descriptions and criteria of the tasks that are not skipped.

    Args:
        state: the fold.
        lines: the line of each task in plan.md, as far as it is known.
    """
    if state.plan is None:
        return
    for number, phase in state.plan.numbered:
        for task in phase.tasks:
            if state.task(task.id).status is TaskStatus.SKIPPED:
                continue
            files = " ".join(path.rpartition("/")[2].rpartition(".")[0].replace("_", " ") for path in task.files)
            parts = [("title", task.title), ("description", task.description)]
            parts += [(f"criterion {n}", text) for n, text in enumerate(task.acceptance, start=1)]
            for what, text in parts:
                if text:
                    place = Place(file=".swarm/plan.md", line=lines.get(task.id, 0), what=f"task {task.id}, {what}")
                    yield LaterText(TextKind.PLAN, text, place, task.id, f"{task.title} {files}", number)


def brief_texts(state: State, found: Record) -> Iterator[LaterText]:
    """The newest brief of each task of the plan."""
    if state.plan is None:
        return
    for task, (seq, text) in found.briefs.items():
        known = state.plan.tasks.get(task)
        if known is not None and state.task(task).status is not TaskStatus.SKIPPED:
            place = Place(seq=seq, what=f"brief of task {task}")
            yield LaterText(TextKind.BRIEF, text, place, task, known.title, state.plan.phase_numbers[task])


def answer_texts(answers: Iterable[Guidance], text: str, file: str, found: Record) -> Iterator[LaterText]:
    """The answers that hold, with their lines in context.md; an answer of the ledger alone has its position."""
    lines = rows(text)
    for each in answers:
        begin = each.answer.split("\n", 1)[0].strip()
        line = next((n for n, row in enumerate(lines, 1) if begin in row), 0) if len(begin) >= _SHORTEST else 0
        seq = 0 if line else found.answers.get(each.answer, 0)
        place = Place(
            file=file if line or not seq else "", line=line, seq=seq, what=f"answer of the expert on {each.domain}"
        )
        yield LaterText(
            TextKind.ANSWER, each.answer, place, f"answer {each.domain} {each.question}", each.question, each.phase
        )


def decision_text(decision: Decision) -> LaterText:
    """A decision as what earlier ones are compared with."""
    return LaterText(TextKind.DECISION, decision.text, decision.place, f"decision {decision.id}", phase=decision.phase)


def follows(decision: Decision, later: LaterText, state: State) -> bool:
    """Whether a text comes after a decision: one of no phase does, and all do after a decision for an older goal.

    A decision that the user wrote for a phase holds in that phase already; one recorded at its end, after it.
    """
    if not decision.phase or not later.phase or (decision.goal and decision.goal < state.goals):
        return True
    return later.phase > decision.phase or (not decision.goal and later.phase == decision.phase)

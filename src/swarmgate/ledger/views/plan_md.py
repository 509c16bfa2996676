"""Renders and parses plan.md. `parse(render(view)) == view` for every legal view.

Every line of the file is one of the few forms below; a line that is none of them is an error with its number, so
nothing that a user wrote is ever dropped. Who writes a task or a phase by hand may leave out what goes without saying:
its size (then SMALL), and the count behind the name of a phase.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from swarmgate.domain.events.event import PhaseStage
from swarmgate.domain.plan.plan import Complexity, Kind
from swarmgate.domain.state.plan_view import (
    AttemptLine,
    AttemptMark,
    PhaseStatus,
    PhaseView,
    PlanView,
    TaskView,
    VerdictLine,
    VerdictMark,
)
from swarmgate.domain.state.state import TaskStatus
from swarmgate.errors import PlanSyntaxError

_NUMBER = "[0-9]{1,15}"
_SIZES = "|".join(Complexity)
_TITLE = re.compile(r"# (?P<title>.*)")
_SEQ = re.compile(rf"<!-- swarm plan: seq (?P<seq>{_NUMBER}) -->")
_PHASE = re.compile(
    rf"## Phase (?P<number>{_NUMBER}): (?P<name>.*) \[\d+ tasks?, (?:{_SIZES})\]"
    rf"(?: (?P<status>{'|'.join(PhaseStatus)}))?"
)
_TASK = re.compile(
    rf"- \[(?P<box>[ xX])\] Task (?P<id>\S+): (?P<title>.*) \[(?P<complexity>{_SIZES})\]"
    r"(?: \((?:independent|depends: (?P<depends>[^()]*))\))?(?: (?P<flag>BLOCKED|SKIPPED))?"
)
_SHORT_PHASE = re.compile(
    rf"## Phase (?P<number>{_NUMBER}): (?!.*(?:\[\d+ task|(?:{_SIZES})\]$| (?:{'|'.join(PhaseStatus)})$))"
    r"(?P<name>.*\S)(?P<status>)"
)
_SHORT_TASK = re.compile(
    rf"- \[(?P<box>[ xX])\] Task (?P<id>\S+): (?!.*(?:\[(?:{_SIZES})\]| BLOCKED$| SKIPPED$))"
    r"(?P<title>.*?\S)(?P<complexity>)(?: \((?:independent|depends: (?P<depends>[^()]*))\))?(?P<flag>)"
)
_DOUBTFUL = re.compile(r".*(?P<tail>\[[A-Z]+\]|\((?i:in)?(?i:depend)[^()]*\))")
"""The title of a task without a size that ends like a misspelt size or dependency."""
_FIELD = re.compile(r"[ \t]+- (?P<name>Description|Kind|File|Accept|Note):(?: (?P<text>.*))?")
_ATTEMPT = re.compile(
    rf"  - Attempt (?P<number>{_NUMBER}): (?P<mark>{'|'.join(sorted(AttemptMark, key=len, reverse=True))})"
    r"(?: \((?P<stage>[^()]*)\))?(?: - (?P<reason>.*))?"
)
_APPROVED_PLAN = re.compile(r"<!-- swarm plan: approved without a person by (?P<by>.+) -->")
_APPROVED_PHASE = re.compile(r"- Approved without a person by (?P<by>.+)")
_VERDICT = re.compile(
    rf"- (?P<stage>Gate|Tests|Validation) (?P<round>{_NUMBER})\.(?P<number>{_NUMBER}): "
    rf"(?P<mark>{'|'.join(VerdictMark)})(?: - (?P<reason>.*))?"
)
_STAGES: dict[str, PhaseStage] = {"Gate": "gate", "Tests": "tests", "Validation": "validation"}
_BEGUN = re.compile(rf"- \[[ xX]\] Task \S+: |## Phase {_NUMBER}: |[ \t]+- (?:Attempt {_NUMBER}: )?|- \[|<!-- |# ")
"""How far a line that is none of them began like one."""

_BLOCK = re.compile(r"^(?=- \[|## )", re.MULTILINE)
"""Where a task or a phase begins."""

_FORMS = (
    "'# title', '<!-- swarm plan: seq N -->', '## Phase N: name [n tasks, SIZE] STATUS', "
    "'- Validation N.N: ...', "
    "'- [ ] Task N.N: title [SIZE] (depends: N.N)', '  - Kind: ...', '  - Description: ...', '  - File: ...', "
    "'  - Accept: ...', "
    "'  - Note: ...', '  - Attempt N: ...'"
)


def render(view: PlanView) -> str:
    """The text of plan.md."""
    parts = [render_head(view.title, view.seq, view.approved_by)]
    for phase in view.phases:
        size = len(phase.tasks), phase.size
        parts.append(render_phase(phase.number, phase.name, phase.status, *size, phase.verdicts, phase.approved_by))
        parts.extend(render_task(task) for task in phase.tasks)
    return "".join(parts)


def render_head(title: str, seq: int, approved_by: str = "") -> str:
    """Title and ledger position, and what approved the plan in the user's place."""
    approved = f"<!-- swarm plan: approved without a person by {approved_by} -->\n" if approved_by else ""
    return f"# {title}\n<!-- swarm plan: seq {seq} -->\n{approved}"


def render_phase(
    number: int,
    name: str,
    status: PhaseStatus,
    tasks: int,
    size: Complexity,
    verdicts: Sequence[VerdictLine] = (),
    approved_by: str = "",
) -> str:
    """The heading of a phase, the verdicts on it as a whole and who approved it; `size` is its biggest task's."""
    lines = (
        f"- {each.stage.capitalize()} {each.round}.{each.number}: {each.mark}"
        f"{f' - {each.reason}' if each.reason else ''}\n"
        for each in verdicts
    )
    heading = f"## Phase {number}: {name} [{tasks} task{'' if tasks == 1 else 's'}, {size}] {status}"
    approved = f"- Approved without a person by {approved_by}\n" if approved_by else ""
    return f"\n{heading}\n{''.join(lines)}{approved}"


def render_task(view: TaskView) -> str:
    """The lines of one task. That a task depends on nothing is only said while somebody could still start it."""
    complete = view.status is TaskStatus.COMPLETE
    line = f"- [{'x' if complete else ' '}] Task {view.id}: {view.title} [{view.complexity}]"
    if view.depends:
        line += f" (depends: {', '.join(view.depends)})"
    elif not complete:
        line += " (independent)"
    if view.status in (TaskStatus.BLOCKED, TaskStatus.SKIPPED):
        line += f" {view.status.upper()}"
    fields = [
        *((("Kind", view.kind),) if view.kind is not Kind.FEATURE else ()),
        *(("Description", text) for text in (view.description.split("\n") if view.description else ())),
        *(("File", path) for path in view.files),
        *(("Accept", text) for text in view.acceptance),
        *((f"Attempt {a.number}", _attempt_text(a)) for a in view.attempts),
        *((("Note", view.note),) if view.note else ()),
    ]
    return "\n".join([line, *(f"  - {name}: {text}".rstrip() for name, text in fields)]) + "\n"


def _attempt_text(attempt: AttemptLine) -> str:
    stage = f" ({attempt.stage})" if attempt.stage else ""
    return f"{attempt.mark}{stage}{' - ' + attempt.reason if attempt.reason else ''}"


def parse(
    text: str, *, name: str = "plan.md", known: Mapping[str, TaskView] | None = None, seq: int | None = None
) -> PlanView:
    """The view that a text shows. CRLF line ends, a byte order mark and blank lines are read as if they were not there.

    Args:
        text: the whole file.
        name: how error messages call the file.
        known: tasks by what `render_task` makes of them; a block that is one of these needs no reading.
        seq: the present ledger position: what a file without one is told to show.

    Raises:
        PlanSyntaxError: a line has no place; the message names it.
    """
    parser, number = _Parser(name, seq), 1
    for block in _BLOCK.split(text.removeprefix("\ufeff").replace("\r\n", "\n")):
        view = known.get(block.rstrip("\n") + "\n") if known else None
        if view is None:
            for offset, line in enumerate(block.split("\n")):
                parser.read(number + offset, line.rstrip())
        else:
            parser.take(number, view)
        number += block.count("\n")
    return parser.finish()


class _Parser:
    """Reads line after line into plain dicts and lets the models judge them at the end."""

    def __init__(self, name: str, seq: int | None) -> None:
        self._name = name
        self._now = seq
        self._line = 0
        self._plan: dict[str, Any] = {}
        self._phases: list[dict[str, Any]] = []
        self._tasks: list[dict[str, Any] | TaskView] = []
        self._forms: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], None]], ...] = (
            (_FIELD, self._field),
            (_ATTEMPT, self._attempt),
            (_TASK, self._task),
            (_PHASE, self._phase),
            (_VERDICT, self._verdict),
            (_APPROVED_PHASE, self._approved_phase),
            (_SHORT_TASK, self._task),
            (_SHORT_PHASE, self._phase),
            (_SEQ, self._seq),
            (_APPROVED_PLAN, self._approved_plan),
            (_TITLE, self._title),
        )

    def read(self, number: int, line: str) -> None:
        self._line = number
        if not line:
            return
        for form, handle in self._forms:
            if match := form.fullmatch(line):
                handle(match)
                return
        if re.match(r"[*+] \[", line):
            raise self._error(f"begins with {line[0]!r}", hint=f"Write '-' in its place: -{line[1:80]}")
        begun = _BEGUN.match(line)
        column = begun.end() + 1 if begun else 1
        if begun and begun[0].endswith(": ") and " [" in line:
            column = max(column, line.rindex(" [") + 2)
        problem = f"has no place in a plan: {line[:80]!r}"
        raise self._error(problem, column=column, hint=f"A line is one of {_FORMS}.")

    def take(self, number: int, view: TaskView) -> None:
        """A task that needs no reading."""
        self._line = number
        self._require_phase()
        self._tasks.append(view)

    def finish(self) -> PlanView:
        if "title" not in self._plan:
            raise self._error("ends without a '# title' line")
        if "seq" not in self._plan:
            line = f"<!-- swarm plan: seq {'N' if self._now is None else self._now} -->"
            raise self._error(f"ends without a '{line}' line", hint=f"Put it below the title: {line}")
        phases = tuple(
            PhaseView(
                **{**phase, "tasks": tuple(t if isinstance(t, TaskView) else self._build(t) for t in phase["tasks"])}
            )
            for phase in self._phases
        )
        return PlanView(**self._plan, phases=phases)

    def _build(self, task: dict[str, Any]) -> TaskView:
        task = dict(task)
        line = task.pop("line")
        task["description"] = "\n".join(task["description"])
        undone = task["attempts"] and task["attempts"][-1].mark is AttemptMark.UNDONE
        if task["status"] is TaskStatus.PENDING and task["attempts"] and not undone:
            task["status"] = TaskStatus.IN_PROGRESS
        try:
            return TaskView(**task)
        except ValidationError as error:
            problem = error.errors()[0]
            self._line = line
            raise self._error(f"(task {task['id']}): {problem['loc'][0]}: {problem['msg']}") from None

    def _title(self, match: re.Match[str]) -> None:
        self._once("title", match["title"], "title")

    def _seq(self, match: re.Match[str]) -> None:
        self._once("seq", int(match["seq"]), "'swarm plan: seq' comment")

    def _approved_plan(self, match: re.Match[str]) -> None:
        self._once("approved_by", match["by"], "'approved' comment")

    def _approved_phase(self, match: re.Match[str]) -> None:
        self._require_phase()
        phase = self._phases[-1]
        if self._tasks or "approved_by" in phase:
            raise self._error("says who approved the phase, and stands below its first task, or there already")
        phase["approved_by"] = match["by"]

    def _once(self, key: str, value: object, what: str) -> None:
        if key in self._plan:
            raise self._error(f"is a second {what}")
        self._plan[key] = value

    def _phase(self, match: re.Match[str]) -> None:
        if int(match["number"]) != len(self._phases) + 1:
            raise self._error(f"opens phase {match['number']}, but phase {len(self._phases) + 1} is next")
        status = PhaseStatus(match["status"] or PhaseStatus.PENDING)
        self._tasks = []
        self._phases.append(
            {
                "number": len(self._phases) + 1,
                "name": match["name"],
                "status": status,
                "verdicts": (),
                "tasks": self._tasks,
            }
        )

    def _verdict(self, match: re.Match[str]) -> None:
        self._require_phase()
        if self._tasks:
            raise self._error("is a verdict on the phase, and stands below its first task")
        line = VerdictLine(
            stage=_STAGES[match["stage"]],
            round=int(match["round"]),
            number=int(match["number"]),
            mark=VerdictMark(match["mark"]),
            reason=match["reason"] or "",
        )
        self._phases[-1]["verdicts"] = (*self._phases[-1]["verdicts"], line)

    def _task(self, match: re.Match[str]) -> None:
        self._require_phase()
        if not match["complexity"] and (doubtful := _DOUBTFUL.fullmatch(match["title"])):
            raise self._error(
                f"has no place in a plan: {doubtful['tail']!r} behind the title of task {match['id']}",
                column=match.start("title") + doubtful.start("tail") + 1,
                hint="If that is part of the title, add the size behind it: [SMALL] or [MEDIUM]. A size is one of "
                "these words, and dependencies are written behind it as: (depends: 1.1, 1.2)",
            )
        complete = match["box"] != " "
        if complete and match["flag"]:
            raise self._error(f"ticks a task that is {match['flag']}")
        flagged = TaskStatus((match["flag"] or "pending").lower())
        self._tasks.append(
            {
                "line": self._line,
                "id": match["id"],
                "title": match["title"],
                "complexity": Complexity(match["complexity"] or Complexity.SMALL),
                "depends": tuple(part.strip() for part in (match["depends"] or "").split(",") if part.strip()),
                "status": TaskStatus.COMPLETE if complete else flagged,
                "description": [],
                "files": [],
                "acceptance": [],
                "attempts": [],
            }
        )

    def _field(self, match: re.Match[str]) -> None:
        task, text = self._current(), match["text"] or ""
        if match["name"] == "Note":
            if "note" in task:
                raise self._error("is a second Note of the same task")
            task["note"] = text
        elif match["name"] == "Kind":
            self._kind(task, text.strip().lower())
        else:
            task[{"Description": "description", "File": "files", "Accept": "acceptance"}[match["name"]]].append(text)

    def _kind(self, task: dict[str, Any], word: str) -> None:
        if "kind" in task:
            raise self._error("is a second Kind of the same task")
        if word not in list(Kind):
            raise self._error(f"has no place in a plan: {word!r} is no kind of task", hint=f"One of {', '.join(Kind)}.")
        task["kind"] = Kind(word)

    def _attempt(self, match: re.Match[str]) -> None:
        self._current()["attempts"].append(
            AttemptLine(
                number=int(match["number"]),
                mark=AttemptMark(match["mark"]),
                stage=match["stage"] or "",
                reason=match["reason"] or "",
            )
        )

    def _require_phase(self) -> None:
        if not self._phases:
            raise self._error("is a task before the first '## Phase' line")

    def _current(self) -> dict[str, Any]:
        task = self._tasks[-1] if self._tasks else None
        if task is None:
            raise self._error("belongs to a task, but no task stands above it")
        if isinstance(task, TaskView):  # it was known, and here is a line of it behind a second heading
            raise self._error("stands apart from its task")
        return task

    def _error(self, problem: str, *, column: int = 1, hint: str = "") -> PlanSyntaxError:
        return PlanSyntaxError(f"{self._name} line {self._line}, column {column} {problem}.", hint=hint)

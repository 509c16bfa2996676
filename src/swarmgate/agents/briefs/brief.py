"""Builds a brief, the first user message of a turn: header lines, a blank line, then titled sections.

    ROLE: coder
    STEP: code
    TASK: 1.2

    ## Task
    ...

Whatever comes from the repository, from tools or from models is data. A header value is one line. A section's text is
fenced by more backticks than any run inside of it, no line of it can be taken for a header line, and nothing in either
can be taken for the role marker of a chat template (`agents.briefs.role_markers`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from swarmgate.agents.briefs.role_markers import HEADERS, defused
from swarmgate.domain.plan.plan import Kind, Phase, Plan, Task

_LOOKS_LIKE_HEADER = re.compile(rf"^(?=(?:{'|'.join(HEADERS)})[ \t]*:)", re.MULTILINE)
# What str.splitlines() breaks a line at, and the other control characters but tab and newline.
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x85\u2028\u2029]")
_GOAL_SIZE = 2_000
_AROUND = 3
"""Tasks told before and after the one that a brief is for."""
_TITLE = 80
SECTION_SIZE = 100_000
"""Characters of one section at most."""

_REMEMBERED = 0.08
"""What a brief says of the work before may add this share to the rest of it: a brief does not grow with the project."""

_REMEMBERED_SIZE = 4_000
_WORTH_TELLING = 40
"""Characters; the first line is cut where not even that fits, and left out where less is left."""


@dataclass(frozen=True)
class Section:
    """A titled piece of data. `title` and `note`, a sentence before the data, are swarmgate's own words.

    `whole`: it is never cut; who makes such a section sees to its size. `ready`: its text went through `harmless`
    already, all of it: what is told again and again need not be read through each time.
    """

    title: str
    text: str
    note: str = ""
    whole: bool = False
    ready: bool = False

    def render(self, size: int = SECTION_SIZE) -> str:
        """The section as markdown, at most about `size` characters of its text."""
        note = f"{self.note}\n" if self.note else ""
        return f"## {self.title}\n{note}{fenced(self.text, len(self.text) if self.whole else size, ready=self.ready)}"


@dataclass(frozen=True)
class Brief:
    """The brief of a turn. Empty values make no header, empty sections are left out."""

    role: str
    step: str
    task: str = ""
    attempt: int = 0
    phase: int = 0
    goal: str = ""
    domain: str = ""
    participant: str = ""
    round: int = 0
    files: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()
    opening: tuple[Section, ...] = ()
    """What must be read first, before all that stays the same from brief to brief."""

    remembered: tuple[str, ...] = ()
    """Lines about the work before, the ones that apply most first; as many are told as there is room for."""

    def text(self, house_rules: Sequence[Section] = (), *, section: int = SECTION_SIZE) -> str:
        """The whole message.

        Args:
            house_rules: what the project itself tells agents.
            section: characters of one section at most.
        """
        head = "\n".join(self._headers())
        stable, own = (
            [each.render(section) for each in part if each.text.strip()]
            for part in ((*self.opening, *house_rules), self.sections)
        )
        known = self._known(sum(map(len, (head, *stable, *own))))
        return "\n\n".join([head, *stable, *known, *own])

    def _known(self, size: int) -> tuple[str, ...]:
        """The section of what is remembered, in a brief whose rest has `size` characters; none where nothing fits."""
        title, text = "Decided and learnt before", ""
        room = min(int(size * _REMEMBERED), _REMEMBERED_SIZE) - len(Section(title, "").render()) - len("\n\n")
        for line in self.remembered:
            added = f"- {one_line(line)}\n"
            if len(text) + len(added) <= room:
                text += added
            elif not text and room >= _WORTH_TELLING:
                return (Section(title, cut(added.rstrip(), room - len("..."), "...")).render(),)
        return (Section(title, text).render(),) if text else ()

    @property
    def purpose(self) -> dict[str, str]:
        """What the call is for, for traces."""
        pairs = {"role": self.role, "step": self.step, "task": self.task, "participant": self.participant}
        numbers = {"attempt": self.attempt, "phase": self.phase, "round": self.round}
        return {**{k: v for k, v in pairs.items() if v}, **{k: str(v) for k, v in numbers.items() if v}}

    def _headers(self) -> Iterable[str]:
        single = {
            "ROLE": self.role,
            "STEP": self.step,
            "TASK": self.task,
            "ATTEMPT": str(self.attempt or ""),
            "PHASE": str(self.phase or ""),
            "GOAL": cut(one_line(self.goal), _GOAL_SIZE, "..."),
            "DOMAIN": self.domain,
            "PARTICIPANT": self.participant,
            "ROUND": str(self.round or ""),
        }
        for key, value in single.items():
            if line := defused(one_line(value)):
                yield f"{key}: {line}"
        for path in self.files:
            if line := defused(one_line(path)):
                yield f"FILE: {line}"


def legible(text: str) -> str:
    """The text as UTF-8 can hold it: lone surrogates become question marks."""
    return text.encode(errors="replace").decode()


def one_line(text: str) -> str:
    """The text on one line."""
    return " ".join(_lines(text).split())


def cut(text: str, size: int, tail: str) -> str:
    """At most `size` characters of the text, then `tail` where there was more."""
    return text if len(text) <= size else text[:size] + tail


def fenced(text: str, size: int = SECTION_SIZE, *, ready: bool = False) -> str:
    """The text as a block that it cannot end itself; a line that reads like a header is quoted with `> `.

    `ready`: the text went through `harmless`.
    """
    whole = (text if ready else _lines(text)).strip("\n")
    left_out = len(whole) - size
    rendered = cut(whole, size, f"\n[... {left_out} characters left out; read the files themselves ...]")
    quoted = rendered if ready else _unmarked(rendered)
    runs = re.findall("`{3,}", quoted) if "```" in quoted else ()
    fence = "`" * max(3, 1 + max(map(len, runs), default=0))
    return f"{fence}text\n{quoted}\n{fence}"


def harmless(text: str) -> str:
    """The text as a block shows it. Each line is looked at by itself, so that blocks of lines can be put together."""
    return _unmarked(_lines(text))


def _unmarked(text: str) -> str:
    return defused(_LOOKS_LIKE_HEADER.sub("> ", text))


def _lines(text: str) -> str:
    """The text in lines that end in a newline and in nothing else."""
    return _CONTROLS.sub(" ", legible(text).replace("\r\n", "\n").replace("\r", "\n"))


def task_text(task: Task) -> str:
    """A task as a role reads it, acceptance criteria numbered from 1."""
    parts = [f"Task {task.id}: {task.title} [{task.complexity}]"]
    if task.kind is not Kind.FEATURE:
        parts.append(f"Kind: {task.kind}")
    if task.description:
        parts.append(task.description)
    parts.append("Acceptance criteria:\n" + numbered(task.acceptance))
    parts.append("Files:\n" + bullets(task.files))
    if task.depends:
        parts.append(f"Built on: {', '.join(task.depends)}")
    return "\n\n".join(parts)


def plan_json(plan: Plan) -> str:
    """The plan in the very form that `save_plan` takes."""
    return plan.model_dump_json(indent=1)


def plan_window(plan: Plan, task: Task) -> str:
    """Where a task stands in the plan: the tasks around it, what else it is built on, the phases beside its own.

    The rest is counted. The text has about the same length for every task of a plan, however long that is.
    """
    here = plan.phase_numbers[task.id]
    lines = [f"{_title(plan.title)}: {_count(len(plan.phases), 'phase')}, {_count(len(plan.tasks), 'task')}"]
    lines += _other_phases(plan, range(1, here))
    around = _tasks_around(plan.phase(here), task)
    lines += [f"Phase {here}: {_title(plan.phase(here).name)}", *_listed(plan.phase(here), around, task)]
    lines += _other_phases(plan, range(here + 1, len(plan.phases) + 1))
    built_on = [plan.tasks[each] for each in task.depends if each in plan.tasks and plan.tasks[each] not in around]
    lines += [f"Built on {each.id} {_title(each.title)}" for each in built_on[:_AROUND]]
    return "\n".join(lines)


def _tasks_around(phase: Phase, task: Task) -> Sequence[Task]:
    window = 2 * _AROUND + 1
    start = max(0, min(phase.tasks.index(task) - _AROUND, len(phase.tasks) - window))
    return phase.tasks[start : start + window]


def _listed(phase: Phase, around: Sequence[Task], task: Task) -> Iterable[str]:
    start = phase.tasks.index(around[0])
    if start:
        yield f"  {_count(start, 'task')} before"
    for each in around:
        yield f"  {each.id} {_title(each.title)}{' <- the task' if each.id == task.id else ''}"
    if left := len(phase.tasks) - start - len(around):
        yield f"  {_count(left, 'task')} after"


def _other_phases(plan: Plan, numbers: range) -> Iterable[str]:
    """The phases on one side of the present one, on one line."""
    if numbers:
        name = f"Phase {numbers[0]}" if len(numbers) == 1 else f"Phases {numbers[0]} to {numbers[-1]}"
        yield f"{name}: {_count(sum(len(plan.phase(number).tasks) for number in numbers), 'task')}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _title(text: str) -> str:
    return cut(text, _TITLE, "...")


def answers_text(answers: Iterable[tuple[str, str]]) -> str:
    """Questions with the user's answers."""
    return "\n\n".join(f"Q: {one_line(question)}\nA: {answer}" for question, answer in answers)


def numbered(lines: Iterable[str]) -> str:
    """A list numbered from 1."""
    return "\n".join(f"{number}. {line}" for number, line in enumerate(lines, start=1))


def bullets(lines: Iterable[str]) -> str:
    """A list."""
    return "\n".join(f"- {line}" for line in lines)

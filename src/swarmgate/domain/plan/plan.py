"""The plan: phases and tasks, and the rules that make a plan legal (DESIGN.md, "Plan")."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import cached_property
from pathlib import PurePosixPath
from typing import Annotated

from pydantic import FailFast

from swarmgate.domain.base import Frozen, Line, Text

TASK_ID = re.compile(r"([1-9][0-9]{0,5})\.([1-9][0-9]{0,5})")
"""`phase.number`; bounded, because ids become folder names and integers."""

_PLAIN_PATH = re.compile(r"(?:[A-Za-z0-9_][A-Za-z0-9_.-]*/)*[A-Za-z0-9_][A-Za-z0-9_.-]*")
"""What nearly every path looks like: nothing can be wrong with it, and ten thousand are judged at each change."""

_LISTED_CYCLE = 20
"""As many tasks of a cycle are named."""

_VISIBLE_TEXT = 200
"""As many characters of a field are shown."""


class Complexity(StrEnum):
    """How big a task is, in rising order. A LARGE task is never accepted: it has to be split."""

    SMALL = "SMALL"
    MEDIUM = "MEDIUM"
    LARGE = "LARGE"


class Kind(StrEnum):
    """What a task does to behaviour, which decides what has to prove it. The user approves it with the plan."""

    FEATURE = "feature"
    """New or mended behaviour: a new test fails without it. What goes without saying."""
    BREAKING = "breaking"
    """A feature that changes on purpose what tests of before expect: those in the task's files may be changed."""
    REFACTORING = "refactoring"
    """No new behaviour: the tests that were there before run the changed lines, and pass."""
    DOCUMENTATION = "documentation"
    """No code that runs is changed."""
    CONFIGURATION = "configuration"
    """No code of the product is changed, but settings, data, and scripts of builds and tools."""


class Task(Frozen):
    """One task: small enough for one delegation, with criteria that can be tested.

    `id` is `phase.number`; `files` are the repository-relative paths that the task may create or change. `kind` says
    what has to prove it.
    """

    id: Line
    title: Line
    description: Text = ""
    acceptance: Annotated[tuple[Line, ...], FailFast()] = ()
    files: Annotated[tuple[Line, ...], FailFast()] = ()
    depends: Annotated[tuple[Line, ...], FailFast()] = ()
    complexity: Complexity = Complexity.SMALL
    kind: Kind = Kind.FEATURE

    @property
    def text(self) -> str:
        """All that it says of itself, for those who look for words in it."""
        return "\n".join((self.title, self.description, *self.acceptance, *self.files))


class Phase(Frozen):
    """A named group of tasks that ends in a checkpoint. Phases are numbered from 1 by their order."""

    name: Line
    tasks: tuple[Task, ...] = ()


class Plan(Frozen):
    """The whole plan. A legal plan is one for which `problems` has nothing to say.

    Another plan is made with the constructor: `model_copy` would take the cached indexes along.
    """

    title: Line
    phases: tuple[Phase, ...] = ()

    @cached_property
    def tasks(self) -> Mapping[str, Task]:
        """Every task by id, in plan order."""
        return {task.id: task for phase in self.phases for task in phase.tasks}

    @cached_property
    def phase_numbers(self) -> Mapping[str, int]:
        """The number of the phase in which each task stands."""
        return {task.id: number for number, phase in self.numbered for task in phase.tasks}

    @cached_property
    def broken_rules(self) -> tuple[str, ...]:
        """What `problems` says; a change of a plan is judged before it is recorded, and again by the fold."""
        return (*_shape_problems(self), *_task_problems(self), *_dependency_problems(self))

    def sharing(self, other: Plan) -> Plan:
        """This plan with the very tasks of another where they are equal: many versions take the room of one."""
        known = other.tasks
        if sum(known.get(task_id) is not task for task_id, task in self.tasks.items()) <= 1:
            return self
        phases = (
            Phase.model_construct(
                name=phase.name,
                tasks=tuple(mine if (mine := known.get(task.id)) == task else task for task in phase.tasks),
            )
            for phase in self.phases
        )
        return Plan.model_construct(title=self.title, phases=tuple(phases))

    @property
    def numbered(self) -> Iterator[tuple[int, Phase]]:
        """The phases with their numbers, from 1."""
        return enumerate(self.phases, start=1)

    def phase(self, number: int) -> Phase:
        """The phase with that number, from 1."""
        return self.phases[number - 1]


def problems(plan: Plan) -> tuple[str, ...]:
    """Every broken rule of a plan, one sentence each, naming the task; empty for a legal plan."""
    return plan.broken_rules


def problems_of_change(old: Plan, new: Plan, settled: frozenset[str]) -> tuple[str, ...]:
    """What is wrong with replacing `old` by `new` when the tasks in `settled` are done, skipped or running."""
    found = list(problems(new))
    for task_id in sorted(settled, key=id_key):
        before, after = old.tasks[task_id], new.tasks.get(task_id)
        if after is None:
            found.append(f"Task {task_id} is complete, skipped or running: it must stay in the plan.")
        elif after != before:
            found.append(
                f"Task {task_id} is complete, skipped or running, and stays as it is: {_differences(before, after)}. "
                "Put what has to change into a new task."
            )
        elif new.phase_numbers[task_id] != old.phase_numbers[task_id]:
            found.append(f"Task {task_id} is complete, skipped or running: it must stay in its phase.")
    return tuple(found)


def _differences(before: Task, after: Task) -> str:
    """What has to stand in the fields that were changed, cut to a readable length."""
    old, new = before.model_dump(mode="json"), after.model_dump(mode="json")
    wanted = {name: json.dumps(value, ensure_ascii=False) for name, value in old.items() if value != new[name]}
    return "; ".join(f"{name} must be {value[:_VISIBLE_TEXT]}" for name, value in wanted.items())


def id_key(task_id: str) -> tuple[int, ...]:
    """Sort key that puts 1.10 after 1.9; what is no id comes first."""
    match = TASK_ID.fullmatch(task_id)
    return (int(match[1]), int(match[2])) if match else ()


def path_problem(path: str) -> str:
    """Why a path from a plan or a model is not one of the repository; empty when it is.

    A purely textual check: what the file system says (symbolic links, other spellings) is the workspace's business.
    """
    if _PLAIN_PATH.fullmatch(path):
        return ""
    parts = PurePosixPath(path).parts
    if not path or re.search("[\x00\ud800-\udfff]", path):
        return "is empty or holds a character that no file name can have"
    if path.startswith(("/", "~")) or "\\" in path or re.match(r"[A-Za-z]:", path):
        return "must be relative to the repository, with forward slashes"
    if ".." in parts:
        return "must not hold '..'"
    if not parts or path.endswith("/"):
        return "names a folder; name files"
    if any(part.lower() == ".git" for part in parts) or parts[0].lower() == ".swarm":
        return "lies in .git or .swarm, which no task may touch"
    return ""


def _shape_problems(plan: Plan) -> Iterator[str]:
    if not plan.title:
        yield "The plan has no title."
    if not plan.phases:
        yield "The plan has no phases."
    seen: set[str] = set()
    for number, phase in plan.numbered:
        if not phase.name:
            yield f"Phase {number} has no name."
        if not phase.tasks:
            yield f"Phase {number} has no tasks."
        for task in phase.tasks:
            match = TASK_ID.fullmatch(task.id)
            if not match:
                yield f"Task {task.id!r}: the id must be phase.number, such as {number}.1."
            elif int(match[1]) != number:
                yield f"Task {task.id} stands in phase {number}: its id must begin with {number}."
            if task.id in seen:
                yield f"Task {task.id}: the id is used twice."
            seen.add(task.id)


def _task_problems(plan: Plan) -> Iterator[str]:
    for _, phase in plan.numbered:
        for task in phase.tasks:
            if not task.title:
                yield f"Task {task.id} has no title."
            if not any(task.acceptance):
                yield f"Task {task.id} has no acceptance criterion: say how a test can tell that it is done."
            elif not all(task.acceptance):
                yield f"Task {task.id} has an empty acceptance criterion."
            if not task.files:
                yield f"Task {task.id} names no files: list the files that it creates or changes."
            if task.complexity is Complexity.LARGE:
                yield f"Task {task.id} is LARGE: split it into SMALL or MEDIUM tasks that can each be tested."
            for path in task.files:
                if problem := path_problem(path):
                    yield f"Task {task.id}: the file {path!r} {problem}."


def _dependency_problems(plan: Plan) -> Iterator[str]:
    numbers = plan.phase_numbers
    for task in plan.tasks.values():
        for other in task.depends:
            if other == task.id:
                yield f"Task {task.id} depends on itself."
            elif other not in numbers:
                yield f"Task {task.id} depends on {other!r}, which does not exist."
            elif numbers[other] > numbers[task.id]:
                yield f"Task {task.id} depends on {other} of a later phase."
    if cycle := _cycle(plan):
        printed = cycle if len(cycle) <= _LISTED_CYCLE else (*cycle[: _LISTED_CYCLE - 2], "...", cycle[-1])
        yield f"Task {cycle[0]}: the dependencies form a cycle: {' -> '.join(printed)}."


def _in_order(plan: Plan) -> bool:
    """Whether each task depends on earlier ones only, as in most plans: then no cycle needs to be looked for."""
    seen: set[str] = set()
    for task_id, task in plan.tasks.items():
        if task.depends and not seen.issuperset(task.depends):
            return False
        seen.add(task_id)
    return True


def _cycle(plan: Plan) -> tuple[str, ...]:
    """One dependency cycle of two tasks or more, as a path that ends where it began; empty if there is none.

    Tasks without open dependencies are peeled off (Kahn 1962); whatever is left lies on or behind a cycle.
    """
    if _in_order(plan):
        return ()
    left = {task.id: {d for d in task.depends if d in plan.tasks and d != task.id} for task in plan.tasks.values()}
    waiting: dict[str, list[str]] = {}
    for task_id, depends in left.items():
        for other in depends:
            waiting.setdefault(other, []).append(task_id)
    free = [task_id for task_id, depends in left.items() if not depends]
    while free:
        done = free.pop()
        del left[done]
        for task_id in waiting.get(done, ()):
            left[task_id].discard(done)
            if not left[task_id]:
                free.append(task_id)
    if not left:
        return ()
    path: dict[str, None] = {}
    here = next(iter(left))
    while here not in path:
        path[here] = None
        here = min(left[here], key=id_key)
    passed = list(path)
    return (*passed[passed.index(here) :], here)
